"""What a discard costs: its use to the own hand, and what others make of it, with cards of theirs and with the pile.

Which of these matter, and how much, was read off games between fair players: each discard of a hand was played on many
times from the hands as they really were, and what came of it was fitted (`rummy500_bots.styles.Throw`). Most is lost by
a card for which others dig: one that makes a meld with a card in the pile and one that they may hold.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from rummy500_bots.judgement import Judge, Prospect
from rummy500_bots.styles import Throw
from rummy500_engine.cards import JOKER, Card, Mask
from rummy500_engine.round import Round


def throw_values(
    judge: Judge, throw: Throw, round: Round, seat: int, cards: Sequence[Card], prospect: Prospect
) -> list[float]:
    """By discard what it costs the seat, below 0, in points."""
    hand, style, placed = round.hands[seat], judge.style, judge.rules.placed_points
    missed: defaultdict[Card, float] = defaultdict(lambda: 1.0)
    for one, other, miss in judge.loose(hand, prospect).pairs:
        missed[one] *= miss
        missed[other] *= miss
    values = []
    for card in cards:
        points = placed[card]
        if card == JOKER:
            values.append(-2.0 * points)
            continue
        risk, digs = _given(judge, card, hand, prospect)
        given = throw.risk * risk + throw.dig * digs
        if round.fits >> card & 1 and not judge.rules.own_melds_only:
            given += points
        values.append(-style.keep * throw.use * (1 - missed[card]) - style.danger * given - throw.points * points)
    return values


def _given(judge: Judge, card: Card, hand: Mask, prospect: Prospect) -> tuple[float, float]:
    """The chance that others hold two partners of the card, and how many partners of it and of a card in the pile they
    are expected to hold."""
    known, pile, chance = prospect.known, prospect.pile, prospect.theirs
    safe, digs = 1.0, 0.0
    for two in judge.trios.among(card, (known | prospect.live | pile) & ~hand):
        held = chance ** (two & ~pile & ~known).bit_count()
        in_pile = (two & pile).bit_count()
        if not in_pile:
            safe *= 1 - held
        elif in_pile == 1:
            digs += held
    return 1 - safe, digs
