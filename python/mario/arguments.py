"""Checks arguments; errors name the argument."""

from __future__ import annotations

from typing import Any


def whole(name: str, given: Any, least: int = 0) -> Any:
    """Returns an integer of at least ``least``, or ``None``; anything else raises an exception that names the argument."""
    if given is None:
        return None
    if isinstance(given, bool) or not hasattr(given, "__index__"):
        raise TypeError(f"`{name}` is a whole number, and not {given!r}")
    if not least <= given.__index__() < 2**64:
        raise ValueError(f"`{name}` is a whole number from {least} to 2^64 - 1, and not {given}")
    return given.__index__()
