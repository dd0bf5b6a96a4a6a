"""The clock of one table: every decision has so much time from the moment at which it was published."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextvars import Context
from typing import NamedTuple, Protocol

from rummy500_server.player import Player
from rummy500_server.translate.views import ClockFace

BEAT = 0.02
"""Seconds; what the loop is held up for less than that may be charged to a player."""
MOST_WAITED = 1.0
"""Seconds that a request may wait in the server without being charged."""


class Handle(Protocol):
    def cancel(self) -> None: ...


class Timer(Protocol):
    """Whoever knows the time, in seconds, and calls when it has come. Tests bring their own."""

    def time(self) -> float: ...

    def call_at(self, when: float, callback: Callable[[], None], /) -> Handle: ...

    def stop(self) -> None:
        """Nobody asks for the time any more."""
        ...


class LoopTimer:
    """The time of the running loop, which stands still while the loop is held up: it is the server that is late then,
    and no player. `BEAT` seconds after the last time it goes on only when the loop has turned."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._held_up = 0.0
        self._set_beat(time.monotonic())

    def time(self) -> float:
        now = time.monotonic()  # the loop's own time may stand still during a turn
        return (now if now < self._beat_at else self._beat_at) - self._held_up

    def call_at(self, when: float, callback: Callable[[], None], /) -> Handle:
        return self._loop.call_later(when + self._held_up - time.monotonic(), callback, context=Context())

    def stop(self) -> None:
        self._heart.cancel()

    def _set_beat(self, now: float) -> None:
        self._beat_at = now + BEAT
        self._heart = self._loop.call_later(BEAT, self._beat, context=Context())

    def _beat(self) -> None:
        now = time.monotonic()
        self._held_up += max(0.0, now - self._beat_at)
        self._set_beat(now)


class Moment(NamedTuple):
    """`at` in the timer's seconds, and the same in milliseconds since 1970 UTC."""

    at: float
    unix_ms: int


def moment(timer: Timer) -> Moment:
    return Moment(timer.time(), round(time.time() * 1000))


class TurnClock:
    """Rings when a deadline may be over. It is set once and looks again when it rings, so that a decision costs nothing
    but noting its deadline."""

    def __init__(self, limit_ms: int, on_ring: Callable[[], None], timer: Timer) -> None:
        self.limit_ms = limit_ms
        self._on_ring = on_ring
        self._timer = timer
        self._ring_at = 0.0
        self._rings: Handle | None = None
        self._is_paused = False

    def now(self) -> float:
        return self._timer.time()

    def moment(self) -> Moment:
        return moment(self._timer)

    def begin(self, player: Player, sequence: int, *, more_ms: int = 0, deadline: float | None = None) -> None:
        """The decision about this sequence has been published; it has `more_ms` beyond the limit, or until a deadline
        that nothing moves."""
        player.asked, player.asked_at = sequence, self._timer.time()
        player.deadline = player.asked_at + (self.limit_ms + more_ms) / 1000 if deadline is None else deadline
        player.is_shown, player.has_grace = player.streams == 0, deadline is None

    def shown(self, player: Player, at: float, *, is_moved: bool) -> None:
        """The request was handed over to be sent at that moment: from then on the time runs, before it was the
        server's. What waited longer than `MOST_WAITED` waited for a reader that does not read."""
        player.is_shown = True
        waited = min(at - player.asked_at, MOST_WAITED)
        player.asked_at += waited
        if is_moved:
            player.deadline += waited

    def arm(self, deadlines: Sequence[float]) -> None:
        """Rings at the first of these."""
        if not deadlines or self._is_paused:
            return
        deadline = min(deadlines)
        if self._rings is not None and self._ring_at > deadline:
            self.stop()
        if self._rings is None:
            self._ring_at, self._rings = deadline, self._timer.call_at(deadline, self._ring)

    def stop(self) -> None:
        if self._rings is not None:
            self._rings.cancel()
            self._rings = None

    def pause(self) -> None:
        """It does not ring any more."""
        self._is_paused = True
        self.stop()

    def spent_ms(self, player: Player, at: float) -> int:
        """What is charged for a decision that was read then."""
        return max(0, round((at - player.asked_at) * 1000))

    def overrun_ms(self, player: Player) -> int:
        """By how much the decision is late, at least 1."""
        return max(1, round((self._timer.time() - player.deadline) * 1000))

    @staticmethod
    def face(player: Player, now: Moment, *, finished_turns: tuple[int, ...], banks: Sequence[int]) -> ClockFace:
        left = max(0, round((player.deadline - now.at) * 1000))
        return ClockFace(left, now.unix_ms + left, finished_turns, tuple(banks))

    def _ring(self) -> None:
        self._rings = None
        self._on_ring()
