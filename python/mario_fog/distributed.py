"""Comparisons and sweeps on a Dask or Ray cluster: each task runs one shard, and the shards are merged.

The result is the same as on one machine, byte for byte, because the number of a shard determines its runs.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol, Union

from .arguments import whole
from .errors import EnvironmentError, ShardError
from .interrupts import Interrupts
from .progress import Progress, ProgressLike
from .scenario import ScenarioLike, scenario_of
from .study import Comparison, ContenderLike, Sweep, merge, settled, settled_metrics
from .study import compare as compare_here
from .study import sweep as sweep_here

#: The files of a shard that are merged.
_FILES = ("study.json", "runs.jsonl")

#: How many seconds pass between two checks for completed shards.
_POLL_INTERVAL = 0.05

#: How many seconds pass between two checks of the number of workers.
_WORKERS_INTERVAL = 1.0

#: The default number of shards if no worker is there yet.
_SHARDS = 32


def sweep(
    client: Any,
    scenario: ScenarioLike,
    keys: Mapping[str, Iterable[Any]],
    policies: Iterable[ContenderLike],
    *,
    shards: int | None = None,
    out: str | os.PathLike[str] | None = None,
    retries: int = 2,
    worker_timeout: float | None = 300.0,
    progress: ProgressLike = None,
    **options: Any,
) -> Sweep:
    """Runs :func:`mario_fog.sweep` on the workers of a Dask client, or of Ray if ``client`` is the module ``ray``, initialised.

    ``shards`` is the number of shards; by default, four per processor of the cluster, or 32 if no worker is there yet. A shard
    whose worker dies is retried on another worker, up to ``retries`` times; Dask also retries a shard that raises an exception.
    With ``out``, completed shards are kept in ``out.parts`` until all are complete, so that the same call runs only the missing
    ones. If the cluster has had no worker for ``worker_timeout`` seconds, :class:`mario_fog.EnvironmentError` is raised; ``None``
    waits without end. ``progress`` counts shards. ``options`` are those of :func:`mario_fog.sweep`.
    """
    values = {key: list(given) if _is_iterable(given) else given for key, given in dict(keys).items()}
    part = _Part("sweep", scenario_of(scenario), values, policies, options)
    return _distribute(_engine(client), part, shards, out, retries, worker_timeout, progress)


def compare(
    client: Any,
    scenario: ScenarioLike,
    policies: Iterable[ContenderLike],
    *,
    shards: int | None = None,
    out: str | os.PathLike[str] | None = None,
    retries: int = 2,
    worker_timeout: float | None = 300.0,
    progress: ProgressLike = None,
    **options: Any,
) -> Comparison:
    """Runs :func:`mario_fog.compare` on the workers of a Dask client or of Ray, with the options of :func:`sweep`."""
    part = _Part("compare", scenario_of(scenario), None, policies, options)
    return _distribute(_engine(client), part, shards, out, retries, worker_timeout, progress)


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

    def run(self, shard: str, progress: ProgressLike = False) -> dict[str, bytes]:
        """Runs a shard. ``progress`` may stop it with an exception."""
        with tempfile.TemporaryDirectory(prefix="mario-part-") as directory:
            out = Path(directory) / "part"
            options = {"jobs": 1, **self.options, "progress": progress, "shard": shard, "out": out}
            if self.kind == "sweep":
                sweep_here(self.scenario, self.keys, self.policies, **options)
            else:
                compare_here(self.scenario, self.policies, **options)
            return {name: (out / name).read_bytes() for name in _FILES}


#: The files of a shard, or the exception that it ended with.
_Outcome = Union[dict[str, bytes], BaseException]


class _Engine(Protocol):
    """A library that runs tasks on several machines."""

    def processors(self) -> int:
        """The number of tasks that run at the same time; 0 while there is no worker."""

    def run(self, part: _Part, shards: list[str], retries: int) -> Generator[tuple[str, _Outcome] | None, None, None]:
        """Runs shards, and yields each with its outcome when it is complete, and ``None`` from time to time while it waits.

        Pending shards are cancelled if the generator is closed early.
        """


class _Dask:
    def __init__(self, client: Any) -> None:
        self._client = client

    def processors(self) -> int:
        return sum(self._client.nthreads().values())

    def run(self, part: _Part, shards: list[str], retries: int) -> Generator[tuple[str, _Outcome] | None, None, None]:
        pending = {}
        try:
            for shard in shards:
                pending[shard] = self._client.submit(_run_on_dask, part, shard, retries=retries, pure=False)
            # `as_completed` is not used, because it blocks until the next shard is complete.
            while pending:
                yield None
                for shard in [shard for shard, future in pending.items() if future.done()]:
                    future = pending.pop(shard)
                    error = future.exception()
                    yield shard, future.result() if error is None else error
        finally:
            self._client.cancel(list(pending.values()))


def _run_on_dask(part: _Part, shard: str) -> dict[str, bytes]:
    return part.run(shard, _stop_if_cancelled())


def _stop_if_cancelled() -> Callable[[float, float], None]:
    """Returns a progress function that ends the task after the client has cancelled it. Dask itself would let it run on."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def stop_if_cancelled(done: float, total: float) -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":
            raise RuntimeError(f"{key} was cancelled")

    return stop_if_cancelled


