"""Actions to try on a position: every simple one, melds of all kinds of subsets of the hand, and near misses."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations

from rummy500_engine.actions import DRAW, PASS, Action, Call, Discard, End, LayMeld, LayOff, Take, VariantAction
from rummy500_engine.cards import FACES, JOKER, Card, cards_of, rank_of, suit_of
from rummy500_engine.round import Round

ENDS: tuple[End | None, ...] = (None, End.LOW, End.HIGH)
MOST_TRIPLES = 400


def candidates(round: Round, seat: int, dice: random.Random) -> list[Action]:
    """A large set of actions, most of them not legal."""
    found: list[Action] = [DRAW, PASS, Call(dice.choice(FACES), 0, 1), VariantAction("nobody", "nothing")]
    found += [Discard(card) for card in (*FACES, JOKER)]
    found += _takes(round)
    found += _lay_offs(round)
    found += _melds(round, seat, dice)
    found += _variant_actions(round)
    return found


def _variant_actions(round: Round) -> Iterator[VariantAction]:
    for verb, variant in round.rules.verbs.items():
        yield VariantAction(variant, verb)
        for card in (*FACES, JOKER):
            yield VariantAction(variant, verb, (card,))
            for meld in round.melds:
                yield VariantAction(variant, verb, (card,), f"m{meld.id}")


def _takes(round: Round) -> Iterator[Take]:
    for place, card in enumerate(round.pile, 1):
        yield Take(card, place)
        yield Take(card, place % len(round.pile) + 1)
    for card in (*FACES, JOKER):
        yield Take(card)
        yield Take(card, len(round.pile) + 1)


def _lay_offs(round: Round) -> Iterator[LayOff]:
    for number in range(len(round.melds) + 2):
        for end in ENDS:
            for card in FACES:
                yield LayOff(card, number, end)
            yield LayOff(JOKER, number, end)
            if JOKER in round.rules.pack:
                for face in FACES:
                    yield LayOff(JOKER, number, end, face)


def _melds(round: Round, seat: int, dice: random.Random) -> Iterator[LayMeld]:
    hand = cards_of(round.hands[seat])
    for cards in _subsets(hand, dice):
        yield LayMeld(cards)
        yield LayMeld(cards[::-1])
        yield LayMeld(cards, (), dice.choice(ENDS))
        if cards:
            yield from _near_misses(cards, hand, dice)
    if JOKER in hand:
        yield from _joker_melds(hand)


def _subsets(hand: list[Card], dice: random.Random) -> Iterator[tuple[Card, ...]]:
    """Pairs and triples, all that share a rank, all stretches of a suit with and without the ace at either end."""
    triples = list(combinations(hand, 3))
    yield from triples if len(triples) <= MOST_TRIPLES else dice.sample(triples, MOST_TRIPLES)
    yield from list(combinations(hand, 2))[:20]
    for rank in range(13):
        same = [card for card in hand if card != JOKER and rank_of(card) == rank]
        for size in range(3, len(same) + 1):
            yield from combinations(same, size)
    for suit in range(4):
        lane = sorted({card for card in hand if card != JOKER and suit_of(card) == suit})
        if lane and rank_of(lane[0]) == 0:
            lane.append(lane[0])
        for first in range(len(lane)):
            for last in range(first + 3, len(lane) + 1):
                yield tuple(lane[first:last])
    yield tuple(hand)


def _near_misses(cards: tuple[Card, ...], hand: list[Card], dice: random.Random) -> Iterator[LayMeld]:
    """Melds with a card too many, a card that is not held, or a card that claims to stand for another."""
    other = dice.choice(FACES)
    yield LayMeld((*cards, cards[0]))
    yield LayMeld((*cards[:-1], other))
    if len(hand) > len(cards):
        stranger = dice.choice([card for card in hand if card not in cards] or hand)
        yield LayMeld((*cards[:-1], stranger), cards)
        yield LayMeld((*cards, stranger))
    yield LayMeld(cards, cards)
    yield LayMeld(cards, cards[:-1])
    yield LayMeld(cards, (*cards[:-1], JOKER))


def _joker_melds(hand: list[Card]) -> Iterator[LayMeld]:
    """Each pair of cards with a joker, said to be any card near them, and not said."""
    naturals = [card for card in hand if card != JOKER]
    for left, right in combinations(sorted(set(naturals)), 2):
        yield LayMeld((left, right, JOKER))
        for face in FACES:
            if rank_of(face) == rank_of(left) or suit_of(face) == suit_of(left):
                faces = tuple(sorted((left, right, face)))
                yield LayMeld(tuple(JOKER if card == face else card for card in faces), faces)
                yield LayMeld((left, right, JOKER), (left, right, face))
