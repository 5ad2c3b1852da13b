"""Single runs."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, TypeVar

from . import _mario
from .arguments import THREADS_MAX, whole
from .errors import InputError
from .operations import OPERATIONS
from .policy import Choices, PolicyLike
from .progress import Progress, ProgressLike
from .scenario import ScenarioLike, Settings, overrides, scenario_of

_Made = TypeVar("_Made")

#: For each table of a run, the columns with texts and those with integers; all others are floating-point numbers.
_TABLES: dict[str, tuple[list[str], list[str]]] = {
    "operations": ([], ["nop", "inhibited", *OPERATIONS]),
    "moves": (["instance", "app", "action"], []),
    "handovers": (["user", "from", "to"], []),
    "messages": (["user", "instance"], []),
}


class Run:
    """A stored run: of :func:`run`, of ``mario run``, or of ``mario live``."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        #: Notes about the scenario.
        self.notes: list[str] = []
        if not (self.directory / "trace.jsonl").exists():
            raise InputError(f"error: `{self.directory}` holds no run: it has no trace.jsonl")

    @property
    def is_complete(self) -> bool:
        """Whether the run is complete."""
        return not (self.directory / "PARTIAL").exists()

    @property
    def summary(self) -> dict[str, Any]:
        """The content of ``summary.json``."""
        return self._json("summary.json")

    @property
    def measures(self) -> dict[str, Any] | None:
        """The content of ``measures.json``; ``None`` unless the scenario enables measures."""
        return self._json("measures.json") if (self.directory / "measures.json").exists() else None

    @property
    def settings(self) -> dict[str, Any]:
        """The scenario with all defaults filled in."""
        return self._json("run.json")["scenario"]

    @property
    def trace(self) -> Path:
        """The path of the trace: a header and all events of the run, one JSON value per line."""
        return self.directory / "trace.jsonl"

    def records(self, kind: str | None = None) -> Iterator[Any]:
        """The lines of the trace as Python values: the header, a dict, and then records, which are lists.

        With a kind such as ``"cycle"``, the first element of a record, only the records of this kind.
        """
        with self.trace.open(encoding="utf-8") as lines:
            for line in lines:
                record = json.loads(line)
                if kind is None or (isinstance(record, list) and record[:1] == [kind]):
                    yield record

    @property
    def operations(self) -> _mario.Table:
        """The number of operations of each kind at each activation of the managers."""
        return self.table("operations")

    @property
    def moves(self) -> _mario.Table:
        """The outcome of each judged agent; missing with ``trace="summary"``."""
        return self.table("moves")

    @property
    def handovers(self) -> _mario.Table:
        """Each change of a user's access point; missing with ``trace="summary"``."""
        return self.table("handovers")

    @property
    def messages(self) -> _mario.Table:
        """Each client request that was served; only with ``messages=True``."""
        return self.table("messages")

    def table(self, name: str) -> _mario.Table:
        """The table of this name, for pandas, polars, pyarrow and other libraries that read Arrow columns."""
        if name not in _TABLES:
            raise KeyError(f"there is no table `{name}`; there are {', '.join(_TABLES)}")
        if not (self.directory / f"{name}.csv").exists():
            why = ": it is written with `messages=True`" if name == "messages" else ': it is missing with `trace="summary"`'
            raise InputError(f"error: `{self.directory}` has no {name}.csv{why if self.is_complete else ''}")
        return _mario.Table.read_csv(self.directory / f"{name}.csv", *_TABLES[name])

    def save(self, directory: str | os.PathLike[str]) -> Run:
        """Copies the run to a directory, which must not exist."""
        shutil.copytree(self.directory, directory)
        return Run(directory)

    def _repr_html_(self) -> str:
        """What a notebook shows: the figures of each group of applications."""
        title = f"<p><code>{escape(str(self.directory))}</code></p>"
        if not self.is_complete:
            return f"{title}<p>not complete</p>"
        groups = self.summary["groups"]
        figures = [name for name, value in groups[0].items() if not isinstance(value, (dict, list))] if groups else []
        head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in figures)
        rows = "".join(f"<tr>{''.join(f'<td>{_shown(group.get(name))}</td>' for name in figures)}</tr>" for group in groups)
        return f"{title}<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"

    def __repr__(self) -> str:
        state = "" if self.is_complete else ", not complete"
        return f"<mario_fog.Run in {self.directory}{state}>"

    def _json(self, name: str) -> dict[str, Any]:
        path = self.directory / name
        if not path.exists():
            why = "" if self.is_complete else ": the run is not complete"
            raise InputError(f"error: `{self.directory}` has no {name}{why}")
        return json.loads(path.read_text(encoding="utf-8"))


