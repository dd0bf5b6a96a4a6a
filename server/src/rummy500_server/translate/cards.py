"""Cards and ends of runs: look-ups in both directions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

from rummy500.v1 import card_pb2
from rummy500_engine.actions import End
from rummy500_engine.cards import DISTINCT, FACES, JOKER, LANE_BITS, Card, Mask, cards_of
from rummy500_server.status import bad_request
from rummy500_server.translate.pieces import Remembered

if TYPE_CHECKING:
    WireCard: TypeAlias = card_pb2.Card.ValueType
    WireEnd: TypeAlias = card_pb2.RunEnd.ValueType

_NUMBERS = {card: number for number, card in enumerate((*FACES, JOKER), 1)}
WIRE = cast("tuple[WireCard, ...]", tuple(_NUMBERS.get(card, 0) for card in range(JOKER + 1)))
"""The number on the wire, by card."""
CARDS: dict[int, Card] = {number: card for card, number in _NUMBERS.items()}
"""The card, by its number on the wire."""
_TABLE = bytes(WIRE).ljust(256, b"\0")

END: dict[End | None, WireEnd] = {
    None: card_pb2.RUN_END_UNSPECIFIED,
    End.LOW: card_pb2.RUN_END_LOW,
    End.HIGH: card_pb2.RUN_END_HIGH,
}
ENDS: dict[int, End | None] = {number: end for end, number in END.items()}


def wire_cards(cards: Iterable[Card]) -> Sequence[WireCard]:
    """The numbers on the wire, in order: bytes are a sequence of small ints, translated in one step."""
    return cast("Sequence[WireCard]", bytes(cards).translate(_TABLE))


def wire_bytes(cards: Iterable[Card]) -> bytes:
    """The numbers on the wire as a packed list has them."""
    return bytes(cards).translate(_TABLE)


def hand_bytes(hand: Mask) -> bytes:
    """The same for the cards of a hand, in the order of `cards_of`: four look-ups where no card is held twice."""
    if hand > DISTINCT:
        return wire_bytes(cards_of(hand))
    lanes = _LANES
    return (
        lanes[hand & 0xFFFF]
        + lanes[0x1_0000 | hand >> 16 & 0xFFFF]
        + lanes[0x2_0000 | hand >> 32 & 0xFFFF]
        + lanes[0x3_0000 | hand >> 48]
    )


def _of_lane(key: int) -> bytes:
    suit, lane = divmod(key, 1 << LANE_BITS)
    return wire_bytes(cards_of(lane << LANE_BITS * suit))


_LANES: Remembered[int] = Remembered(_of_lane, most=1 << 16)
"""By suit and lane."""


def card_from(number: int, field: str) -> Card:
    """Raises Failure BAD_REQUEST naming the field."""
    card = CARDS.get(number)
    if card is None:
        raise bad_request(field, f"{number} is no card; cards are 1 to 53")
    return card


def cards_from(numbers: Sequence[int], field: str, *, most: int = 64) -> tuple[Card, ...]:
    if len(numbers) > most:
        raise bad_request(field, f"{len(numbers)} cards; at most {most}")
    try:
        return tuple([CARDS[number] for number in numbers])
    except KeyError:
        return tuple(card_from(number, f"{field}[{index}]") for index, number in enumerate(numbers))


def end_from(number: int, field: str) -> End | None:
    if number not in ENDS:
        raise bad_request(field, f"{number} is no end of a run; ends are 0 to 2")
    return ENDS[number]
