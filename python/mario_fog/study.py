"""Many runs: comparisons, sweeps, and their parts."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Union

from . import _mario
from .arguments import THREADS_MAX, whole
from .policy import Choices, FunctionPolicy, Policy, PolicyLike, source
from .progress import Progress, ProgressLike
from .run import Run
from .scenario import ScenarioLike, Settings, directory_of, overrides, scenario_of, value

#: A user-defined metric: a function of a run that returns a number, or a command that is passed the directory of a run.
MetricLike = Union[str, Callable[[Run], float]]

#: A policy of a study; a tuple adds overrides of scenario keys for it.
ContenderLike = Union[PolicyLike, tuple[PolicyLike, Settings]]

_RUNS = (["variant", "policy"], ["seed"])
_SWEEP = (["variant", "policy", "figure"], ["seeds"])
_COMPARISON = (["first", "second", "figure", "outcome", "verdict"], ["seeds"])


class Study:
    """The runs of a comparison or a sweep."""

    def __init__(self, told: tuple[str, str, str, str, int, list[str]], directory: Path | None) -> None:
        document, self._runs, self._results, self.text, self.missing, self.notes = told
        #: The content of ``comparison.json`` or ``sweep.json``.
        self.results: dict[str, Any] = json.loads(document)
        #: The directory of the runs, if they are stored.
        self.directory = directory

    @property
    def runs(self) -> _mario.Table:
        """The figures of each run: the content of ``runs.csv``."""
        return _mario.Table.parse_csv(self._runs, *_RUNS)

    @property
    def table(self) -> _mario.Table:
        """The results: the content of ``comparison.csv`` or ``sweep.csv``."""
        is_sweep = self._results.startswith("variant,")
        return _mario.Table.parse_csv(self._results, *(_SWEEP if is_sweep else _COMPARISON))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        missing = f", {self.missing} missing" if self.missing else ""
        return f"<mario_fog.{type(self).__name__} of {len(self.runs)} runs{missing}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the text that ``print`` shows."""
        return f"<pre>{escape(self.text)}</pre>"


class Comparison(Study):
    """How policies differ, and which differences are significant. ``print`` shows it as the command line does."""


class Sweep(Study):
    """How results depend on keys of the scenario. ``print`` shows it as the command line does."""


class _Metric:
    """A function of a run, and what distinguishes it from others of its name."""

    def __init__(self, name: str, function: Callable[[Run], float], identity: str) -> None:
        self._name, self._function, self.identity = name, function, identity

    def __call__(self, run: Run) -> float:
        return self._function(run)

    def measure(self, directory: str) -> float:
        """The number for the run in a directory."""
        number = self._function(Run(directory))
        try:
            value = math.nan if isinstance(number, bool) else float(number)
        except (TypeError, ValueError):
            value = math.nan
        if not math.isfinite(value):
            raise TypeError(f"the metric `{self._name}` returned {number!r}, where one number is expected")
        return value


def compare(
    scenario: ScenarioLike,
    policies: Iterable[ContenderLike],
    *,
    seeds: int = 30,
    seed: int | None = None,
    set: Settings | None = None,  # noqa: A002 - the name of the option of the command line
    attachments: str | os.PathLike[str] | None = None,
    metrics: Mapping[str, MetricLike] | None = None,
    metric_timeout: float = 60,
    figures: Sequence[str] = (),
    keep_runs: Sequence[int] = (),
    jobs: int | None = None,
    shard: str | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: ProgressLike = None,
) -> Comparison:
    """Tests which policy is better for a scenario, and whether the difference is significant, as ``mario compare`` does.

    A policy may be a tuple of a policy and overrides of scenario keys for it. ``metrics`` are functions of a :class:`Run`
    that return a number, or commands. ``figures`` are the primary outcomes, such as ``["LS.response", "lost"]``: only their tests
    are corrected for multiple testing, and all other figures are exploratory. With ``out``, everything is stored, and another
    call makes only the missing runs.
    ``shard="2/8"`` makes only one shard of the runs, in a directory of its own; :func:`merge` merges the shards.
    """
    told = _study(
        scenario,
        policies,
        None,
        seeds,
        seed,
        set,
        attachments,
        metrics,
        metric_timeout,
        figures,
        keep_runs,
        jobs,
        shard,
        out,
        progress,
    )
    return Comparison(told, directory_of(out))


def sweep(
    scenario: ScenarioLike,
    keys: Mapping[str, Iterable[Any]],
    policies: Iterable[ContenderLike],
    *,
    seeds: int = 30,
    seed: int | None = None,
    set: Settings | None = None,  # noqa: A002 - the name of the option of the command line
    attachments: str | os.PathLike[str] | None = None,
    metrics: Mapping[str, MetricLike] | None = None,
    metric_timeout: float = 60,
    keep_runs: Sequence[int] = (),
    jobs: int | None = None,
    shard: str | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: ProgressLike = None,
) -> Sweep:
    """Runs a scenario with every combination of values of some keys, as ``mario sweep`` does.

    ``shard="2/8"`` makes only one shard of the runs, in a directory of its own; :func:`merge` merges the shards.
    """
    if not isinstance(keys, Mapping):
        raise TypeError(f"`keys` is a dict of keys and their values, and not {type(keys).__name__}")
    if not keys:
        raise ValueError("`keys` is empty: a sweep needs a key and its values; `mario.compare` needs none")
    words = []
    for key, values in keys.items():
        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
            raise TypeError(f"the values of `{key}` are a list, and not {values!r}")
        words.append(f"{key}={','.join(value(one) for one in values)}")
    told = _study(
        scenario,
        policies,
        words,
        seeds,
        seed,
        set,
        attachments,
        metrics,
        metric_timeout,
        (),
        keep_runs,
        jobs,
        shard,
        out,
        progress,
    )
    return Sweep(told, directory_of(out))


