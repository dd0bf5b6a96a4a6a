"""In which orders the players of a table sit down when a deal is played again: every order, or a balanced few of them.

Up to four seats a deal is played in every permutation. With more it is played in a Williams design: each player sits
once in each seat (twice with an odd number of seats), and each player sits equally often left of each other. Source:
E. J. Williams, "Experimental designs balanced for the estimation of residual effects of treatments", Australian
Journal of Scientific Research A 2 (1949), 149-168. The first row is 0, 1, n - 1, 2, n - 2, …, in which neighbours
differ by each number but 0 once; the others add 1, 2, … to it modulo n. For an odd n the same rows follow from right
to left.

Neighbours are counted from seat 0 to seat n - 1, in the order in which a round begins. That seat n - 1 has seat 0 on
its left again is left out: n rows have n * n neighbours then, which n * (n - 1) pairs cannot share equally, nor can 2n.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations

EVERY_PERMUTATION = 4
"""Seats up to which a deal is played in every permutation."""

Seating = tuple[int, ...]
"""By seat: which of the players sits there, counted from 0."""


@lru_cache(maxsize=16)
def seatings_of(players: int) -> tuple[Seating, ...]:
    """The seatings of a deal."""
    if players <= EVERY_PERMUTATION:
        return tuple(permutations(range(players)))
    first = _zigzag(players)
    rows = tuple(tuple((player + turn) % players for player in first) for turn in range(players))
    return rows if players % 2 == 0 else rows + tuple(row[::-1] for row in rows)


def _zigzag(players: int) -> Seating:
    """0, 1, n - 1, 2, n - 2, …"""
    return tuple((step + 1) // 2 if step % 2 else -(step // 2) % players for step in range(players))
