"""A timer that stands still until a test moves it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(eq=False, slots=True)
class SteppedHandle:
    due: float
    callback: Callable[[], None]
    is_cancelled: bool = False

    def cancel(self) -> None:
        self.is_cancelled = True
        self.callback = _nothing  # as the loop's: what it would have called is not kept for it


def _nothing() -> None:
    """What is cancelled does."""


class SteppedTimer:
    def __init__(self) -> None:
        self._now = 1_000.0
        self._handles: dict[int, SteppedHandle] = {}
        self._numbers = itertools.count()

    def time(self) -> float:
        return self._now

    def call_at(self, when: float, callback: Callable[[], None], /) -> SteppedHandle:
        handle = self._handles[next(self._numbers)] = SteppedHandle(when, callback)
        return handle

    def stop(self) -> None:
        self._handles.clear()

    def advance(self, seconds: float) -> None:
        """So much time goes by; whatever becomes due in it is called in turn."""
        end = self._now + seconds
        while True:
            due = [(handle.due, number) for number, handle in self._handles.items() if handle.due <= end]
            if not due:
                break
            when, number = min(due)
            handle = self._handles.pop(number)
            if not handle.is_cancelled:
                self._now = max(self._now, when)
                handle.callback()
        self._now = end
