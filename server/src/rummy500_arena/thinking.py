"""How long a bot thought about its decisions: a histogram that keeps three significant bits of each time."""

from __future__ import annotations

from collections.abc import Mapping

SIGNIFICANT_BITS = 3
Thinking = Mapping[int, int]
"""How many decisions took so long, by the least time of their class in milliseconds: 0 to 7, 8, 10, 12, 14, 16, 20,
…"""


def time_class(milliseconds: int) -> int:
    """The least time of the class: classes are a quarter of their least time wide, at most."""
    dropped = max(0, milliseconds.bit_length() - SIGNIFICANT_BITS)
    return milliseconds >> dropped << dropped


def percentile(thinking: Thinking, share: float) -> int:
    """The least time of the class that holds this share of all decisions, 0 to 1. No decisions: 0."""
    wanted, seen = share * sum(thinking.values()), 0
    for time in sorted(thinking):
        seen += thinking[time]
        if seen >= wanted:
            return time
    return 0
