"""Snapshots of stored runs, and their replay under another policy."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union

from . import _mario
from .arguments import moment
from .policy import Choices, PolicyLike
from .progress import Progress, ProgressLike
from .run import Run, into_directory
from .scenario import Scenario

#: Every form in which a stored run can be given: a run, its directory, or its trace.
RunLike = Union[Run, str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Snapshot:
    """The state of a run at a time, of :func:`snapshot`."""

    #: The scenario that starts from this state, as a scenario file. It needs no other file.
    text: str
    #: What the snapshot is, and what it lacks, line by line.
    about: list[str]
    #: Whether a run from this snapshot continues exactly as recorded, unless its policy is changed.
    is_exact: bool

    @property
    def scenario(self) -> Scenario:
        """The scenario that starts from this state."""
        return Scenario.from_text(self.text, path="snapshot.toml")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the scenario to a file, as ``mario snapshot --out`` does, and replaces an existing one."""
        Path(path).write_text(self.text, encoding="utf-8")
        return Path(path)


class Replay:
    """A run that continued a recorded one under another policy, of :func:`replay`. ``print`` shows both side by side."""

    def __init__(self, run: Run, snapshot: Snapshot, counts: dict[str, Any], table: str) -> None:
        #: The new run.
        self.run = run
        #: The state from which it continued.
        self.snapshot = snapshot
        #: What happened from then on in the recorded run: operations, evaluations, and client requests with their mean
        #: response time. In a live run, real clients measured these, so they are not comparable.
        self.recorded: dict[str, Any] = counts["recorded"]
        #: What happened in the new run instead.
        self.replayed: dict[str, Any] = counts["replayed"]
        self._table = table

    def __str__(self) -> str:
        return self._table

    def __repr__(self) -> str:
        return f"<mario_fog.Replay in {self.run.directory}>"


def snapshot(run: RunLike, at: float) -> Snapshot:
    """Returns the state of a stored run at a time in milliseconds, as a scenario that starts from it.

    For a simulated run in a directory, the snapshot is exact: the recorded past is simulated again and compared with the
    trace. For a live run, and for a trace alone, it has what the trace records, and ``about`` says what is missing.

    >>> import mario_fog as mario
    >>> run = mario.run("paper", policy="latency-aware", set={"duration": 4000})
    >>> snapshot = mario.snapshot(run, at=2000)
    >>> snapshot.is_exact
    True
    >>> again = mario.run(snapshot.scenario)
    >>> again.summary["groups"] == run.summary["groups"]
    True
    """
    return Snapshot(*_mario.snapshot(_path(run), moment("at", at)))


def replay(
    run: RunLike,
    until: float,
    policy: PolicyLike | Mapping[str, PolicyLike],
    *,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    progress: ProgressLike = None,
) -> Replay:
    """Continues a stored run from a time in milliseconds on under another policy, to the end of its scenario.

    The policy is given as for :func:`run`. Without ``out``, the new run is in a temporary directory, which is removed with
    the :class:`Run` object; :meth:`Run.save` keeps it.

    >>> import mario_fog as mario
    >>> run = mario.run("paper", policy="latency-aware", set={"duration": 4000})
    >>> replay = mario.replay(run, until=2000, policy="never-move")
    >>> replay.recorded["migrate"] > 0, replay.replayed["migrate"]
    (True, 0)
    """
    choices = Choices()
    choices.choose(policy)
    path, at = _path(run), moment("until", until)

    def make(directory: Path) -> tuple[tuple[str, list[str], bool], str, str]:
        with Progress(progress, "run", " time") as shown:
            return _mario.replay(
                path,
                at,
                directory,
                choices=choices.words,
                files=choices.files,
                functions=choices.functions,
                force=force,
                progress=shown.function,
            )

    made, (taken, counts, table) = into_directory(out, make)
    return Replay(made, Snapshot(*taken), json.loads(counts), table)


def _path(run: RunLike) -> Path:
    if isinstance(run, Run):
        return run.directory
    if isinstance(run, (str, os.PathLike)):
        return Path(run)
    raise TypeError(f"a stored run is a Run or a path, and not {type(run).__name__}")
