"""The clock of one table: every decision has so much time from the moment at which it was published."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextvars import Context
from typing import Protocol

from rummy500_server.player import Player
from rummy500_server.translate.views import ClockFace


class Handle(Protocol):
    def cancel(self) -> None: ...

    def when(self) -> float: ...


class Timer(Protocol):
    """Whoever knows the time, in seconds, and calls when it has come. Tests bring their own."""

    def time(self) -> float: ...

    def call_at(self, when: float, callback: Callable[[], None], /) -> Handle: ...


class LoopTimer:
    """The time of the running loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    def time(self) -> float:
        return self._loop.time()

    def call_at(self, when: float, callback: Callable[[], None], /) -> Handle:
        return self._loop.call_at(when, callback, context=Context())


class TurnClock:
    """Rings when a deadline may be over. It is set once and looks again when it rings, so that a decision costs nothing
    but noting its deadline."""

    def __init__(self, limit_ms: int, on_ring: Callable[[], None], timer: Timer) -> None:
        self.limit_ms = limit_ms
        self._on_ring = on_ring
        self._loop = timer
        self._timer: Handle | None = None

    def now(self) -> float:
        return self._loop.time()

    def begin(self, player: Player, sequence: int, *, deadline: float | None = None) -> None:
        """The decision about this sequence has been published."""
        player.asked, player.asked_at = sequence, self._loop.time()
        player.deadline = player.asked_at + self.limit_ms / 1000 if deadline is None else deadline

    def arm(self, deadlines: Sequence[float]) -> None:
        """Rings at the first of these."""
        if not deadlines:
            return
        deadline = min(deadlines)
        if self._timer is not None and self._timer.when() > deadline:
            self.stop()
        if self._timer is None:
            self._timer = self._loop.call_at(deadline, self._ring)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def spent_ms(self, player: Player) -> int:
        return max(0, round((self._loop.time() - player.asked_at) * 1000))

    def overrun_ms(self, player: Player) -> int:
        """By how much the decision is late, at least 1."""
        return max(1, round((self._loop.time() - player.deadline) * 1000))

    def face(self, player: Player, finished_turns: Sequence[int]) -> ClockFace:
        left = max(0, round((player.deadline - self._loop.time()) * 1000))
        return ClockFace(left, round(time.time() * 1000) + left, tuple(finished_turns))

    def _ring(self) -> None:
        self._timer = None
        self._on_ring()
