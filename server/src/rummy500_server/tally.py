"""What a server has counted since it started: plain numbers, written where things happen and read by `metrics`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

WIDEST = 64
"""Bits of the largest number that is counted."""


class Spread:
    """How often whole numbers came, by powers of two: `counts[k]` of those below 2**k that are not below 2**(k-1)."""

    __slots__ = ("counts", "sum")

    def __init__(self) -> None:
        self.counts = [0] * (WIDEST + 1)
        self.sum = 0

    def observe(self, number: int, times: int = 1) -> None:
        self.counts[number.bit_length()] += times
        self.sum += number * times

    @property
    def times(self) -> int:
        return sum(self.counts)


@dataclass(slots=True)
class Tally:
    """`thinking` in milliseconds, as charged to seats that a client plays; `own_bots` to the server's own. `answered`:
    microseconds from a decision's arrival to its being durable. `commits` in microseconds; `entries` of each.

    Methods are named `Service/Method`, without the package; refusals by code, terminations and reasons by their names
    of the contract.
    """

    thinking: Spread = field(default_factory=Spread)
    own_bots: Spread = field(default_factory=Spread)
    answered: Spread = field(default_factory=Spread)
    commits: Spread = field(default_factory=Spread)
    entries: Spread = field(default_factory=Spread)
    lost_commits: int = 0
    refused_actions: Counter[str] = field(default_factory=Counter)
    rejected_decisions: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    rejected_calls: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """By method, status code and reason."""
    streams: Counter[str] = field(default_factory=Counter)
    """Those that are open, by method."""
    slow_readers: Counter[str] = field(default_factory=Counter)
    """Streams that were cut off, by method."""
    variant_errors: Counter[str] = field(default_factory=Counter)
    """By distribution."""
    finished_turns: Counter[str] = field(default_factory=Counter)
    forfeits: Counter[str] = field(default_factory=Counter)
    tables_over: Counter[str] = field(default_factory=Counter)
    """By termination."""
