"""One way to use all cards that are owed in a turn.

The search picks the card owed with the fewest uses (`uses`) and tries each. It is broken off where the jokers cannot
suffice: the cheapest use of each card owed, shared among all that it uses, is less than any plan needs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Final

from rummy500_engine.cards import (
    DISTINCT,
    JOKER,
    Card,
    Mask,
    cards_of,
    cards_text,
    count,
    less,
    naturals_of,
    with_jokers,
)
from rummy500_engine.cover import Cover
from rummy500_engine.covering import covering
from rummy500_engine.melds import Meld
from rummy500_engine.rules import Rules
from rummy500_engine.uses import Use, uses_of

PATIENCE: Final = 60
"""Steps of the search before the turn is weighed as a whole."""
Option = tuple[Mask, list[Use], int, Mask, int]
"""A card owed, as a bit, its uses and its share of the jokers; the faces of all these uses, and the places that they
may take."""
_ALL: Final[Use] = (DISTINCT, 0, 0)
"""Stands for the last use where there is none: it bears on every other."""
_NO_PATIENCE: Final = -1
_SHARES: Final = 60
"""A joker in parts, so that what one use costs each of its cards is a whole number."""


class Planner:
    """Looks for plans of one turn, before the melds of the table that are open to its seat. Hands and what is owed may
    shrink from one question to the next; positions found dead are remembered."""

    def __init__(
        self, rules: Rules, melds: Iterable[Meld], *, hand: Mask, owed: Mask, melded_only: Card | None = None
    ) -> None:
        """`melded_only`: a card owed that a lay-off does not settle."""
        self.catalogue = rules.catalogue
        self.melds = tuple(melds)
        self.uses: dict[Mask, list[Use]] = {}
        """By the card owed, as a bit; those with fewer jokers first."""
        self.spans: dict[Mask, tuple[Mask, int]] = {}
        """By the card the faces of its uses, and the places that they take."""
        self.is_partial = False
        """Whether there may be plans that it does not find."""
        self.weighs_whole = rules.jokers.min_natural == 1 and melded_only is None
        self.dead: set[tuple[Mask, int, Mask, int]] = set()
        self.plan: list[Use] = []
        self.steps_left = _NO_PATIENCE
        jokers = count(hand, JOKER)
        hand, owed = naturals_of(hand), naturals_of(owed)
        uses = uses_of(rules)
        lay_offs: list[Use] = []
        self.places: dict[int, int] = {}
        """By the number of a meld on the table its places that the uses speak of."""
        first = 0
        for meld in self.melds:
            found = uses.on_meld(meld, hand, jokers, owed)
            taken = 0
            for cards, missing, places in found:
                lay_offs.append((cards, missing, places << first))
                taken |= places
            self.places[meld.id] = taken << first
            first += taken.bit_length()
        if melded_only is not None:
            chains = [use for use in lay_offs if use[0] >> melded_only & 1]
            lay_offs = [use for use in lay_offs if not use[0] >> melded_only & 1]
            self.is_partial = bool(chains) and count(hand, melded_only) > 1  # a twin may lead up to another card
        for card in set(cards_of(owed)):
            found = list(uses.in_hand(hand, jokers, owed, card))
            found += [use for use in lay_offs if use[0] >> card & 1]
            found.sort(key=_by_jokers)
            self.uses[1 << card] = found
            faces = places = 0
            for cards, _, taken in found:
                faces, places = faces | cards, places | taken
            self.spans[1 << card] = faces & DISTINCT, places

    def plan_for(
        self, naturals: Mask, jokers: int, owed: Mask, *, patience: int | None, begun: Sequence[Use] = ()
    ) -> list[Use] | None:
        """A plan for what is owed, of natural cards and so many jokers; with what is begun already, as far as that
        can be. None if there is no plan, or none was found in so many steps as `patience` allows: the search soon finds
        one where there are many, and where it does not, `cover` says whether there is one at all."""
        self.steps_left = PATIENCE if patience is None else patience
        self.plan, room = [], 0
        for use in begun:
            cards, missing, taken = use
            if cards & owed and not (cards & ~naturals or taken & room or missing > jokers):
                self.plan.append(use)
                naturals, owed = less(naturals, cards), less(owed, cards)
                jokers, room = jokers - missing, room | taken
        options, left = [], owed & DISTINCT
        while left:
            bit = left & -left
            left ^= bit
            uses = self.uses[bit]
            options.append((bit, uses[: bisect_right(uses, jokers, key=_missing)], 0, *self.spans[bit]))
        found = self._finds(naturals, jokers, owed, room, options, _ALL)
        if not found and patience is None and not self.steps_left:
            if self.weighs_whole:
                cover = Cover(self.catalogue, hand=with_jokers(naturals, jokers), owed=owed, melds=self.melds)
                if cover.applies:
                    return self.covering_plan(cover)
            self.steps_left = _NO_PATIENCE
            found = self._finds(naturals, jokers, owed, room, options, _ALL)
        return self.plan if found else None

    def covering_plan(self, cover: Cover) -> list[Use] | None:
        """The plan that covers what is owed there, if there is one."""
        if not cover.is_possible():
            return None
        plan: list[Use] = []
        taken = 0
        for cards, jokers, meld in covering(cover):
            places = 0 if meld is None else self._places_for(cards, jokers, self.places[meld.id] & ~taken)
            taken |= places
            plan.append((cards, jokers, places))
        return plan

    def _places_for(self, cards: Mask, jokers: int, free: int) -> int:
        """Which of the free places on a meld of the table these cards take, with so many jokers."""
        for card in cards_of(cards):
            for use in self.uses.get(1 << card, ()):
                if use[:2] == (cards, jokers) and use[2] and not use[2] & ~free:
                    return use[2]
        raise AssertionError(cards_text(cards_of(cards)))

    def _finds(self, naturals: Mask, jokers: int, owed: Mask, room: int, options: list[Option], last: Use) -> bool:
        """`options` are those before the last use was planned: only what that use bears on is looked at again."""
        if not owed:
            return True
        key = (naturals, jokers, owed, room)
        if not self.steps_left or key in self.dead:
            return False
        self.steps_left -= 1
        hardest: list[Use] | None = None
        gone, shares, left = ~naturals, jokers * _SHARES, []
        used, spent, taken = last
        for option in options:
            bit, fitting, share, faces, places = option
            if not owed & bit:
                continue
            is_touched = bool(used & faces or taken & places)
            if is_touched or (spent and fitting[-1][1] > jokers):
                if is_touched:
                    fitting = [use for use in fitting if not (use[0] & gone or use[2] & room or use[1] > jokers)]
                else:
                    fitting = fitting[: bisect_right(fitting, jokers, key=_missing)]
                if not fitting:
                    self.dead.add(key)
                    return False
                share = 0
                if fitting[0][1]:
                    share = min([use[1] * _SHARES // (use[0] & owed).bit_count() for use in fitting])
                option = (bit, fitting, share, faces, places)
            shares -= share
            if shares < 0:
                self.dead.add(key)
                return False
            left.append(option)
            if hardest is None or len(fitting) < len(hardest):
                hardest = fitting
        assert hardest is not None
        for use in hardest:
            self.plan.append(use)
            cards, missing, taken = use
            if self._finds(less(naturals, cards), jokers - missing, less(owed, cards), room | taken, left, use):
                return True
            self.plan.pop()
            if not self.steps_left:
                return False
        self.dead.add(key)
        return False


_missing = itemgetter(1)


def _by_jokers(use: Use) -> tuple[int, int]:
    return use[1], use[0].bit_count()
