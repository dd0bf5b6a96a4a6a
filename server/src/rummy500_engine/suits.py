"""How one suit may stand while a cover is decided rank by rank, and how it goes on: see `cover`.

There is an order among ways to stand: one is as good as another if its open runs are at least as long, one by one,
those that it has besides may end, and it has used no more jokers. With a way to stand goes every worse one.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Final, NamedTuple

from rummy500_engine.melds import SHORTEST

REMEMBERED: Final = 1 << 13

Open = tuple[int, ...]
"""The lengths of a suit's open runs, counted to three, in ascending order."""
Stand = int
"""The number of open runs together with how many of the suit's aces stand low: see `Suits.stands`."""
Ways = int
"""A set of ways in which a suit may stand, each with the jokers used so far, as bits; with each every worse one."""
PARTS: Final = 60
"""A joker in parts, so that its shares are whole numbers."""
NEVER: Final = 1 << 20
"""More parts than any hand has jokers for."""


class Place(NamedTuple):
    """What a suit has at a position: cards for its runs, of which `owed` must be used; how many runs of the table begin
    next to it, so that open ones may join them, and how many end before it; how many new ones may begin."""

    cards: int
    owed: int
    at_ace: bool
    in_runs: bool
    joins: int
    goes_on: int
    may_begin: int


class Suits:
    """The ways in which one suit may stand, with so many jokers."""

    def __init__(self, jokers: int) -> None:
        self.jokers = jokers
        self.stands: list[tuple[Open, int]] = []
        """By number the open runs, and how many aces stand low."""
        self.stand_of: dict[tuple[Open, int], Stand] = {}
        self.may_end: list[bool] = []
        """By stand."""
        self.lesser: list[int] = []
        """By stand, as bits, itself and those that can do no more."""
        self.lesser_stands: list[list[Stand]] = []
        self.ways: list[tuple[Stand, int]] = []
        """Stands with the jokers used, in an order in which worse ways come first."""
        self.up_to = [0] * (jokers + 1)
        """By a number of jokers the ways that have used no more."""
        self._with_worse: list[list[Ways]] = []
        self._best: dict[Ways, tuple[tuple[int, Stand, int], ...]] = {}
        self._followers: dict[Place, Followers] = {}

    def stand(self, open: Open, low: int) -> Stand:
        found = self.stand_of.get((open, low))
        if found is None:
            lesser = [self.stand(less, low) for less in _worse_than(open) if less != open]
            found = self.stand_of[open, low] = len(self.stands)
            self.stands.append((open, low))
            self.may_end.append(not open or open[0] == SHORTEST)
            self.lesser.append(1 << found | sum([1 << each for each in lesser]))
            self.lesser_stands.append(lesser)
            self._with_worse.append([0] * (self.jokers + 1))
        return found

    def way(self, stand: Stand, jokers: int) -> Ways:
        """The way to stand so after so many jokers, and every worse one."""
        found = self._with_worse[stand][jokers]
        if not found:
            if jokers < self.jokers:
                found = self.way(stand, jokers + 1)
            for other in self.lesser_stands[stand]:
                found |= self.way(other, jokers)
            bit = 1 << len(self.ways)
            self.ways.append((stand, jokers))
            for most in range(jokers, self.jokers + 1):
                self.up_to[most] |= bit
            found = self._with_worse[stand][jokers] = found | bit
        return found

    def best(self, ways: Ways) -> tuple[tuple[int, Stand, int], ...]:
        """Those of the ways than which none is better, fewest jokers first: jokers used, stand, number of the way."""
        found = self._best.get(ways)
        if found is None:
            if len(self._best) >= REMEMBERED:
                self._best.clear()
            chosen, left = [], ways
            while left:
                number = left.bit_length() - 1
                stand, jokers = self.ways[number]
                left &= ~self._with_worse[stand][jokers]
                chosen.append((jokers, stand, number))
            found = self._best[ways] = tuple(sorted(chosen))
        return found

    def begin(self, aces: int, may_begin: int) -> Ways:
        """After the low aces, of which so many are held, and so many may begin runs, jokers too."""
        ways = 0
        for stand, filled in self.beginnings(aces, may_begin):
            ways |= self.way(stand, filled)
        return ways

    def beginnings(self, aces: int, may_begin: int) -> list[tuple[Stand, int]]:
        """How the suit may stand after the low aces, each with the jokers among them."""
        return [
            (self.stand((1,) * (low + filled), low), filled)
            for low in range(min(aces, may_begin) + 1)
            for filled in range(min(self.jokers, may_begin - low) + 1)
        ]

    def followers(self, place: Place) -> Followers:
        found = self._followers.get(place)
        if found is None:
            if len(self._followers) >= REMEMBERED:
                self._followers.clear()
            found = self._followers[place] = Followers(self, place)
        return found


