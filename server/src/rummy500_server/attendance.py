"""Whether the runner of a match is there: it holds a stream, and when it is gone for too long the match is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rummy500_server.clock import Handle, Timer
from rummy500_server.status import Failure, Reason

LAPSE_SECONDS = 10.0
"""How long a match goes on without its runner."""


class Attendance:
    """`on_lapse` is called when nobody has attended for `LAPSE_SECONDS`."""

    def __init__(self, timer: Timer, *, on_lapse: Callable[[], None]) -> None:
        self._timer, self._on_lapse = timer, on_lapse
        self._fail: Callable[[Failure], None] | None = None
        self._lapse: Handle | None = None

    @property
    def is_here(self) -> bool:
        return self._fail is not None

    @contextmanager
    def standing(self, fail: Callable[[Failure], None]) -> Iterator[None]:
        """While a runner's stream lasts. `fail` ends it: a newer one has taken its place."""
        if self._fail is not None:
            self._fail(Failure(Reason.STREAM_REPLACED, "a newer stream attends this match"))
        self._fail = fail
        self.stop()
        try:
            yield
        finally:
            if self._fail is fail:
                self._fail = None
                self.await_runner()

    def await_runner(self) -> None:
        """From now on it is looked for."""
        if not self.is_here and self._lapse is None:
            self._lapse = self._timer.call_at(self._timer.time() + LAPSE_SECONDS, self._lapsed)

    def _lapsed(self) -> None:
        self._lapse = None
        self._on_lapse()

    def stop(self) -> None:
        if self._lapse is not None:
            self._lapse.cancel()
            self._lapse = None
