"""The clock of one table: every decision has so much time from the moment at which it was published."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextvars import Context

from rummy500_server.player import Player
from rummy500_server.translate.views import ClockFace


class TurnClock:
    """Rings when a deadline may be over. It is set once and looks again when it rings, so that a decision costs nothing
    but noting its deadline."""

    def __init__(self, limit_ms: int, on_ring: Callable[[], None]) -> None:
        self.limit_ms = limit_ms
        self._on_ring = on_ring
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None

    def now(self) -> float:
        return self._loop.time()

    def begin(self, player: Player, sequence: int, *, limit_ms: int) -> None:
        """The decision about this sequence has been published."""
        player.asked, player.asked_at = sequence, self._loop.time()
        player.deadline = player.asked_at + limit_ms / 1000

    def arm(self, players: Sequence[Player]) -> None:
        """Rings when the first of these has no time left."""
        if not players:
            return
        deadline = min([player.deadline for player in players])
        if self._timer is not None and self._timer.when() > deadline:
            self.stop()
        if self._timer is None:
            self._timer = self._loop.call_at(deadline, self._ring, context=Context())

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
