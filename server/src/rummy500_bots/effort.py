"""How long a bot looks ahead over one decision: by the clock, by a number of guesses, or until the first of the two."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

DEFAULT_TIME_MS = 40
SLOWEST_PART = 8
"""A decision never takes more than this part of the time that is left for it."""


@dataclass(frozen=True, slots=True)
class Effort:
    """Look ahead for `time_ms`, on so many `samples`, or until the first of the two is reached; 0: that is no limit.
    With samples alone play can be repeated."""

    time_ms: int = DEFAULT_TIME_MS
    samples: int = 0


class Budget:
    """What one decision may still use of an effort, from the moment at which it is asked for."""

    def __init__(
        self, effort: Effort, *, time_left_ms: int | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._samples, self._began = effort.samples, clock()
        self._end: float | None = None
        if effort.time_ms:
            most = effort.time_ms if time_left_ms is None else min(effort.time_ms, time_left_ms // SLOWEST_PART)
            self._end = self._began + most / 1000

    def allows(self, guesses: int) -> bool:
        """Whether another guess may be looked at after so many."""
        return not (self._samples and guesses >= self._samples) and not self.is_spent()

    def is_spent(self) -> bool:
        """Whether the time is over; without a limit in time it never is."""
        return self._end is not None and self._clock() >= self._end

    def is_half_spent(self) -> bool:
        """Whether what is planned before looking ahead should come to an end."""
        return self._end is not None and self._clock() >= (self._began + self._end) / 2
