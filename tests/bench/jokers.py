"""Crowded positions with three packs and jokers, or with a minimum: forty cards in hand, reached by a legal take."""

from __future__ import annotations

import random

from tests.engine.tables import SEED

from rummy500_catalog import Catalog
from rummy500_engine.actions import Take
from rummy500_engine.cards import JOKER, hand_of
from rummy500_engine.legal import refusal
from rummy500_engine.round import Round
from rummy500_engine.rules import Rules
from rummy500_engine.terms import Phase

HAND_CARDS, HAND_JOKERS, PILE_CARDS = 40, 4, 30
TAKEN = {"free": 0, "top": 1, "one owed": 6, "five owed": 5, "to draw": 0}
"""By kind of position how many cards the player has taken. Five are owed because the stock is empty."""
MINIMUMS = (30, 60, 90, 120, 150, 200)
PACKS: dict[str, tuple[tuple[str, ...], dict[str, object]]] = {
    "three packs with jokers": (("two-decks", "jokers"), {"two-decks.decks": 3, "jokers.per_deck": 4}),
    "jokers that count as their card": (
        ("two-decks", "jokers"),
        {"two-decks.decks": 3, "jokers.per_deck": 4, "jokers.scores": "represented"},
    ),
    "two packs": (("two-decks",), {}),
    "three packs": (("two-decks",), {"two-decks.decks": 3}),
}


def rules_of(packs: str, *, minimum: int) -> Rules:
    variants, options = PACKS[packs]
    if not minimum:
        return Catalog().rules(variants=variants, options=options)
    return Catalog().rules(variants=(*variants, "meld-first"), options={**options, "meld-first.minimum": minimum})


def crowded(rules: Rules, kind: str, dice: random.Random) -> Round:
    """Seat 0 holds forty cards, what it took among them, or is to draw; up to six melds lie on the table."""
    while True:
        pack = [card for card in rules.pack if card != JOKER]
        dice.shuffle(pack)
        round = Round(rules, number=1, dealer=1, seed=SEED)
        for _ in range(dice.randrange(7)):
            if len(pack) > 2 * HAND_CARDS:
                _lay_meld(round, pack, dice)
        if rules.first_meld.minimum:
            round.opened[0] = 0
        round.refit()
        taken = TAKEN[kind]
        jokers = min(HAND_JOKERS, rules.pack.count(JOKER))
        round.hands[0] = hand_of([*[pack.pop() for _ in range(HAND_CARDS - jokers - taken)], *[JOKER] * jokers])
        round.hands[1] = hand_of([pack.pop() for _ in range(5)])
        round.pile = [pack.pop() for _ in range(PILE_CARDS if kind == "to draw" else max(1, taken))]
        round.stock = [] if kind in ("five owed", "to draw") else pack[:6]
        if kind == "free":
            round.phase = Phase.PLAY
        take = Take(round.pile[0], 1)
        if not taken:
            return round
        if refusal(round, 0, take) is None:
            round.apply(0, take)
            return round


def _lay_meld(round: Round, pack: list[int], dice: random.Random) -> None:
    melds = round.rules.catalogue.natural_melds(hand_of(pack[:60]))
    if not melds:
        return
    chosen = dice.choice(melds)
    seat = dice.randrange(2)
    (shape,) = round.rules.catalogue.readings(chosen)
    round.melds.append(round.rules.catalogue.meld(len(round.melds) + 1, shape, seat))
    round.opened[seat] += 1
    for card in chosen.cards:
        pack.remove(card)