class Followers:
    """How a suit goes on at one position; worked out when it is asked for."""

    def __init__(self, suits: Suits, place: Place) -> None:
        self.suits, self.place = suits, place
        self._steps: dict[Stand, list[tuple[Stand, ...]]] = {}
        self._covered: dict[Stand, int] = {}
        """The stands, as bits, that steps found are as good as."""
        self._of_way: dict[tuple[int, int], Ways] = {}
        self._after: dict[Ways, Ways] = {}

    def after(self, ways: Ways) -> Ways:
        """What follows a set of ways to stand, with as many jokers at the most as any of them has used."""
        found = self._after.get(ways)
        if found is None:
            if len(self._after) >= REMEMBERED:
                self._after.clear()
            suits, found = self.suits, 0
            most = suits.jokers
            while most and not ways & ~suits.up_to[most - 1]:
                most -= 1
            for _, _, number in suits.best(ways):
                follow = self._of_way.get((number, most))
                found |= self._follow(number, most) if follow is None else follow
            self._after[ways] = found
        return found

    def _follow(self, number: int, most: int) -> Ways:
        """What follows the way of this number, with so many jokers at the most."""
        suits, found = self.suits, 0
        stand, jokers = suits.ways[number]
        for more in range(most - jokers + 1):
            for after in self.steps(stand, more):
                found |= suits.way(after, jokers + more)
        self._of_way[number, most] = found
        return found

    def known_steps(self, stand: Stand) -> list[tuple[Stand, ...]]:
        """By the number of jokers what `steps` has answered; it grows."""
        found = self._steps.get(stand)
        if found is None:
            found = self._steps[stand] = []
            self._covered[stand] = 0
        return found

    def steps(self, stand: Stand, jokers: int) -> tuple[Stand, ...]:
        """How the suit may stand after it stood so, with so many jokers here; nothing that fewer jokers do as well."""
        found = self.known_steps(stand)
        while len(found) <= jokers:
            found.append(self._find_steps(stand, len(found)))
        return found[jokers]

    def _find_steps(self, stand: Stand, jokers: int) -> tuple[Stand, ...]:
        suits, place = self.suits, self.place
        open, low = suits.stands[stand]
        used = low if place.at_ace else 0
        if place.cards < used or (jokers and not place.in_runs):
            return ()
        cards = place.cards - used if place.in_runs else 0
        afters = [suits.stand(after, low) for after in _go_on(open, cards, jokers, max(0, place.owed - used), place)]
        covered, found = self._covered[stand], []
        for after in sorted(afters, reverse=True):
            if not covered >> after & 1:
                covered |= suits.lesser[after]
                found.append(after)
        self._covered[stand] = covered
        return tuple(found)


