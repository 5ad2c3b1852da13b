"""Scenarios: names, files, texts, dictionaries and graphs."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from . import _mario
from .policy import Choices, PolicyLike

if TYPE_CHECKING:
    import networkx

Settings = Mapping[str, Any]

#: Every form in which a scenario can be given.
ScenarioLike = Union[str, "os.PathLike[str]", Settings, "Scenario", "networkx.Graph"]


class Scenario:
    """A scenario, as described by a scenario file.

    ``Scenario("paper")`` is one that ships, ``Scenario("city.toml")`` a file, and ``Scenario({...})`` a dictionary with the
    keys of scenario files. Files are read by the constructor; the content is checked when it is used.
    """

    def __init__(self, scenario: str | os.PathLike[str] | Settings) -> None:
        self._given: tuple[str, str | None]
        if isinstance(scenario, Mapping):
            self._given = ("scenario.toml", _toml(scenario))
        elif isinstance(scenario, (str, os.PathLike)):
            self._given = (os.fspath(scenario), None)
        else:
            raise TypeError(f"a scenario is a name, a path, a dict or a graph, and not {type(scenario).__name__}")
        self._overrides: list[str] = []
        self._loaded = self._load()

    @classmethod
    def from_text(cls, text: str, *, path: str | os.PathLike[str] = "scenario.toml") -> Scenario:
        """A scenario from TOML text. Paths in it are relative to the directory of ``path``, which messages name."""
        if not isinstance(text, str):
            raise TypeError(f"a text of TOML is wanted, and not {type(text).__name__}")
        return cls._restored((os.fspath(path), text), [])

    @classmethod
    def from_networkx(cls, graph: networkx.Graph, settings: Settings | None = None) -> Scenario:
        """A scenario whose infrastructure is a networkx graph; ``settings`` are the other keys.

        Attributes of nodes and edges are those of topology files: ``docs/topologies.md`` lists them.
        """
        import networkx

        if not isinstance(graph, networkx.Graph):
            raise TypeError(f"a graph of networkx is wanted, and not {type(graph).__name__}")
        settings = dict(settings or {})
        if not isinstance(settings.get("topology", {}), Mapping):
            raise TypeError(f"`topology` is a dict of keys, and not {settings['topology']!r}")
        if "file" in settings.get("topology", {}):
            raise ValueError("the graph is the topology: omit `topology.file`")
        try:
            content = json.dumps(networkx.node_link_data(graph, edges="links"), default=_plain, allow_nan=False)
        except ValueError as error:
            raise ValueError(f"an attribute of the graph cannot be written: {error}") from None
        settings["topology"] = {**settings.get("topology", {}), "kind": "file", "file": "graph.json"}
        settings["files"] = {**settings.get("files", {}), "graph.json": content}
        return cls(settings)

    def set(self, settings: Settings) -> Scenario:
        """Returns the scenario with some keys overridden, e.g. ``{"topology.size": 16}``."""
        return self._restored(self._given, [*self._overrides, *overrides(settings)])

    def settings(self) -> dict[str, Any]:
        """All settings, with defaults filled in. Raises :class:`InputError` with all mistakes and their positions."""
        return json.loads(self._loaded.resolved(self._overrides, [], None, {})[0])

    def check(self, policy: PolicyLike | Mapping[str, PolicyLike] | None = None) -> list[str]:
        """Checks that the scenario can be run. Returns notes for its author."""
        choices = Choices()
        choices.choose(policy)
        return self._loaded.check(self._overrides, choices.words, choices.files, choices.functions)

    def cost(self) -> str:
        """An estimate of the cost of a run."""
        return self._loaded.resolved(self._overrides, [], None, {})[2]

    def __repr__(self) -> str:
        return f"<mario_fog.Scenario {self._given[0]}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Scenario._restored, (self._given, self._overrides)

    @classmethod
    def _restored(cls, given: tuple[str, str | None], changed: list[str]) -> Scenario:
        scenario = cls.__new__(cls)
        scenario._given, scenario._overrides = given, changed
        scenario._loaded = scenario._load()
        return scenario

    def _load(self) -> _mario.ScenarioText:
        name, text = self._given
        return _mario.ScenarioText.open(name) if text is None else _mario.ScenarioText.read(name, text)


def scenario_of(given: ScenarioLike) -> Scenario:
    """Converts any form of a scenario to a :class:`Scenario`."""
    if isinstance(given, Scenario):
        return given
    if hasattr(given, "nodes") and hasattr(given, "edges"):
        return Scenario.from_networkx(given)
    return Scenario(given)


def overrides(settings: Settings | None) -> list[str]:
    """Settings in the form of ``--set``."""
    if settings is None:
        return []
    if not isinstance(settings, Mapping):
        raise TypeError(f"`set` is a dict of keys and values, and not {type(settings).__name__}")
    for key in settings:
        if not isinstance(key, str) or not key or "=" in key:
            raise TypeError(f"a key of `set` is a path such as 'workload.period', and not {key!r}")
    return [f"{key}={value(given)}" for key, given in settings.items()]


def value(given: Any) -> str:
    """A value in TOML. Plain words need no quotes, as on the command line."""
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, int):
        return str(int(given))
    if isinstance(given, float):
        # Not `repr(given)`: a `numpy.float64` is a float with another representation.
        return repr(float(given))
    if isinstance(given, os.PathLike):
        given = os.fspath(given)
    if isinstance(given, str):
        is_word = re.fullmatch(r"[A-Za-z_][\w./:-]*", given) and given not in ("true", "false", "inf", "nan")
        return given if is_word else json.dumps(given)
    if isinstance(given, Mapping):
        return "{" + ", ".join(f"{key} = {_inner(one)}" for key, one in given.items()) + "}"
    if isinstance(given, (list, tuple)):
        return "[" + ", ".join(_inner(one) for one in given) + "]"
    if hasattr(given, "tolist"):  # a number or an array of numpy
        return value(given.tolist())
    raise TypeError(f"a value is a number, a text, a bool, a list or a dict, and not {given!r}")


def _inner(given: Any) -> str:
    # Inside lists and tables, words need quotes.
    return json.dumps(os.fspath(given)) if isinstance(given, (str, os.PathLike)) else value(given)


def _toml(settings: Settings) -> str:
    _refuse_none(settings, "")
    return _mario.ScenarioText.toml(json.dumps(settings, default=_plain, allow_nan=False))


def _plain(given: Any) -> Any:
    """Converts a path or a value of numpy to one that JSON can represent."""
    if isinstance(given, os.PathLike):
        return os.fspath(given)
    if hasattr(given, "tolist"):  # a number or an array of numpy
        return given.tolist()
    raise TypeError(f"scenarios and graphs have numbers, texts, lists and dicts, and not {given!r}")


def _refuse_none(given: Any, path: str) -> None:
    if given is None:
        raise ValueError(f"`{path.lstrip('.')}` is None: omit the key for its default")
    if isinstance(given, Mapping):
        for key, inner in given.items():
            if not isinstance(key, str):
                raise TypeError(f"a key of a scenario is a str, and not {key!r}")
            _refuse_none(inner, f"{path}.{key}")
    elif isinstance(given, (list, tuple)):
        for position, inner in enumerate(given):
            _refuse_none(inner, f"{path}[{position}]")


def directory_of(path: str | os.PathLike[str] | None) -> Path | None:
    """Converts to a ``Path``; ``None`` stays ``None``."""
    return None if path is None else Path(path)
