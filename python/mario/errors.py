"""What goes wrong, with the text and the places that the command line shows."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """What could not be done. ``str(error)`` is what the command line prints.

    ``diagnostics`` has a dictionary for each problem: ``title``, ``causes``, ``hints``, and where the problem is in a text,
    ``file``, ``line`` and ``column``.
    """

    def __init__(self, message: str, diagnostics: list[dict[str, Any]] | None = None) -> None:
        super().__init__(message)
        self.diagnostics: list[dict[str, Any]] = diagnostics or []

    def __reduce__(self) -> tuple[Any, ...]:
        # So that an exception of a worker reaches who waits for it with all it has.
        return type(self), (str(self), self.diagnostics)


class InputError(Error, ValueError):
    """The input is at fault: an argument, a file, a scenario or a policy."""


class EnvironmentError(Error, OSError):  # noqa: A001 - the counterpart of InputError, as the exit codes have them
    """The environment is at fault: permissions, a full disk."""

    def __init__(self, message: str, diagnostics: list[dict[str, Any]] | None = None) -> None:
        OSError.__init__(self, message)
        self.diagnostics = diagnostics or []


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended it. What was done is kept, and the text says how to go on."""

    def __init__(self, message: str, diagnostics: list[dict[str, Any]] | None = None) -> None:
        super().__init__(message)
        self.diagnostics: list[dict[str, Any]] = diagnostics or []


class ShardError(Error):
    """Some parts of a sweep could not be made. ``failed`` has the exception of each, by its part."""

    def __init__(self, message: str, failed: dict[str, BaseException]) -> None:
        super().__init__(message)
        self.failed = failed

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.failed)


class PolicyWarning(UserWarning):
    """Something in a policy looks wrong, and does not keep it from being run."""
