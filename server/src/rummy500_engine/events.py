"""What has happened, in the order in which it did. `view.redact` removes what a viewer may not see."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from rummy500_engine.actions import End
from rummy500_engine.cards import Card


class RoundEnd(Enum):
    """Why a round ended."""

    OUT = "out"
    STOCK = "stock"
    PASSED = "passed"
    TURN_LIMIT = "turn_limit"


@dataclass(frozen=True, slots=True)
class RoundDealt:
    """`hands` holds each seat's cards in deal order; None where the viewer may not see them."""

    round: int
    dealer: int
    hands: tuple[tuple[Card, ...] | None, ...]
    hand_counts: tuple[int, ...]
    up_card: Card | None
    stock_count: int


@dataclass(frozen=True, slots=True)
class DrewFromStock:
    """`card` is None for everybody but the seat that drew."""

    seat: int
    card: Card | None
    stock_count: int


@dataclass(frozen=True, slots=True)
class TookFromPile:
    """`cards` from the target (deepest) up; `must_use` names those that must be used in this turn."""

    seat: int
    cards: tuple[Card, ...]
    must_use: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Melded:
    """Meld number `meld` was laid: `cards` in order, `faces` what each stands for, `end` if it must be said."""

    seat: int
    meld: int
    cards: tuple[Card, ...]
    faces: tuple[Card, ...]
    end: End | None


@dataclass(frozen=True, slots=True)
class LaidOff:
    seat: int
    meld: int
    card: Card
    face: Card
    end: End | None


@dataclass(frozen=True, slots=True)
class Discarded:
    seat: int
    card: Card


_TOOK_ONE: Final[dict[int, TookFromPile]] = {}
_LAID_OFF: Final[dict[int, LaidOff]] = {}
_DISCARDED: Final[dict[int, Discarded]] = {}
_DREW: Final[dict[int, DrewFromStock]] = {}
_NO_CARD: Final = 63


def took_from_pile(seat: int, cards: tuple[Card, ...], must_use: tuple[Card, ...]) -> TookFromPile:
    """One shared object for each take of one card: events are values."""
    if len(cards) != 1:
        return TookFromPile(seat, cards, must_use)
    key = (seat << 6 | cards[0]) << 1 | len(must_use)
    shared = _TOOK_ONE.get(key)
    if shared is None:
        shared = _TOOK_ONE[key] = TookFromPile(seat, cards, must_use)
    return shared


def laid_off(seat: int, meld: int, card: Card, face: Card, end: End | None) -> LaidOff:
    key = (((meld << 4 | seat) << 6 | card) << 6 | face) << 2 | (0 if end is None else 1 if end is End.LOW else 2)
    shared = _LAID_OFF.get(key)
    if shared is None:
        shared = _LAID_OFF[key] = LaidOff(seat, meld, card, face, end)
    return shared


def discarded(seat: int, card: Card) -> Discarded:
    key = seat << 6 | card
    shared = _DISCARDED.get(key)
    if shared is None:
        shared = _DISCARDED[key] = Discarded(seat, card)
    return shared


def drew_from_stock(seat: int, card: Card | None, stock_count: int) -> DrewFromStock:
    key = (stock_count << 4 | seat) << 6 | (_NO_CARD if card is None else card)
    shared = _DREW.get(key)
    if shared is None:
        shared = _DREW[key] = DrewFromStock(seat, card, stock_count)
    return shared


@dataclass(frozen=True, slots=True)
class Passed:
    """Declined to take with an empty stock, which ends the round."""

    seat: int


@dataclass(frozen=True, slots=True)
class Exchanged:
    """`card` took the place of the joker that stood for it in a meld; the joker went to the seat's hand."""

    seat: int
    meld: int
    card: Card


@dataclass(frozen=True, slots=True)
class PollOpened:
    """Several seats are asked; `variant` names who asks, `name` the phase, `card` the discard that led to it."""

    variant: str
    name: str
    card: Card | None
    by: int
    asked: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PollClosed:
    """`winner` is the seat whose answer counted, if any; of a call, `card` is the one called and `place` where it lay
    in the pile, counted from the bottom, 1 = bottom."""

    variant: str
    name: str
    winner: int | None
    card: Card | None = None
    place: int = 0


@dataclass(frozen=True, slots=True)
class TurnPassed:
    """A variant gave the turn to `seat`, in phase play if `drawn`, else to draw."""

    seat: int
    drawn: bool


@dataclass(frozen=True, slots=True)
class StockRecycled:
    """The pile but for its top became the stock; nobody sees its order."""

    stock_count: int
    shuffled: bool


@dataclass(frozen=True, slots=True)
class SeatScore:
    """`adjustments` are what variants add or take, by name; `points` is the whole of the round."""

    placed: int
    held: int
    adjustments: tuple[tuple[str, int], ...]
    points: int


@dataclass(frozen=True, slots=True)
class RoundScored:
    """`hands` are shown to all when the round is over. `totals` are by seat (a side's total for each partner)."""

    round: int
    reason: RoundEnd
    out: int | None
    seats: tuple[SeatScore, ...]
    totals: tuple[int, ...]
    hands: tuple[tuple[Card, ...], ...]


@dataclass(frozen=True, slots=True)
class GameWon:
    """No winner: the round limit was reached with a shared lead. `settlement` is empty without that variant."""

    winners: tuple[int, ...]
    totals: tuple[int, ...]
    round_limit: bool
    settlement: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class VariantEvent:
    """What a variant's own action did. `seat_fields` are fields that only that seat may see."""

    variant: str
    name: str
    seat: int
    fields: tuple[tuple[str, Any], ...] = ()
    cards: tuple[Card, ...] = ()
    private: bool = False


Event = (
    RoundDealt
    | DrewFromStock
    | TookFromPile
    | Melded
    | LaidOff
    | Discarded
    | Passed
    | Exchanged
    | PollOpened
    | PollClosed
    | TurnPassed
    | StockRecycled
    | RoundScored
    | GameWon
    | VariantEvent
)
