"""Comparisons and sweeps on a Dask or Ray cluster: each task runs one shard, and the shards are merged.

The result is the same as on one machine, byte for byte, because the number of a shard determines its runs.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Generator, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol, Union

from .arguments import whole
from .errors import ShardError
from .scenario import ScenarioLike, scenario_of
from .study import Comparison, ContenderLike, Sweep, merge, settled, settled_metrics
from .study import compare as compare_here
from .study import sweep as sweep_here

#: The files of a shard that are merged.
_FILES = ("study.json", "runs.jsonl")


def sweep(
    client: Any,
    scenario: ScenarioLike,
    keys: Mapping[str, Iterable[Any]],
    policies: Iterable[ContenderLike],
    *,
    shards: int | None = None,
    out: str | os.PathLike[str] | None = None,
    retries: int = 2,
    **options: Any,
) -> Sweep:
    """Runs :func:`mario.sweep` on the workers of a Dask client, or of Ray if ``client`` is the module ``ray`` after ``ray.init``.

    ``shards`` is the number of shards; by default, four per processor of the cluster. A shard whose worker dies is retried on
    another worker, up to ``retries`` times; Dask also retries a shard that raises an exception. With ``out``, completed shards
    are kept in ``out.parts`` until all are complete, so that the same call runs only the missing ones. ``options`` are those
    of :func:`mario.sweep`.
    """
    values = {key: list(given) if _is_iterable(given) else given for key, given in dict(keys).items()}
    return _distribute(client, _Part("sweep", scenario_of(scenario), values, policies, options), shards, out, retries)


def compare(
    client: Any,
    scenario: ScenarioLike,
    policies: Iterable[ContenderLike],
    *,
    shards: int | None = None,
    out: str | os.PathLike[str] | None = None,
    retries: int = 2,
    **options: Any,
) -> Comparison:
    """Runs :func:`mario.compare` on the workers of a Dask client or of Ray, with the options of :func:`sweep`."""
    return _distribute(client, _Part("compare", scenario_of(scenario), None, policies, options), shards, out, retries)


def _is_iterable(given: Any) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, (str, bytes))


class _Part:
    """Runs one shard on a worker, and returns its files."""

    def __init__(self, kind: str, scenario: Any, keys: Any, policies: Iterable[ContenderLike], options: dict[str, Any]) -> None:
        for reserved in ("shard", "keep_runs"):
            if options.get(reserved):
                raise TypeError(f"`{reserved}` is not for clusters: each worker runs shards in a directory of its own")
        self.kind, self.scenario, self.keys = kind, scenario, keys
        # The sources of functions are read here: a worker may not have them.
        self.policies = settled(policies)
        self.options = {**options, "metrics": settled_metrics(options.get("metrics"))}

    def __call__(self, shard: str) -> dict[str, bytes]:
        with tempfile.TemporaryDirectory(prefix="mario-part-") as directory:
            out = Path(directory) / "part"
            options = {"jobs": 1, "progress": False, **self.options, "shard": shard, "out": out}
            if self.kind == "sweep":
                sweep_here(self.scenario, self.keys, self.policies, **options)
            else:
                compare_here(self.scenario, self.policies, **options)
            return {name: (out / name).read_bytes() for name in _FILES}


#: The files of a shard, or why there are none.
_Outcome = Union[dict[str, bytes], BaseException]


class _Engine(Protocol):
    """What runs tasks on several machines."""

    def processors(self) -> int:
        """The number of tasks that run at the same time."""

    def run(self, part: _Part, shards: list[str], retries: int) -> Generator[tuple[str, _Outcome], None, None]:
        """Runs shards, and yields each with its outcome when it is complete. What is left is cancelled if that ends early."""


class _Dask:
    def __init__(self, client: Any) -> None:
        self._client = client

    def processors(self) -> int:
        return sum(self._client.nthreads().values())

    def run(self, part: _Part, shards: list[str], retries: int) -> Generator[tuple[str, _Outcome], None, None]:
        from distributed import as_completed

        futures = {self._client.submit(part, shard, retries=retries, pure=False): shard for shard in shards}
        try:
            for future in as_completed(futures):
                error = future.exception()
                yield futures[future], future.result() if error is None else error
        finally:
            self._client.cancel([future for future in futures if not future.done()])


class _Ray:
    def __init__(self, ray: Any) -> None:
        if not ray.is_initialized():
            raise ValueError("Ray has not been started: call ray.init first")
        self._ray = ray

    def processors(self) -> int:
        return int(self._ray.cluster_resources().get("CPU", 1))

    def run(self, part: _Part, shards: list[str], retries: int) -> Generator[tuple[str, _Outcome], None, None]:
        ray = self._ray
        whole_part = ray.put(part)
        task = ray.remote(num_cpus=1, max_retries=retries)(_call)
        pending = {task.remote(whole_part, shard): shard for shard in shards}
        try:
            while pending:
                done, _ = ray.wait(list(pending), num_returns=1)
                shard = pending.pop(done[0])
                try:
                    outcome = ray.get(done[0])
                except ray.exceptions.RayTaskError as error:
                    outcome = error.cause
                except ray.exceptions.RayError as error:
                    outcome = error
                yield shard, outcome
        finally:
            for left in pending:
                ray.cancel(left, force=True)


def _call(part: _Part, shard: str) -> dict[str, bytes]:
    return part(shard)


def _engine(client: Any) -> _Engine:
    if getattr(client, "__name__", None) == "ray" and hasattr(client, "remote"):
        return _Ray(client)
    if hasattr(client, "submit") and hasattr(client, "nthreads"):
        return _Dask(client)
    raise TypeError(f"`client` is a Dask client or the module ray, and not {client!r}")


def _distribute(client: Any, part: _Part, shards: int | None, out: str | os.PathLike[str] | None, retries: int) -> Any:
    engine = _engine(client)
    count = whole("shards", shards, 1) or max(1, 4 * engine.processors())
    with tempfile.TemporaryDirectory(prefix="mario-parts-") as temporary:
        parts = Path(temporary) if out is None else Path(f"{os.fspath(out)}.parts")
        places = {f"{number}/{count}": parts / f"part-{number}-of-{count}" for number in range(1, count + 1)}
        missing = [shard for shard, place in places.items() if not place.exists()]
        failed: dict[str, BaseException] = {}
        # Closed also after Ctrl-C, so that no task is left.
        with closing(engine.run(part, missing, whole("retries", retries))) as outcomes:
            for shard, outcome in outcomes:
                if isinstance(outcome, BaseException):
                    failed[shard] = outcome
                else:
                    _keep(places[shard], outcome)
        if failed:
            first, why = next(iter(failed.items()))
            kept = "" if out is None else f"; completed shards are kept in {parts}, and the same call runs the others"
            message = f"{len(failed)} of {count} shards failed, the first of them {first}: {why!r}{kept}"
            raise ShardError(message, failed) from why
        made = merge(places.values(), out=out)
    if out is not None:
        shutil.rmtree(parts)
    return made


def _keep(place: Path, files: dict[str, bytes]) -> None:
    """Writes the files of a shard atomically."""
    place.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(dir=place.parent, prefix="."))
    for name, content in files.items():
        (unfinished / name).write_bytes(content)
    unfinished.rename(place)
