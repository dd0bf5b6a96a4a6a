"""The bot of a beginner: draws from the stock, calls, melds and lays off what it can, throws its highest loose card."""

from __future__ import annotations

from collections.abc import Sequence

from rummy500_bots.decision import Decision
from rummy500_engine.actions import DRAW, PASS, Action, Call, Discard, LayMeld, LayOff
from rummy500_engine.cards import ACE, JOKER, KING, Card, rank_of, suit_of
from rummy500_engine.rules import Rules
from rummy500_engine.view import View

NEAR = 2
"""Ranks apart that two cards of a suit may be to be of use to one run of three."""


class EasyBot:
    """Keeps nothing: the answer follows from the question alone."""

    def act(self, decision: Decision) -> Action:
        legal, rules = decision.legal, decision.rules
        if decision.view.poll is not None:
            return next((action for action in legal if isinstance(action, Call)), PASS if PASS in legal else legal[0])
        if DRAW in legal:
            return DRAW
        melds = [action for action in legal if isinstance(action, LayMeld)]
        if melds:
            return max(melds, key=lambda meld: _points(rules, meld))
        for action in legal:
            if isinstance(action, LayOff):
                return action
        discards = [action for action in legal if isinstance(action, Discard)]
        if discards:
            return _highest_loose(rules, decision.view, discards)
        return PASS if PASS in legal else legal[0]


def _points(rules: Rules, meld: LayMeld) -> int:
    faces = meld.stands_for or meld.cards
    low = any(rank_of(face) == ACE + 1 for face in faces)
    return sum(
        rules.card_points(card, face, low and rank_of(face) == ACE)
        for card, face in zip(meld.cards, faces, strict=True)
    )


def _highest_loose(rules: Rules, view: View, discards: Sequence[Discard]) -> Discard:
    """The loose card that costs most in hand; if none is loose, the card that does. Jokers stay as long as they can."""

    def cost(discard: Discard) -> tuple[bool, bool, int, Card]:
        card = discard.card
        return card != JOKER, _is_loose(card, view.hand), rules.held_points[card], card

    return max(discards, key=cost)


def _is_loose(card: Card, hand: Sequence[Card]) -> bool:
    """Whether no other card of the hand is of its rank, or of its suit and near it."""
    others = list(hand)
    others.remove(card)
    return not any(_goes_with(card, other) for other in others)


def _goes_with(card: Card, other: Card) -> bool:
    if JOKER in (card, other):
        return True
    rank, there = rank_of(card), rank_of(other)
    if rank == there:
        return card != other
    if suit_of(card) != suit_of(other):
        return False
    apart = abs(rank - there)
    return apart <= NEAR or (ACE in (rank, there) and apart > KING - NEAR)
