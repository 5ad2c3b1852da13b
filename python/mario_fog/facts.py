"""The facts of an agent, as Python values and as Prolog text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Union

from ._mario import fact_predicates

Constant = Union[str, int, float]

#: The predicates that agents may see, with the numbers of their arguments.
_PREDICATES = fact_predicates()


class Facts(dict):
    """The facts of one agent: a dictionary from the name of a predicate to its facts, each a tuple.

    A name is a ``str``, a number an ``int`` or a ``float``, and unbounded hardware is ``math.inf``. The properties give
    access to the facts that nearly all policies read.
    """

    def __init__(self, facts: Mapping[str, Iterable[tuple]] | None = None, instance: Constant | None = None) -> None:
        super().__init__(facts or {})
        self._instance = instance

    @property
    def instance(self) -> Constant:
        """The instance whose agent decides."""
        if self._instance is not None:
            return self._instance
        (only,) = {row[0] for row in self["serviceInstance"]}
        return only

    @property
    def application(self) -> Constant:
        """The application of the instance."""
        return next(row[1] for row in self["serviceInstance"] if row[0] == self.instance)

    @property
    def node(self) -> Constant:
        """The node that the instance is on."""
        return next(row[2] for row in self["serviceInstance"] if row[0] == self.instance)

    @property
    def free(self) -> float:
        """The free hardware of the node."""
        return next(row[1] for row in self["node"] if row[0] == self.node)

    @property
    def neighbours(self) -> list[Constant]:
        """The neighbours of the node."""
        return next((row[2] for row in self["node"] if row[0] == self.node and len(row) == 3), [])

    @property
    def requests(self) -> list[tuple[Constant, float, float]]:
        """Client requests of the last period: the neighbour they came through, or ``self``; their rate, and their latency."""
        return [row[1:] for row in self.get("requests", ()) if row[0] == self.instance]

    @property
    def inhibited(self) -> set[tuple[str, Constant]]:
        """The inhibited operations that the agent remembers: operation and target."""
        return {(row[0], row[2]) for row in self.get("inhibited", ()) if row[1] == self.instance}

    @property
    def hardware(self) -> float:
        """The hardware that an instance of the application needs."""
        return self._service()[1]

    @property
    def max_rate(self) -> float:
        """The rate that an instance of the application handles."""
        return self._service()[2]

    @property
    def max_latency(self) -> float:
        """The latency that the application tolerates."""
        return self._service()[3]

    def _service(self) -> tuple:
        return next(row for row in self["service"] if row[0] == self.application)


def text(facts: str | Mapping[str, Iterable[tuple]]) -> str:
    """Facts as Prolog text. A text is returned unchanged."""
    if isinstance(facts, str):
        return facts
    if not isinstance(facts, Mapping):
        raise TypeError(f"facts are a dict of tuples or a text, and not {type(facts).__name__}")
    lines = []
    for name, rows in facts.items():
        arities = _PREDICATES.get(name)
        if arities is None:
            raise ValueError(f"there are no facts `{name}`; there are {', '.join(_PREDICATES)}")
        if not isinstance(rows, Iterable):
            raise TypeError(f"the facts of `{name}` are a list of tuples, and not {rows!r}")
        for row in rows:
            if not isinstance(row, (tuple, list)):
                raise TypeError(f"a fact of `{name}` is a tuple, and not {row!r}")
            if len(row) not in arities:
                wanted = " or ".join(str(arity) for arity in arities)
                raise ValueError(f"a fact of `{name}` has {wanted} values, and {row!r} has {len(row)}")
            lines.append(f"{name}({', '.join(_constant(value) for value in row)}).\n")
    return "".join(lines)


def _constant(value: Any) -> str:
    if isinstance(value, bool):
        raise TypeError(f"a fact has names and numbers, and not {value!r}")
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
        return f"'{escaped}'"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        if math.isnan(value) or value == -math.inf:
            raise ValueError(f"a fact has finite numbers and inf, and not {value!r}")
        return "inf" if value == math.inf else _float(value)
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(_constant(one) for one in value)}]"
    if hasattr(value, "tolist"):  # a number or an array of numpy
        return _constant(value.tolist())
    raise TypeError(f"a fact has names and numbers, and not {value!r}")


def _float(value: float) -> str:
    # Prolog requires digits on both sides of the decimal point, even before an exponent.
    digits = repr(float(value))
    if "." not in digits:
        mantissa, _, exponent = digits.partition("e")
        return f"{mantissa}.0e{exponent}" if exponent else f"{mantissa}.0"
    return digits