def _shown(figure: Any) -> str:
    if figure is None:
        return "n/a"
    return f"{figure:.4g}" if isinstance(figure, float) else escape(str(figure))


def run(
    scenario: ScenarioLike,
    *,
    policy: PolicyLike | Mapping[str, PolicyLike] | None = None,
    seed: int | None = None,
    set: Settings | None = None,  # noqa: A002 - the name of the option of the command line
    budget: int | None = None,
    attachments: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    trace: str = "full",
    messages: bool = False,
    threads: int = 1,
    reuse: bool = True,
    regret: bool = False,
    checkpoint_every: str | float = 60,
    progress: ProgressLike = None,
) -> Run:
    """Runs a scenario in the simulator, with the same output as ``mario run``, byte for byte.

    The policy is a name, a path, a :class:`Policy`, a function of :class:`Facts`, or a dictionary of these by application.
    ``set`` overrides keys of the scenario. Without ``out``, the run is in a temporary directory, which is removed with the
    :class:`Run` object; :meth:`Run.save` keeps it.

    Ctrl-C writes a checkpoint and raises :class:`Interrupted`; with ``out``, :func:`resume` resumes the run.
    """
    given = scenario_of(scenario)
    choices = Choices()
    choices.choose(policy)

    def make(directory: Path) -> list[str]:
        with Progress(progress, "run", " time") as shown:
            return _mario.run(
                given._loaded,
                directory,
                overrides=[*given._overrides, *overrides(set)],
                choices=choices.words,
                seed=whole("seed", seed),
                budget=whole("budget", budget, 1),
                attachments=None if attachments is None else os.fspath(attachments),
                files=choices.files,
                functions=choices.functions,
                force=force,
                trace=trace,
                messages=messages,
                threads=whole("threads", threads, 1, THREADS_MAX),
                reuse=reuse,
                regret=regret,
                checkpoint_every=str(checkpoint_every),
                progress=shown.function,
            )

    made, notes = into_directory(out, make)
    made.notes = notes
    return made


def into_directory(out: str | os.PathLike[str] | None, make: Callable[[Path], _Made]) -> tuple[Run, _Made]:
    """Calls a function that stores a run in a directory, and returns the run with what the function returns.

    Without ``out``, the directory is temporary, and removed with the run.
    """
    temporary = None
    if out is None:
        out = temporary = tempfile.mkdtemp(prefix="mario-")
    directory = Path(out)
    try:
        told = make(directory)
    except BaseException:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
        raise
    made = Run(directory)
    if temporary is not None:
        weakref.finalize(made, shutil.rmtree, temporary, ignore_errors=True)
    return made, told


def resume(
    directory: str | os.PathLike[str],
    *,
    threads: int = 1,
    checkpoint_every: str | float = 60,
    progress: ProgressLike = None,
) -> Run:
    """Resumes the run in a directory from its last checkpoint. The output is the same as without the interruption."""
    with Progress(progress, "run", " time") as shown:
        _mario.resume(
            Path(directory),
            threads=whole("threads", threads, 1, THREADS_MAX),
            checkpoint_every=str(checkpoint_every),
            progress=shown.function,
        )
    return Run(directory)
