"""Arguments, checked with words that name them."""

from __future__ import annotations

from typing import Any


def whole(name: str, given: Any, least: int = 0) -> Any:
    """A whole number of at least ``least``, or ``None``; anything else is an exception that names it."""
    if given is None:
        return None
    if isinstance(given, bool) or not hasattr(given, "__index__"):
        raise TypeError(f"`{name}` is a whole number, and not {given!r}")
    if not least <= given.__index__() < 2**64:
        raise ValueError(f"`{name}` is a whole number from {least} to 2^64 - 1, and not {given}")
    return given.__index__()