class _Ray:
    def __init__(self, ray: Any) -> None:
        if not ray.is_initialized():
            raise ValueError("Ray has not been started: call ray.init first")
        self._ray = ray

    def processors(self) -> int:
        return int(self._ray.cluster_resources().get("CPU", 0))

    def run(self, part: _Part, shards: list[str], retries: int) -> Generator[tuple[str, _Outcome] | None, None, None]:
        ray = self._ray
        whole_part = ray.put(part)
        task = ray.remote(num_cpus=1, max_retries=retries)(_run_on_ray)
        pending = {task.remote(whole_part, shard): shard for shard in shards}
        try:
            while pending:
                yield None
                done, _ = ray.wait(list(pending), num_returns=1, timeout=0)
                for one in done:
                    shard = pending.pop(one)
                    try:
                        outcome = ray.get(one)
                    except ray.exceptions.RayTaskError as error:
                        outcome = error.cause
                    except ray.exceptions.RayError as error:
                        outcome = error
                    yield shard, outcome
        finally:
            for left in pending:
                ray.cancel(left, force=True)


def _run_on_ray(part: _Part, shard: str) -> dict[str, bytes]:
    return part.run(shard)


class _Workers:
    """Raises an exception when a cluster has been without workers for too long."""

    def __init__(self, engine: _Engine, timeout: float | None) -> None:
        self._engine, self._timeout = engine, timeout
        self._seen = self._asked = time.monotonic()

    def check(self) -> None:
        now = time.monotonic()
        if self._timeout is None or now < self._asked + min(_WORKERS_INTERVAL, self._timeout):
            return
        self._asked = now
        if self._engine.processors() > 0:
            self._seen = now
        elif now >= self._seen + self._timeout:
            raise EnvironmentError(
                f"error: the cluster has had no worker for {self._timeout:g} s\n"
                "hint: start workers, or give them more time with `worker_timeout`"
            )


def _engine(client: Any) -> _Engine:
    if getattr(client, "__name__", None) == "ray" and hasattr(client, "remote"):
        return _Ray(client)
    if hasattr(client, "submit") and hasattr(client, "nthreads"):
        return _Dask(client)
    raise TypeError(f"`client` is a Dask client or the module ray, and not {client!r}")


def _distribute(
    engine: _Engine,
    part: _Part,
    shards: int | None,
    out: str | os.PathLike[str] | None,
    retries: int,
    worker_timeout: float | None,
    progress: ProgressLike,
) -> Any:
    if worker_timeout is not None and not (isinstance(worker_timeout, (int, float)) and worker_timeout > 0):
        raise ValueError(f"`worker_timeout` is a positive number of seconds or None, and not {worker_timeout!r}")
    count = whole("shards", shards, 1) or 4 * engine.processors() or _SHARDS
    retries = whole("retries", retries)
    with tempfile.TemporaryDirectory(prefix="mario-parts-") as temporary:
        parts = Path(temporary) if out is None else Path(f"{os.fspath(out)}.parts")
        places = {f"{number}/{count}": parts / f"part-{number}-of-{count}" for number in range(1, count + 1)}
        missing = [shard for shard, place in places.items() if not place.exists()]
        failed: dict[str, BaseException] = {}
        workers = _Workers(engine, worker_timeout)
        # `closing` cancels the pending shards, also after Ctrl-C.
        with (
            Progress(progress, "shards", " shards") as shown,
            Interrupts() as interrupts,
            closing(engine.run(part, missing, retries)) as outcomes,
        ):
            done = count - len(missing)
            for news in outcomes:
                interrupts.check()
                if news is None:
                    workers.check()
                    time.sleep(_POLL_INTERVAL)
                    continue
                shard, outcome = news
                if isinstance(outcome, BaseException):
                    failed[shard] = outcome
                else:
                    _keep(places[shard], outcome)
                done += 1
                if shown.function is not None:
                    shown.function(done, count)
            interrupts.check()
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
