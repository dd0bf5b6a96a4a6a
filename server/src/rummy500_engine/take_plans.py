"""Which takes from a pile leave a turn in which all cards taken can be used: each take's plan is mended from the last.

A take has one card more than the one before. First that card is used with what the last plan leaves over, then with
cards or jokers that the plan gives up, and only then all is sought anew, by a `cover` to which the card comes too.
"""

from __future__ import annotations

from typing import Final

from rummy500_engine.cards import JOKER, Mask, cards_of, count, less, naturals_of
from rummy500_engine.cover import Cover
from rummy500_engine.melds import Meld
from rummy500_engine.planner import Planner
from rummy500_engine.plans import REPAIR, is_run, jokers_fit
from rummy500_engine.rules import Rules
from rummy500_engine.uses import MOST_NATURALS, Use

_FRESH: Final = 40
"""Steps in which a plan with jokers should be found anew."""
_MEND: Final = 10
"""Steps in which what makes room for one card more should be found a place."""


class TakePlans:
    """Which takes leave a turn in which all cards taken can be used, asked from the top of the pile down."""

    def __init__(self, rules: Rules, melds: list[Meld], *, hand: Mask, pile: Mask) -> None:
        """The hand with the whole pile."""
        self.catalogue, self.melds = rules.catalogue, melds
        self.planner = Planner(rules, melds, hand=hand, owed=pile)
        self.cover: Cover | None = None
        self.covered = 0
        """What `cover` was told is owed."""
        self.room = jokers_fit(melds)
        self.decides = rules.jokers.min_natural == 1 or (
            rules.jokers.min_natural <= MOST_NATURALS and JOKER not in cards_of(pile)
        )
        self.plan: list[Use] = []
        self.is_refused = False

    def allow(self, hand: Mask, owed: Mask) -> bool | None:
        """Whether the cards owed can be used, of a hand that holds them; None: only trying out tells."""
        if not self.decides:
            return None
        planner, is_refused = self.planner, self.is_refused
        naturals, jokers, must = naturals_of(hand), count(hand, JOKER), naturals_of(owed)
        plan = planner.plan_for(naturals, jokers, must, patience=REPAIR, begun=self.plan)
        if plan is None and jokers and not is_refused:  # else more is missing from the last plan than one card
            plan = self._mended(naturals, jokers, must)
            if plan is None:
                plan = planner.plan_for(naturals, jokers, must, patience=_FRESH)
        if plan is None:
            cover = self._cover(hand, must)
            if planner.weighs_whole and cover.applies:
                plan = planner.covering_plan(cover)
            else:
                plan = planner.plan_for(naturals, jokers, must, patience=None)
        self.is_refused = plan is None
        if plan is None:
            return False
        self.plan = plan
        more = count(owed, JOKER) - sum([missing for _, missing, _ in plan])
        return True if more <= self.room or any([is_run(use) for use in plan]) else None

    def _mended(self, naturals: Mask, jokers: int, must: Mask) -> list[Use] | None:
        """A plan for one card more, that takes to the last plan's cards or jokers: those uses are sought anew."""
        unmet = must
        for cards, _, _ in self.plan:
            unmet = less(unmet, cards)
        for card in cards_of(unmet)[:1]:
            for use in self.planner.uses[1 << card]:
                plan = self.planner.plan_for(naturals, jokers, must, patience=_MEND, begun=[use, *self.plan])
                if plan is not None:
                    return plan
        return None

    def _cover(self, hand: Mask, owed: Mask) -> Cover:
        """The one cover of all takes, as long as no joker comes to the hand: what it found out about ranks that are
        left alone is kept."""
        if self.cover is None or self.cover.jokers != count(hand, JOKER):
            self.cover = Cover(self.catalogue, hand=hand, owed=owed, melds=self.melds)
        else:
            for card in cards_of(less(owed, self.covered)):
                self.cover.owe(card)
        self.covered = owed
        return self.cover
