"""Which melds may be laid while the first melds of a turn have to reach a minimum (RULES 2, `meld-first`).

A listing has hundreds of melds. A melding, melds of the hand that can be laid together, says yes to every meld that
leaves enough of it; what is missing is made up from the rest of the hand, the dearest melds first. That no melding can
be dear enough, `minimum` says. What neither settles is tried out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rummy500_engine.cards import (
    ACE,
    FACES,
    JOKER,
    Card,
    Mask,
    cards_of,
    count,
    hand_of,
    joined,
    less,
    naturals_of,
    rank_of,
    with_jokers,
)
from rummy500_engine.melds import SHORTEST, Meld
from rummy500_engine.minimum import Use as Bringing
from rummy500_engine.minimum import reach_of, sure_reach_of
from rummy500_engine.plans import Plans, must_leave
from rummy500_engine.rules import Rules
from rummy500_engine.terms import JokerPoints
from rummy500_engine.turn import TurnState
from rummy500_engine.uses import Use, uses_of

Ceiling = tuple[Mask, int, int]
"""Without these natural cards and so many jokers the rest of the hand does not bring so many points."""
Laid = tuple[Mask, int, int]
"""A new meld: its natural cards, how many jokers, and at least what it earns."""
_MISSES: Final = 16
"""So many more groups of melds are looked at in vain than not."""
_STEP: Final = 5
"""Points by which a ceiling is lowered as long as it holds."""
_REMEMBERED: Final = 8
"""Meldings that are looked at before a new one is sought."""


class FirstMelds:
    """What is known about the rest of one turn in which the minimum has not been reached."""

    def __init__(self, rules: Rules, state: TurnState, plans: Plans | None) -> None:
        """`plans` for the cards owed, if some are."""
        self.rules, self.state, self.plans = rules, state, plans
        self.catalogue = rules.catalogue
        self.hand, self.jokers = naturals_of(state.hand), count(state.hand, JOKER)
        self.uses, self.reach = uses_of(rules), reach_of(rules)
        self.first = rules.first_meld
        self.leaves = must_leave(rules, state)
        self.banned = 0 if state.banned is None else count(state.hand, state.banned)
        self.missing = self.first.minimum - state.laid_points
        self.joker_points = rules.placed_points[JOKER]
        """What a joker that is laid earns at least."""
        if rules.jokers.scores is JokerPoints.REPRESENTED:
            self.joker_points = min([min(rules.placed_points[face], rules.low_ace_points[face]) for face in FACES])
        self.deductions = sum(
            [min(0, rules.placed_points[card], rules.low_ace_points[card]) for card in cards_of(self.hand)]
        )
        """What natural cards earn at least."""
        self.misses = 0
        """How much more often nothing was found that allows a group of melds than something."""
        self.meldings: list[list[Laid]] = []
        self.ceilings: list[Ceiling] = []
        self.found: list[Laid] = []
        """The cards of meldings that the bound does not refuse, the jokers that they miss, and what the cards earn."""
        self.can_reach = self.first.single or self.reach.can_reach(state.hand, self.missing)

    def can_finish(self) -> bool:
        """Whether melds are found that reach the minimum and use all that is owed; that none were says nothing."""
        return not self.first.single and self.can_reach and self._find(0, 0, self.missing)

    def needs_jokers(self, beside: Mask, jokers: int) -> bool:
        return not self.can_reach or (self.plans is not None and self.plans.needs_jokers(beside, jokers))

    def allows_all(self, used: Mask, jokers: int) -> bool:
        """Whether it is known that the turn can be finished after any meld of these natural cards and jokers."""
        if self.plans is not None or self.first.single or not self._leaves_enough(used, jokers):
            return False
        missing = self.missing - jokers * self.joker_points - self.deductions
        if missing <= 0:
            return True
        for known in self.meldings:
            if self._spares(known, used, jokers, missing):
                return True
        if self.misses >= _MISSES or not self.meldings:
            return False
        found = self._keeps(self.meldings[0], used, jokers, missing)
        self.misses = max(0, self.misses - 1) if found else self.misses + 1
        return found

    def _leaves(self, melding: list[Laid], used: Mask, jokers: int) -> bool:
        """Whether the turn can surely be ended with what is left beside the used cards and all of the melding."""
        if self.plans is not None and self.plans.owed_jokers:
            return False
        laid = used.bit_count() + jokers + sum([cards.bit_count() + needed for cards, needed, _ in melding])
        return self.hand.bit_count() + self.jokers - laid >= self.leaves

    def _spares(self, melding: list[Laid], used: Mask, jokers: int, missing: int) -> bool:
        """Whether the part of the melding that has none of the cards used brings so many points, the jokers suffice for
        it, and the turn can surely be ended."""
        left = self.jokers - jokers
        for cards, needed, earned in melding:
            if not cards & used:
                left -= needed
                missing -= earned
        return missing <= 0 <= left and self._leaves(melding, used, jokers)

    def allows_lay_off(self, meld: Meld, card: Card) -> bool | None:
        return None

    def allows_each(self, faces: tuple[Card, ...], hands: Sequence[Mask], jokers: int) -> list[bool | None]:
        """As `Plans.allows_each`."""
        return [self._allows(faces, used, jokers) for used in hands]

    def _allows(self, faces: tuple[Card, ...], used: Mask, jokers: int) -> bool | None:
        if not self.can_reach:
            return False
        points = self._points(faces, used)
        if self.first.single and points < self.first.minimum:
            return False
        if self.plans is None:
            owed = self._leaves_enough(used, jokers)
        else:
            (owed,) = self.plans.allows_each(faces, (used,), jokers)
        missing = self.missing - points
        if not owed or self.first.single or missing <= 0:
            return owed
        for core, fewest, most in self.ceilings:
            if not core & ~used and jokers >= fewest and missing >= most:
                return False
        if self._find(used, jokers, missing):
            return True
        melding = self.reach.melding(with_jokers(less(self.hand, used), self.jokers - jokers), missing)
        if melding is None:
            self.ceilings.insert(0, self._ceiling(used, jokers, missing) if self.jokers else (used, 0, missing))
            return False
        if self.reach.represented:
            return self._is_sure(used, jokers, missing)
        if not self._is_laid_out(melding, used, jokers, missing):
            return None
        self._remember([(use.cards, use.missing, use.points + use.missing * self.joker_points) for use in melding])
        return True

    def _remember(self, melding: list[Laid]) -> None:
        self.meldings = [melding, *self.meldings[: _REMEMBERED - 1]]

    def _is_sure(self, used: Mask, jokers: int, missing: int) -> bool | None:
        """Whether melds beside the used cards surely bring what is missing and let the turn be ended, each joker in a
        place whose card is missing. None: that is not known."""
        if self.plans is not None or self.rules.jokers.min_natural > 1:
            return None
        sure = sure_reach_of(self.rules)
        melding = sure.melding(with_jokers(less(self.hand, used), self.jokers - jokers), missing)
        if melding is None:
            return None
        size = sum([use.cards.bit_count() for use in melding])
        if self.hand.bit_count() - used.bit_count() - size <= self.banned + 1:
            return None
        self._remember([(use.cards, use.missing, use.points + use.missing * sure.joker_worth) for use in melding])
        return True

    def _ceiling(self, used: Mask, jokers: int, missing: int) -> Ceiling:
        """The used cards without those that change nothing, of a meld after which the rest does not bring enough."""
        if not self._brings(0, jokers, missing):
            used = 0
        for card in cards_of(used):
            fewer = less(used, 1 << card)
            if not self._brings(fewer, jokers, missing):
                used = fewer
        while jokers and not self._brings(used, jokers - 1, missing):
            jokers -= 1
        while missing > _STEP and not self._brings(used, jokers, missing - _STEP):
            missing -= _STEP
        return used, jokers, missing

    def _brings(self, used: Mask, jokers: int, missing: int) -> bool:
        """Whether what is left beside the used cards may bring so many points."""
        left, more = less(self.hand, used), self.jokers - jokers
        worth = more * self.reach.joker_worth
        for number, (cards, needed, points) in enumerate(self.found):
            if not cards & ~left and needed <= more and points + worth >= missing:
                self.found.insert(0, self.found.pop(number))
                return True
        melding = self.reach.melding(with_jokers(left, more), missing)
        if melding is None:
            return False
        cards = 0
        for use in melding:
            cards = joined(cards, use.cards)
        self.found.insert(0, (cards, sum([use.missing for use in melding]), sum([use.points for use in melding])))
        return True

    def _is_laid_out(self, melding: list[Bringing], used: Mask, jokers: int, missing: int) -> bool:
        """Whether this melding beside the used cards surely brings what is missing and lets the turn be ended: jokers
        left over go to a run, one to a set, or two to a card of the hand."""
        if self.plans is not None or self.rules.jokers.min_natural > 1 or self.catalogue.corner:
            return False
        jokers = self.jokers - jokers
        left = jokers - sum([use.missing for use in melding])
        size = sum([use.cards.bit_count() for use in melding])
        if self.hand.bit_count() - used.bit_count() - size <= self.banned + 1 or self.joker_points < 0:
            return False
        points = jokers * self.joker_points + sum([use.points for use in melding])
        runs = any([len({rank_of(card) for card in cards_of(use.cards)}) > 1 for use in melding])
        return points >= missing and (not left or runs or left == SHORTEST - 1)

    def _leaves_enough(self, used: Mask, jokers: int) -> bool | None:
        """Whether, with nothing owed, the turn can surely be ended with what is left."""
        left = self.hand.bit_count() + self.jokers - used.bit_count() - jokers
        return True if left > self.banned + 1 else None

    def _points(self, faces: tuple[Card, ...], used: Mask) -> int:
        """What the meld of these faces earns, the cards used natural and the others jokers."""
        rules, cards = self.rules, cards_of(used)
        is_low = rank_of(faces[0]) == ACE and rank_of(faces[1]) != ACE
        points = sum([rules.placed_points[card] for card in cards])
        if is_low and used >> faces[0] & 1:
            points += rules.low_ace_points[faces[0]] - rules.placed_points[faces[0]]
        if len(cards) == len(faces):
            return points
        if rules.jokers.scores is JokerPoints.FIXED:
            return points + (len(faces) - len(cards)) * self.joker_points
        left = list(faces)
        for card in cards:
            left.remove(card)
        return points + sum([rules.card_points(JOKER, face, is_low and face == faces[0]) for face in left])

    def _find(self, used: Mask, jokers: int, missing: int) -> bool:
        """Whether a melding of the rest is found that brings so many points, and uses what is owed."""
        if self.plans is None:
            for known in self.meldings:
                if self._spares(known, used, jokers, missing) or self._keeps(known, used, jokers, missing):
                    return True
            if self.meldings:
                return False
        melding: list[Laid] = []
        left, more = less(self.hand, used), self.jokers - jokers
        if self.plans is not None:
            plan = self.plans.planner.plan_for(left, more, less(self.plans.must, used), patience=None)
            if plan is None:
                return False  # only grown by what is owed, or none was found
            for use in plan:
                cards, needed, taken = use
                left, more = less(left, cards), more - needed
                melding.append((cards, needed, 0 if taken else self._earned(use)))
        melding += self._dearest(left, more)
        if sum([earned for _, _, earned in melding]) < missing or not self._leaves(melding, used, jokers):
            return False
        self._remember(melding)
        return True

    def _keeps(self, melding: list[Laid], used: Mask, jokers: int, missing: int) -> bool:
        """Whether what is left of the melding brings so many points, with what the rest of the hand makes up for."""
        left, more = less(self.hand, used), self.jokers - jokers
        kept: list[Laid] = []
        for laid in melding:
            cards, needed, earned = laid
            if not cards & ~left and needed <= more:
                left, more, missing = less(left, cards), more - needed, missing - earned
                kept.append(laid)
        if missing <= 0 and self._leaves(kept, used, jokers):
            return True
        for laid in self._dearest(left, more):
            kept.append(laid)
            missing -= laid[2]
            if missing <= 0 and self._leaves(kept, used, jokers):
                self._remember(kept)
                return True
        return False

    def _earned(self, use: Use) -> int:
        """At least what a new meld of these cards earns: an ace as the lower of its two values, a joker that counts as
        its card as nothing."""
        cards, missing, _ = use
        rules = self.rules
        return missing * self.joker_points + sum(
            [min(rules.placed_points[card], rules.low_ace_points[card]) for card in cards_of(cards)]
        )

    def _dearest(self, left: Mask, jokers: int) -> Iterator[Laid]:
        """Melds of the hand one after the other, each the dearest then: without jokers, then with them."""
        catalogue = self.rules.catalogue
        while True:
            melds = [(self._points(meld.cards, hand_of(meld.cards)), meld) for meld in catalogue.natural_melds(left)]
            if not melds:
                break
            points, meld = max(melds, key=lambda each: each[0])
            if points <= 0:
                break
            cards = hand_of(meld.cards)
            left = less(left, cards)
            yield cards, 0, points
        while jokers:
            found = [
                (self._earned(use), use)
                for card in set(cards_of(left))
                for use in self.uses.in_hand(left, jokers, 0, card)
                if use[1]
            ]
            if not found:
                break
            points, (cards, needed, _) = max(found, key=lambda each: each[0] / each[1][1])
            if points <= 0:
                break
            left, jokers = less(left, cards), jokers - needed
            yield cards, needed, points