def merge(directories: Iterable[str | os.PathLike[str]], *, out: str | os.PathLike[str] | None = None) -> Comparison | Sweep:
    """Merges runs that were made separately, as ``mario merge`` does: the result is the same as that of one machine.

    ``missing`` of the result is the number of missing runs.
    """
    if isinstance(directories, (str, os.PathLike)):
        raise TypeError("`directories` is a list of directories")
    told = _mario.merge([Path(directory) for directory in directories], directory_of(out))
    is_sweep = told[2].startswith("variant,")
    return Sweep(told, directory_of(out)) if is_sweep else Comparison(told, directory_of(out))


def _study(
    scenario: ScenarioLike,
    policies: Iterable[ContenderLike],
    keys: list[str] | None,
    seeds: int,
    seed: int | None,
    changed: Settings | None,
    attachments: str | os.PathLike[str] | None,
    metrics: Mapping[str, MetricLike] | None,
    metric_timeout: float,
    figures: Sequence[str],
    keep_runs: Sequence[int],
    jobs: int | None,
    shard: str | None,
    out: str | os.PathLike[str] | None,
    progress: ProgressLike,
) -> tuple[str, str, str, str, int, list[str]]:
    if shard is not None and not isinstance(shard, str):
        raise TypeError(f"`shard` is a text such as '2/8', and not {shard!r}")
    if isinstance(figures, str) or not isinstance(figures, Iterable):
        raise TypeError(f"`figures` is a list of names such as 'LS.response', and not {figures!r}")
    if not isinstance(keep_runs, Iterable):
        raise TypeError(f"`keep_runs` is a list of seeds, and not {keep_runs!r}")
    if keep_runs and out is None:
        raise ValueError("runs are kept in `out`: name a directory")
    given = scenario_of(scenario)
    choices = Choices()
    contenders = [_contender(choices, policy) for policy in _listed(policies)]
    with Progress(progress, "runs", " runs") as shown:
        return _mario.study(
            given._loaded,
            contenders=contenders,
            keys=keys,
            seeds=whole("seeds", seeds, 1),
            seed=whole("seed", seed),
            overrides=[*given._overrides, *overrides(changed)],
            attachments=None if attachments is None else os.fspath(attachments),
            files=choices.files,
            functions=choices.functions,
            metrics=[_metric(name, metric) for name, metric in _named(metrics).items()],
            metric_timeout=metric_timeout,
            figures=list(figures),
            keep_runs=[whole("keep_runs", kept) for kept in keep_runs],
            jobs=whole("jobs", jobs, 1, THREADS_MAX) or os.cpu_count() or 1,
            shard=shard,
            out=directory_of(out),
            progress=shown.function,
        )


def settled(policies: Iterable[ContenderLike]) -> list[ContenderLike]:
    """The same policies with the sources of functions read, because another machine may not have them."""

    def ready(policy: ContenderLike) -> ContenderLike:
        if isinstance(policy, tuple):
            return (ready(policy[0]), *policy[1:])  # type: ignore[return-value]
        is_function = callable(policy) and not isinstance(policy, (Policy, FunctionPolicy))
        return FunctionPolicy(policy) if is_function else policy  # type: ignore[arg-type]

    return [ready(policy) for policy in _listed(policies)]


def settled_metrics(metrics: Mapping[str, MetricLike] | None) -> dict[str, MetricLike]:
    """The same metrics with the identities of functions computed, because another machine may not have their sources."""
    return {
        name: _Metric(name, metric, _identity(metric)) if callable(metric) else metric for name, metric in _named(metrics).items()
    }


def _named(metrics: Mapping[str, MetricLike] | None) -> Mapping[str, MetricLike]:
    if metrics is not None and not isinstance(metrics, Mapping):
        raise TypeError(f"`metrics` is a dict of names and functions, and not {type(metrics).__name__}")
    return metrics or {}


def _listed(policies: Iterable[ContenderLike]) -> list[ContenderLike]:
    if isinstance(policies, (str, os.PathLike, Mapping)) or callable(policies) or not isinstance(policies, Iterable):
        raise TypeError(f"`policies` is a list of policies, and not {policies!r}")
    return list(policies)


def _contender(choices: Choices, policy: ContenderLike) -> str:
    if isinstance(policy, tuple):
        if len(policy) != 2:
            raise TypeError(f"a policy with keys of its own is a tuple (policy, dict), and not {policy!r}")
        policy, changed = policy
        return f"{choices.word(policy)}@{','.join(overrides(changed))}"
    return choices.word(policy)


def _metric(name: str, metric: MetricLike) -> tuple[str, Any, str]:
    if not isinstance(name, str):
        raise TypeError(f"the name of a metric is a str, and not {name!r}")
    if isinstance(metric, str):
        return name, metric, ""
    if not callable(metric):
        raise TypeError(f"the metric `{name}` is a function of a run or a command, and not {metric!r}")
    ready = metric if isinstance(metric, _Metric) else _Metric(name, metric, _identity(metric))
    return name, ready.measure, ready.identity


def _identity(metric: Callable[[Run], float]) -> str:
    known = source(metric) or repr(getattr(metric, "__qualname__", type(metric).__qualname__))
    return f"python {known}"
