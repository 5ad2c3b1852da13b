"""Progress bars, in notebooks and on terminals."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Union

ProgressLike = Union[None, bool, Callable[[float, float], Any]]


class Progress:
    """Reports progress: with a tqdm bar if tqdm is installed, or with a function of the caller."""

    def __init__(self, wanted: ProgressLike, what: str, unit: str) -> None:
        if wanted is not None and not isinstance(wanted, bool) and not callable(wanted):
            raise TypeError(f"progress is True, False or a function of done and total, and not {wanted!r}")
        self._what = what
        self._unit = unit
        self._bar: Any = None
        self.function: Callable[[float, float], Any] | None = None
        if callable(wanted):
            self.function = wanted
        elif wanted or (wanted is None and _is_watched()):
            self.function = self._show

    def _show(self, done: float, total: float) -> None:
        if self._bar is None:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                self.function = None
                return
            self._bar = tqdm(total=round(total), desc=self._what, unit=self._unit, leave=False)
        self._bar.update(round(done) - self._bar.n)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()


def _is_watched() -> bool:
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())
