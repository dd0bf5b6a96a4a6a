"""How one suit may stand while a cover is decided rank by rank, and how it goes on: see `cover`.

There is an order among ways to stand: one is as good as another if its open runs are at least as long, one by one,
those that it has besides may end, and it has used no more jokers. With a way to stand goes every worse one.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations_with_replacement, product
from typing import Final

from rummy500_engine.melds import SHORTEST

REMEMBERED: Final = 1 << 13

Open = tuple[int, ...]
"""The lengths of a suit's open runs, counted to three, in ascending order."""
Ways = int
"""A set of ways in which a suit may stand, as bits; with each way every worse one."""
Way = tuple[Open, int, int]
"""One way in which a suit may stand: its open runs, how many of its aces stand low, and how many jokers it has used."""


class Suits:
    """The ways in which one suit may stand, with so many copies of each card and so many jokers. Every open run has a
    card of the last rank, so without jokers there are no more than copies."""

    def __init__(self, copies: int, jokers: int) -> None:
        self.copies, self.jokers = copies, jokers
        self.ways: list[Way] = []
        """In an order in which worse ways come first."""
        self.with_worse: dict[Way, Ways] = {}
        self.ended = 0
        self.bits_of_jokers = [0] * (jokers + 1)
        """By the number of jokers the ways that use so many."""
        self._followers: dict[tuple[int, int, bool, bool, int, int, int], Followers] = {}
        if not jokers:
            for runs in range(copies + 1):
                for open in combinations_with_replacement((1, 2, 3), runs):
                    for low in range(copies + 1):
                        self.worse((open, low, 0))

    def worse(self, way: Way) -> Ways:
        """The way, and every worse one."""
        found = self.with_worse.get(way)
        if found is None:
            open, low, jokers = way
            found = 0
            for less_open in _worse_than(open):
                for more_jokers in range(jokers, self.jokers + 1):
                    other = (less_open, low, more_jokers)
                    if other != way:
                        found |= self.worse(other)
            bit = 1 << len(self.ways)
            self.ways.append(way)
            self.bits_of_jokers[jokers] |= bit
            if all([length == SHORTEST for length in open]):
                self.ended |= bit
            found = self.with_worse[way] = found | bit
        return found

    def begin(self, aces: int, may_begin: int) -> Ways:
        """After the low aces, of which so many are held, and so many may begin runs, jokers too."""
        ways = 0
        for low in range(min(aces, may_begin) + 1):
            for filled in range(min(self.jokers, may_begin - low) + 1):
                ways |= self.worse(((1,) * (low + filled), low, filled))
        return ways

    def fewest_jokers(self, ways: Ways) -> int:
        for jokers, bits in enumerate(self.bits_of_jokers):
            if ways & bits:
                return jokers
        raise AssertionError(ways)

    def followers(
        self, cards: int, owed: int, at_ace: bool, in_runs: bool, joins: int, goes_on: int, may_begin: int
    ) -> Followers:
        """How the suit goes on at a position with so many cards for its runs, of which `owed` must be used."""
        key = (cards, owed, at_ace, in_runs, joins, goes_on, may_begin)
        found = self._followers.get(key)
        if found is None:
            found = self._followers[key] = Followers(self, *key)
        return found


class Followers:
    """What follows each set of ways to stand, at one position; worked out when it is asked for."""

    def __init__(
        self, suits: Suits, cards: int, owed: int, at_ace: bool, in_runs: bool, joins: int, goes_on: int, may_begin: int
    ) -> None:
        self.suits, self.cards, self.owed, self.at_ace, self.in_runs = suits, cards, owed, at_ace, in_runs
        self.joins, self.goes_on, self.may_begin = joins, goes_on, may_begin
        self._of_way: dict[Ways, Ways] = {}
        self._after: dict[Ways, Ways] = {}
        self._before: dict[Ways, Ways] = {}

    def after(self, ways: Ways) -> Ways:
        found = self._after.get(ways)
        if found is None:
            if len(self._after) >= REMEMBERED:
                self._after.clear()
            found, left = 0, ways
            while left:
                best = left.bit_length() - 1
                found |= self._follow(best)
                left &= ~self.suits.with_worse[self.suits.ways[best]]
            self._after[ways] = found
        return found

    def before(self, ways: Ways) -> Ways:
        """The ways to stand that lead to one of these."""
        found = self._before.get(ways)
        if found is None:
            found = 0
            for number in range(len(self.suits.ways)):
                if self._follow(number) & ways:
                    found |= 1 << number
            self._before[ways] = found
        return found

    def _follow(self, number: int) -> Ways:
        """What follows the way of this number."""
        found = self._of_way.get(number)
        if found is None:
            found = 0
            open, low, jokers = self.suits.ways[number]
            used = low if self.at_ace else 0
            cards = self.cards - used
            if cards >= 0:
                owed = max(0, self.owed - used)
                cards = cards if self.in_runs else 0
                for more in range(self.suits.jokers - jokers + 1 if self.in_runs else 1):
                    for after in _go_on(open, cards, more, owed, self.joins, self.goes_on, self.may_begin):
                        found |= self.suits.worse((after, low, jokers + more))
            self._of_way[number] = found
        return found


@lru_cache(maxsize=1 << 10)
def _worse_than(runs: Open) -> frozenset[Open]:
    """The open runs that can do no more than these: each of these is as long as one of them, or may end."""
    lengths = [range(0 if length == SHORTEST else 1, length + 1) for length in runs]
    return frozenset(tuple(sorted([length for length in chosen if length])) for chosen in product(*lengths))


@lru_cache(maxsize=16)
def suits_of(copies: int, jokers: int) -> Suits:
    return Suits(copies, jokers)


def _go_on(
    lengths: Open, cards: int, jokers: int, owed: int, joins: int, goes_on: int, may_begin: int
) -> tuple[Open, ...]:
    """The open runs of a suit after a position with so many cards for runs, `owed` of which have to be used, and with
    so many jokers, all of which are used, and only where the cards are too few.

    Runs shorter than three must go on, but for `joins` of them, which end on a run of the table; the shortest do. Cards
    that are left extend runs of three: such a run can do whatever a closed one can.
    """
    short = [length for length in lengths if length < SHORTEST]
    long = len(lengths) - len(short) + goes_on
    found: set[Open] = set()
    for joined in range(min(joins, len(short)) + 1):
        kept = short[joined:]
        spare = cards + jokers - len(kept)
        for begun in range(min(spare, may_begin) + 1):
            extended = min(long, spare - begun)
            used = len(kept) + begun + extended
            if used >= owed and (not jokers or used == cards + jokers):
                found.add(tuple([1] * begun + [length + 1 for length in kept] + [SHORTEST] * extended))
    return tuple(found)
