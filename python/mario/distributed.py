"""Comparisons and sweeps on a Dask cluster: each task runs one shard, and the shards are merged.

The result is the same as on one machine, byte for byte, because the number of a shard determines its runs.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .arguments import whole
from .errors import ShardError
from .scenario import ScenarioLike, scenario_of
from .study import Comparison, ContenderLike, Sweep, merge
from .study import compare as compare_here
from .study import sweep as sweep_here

if TYPE_CHECKING:
    import distributed

#: The files of a shard that are merged.
_FILES = ("study.json", "runs.jsonl")


def sweep(
    client: distributed.Client,
    scenario: ScenarioLike,
    keys: Mapping[str, Iterable[Any]],
    policies: Iterable[ContenderLike],
    *,
    shards: int | None = None,
    out: str | os.PathLike[str] | None = None,
    retries: int = 2,
    **options: Any,
) -> Sweep:
    """Runs :func:`mario.sweep` on the workers of a Dask client.

    ``shards`` is the number of shards; by default, four per worker thread. A shard whose worker dies is retried on another
    worker, up to ``retries`` times. With ``out``, completed shards are kept in ``out.parts`` until all are complete, so that
    the same call runs only the missing ones.
    """
    return _distribute(client, _Part("sweep", scenario_of(scenario), dict(keys), list(policies), options), shards, out, retries)


def compare(
    client: distributed.Client,
    scenario: ScenarioLike,
    policies: Iterable[ContenderLike],
    *,
    shards: int | None = None,
    out: str | os.PathLike[str] | None = None,
    retries: int = 2,
    **options: Any,
) -> Comparison:
    """Runs :func:`mario.compare` on the workers of a Dask client, with the options of :func:`sweep`."""
    return _distribute(client, _Part("compare", scenario_of(scenario), None, list(policies), options), shards, out, retries)


class _Part:
    """Runs one shard on a worker, and returns its files."""

    def __init__(self, kind: str, scenario: Any, keys: Any, policies: list[Any], options: dict[str, Any]) -> None:
        self.kind, self.scenario, self.keys, self.policies, self.options = kind, scenario, keys, policies, options

    def __call__(self, shard: str) -> dict[str, bytes]:
        with tempfile.TemporaryDirectory(prefix="mario-part-") as directory:
            out = Path(directory) / "part"
            options = {"jobs": 1, "progress": False, **self.options, "shard": shard, "out": out}
            if self.kind == "sweep":
                sweep_here(self.scenario, self.keys, self.policies, **options)
            else:
                compare_here(self.scenario, self.policies, **options)
            return {name: (out / name).read_bytes() for name in _FILES}


def _distribute(
    client: distributed.Client, part: _Part, shards: int | None, out: str | os.PathLike[str] | None, retries: int
) -> Any:
    from distributed import as_completed

    threads = sum(client.nthreads().values())
    count = whole("shards", shards, 1) or max(1, 4 * threads)
    with tempfile.TemporaryDirectory(prefix="mario-parts-") as temporary:
        parts = Path(temporary) if out is None else Path(f"{os.fspath(out)}.parts")
        places = {f"{number}/{count}": parts / f"part-{number}-of-{count}" for number in range(1, count + 1)}
        missing = [shard for shard, place in places.items() if not place.exists()]
        futures = {client.submit(part, shard, retries=retries, pure=False): shard for shard in missing}
        failed: dict[str, BaseException] = {}
        try:
            for future in as_completed(futures):
                error = future.exception()
                if error is None:
                    _keep(places[futures[future]], future.result())
                else:
                    failed[futures[future]] = error
        except BaseException:
            client.cancel(list(futures))
            raise
        if failed:
            first, why = next(iter(failed.items()))
            kept = "" if out is None else f"; those that are done are kept in {parts}, and the same call makes the others"
            message = f"{len(failed)} of {count} parts could not be made, the first of them {first}: {why!r}{kept}"
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
