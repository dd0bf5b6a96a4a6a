"""A yardstick: a bot that plays as published players of Rummy 500 are described, to measure the built-in ones against.

The equity of a hand is what it can meld now, plus what its other cards are expected to earn, less what they are
expected to cost. A card earns when one of its outs comes: an unseen card that makes a meld with it and another of the
hand. It draws or takes what leaves the most equity, lays all it can, and tries every discard on draws at random (Monte
Carlo). `python -m tests.bots.yardstick PRESET DEALS BOT` measures a bot against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from rummy500_bots import Decision
from rummy500_bots.covers import covers_of
from rummy500_bots.guesses import plain_guess
from rummy500_bots.knowledge import Knowledge, knowledge_of
from rummy500_bots.meld_phase import best_meld_phase
from rummy500_bots.policy import taken_cards
from rummy500_bots.trios import trios_of
from rummy500_engine.actions import Action, Call, Discard, LayMeld, LayOff, Take
from rummy500_engine.cards import DISTINCT, NATURALS, Mask, add, cards_of, less, remove
from rummy500_engine.guess import guessed_round
from rummy500_engine.rules import Rules
from rummy500_engine.terms import Phase

TRIALS = 12
"""Draws at random for each discard."""
DRAWS_AHEAD = 3
"""Cards that come in each of them."""


class EquityBot:
    """Keeps nothing of the game but its dice."""

    def __init__(self, seed: int) -> None:
        self._dice = Random(seed)

    def act(self, decision: Decision) -> Action | Sequence[Action]:
        view, rules, legal = decision.view, decision.rules, decision.legal
        knowledge = knowledge_of(rules, view)
        if len(legal) == 1:
            return legal[0]
        if view.phase is Phase.DRAW:
            return max(legal, key=lambda action: self._after_draw(rules, knowledge, view.pile, action))
        if view.phase is not Phase.PLAY:
            return next((action for action in legal if isinstance(action, Call)), legal[-1])
        if any(isinstance(action, LayMeld | LayOff) for action in legal):
            assert view.seat is not None
            plays = best_meld_phase(guessed_round(rules, view, plain_guess(knowledge)), view.seat).plays
            if plays:
                return plays
        discards = [action for action in legal if isinstance(action, Discard)] or legal[:1]
        return max(discards, key=lambda action: self._after_discard(rules, knowledge, action))

    def _after_draw(self, rules: Rules, knowledge: Knowledge, pile: Sequence[int], action: Action) -> float:
        hand = knowledge.hand
        if isinstance(action, Take):
            for card in taken_cards(pile, action):
                hand = add(hand, card)
            return equity(rules, hand, knowledge.unseen)
        unseen = cards_of(knowledge.unseen)
        drawn = self._dice.sample(unseen, min(TRIALS, len(unseen)))
        return sum([equity(rules, add(hand, card), knowledge.unseen) for card in drawn]) / max(1, len(drawn))

    def _after_discard(self, rules: Rules, knowledge: Knowledge, action: Action) -> float:
        left = remove(knowledge.hand, action.card) if isinstance(action, Discard) else knowledge.hand
        unseen, total = cards_of(knowledge.unseen), 0.0
        for _ in range(TRIALS):
            hand = left
            for card in self._dice.sample(unseen, min(DRAWS_AHEAD, len(unseen))):
                hand = add(hand, card)
            total += equity(rules, hand, knowledge.unseen)
        return total / TRIALS


def equity(rules: Rules, hand: Mask, unseen: Mask) -> float:
    """Points that are melded, and expected, less the deadwood that is expected."""
    melded, used = covers_of(rules).best(hand)
    loose = less(hand, used) & DISTINCT & NATURALS
    trios, total = trios_of(rules), float(melded)
    for card in cards_of(loose):
        outs = 0
        for partner, completing in ((each, third) for each in cards_of(loose) for third in trios.others[card]):
            if completing >> partner & 1:
                outs |= completing & ~(1 << partner) & unseen
        chance = min(1.0, DRAWS_AHEAD * outs.bit_count() / max(1, unseen.bit_count()))
        total += rules.placed_points[card] * chance - rules.held_points[card] * (1 - chance)
    return total
