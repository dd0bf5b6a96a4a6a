"""Stopping in order: from the first signal on new games are refused, streams are told, and there is a last moment."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from rummy500_server.status import Failure, Reason


class Drain:
    """Whether the server is stopping. `begun` is set from then on; `stops_at` is in seconds since 1970."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._listeners: list[Callable[[], None]] = []
        self.begun = asyncio.Event()
        self.stops_at = 0.0

    @property
    def is_on(self) -> bool:
        return self.begun.is_set()

    @property
    def seconds_left(self) -> float:
        return max(0.0, self.stops_at - self._now())

    def begin(self, seconds: float) -> None:
        if self.is_on:
            return
        self.stops_at = self._now() + seconds
        self.begun.set()
        for tell in self._listeners:
            tell()

    def on_begin(self, tell: Callable[[], None]) -> None:
        """Calls `tell` when draining begins, at once if it has begun."""
        self._listeners.append(tell)
        if self.is_on:
            tell()

    def verify_off(self) -> None:
        """Raises Failure DRAINING when nothing new may begin any more."""
        if self.is_on:
            raise Failure(
                Reason.DRAINING,
                "the server is about to stop: no new games; come back when it runs again",
                retry_after=self.seconds_left + 1,
            )
