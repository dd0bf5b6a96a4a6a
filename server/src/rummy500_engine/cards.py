"""Cards are small ints and hands are bit masks.

A card is ``16 * suit + rank`` (suits C D H S = 0..3, ranks A 2 .. K = 0..12); the joker is 61. Each suit owns a lane of
16 bits in a mask, so that runs are found by shifts and sets by intersecting lanes.

A hand is one int: its lowest 62 bits hold the faces held at least once, the next 62 bits those held at least twice, and
so on. Equal hands are equal ints, whatever the number of packs, and ``hand.bit_count()`` is the number of cards.

Constants of the engine are Final: where it is compiled, they are part of the code.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

Card = int
Mask = int

RANKS: Final = "A23456789TJQK"
SUITS: Final = "CDHS"
ACE: Final = 0
KING: Final = 12
LANE_BITS: Final = 16
COPY_BITS: Final = 62
"""As many as a small int of a compiled engine holds."""
JOKER: Final = 61
FACES: Final[tuple[Card, ...]] = tuple(LANE_BITS * suit + rank for suit in range(4) for rank in range(13))
"""The 52 faces, clubs to spades, ace to king: also the order in which a pack is written down before it is shuffled."""
DISTINCT: Final[Mask] = (1 << COPY_BITS) - 1
"""Masks the faces of a hand, each once."""
JOKER_BIT: Final[Mask] = 1 << JOKER
ACES: Final[Mask] = 0x0001_0001_0001_0001
NATURALS: Final[Mask] = sum(1 << card for card in FACES)
_MOST_COPIES: Final = 64
_ALL_JOKERS: Final[Mask] = sum(1 << JOKER + copy * COPY_BITS for copy in range(_MOST_COPIES))

_TEXT: Final = {card: RANKS[card % LANE_BITS] + SUITS[card // LANE_BITS] for card in FACES} | {JOKER: "JK"}
_CARD: Final = {text: card for card, text in _TEXT.items()}


class UnreadableCard(ValueError):
    """A text is no card; `args[0]` says what was read."""


def card_text(card: Card) -> str:
    return _TEXT[card]


def read_card(text: str) -> Card:
    """Reads ``TH``, ``10h`` or ``jk``. Raises UnreadableCard."""
    card = _CARD.get(text.upper().replace("10", "T", 1))
    if card is None:
        raise UnreadableCard(f"{text!r} is no card: a card is a rank of {RANKS} and a suit of {SUITS}, as TH, or JK")
    return card


def read_cards(text: str) -> tuple[Card, ...]:
    return tuple(read_card(word) for word in text.split())


def cards_text(cards: Iterable[Card]) -> str:
    return " ".join(_TEXT[card] for card in cards)


def rank_of(card: Card) -> int:
    return card % LANE_BITS


def suit_of(card: Card) -> int:
    return card // LANE_BITS


def add(hand: Mask, card: Card) -> Mask:
    bit = 1 << card
    if not hand & bit:
        return hand | bit
    bit <<= COPY_BITS
    while hand & bit:
        bit <<= COPY_BITS
    return hand | bit


def remove(hand: Mask, card: Card) -> Mask:
    """The hand without one such card, which it must hold."""
    bit = 1 << card
    assert hand & bit, f"{card_text(card)} is not held"
    if hand <= DISTINCT:
        return hand ^ bit
    while hand & (bit << COPY_BITS):
        bit <<= COPY_BITS
    return hand ^ bit


def hand_of(cards: Iterable[Card]) -> Mask:
    hand = 0
    for card in cards:
        bit = 1 << card
        hand = add(hand, card) if hand & bit else hand | bit
    return hand


def cards_of(hand: Mask) -> list[Card]:
    """The cards of a hand in ascending order, equal ones side by side."""
    if hand.bit_count() > FEW and hand <= DISTINCT:
        lanes = _LANES
        return [
            *lanes[hand & 0xFFFF],
            *lanes[0x1_0000 | hand >> 16 & 0xFFFF],
            *lanes[0x2_0000 | hand >> 32 & 0xFFFF],
            *lanes[0x3_0000 | hand >> 48],
        ]
    cards = []
    twins = hand > DISTINCT
    while hand:
        bit = hand & -hand
        cards.append((bit.bit_length() - 1) % COPY_BITS)
        hand ^= bit
    if twins:
        cards.sort()
    return cards


class _Lanes(dict[int, tuple[Card, ...]]):
    """The cards of a lane of 16 bits, by suit and lane; each is worked out once."""

    def __missing__(self, key: int) -> tuple[Card, ...]:
        suit, lane = divmod(key, 1 << LANE_BITS)
        cards = self[key] = tuple(LANE_BITS * suit + rank for rank in range(LANE_BITS) if lane >> rank & 1)
        return cards


_LANES: Final = _Lanes()
FEW: Final = 3
"""So many cards are found bit by bit as quickly."""


def without(hand: Mask, cards: Iterable[Card]) -> Mask:
    for card in cards:
        hand = remove(hand, card)
    return hand


def less(hand: Mask, cards: Mask) -> Mask:
    """The hand without those of the cards that it has."""
    if cards <= DISTINCT and not hand & cards << COPY_BITS:
        return hand & ~cards
    while cards and hand:
        faces = cards & hand & DISTINCT
        cards >>= COPY_BITS
        copy = 0
        while faces:
            above = faces & hand >> copy + COPY_BITS
            hand ^= (faces ^ above) << copy
            faces = above
            copy += COPY_BITS
    return hand


def joined(hand: Mask, cards: Mask) -> Mask:
    """The hand and the cards."""
    if not hand & cards:
        return hand | cards
    return hand_of([*cards_of(hand), *cards_of(cards)])


def count(hand: Mask, card: Card) -> int:
    held = 0
    hand >>= card
    while hand & 1:
        held += 1
        hand >>= COPY_BITS
    return held


def naturals_of(hand: Mask) -> Mask:
    """The hand without its jokers."""
    return hand & ~_ALL_JOKERS


def with_jokers(naturals: Mask, jokers: int) -> Mask:
    """The hand of these natural cards and so many jokers."""
    return naturals | _ALL_JOKERS & (1 << jokers * COPY_BITS) - 1


def holds(hand: Mask, cards: Iterable[Card]) -> bool:
    """Whether the hand has all these cards, each as often as it is named."""
    for card in cards:
        if not hand >> card & 1:
            return False
        hand = remove(hand, card)
    return True
