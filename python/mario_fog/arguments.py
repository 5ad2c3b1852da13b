"""Checks arguments; errors name the argument."""

from __future__ import annotations

import math
from typing import Any

#: The largest number of threads, as on the command line. Each has memory of its own, so a mistyped number would end the process.
THREADS_MAX = 1024


def whole(name: str, given: Any, least: int = 0, most: int = 2**63 - 1) -> Any:
    """Returns an integer from ``least`` to ``most``, or ``None``; anything else raises an exception that names the argument."""
    if given is None:
        return None
    if isinstance(given, bool) or not hasattr(given, "__index__"):
        raise TypeError(f"`{name}` is a whole number, and not {given!r}")
    if not least <= given.__index__() <= most:
        bound = "2^63 - 1" if most == 2**63 - 1 else most
        raise ValueError(f"`{name}` is a whole number from {least} to {bound}, and not {given}")
    return given.__index__()


def moment(name: str, given: Any) -> float:
    """Returns a simulation time in milliseconds; anything else raises an exception that names the argument."""
    if isinstance(given, (bool, str)) or not hasattr(given, "__float__"):
        raise TypeError(f"`{name}` is a time in milliseconds, and not {given!r}")
    if not math.isfinite(given) or given < 0:
        raise ValueError(f"`{name}` is a finite time in milliseconds that is not negative, and not {given}")
    return float(given)
