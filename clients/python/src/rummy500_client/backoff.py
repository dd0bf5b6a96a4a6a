"""How long to wait before trying to connect again."""

from __future__ import annotations

import random
import time

FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0


class Backoff:
    """How long to wait before the next attempt to connect: twice as long each time, a little by chance."""

    def __init__(self) -> None:
        self.is_first = True
        self._began = time.monotonic()
        self._next = FIRST_WAIT
        self._least = 0.0

    @property
    def lasted(self) -> float:
        """Seconds since the first failure."""
        return 0.0 if self.is_first else time.monotonic() - self._began

    def at_least(self, seconds: float) -> None:
        """The server asked to be left alone so long."""
        self._least = max(self._least, seconds)

    def next_seconds(self) -> float:
        """How long to wait now."""
        if self.is_first:
            self._began = time.monotonic()
        self.is_first = False
        seconds = max(self._next * random.uniform(0.8, 1.2), self._least)
        self._next, self._least = min(self._next * 2, LONGEST_WAIT), 0.0
        return seconds