class Outlook:
    """How few jokers one suit needs from a position on, were it alone: other suits give to its sets what it wants, and
    each set's jokers are shared among its cards. A bound on what it needs in truth."""

    def __init__(
        self,
        suits: Suits,
        by_sets: list[Followers],
        choices: list[tuple[int, Followers]],
        beyond: Outlook | None,
    ) -> None:
        """`by_sets`: how the suit goes on, by the number of its cards that go to sets; `choices`: those that there are,
        each with what it takes of the jokers there, least first. `beyond`: the outlook from the next position on; None:
        the suit has come to its end."""
        self.suits, self.by_sets, self.choices, self.beyond = suits, by_sets, choices, beyond
        self.known: dict[Stand, int] = {}
        self._fewest_of: dict[Ways, int] = {}
        self._ahead: dict[Ways, tuple[list[int], list[Ways]]] = {}

    def fewest(self, stand: Stand) -> int:
        """In parts of a joker, if the suit stands so; NEVER where it cannot end."""
        known = self.known.get(stand)
        if known is not None:
            return known
        beyond = self.beyond
        if beyond is None:
            found = self.known[stand] = 0 if self.suits.may_end[stand] else NEVER
            return found
        found, beyond_known, most = NEVER, beyond.known, self.suits.jokers * PARTS
        for share, followers in self.choices:
            jokers, needed = 0, share
            steps = followers.known_steps(stand)
            while needed < found and needed <= most:
                for after in steps[jokers] if jokers < len(steps) else followers.steps(stand, jokers):
                    rest = beyond_known.get(after)
                    if rest is None:
                        rest = beyond.fewest(after)
                    if needed + rest < found:
                        found = needed + rest
                jokers, needed = jokers + 1, needed + PARTS
        self.known[stand] = found
        return found

    def ahead(self, ways: Ways) -> tuple[list[int], list[Ways]]:
        """What follows these ways, by the number of cards that go to sets here; and the fewest jokers for it, in
        parts, with those that are used already."""
        found = self._ahead.get(ways)
        if found is None:
            beyond = self.beyond
            assert beyond is not None
            after = [followers.after(ways) for followers in self.by_sets]
            found = self._ahead[ways] = ([beyond.fewest_of(each) for each in after], after)
        return found

    def fewest_of(self, ways: Ways) -> int:
        """In parts of a joker, with those that are used already, for the best of these ways to stand."""
        found = self._fewest_of.get(ways)
        if found is None:
            known, found = self.known, NEVER
            for jokers, stand, _ in self.suits.best(ways):
                used = jokers * PARTS
                if used >= found:
                    break
                rest = known.get(stand)
                if rest is None:
                    rest = self.fewest(stand)
                if used + rest < found:
                    found = used + rest
            self._fewest_of[ways] = found
        return found


@lru_cache(maxsize=1 << 10)
def _worse_than(runs: Open) -> frozenset[Open]:
    """The open runs that can do no more than these: each of these is as long as one of them, or may end."""
    lengths = [range(0 if length == SHORTEST else 1, length + 1) for length in runs]
    return frozenset(tuple(sorted([length for length in chosen if length])) for chosen in product(*lengths))


@lru_cache(maxsize=16)
def suits_of(jokers: int) -> Suits:
    return Suits(jokers)


def _go_on(lengths: Open, cards: int, jokers: int, owed: int, place: Place) -> set[Open]:
    """The open runs of a suit after a position with so many cards for runs, `owed` of which have to be used, and with
    so many jokers, all of which are used, and only where the cards are too few.

    Runs shorter than three must go on, but for those which end on a run of the table; the shortest do. Cards that are
    left extend runs of three: such a run can do whatever a closed one can.
    """
    short = [length for length in lengths if length < SHORTEST]
    long = len(lengths) - len(short) + place.goes_on
    found: set[Open] = set()
    for joined in range(min(place.joins, len(short)) + 1):
        kept = short[joined:]
        spare = cards + jokers - len(kept)
        for begun in range(min(spare, place.may_begin) + 1):
            extended = min(long, spare - begun)
            used = len(kept) + begun + extended
            if used >= owed and (not jokers or used == cards + jokers):
                found.add((1,) * begun + tuple([length + 1 for length in kept]) + (SHORTEST,) * extended)
    return found
