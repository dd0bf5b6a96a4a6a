"""One way to use all cards that are owed, at a table where nothing else can forbid the end of the turn.

The search picks the card owed with the fewest uses and tries each: a run or set of it, or a chain of lay-offs that
reaches it. It works on masks alone. Which uses suffice, `pieces` says: runs of three to five cards, and jokers for
missing cards only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from rummy500_engine.cards import (
    DISTINCT,
    JOKER,
    JOKER_BIT,
    LANE_BITS,
    Card,
    Mask,
    add,
    cards_of,
    count,
    hand_of,
    less,
    rank_of,
    suit_of,
    without,
)
from rummy500_engine.cover import Cover
from rummy500_engine.melds import LANE, LONGEST_RUN, Kind, Meld
from rummy500_engine.pieces import Use, pieces_of
from rummy500_engine.rules import Rules

Laid = tuple[int, ...]
"""What the plan has laid off: the number of cards for each end of a run of the table, the cards for each set."""
Step = tuple[int, Mask, int, Laid]
"""A use of a card: the place in Laid where it is laid off, or -1, its natural cards, the number of jokers that fill
gaps, and what is laid off then."""
PATIENCE: Final = 60
"""Steps of the search before the turn is weighed as a whole."""
_NO_PATIENCE: Final = -1


def can_plan(rules: Rules, *, owed: Mask, banned: Card | None) -> bool:
    """Whether plans decide if a turn can be finished: nothing else than the cards owed, no jokers, can forbid it."""
    return rules.plain and banned is None and not owed & JOKER_BIT and pieces_of(rules).lean


class End:
    """One end of a run of the table: the ranks that it takes, one after the other, and how many cards both ends of the
    run may take together."""

    def __init__(self, suit: int, ranks: tuple[int, ...], other: int, room: int) -> None:
        self.suit, self.ranks, self.other, self.room = suit, ranks, other, room


class Planner:
    """Looks for plans before the melds of one table; positions found dead are remembered."""

    def __init__(self, rules: Rules, melds: Iterable[Meld]) -> None:
        self.pieces = pieces_of(rules)
        self.melds = tuple(melds)
        self.ends: list[End] = []
        self.ends_of: list[list[int]] = [[] for _ in range(4)]
        self.sets: list[tuple[Mask, int]] = []
        """The faces that each set of the table takes, and how many cards."""
        self.fits = 0
        for meld in self.melds:
            if meld.kind is Kind.SET:
                if meld.fits:
                    self.fits |= meld.fits
                    self.sets.append((meld.fits, rules.catalogue.largest_set - meld.length))
                continue
            suit, first, room = suit_of(meld.placed[0].face), meld.start, LONGEST_RUN - meld.length
            lowest, highest = rules.catalogue.free_positions(first, meld.length)
            low = tuple([position % 13 for position in range(first - 1, lowest - 1, -1)])
            high = tuple([position % 13 for position in range(first + meld.length, highest + 1)])
            at = len(self.ends)
            self.ends_of[suit] += [at, at + 1]
            self.ends += [End(suit, low, at + 1, room), End(suit, high, at, room)]
        self.nothing_laid: Laid = (0,) * (len(self.ends) + len(self.sets))
        self.dead: set[tuple[Mask, int, Mask, Laid]] = set()
        self.plan: list[tuple[int, Mask, int]] = []
        self.steps_left = _NO_PATIENCE

    def can_use_all(self, hand: Mask, owed: Mask) -> bool:
        """Whether there is a plan. The search soon finds one where there are many; where it does not, `cover` says
        whether there is one at all."""
        if self.plan_for(hand, owed, patience=PATIENCE) is not None:
            return True
        if not self.is_tired:
            return False
        cover = Cover(self.pieces.catalogue, hand=hand, owed=owed, melds=self.melds)
        if cover.applies:
            return cover.is_possible()
        return self.plan_for(hand, owed, patience=None) is not None

    @property
    def is_tired(self) -> bool:
        """Whether the last search was broken off."""
        return self.steps_left == 0

    def plan_for(self, hand: Mask, owed: Mask, *, patience: int | None) -> list[Mask] | None:
        """The cards of each meld of a plan for what is owed (no jokers), and of the lay-offs on each end or set of the
        table; None if there is no plan, or none was found in so many steps as `patience` allows."""
        self.steps_left = _NO_PATIENCE if patience is None else patience
        self.plan = []
        jokers = count(hand, JOKER)
        naturals = without(hand, [JOKER] * jokers)
        if owed & ~naturals or not self._finds(naturals, jokers, owed, self.nothing_laid):
            return None
        parts: dict[int, Mask] = {}
        for number, (place, cards, missing) in enumerate(self.plan):
            at = place if place >= 0 else -1 - number
            parts[at] = hand_of([*cards_of(parts.get(at, 0)), *cards_of(cards), *[JOKER] * missing])
        return list(parts.values())

    def _finds(self, naturals: Mask, jokers: int, owed: Mask, laid: Laid) -> bool:
        if not owed:
            return True
        key = (naturals, jokers, owed, laid)
        if key in self.dead:
            return False
        if not self.steps_left:
            return False
        self.steps_left -= 1
        for place, cards, missing, after in self._uses_of_hardest(naturals, jokers, owed, laid):
            self.plan.append((place, cards, missing))
            if self._finds(less(naturals, cards), jokers - missing, less(owed, cards), after):
                return True
            self.plan.pop()
            if self.is_tired:
                return False
        self.dead.add(key)
        return False

    def _uses_of_hardest(self, naturals: Mask, jokers: int, owed: Mask, laid: Laid) -> Iterator[Step]:
        """The uses of the card owed that has the fewest."""
        hardest, fewest = -1, 0
        faces = owed & DISTINCT
        while faces:
            card = (faces & -faces).bit_length() - 1
            faces &= faces - 1
            suit = suit_of(card)
            runs = self.pieces.run_uses(naturals >> suit * LANE_BITS & LANE, rank_of(card), jokers)
            uses = len(runs) + len(self._set_uses(naturals, card, jokers))
            if self.ends_of[suit] or self.fits >> card & 1:
                uses += len(list(self._lay_offs(naturals, jokers, card, laid)))
            if not uses:
                return
            if hardest < 0 or uses < fewest:
                hardest, fewest = card, uses
        yield from self._uses(naturals, jokers, hardest, laid)

    def _uses(self, naturals: Mask, jokers: int, card: Card, laid: Laid) -> Iterator[Step]:
        shift = suit_of(card) * LANE_BITS
        rank = rank_of(card)
        for cards, missing in self.pieces.run_uses(naturals >> shift & LANE, rank, jokers):
            yield -1, cards << shift, missing, laid
        for cards, missing in self._set_uses(naturals, card, jokers):
            yield -1, cards << rank, missing, laid
        yield from self._lay_offs(naturals, jokers, card, laid)

    def _set_uses(self, naturals: Mask, card: Card, jokers: int) -> tuple[Use, ...]:
        held = naturals >> rank_of(card)
        if self.pieces.identical:
            counts = (count(held, 0), count(held, 16), count(held, 32), count(held, 48))
        else:
            counts = (held & 1, held >> 16 & 1, held >> 32 & 1, held >> 48 & 1)
        return self.pieces.set_uses(counts, suit_of(card), jokers)

    def _lay_offs(self, naturals: Mask, jokers: int, card: Card, laid: Laid) -> Iterator[Step]:
        """The lay-offs that reach the card, jokers in the gaps."""
        suit, rank = suit_of(card), rank_of(card)
        for place in self.ends_of[suit]:
            end = self.ends[place]
            reach = min(len(end.ranks), end.room - laid[end.other])
            if rank not in end.ranks[laid[place] : reach]:
                continue
            lane, cards, missing, reached = naturals >> suit * LANE_BITS, 0, 0, laid[place]
            while missing <= jokers:
                position = end.ranks[reached]
                reached += 1
                if lane >> position & 1:
                    cards |= 1 << position
                else:
                    missing += 1
                if position == rank:
                    break
            if missing <= jokers:
                yield place, cards << suit * LANE_BITS, missing, (*laid[:place], reached, *laid[place + 1 :])
        bit = 1 << card
        if not self.fits & bit:
            return
        for place, (fits, room) in enumerate(self.sets, len(self.ends)):
            if fits & bit and laid[place].bit_count() < room and (self.pieces.identical or not laid[place] & bit):
                yield place, bit, 0, (*laid[:place], add(laid[place], card), *laid[place + 1 :])
