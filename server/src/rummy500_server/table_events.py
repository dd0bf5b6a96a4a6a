"""What happens at a table beside the game itself, and the text of any event, from which digests are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from hashlib import blake2b
from typing import Any

from rummy500_engine.events import (
    Discarded,
    DrewFromStock,
    Event,
    LaidOff,
    Melded,
    RoundScored,
    TookFromPile,
)
from rummy500_server.results import GameResult, Termination


class ClockReason(Enum):
    """Why the clock acted; the names are those of the contract."""

    TIMEOUT = "its time ran out"
    REFUSALS = "five of its actions were refused"
    DISCONNECT = "its player is not connected, and its time ran out"


@dataclass(frozen=True, slots=True)
class SeatJoined:
    """`entropy` is what the seat adds to every deal; empty: nothing."""

    seat: int
    name: str
    is_bot: bool
    entropy: bytes = b""


@dataclass(frozen=True, slots=True)
class SeatLeft:
    """Before the start the seat is free again; afterwards it has forfeited."""

    seat: int


@dataclass(frozen=True, slots=True)
class TableClosed:
    termination: Termination
    sentence: str


@dataclass(frozen=True, slots=True)
class ClockActed:
    """The clock finishes the turn of `seat`, its `finished_turns`-th of this game; what it does follows."""

    seat: int
    reason: ClockReason
    finished_turns: int


@dataclass(frozen=True, slots=True)
class SeatTakenOver:
    seat: int
    bot: str
    reason: ClockReason


@dataclass(frozen=True, slots=True)
class SeatReturned:
    seat: int


@dataclass(frozen=True, slots=True)
class SeatForfeited:
    seat: int
    termination: Termination


@dataclass(frozen=True, slots=True)
class RoundCounted:
    """In the place of the engine's RoundScored: the round, and who deals next; None: the game is over."""

    scored: RoundScored
    next_dealer: int | None


@dataclass(frozen=True, slots=True)
class GameEnded:
    """The game is over: in the place of the engine's GameWon, and for a game that did not end by the rules."""

    result: GameResult


@dataclass(frozen=True, slots=True)
class DealCommitted:
    """The secret of the round is fixed; of round 0 that of the table, from which all others follow."""

    round: int
    commitment: bytes


@dataclass(frozen=True, slots=True)
class DealRevealed:
    """The secret that was committed to. Whoever knows it knows every hand of that round."""

    round: int
    secret: bytes


TableEvent = (
    Event
    | SeatJoined
    | SeatLeft
    | TableClosed
    | ClockActed
    | SeatTakenOver
    | SeatReturned
    | SeatForfeited
    | RoundCounted
    | GameEnded
    | DealCommitted
    | DealRevealed
)


def _end(event: Any) -> str:
    return "" if event.end is None else str(event.end.value)


_TEXTS: dict[type, Callable[[Any], str]] = {
    DrewFromStock: lambda e: f"drew {e.seat} {e.card} {e.stock_count}",
    Discarded: lambda e: f"discarded {e.seat} {e.card}",
    TookFromPile: lambda e: f"took {e.seat} {e.cards} {e.must_use}",
    Melded: lambda e: f"melded {e.seat} {e.meld} {e.cards} {e.faces} {_end(e)}",
    LaidOff: lambda e: f"laid off {e.seat} {e.meld} {e.card} {e.face} {_end(e)}",
}
"""The frequent ones by hand: a dataclass's own repr takes ten times as long."""


def digest_of_events(events: Iterable[TableEvent]) -> str:
    """16 hexadecimal digits that differ when any field of any of these events differs."""
    texts = _TEXTS
    lines = [texts[e.__class__](e) if e.__class__ in texts else repr(e) for e in events]
    return blake2b("\n".join(lines).encode(), digest_size=8).hexdigest()
