"""Makes sure that Ctrl-C is not lost while another library works."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any


class Interrupts:
    """Remembers Ctrl-C, so that :meth:`check` can raise it again.

    Python drops an exception that is raised in a finaliser or in a callback of the garbage collector, and with it a
    ``KeyboardInterrupt``. Dask has such a callback.
    """

    def __init__(self) -> None:
        self._is_requested = False
        self._former: Any = None

    def __enter__(self) -> Interrupts:
        # Only the main thread may set a handler, and only Python's default handler is replaced.
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._former = signal.signal(signal.SIGINT, self._request)
        return self

    def __exit__(self, *_: object) -> None:
        if self._former is not None:
            signal.signal(signal.SIGINT, self._former)

    def _request(self, number: int, frame: FrameType | None) -> None:
        self._is_requested = True
        signal.default_int_handler(number, frame)

    def check(self) -> None:
        """Raises ``KeyboardInterrupt`` if Ctrl-C was pressed since this was entered."""
        if self._is_requested:
            raise KeyboardInterrupt
