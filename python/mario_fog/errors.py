"""Exceptions, with the text and the positions that the command line shows, and hints for Python."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """The base class of all failures. ``str(error)`` is what the command line prints, with hints for Python.

    ``diagnostics`` has a dictionary for each problem: ``title``, ``causes``, ``hints``, and for a problem in a text also
    ``file``, ``line`` and ``column``.
    """

    def __init__(self, message: str, diagnostics: list[dict[str, Any]] | None = None) -> None:
        super().__init__(message)
        self.diagnostics: list[dict[str, Any]] = diagnostics or []

    def __reduce__(self) -> tuple[Any, ...]:
        # So that an exception of a worker process can be pickled with its diagnostics.
        return type(self), (str(self), self.diagnostics)


class InputError(Error, ValueError):
    """The input is at fault: an argument, a file, a scenario or a policy."""


class EnvironmentError(Error, OSError):  # noqa: A001 - the counterpart of InputError, as the exit codes have them
    """The environment is at fault: permissions, a full disk."""

    def __init__(self, message: str, diagnostics: list[dict[str, Any]] | None = None) -> None:
        OSError.__init__(self, message)
        self.diagnostics = diagnostics or []


class Interrupted(KeyboardInterrupt):
    """Interrupted by Ctrl-C. With ``out``, the results so far are kept, and the text says how to resume."""

    def __init__(self, message: str, diagnostics: list[dict[str, Any]] | None = None) -> None:
        super().__init__(message)
        self.diagnostics: list[dict[str, Any]] = diagnostics or []


class ShardError(Error):
    """Some shards of a sweep failed. ``failed`` has the exception of each, by its shard."""

    def __init__(self, message: str, failed: dict[str, BaseException]) -> None:
        super().__init__(message)
        self.failed = failed

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.failed)


class PolicyWarning(UserWarning):
    """A likely mistake in a policy that can still be run, or a policy that failed during a run."""
