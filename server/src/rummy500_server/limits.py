"""How much one principal may use at a time: open streams and requests a second."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from rummy500_server.status import Failure, Reason

FEWEST_BUCKETS = 1_000
"""Full ones, which allow what a new one does, are forgotten when there are so many, and twice what was left then."""


class Bucket:
    """Allows `rate` a second on average and as many at once."""

    __slots__ = ("_at", "_left", "_now", "rate")

    def __init__(self, rate: int, now: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self._now = now
        self._left = float(rate)
        self._at = now()

    def wait_for(self, amount: int = 1) -> float:
        """Takes so many and answers 0, or takes none and answers in how many seconds they will be there."""
        now = self._now()
        self._left = min(float(self.rate), self._left + (now - self._at) * self.rate)
        self._at = now
        if self._left >= min(amount, self.rate):
            self._left -= amount
            return 0.0
        return (min(amount, self.rate) - self._left) / self.rate

    @property
    def is_full(self) -> bool:
        return self._left + (self._now() - self._at) * self.rate >= self.rate


class Usage:
    """What principals use, by digest, anonymous callers by address."""

    def __init__(self, *, requests_per_second: int, streams: int, now: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._most_streams, self._now = requests_per_second, streams, now
        self._buckets: dict[str, Bucket] = {}
        self._most_buckets = FEWEST_BUCKETS
        self._streams: Counter[str] = Counter()
        self._quiet = asyncio.Event()
        self._quiet.set()

    def request(self, principal: str) -> None:
        """Counts a request. Raises Failure TOO_MANY_REQUESTS."""
        bucket = self._buckets.get(principal)
        if bucket is None:
            if len(self._buckets) >= self._most_buckets:
                self._buckets = {name: each for name, each in self._buckets.items() if not each.is_full}
                self._most_buckets = max(FEWEST_BUCKETS, 2 * len(self._buckets))
            bucket = self._buckets[principal] = Bucket(self._rate, self._now)
        wait = bucket.wait_for()
        if wait:
            raise Failure(
                Reason.TOO_MANY_REQUESTS,
                f"more than {self._rate} requests a second",
                retry_after=wait,
                limit=self._rate,
            )

    @contextmanager
    def stream(self, principal: str) -> Iterator[None]:
        """Counts a stream while it is open. Raises Failure TOO_MANY_STREAMS."""
        if self._streams[principal] >= self._most_streams:
            raise Failure(
                Reason.TOO_MANY_STREAMS,
                f"{self._most_streams} streams are open already, which is the limit",
                limit=self._most_streams,
            )
        self._streams[principal] += 1
        self._quiet.clear()
        try:
            yield
        finally:
            self._streams[principal] -= 1
            if not self._streams[principal]:
                del self._streams[principal]
            if not self._streams:
                self._quiet.set()

    async def no_streams(self, seconds: float) -> None:
        """Waits until no stream is open, at most so long."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._quiet.wait(), seconds)
