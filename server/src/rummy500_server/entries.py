"""What a table is told, in order: the only input to its state, and what the journal holds of it.

An entry is one line, its fields parted by tabs: the kind, what it says, and a digest of the events that it caused.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from rummy500_engine.actions import Action
from rummy500_engine.notation import read_action
from rummy500_engine.rules import Rules
from rummy500_server.results import Termination
from rummy500_server.table_events import ClockReason
from rummy500_server.translate.actions import text_of


class SeatKind(Enum):
    """What plays a seat."""

    JOINED = "joined"
    CONNECTED_BOT = "connected"
    BUILTIN_BOT = "builtin"


@dataclass(frozen=True, slots=True)
class Joined:
    """`who` is the digest of the seat's token; of a built-in bot its name with settings. `entropy` as in SeatJoined."""

    seat: int
    kind: SeatKind
    name: str
    who: str
    entropy: bytes = b""


@dataclass(frozen=True, slots=True)
class Left:
    seat: int


@dataclass(frozen=True, slots=True)
class Started:
    """The first round is dealt with it, or the position set up."""


@dataclass(slots=True)
class Acted:
    """A seat's action was applied; what follows from it, the next deal too, happened with it. `spent_ms` is the time
    charged to the seat; `by_clock`: the seat did not make it itself.

    A value like the others; it is not frozen because a frozen one takes five times as long to make."""

    seat: int
    action: Action
    spent_ms: int = 0
    by_clock: bool = False


@dataclass(frozen=True, slots=True)
class Clocked:
    """The clock begins to finish a turn. `spent_ms` is charged to the seat, and by `overrun_ms` it was late."""

    seat: int
    reason: ClockReason
    overrun_ms: int = 0
    spent_ms: int = 0


@dataclass(frozen=True, slots=True)
class TakenOver:
    """The seat is late, and `bot`, a built-in one with its settings, plays it from now on. Times as in `Clocked`."""

    seat: int
    reason: ClockReason
    bot: str
    overrun_ms: int = 0
    spent_ms: int = 0


@dataclass(frozen=True, slots=True)
class Returned:
    """The seat's own player plays it again."""

    seat: int


@dataclass(frozen=True, slots=True)
class Forfeited:
    """By `overrun_ms` the seat was late, if that is why."""

    seat: int
    termination: Termination
    overrun_ms: int = 0


@dataclass(frozen=True, slots=True)
class Closed:
    """The table ends before its game does."""

    termination: Termination
    sentence: str


@dataclass(frozen=True, slots=True)
class Invited:
    """Whoever sends the token of that digest may look at the table, and if it `may_join` take so many seats; 0: any
    number. It causes no event."""

    who: str
    may_join: bool
    uses: int = 0


@dataclass(frozen=True, slots=True)
class Uninvited:
    """The invitation of that digest is good no more. It causes no event."""

    who: str


Entry = Joined | Left | Started | Acted | Clocked | TakenOver | Returned | Forfeited | Closed | Invited | Uninvited


class UnreadableEntry(Exception):
    """A line of the journal that is no entry."""


def write_entry(entry: Entry, digest: str) -> bytes:
    fields: tuple[str, ...]
    match entry:
        case Acted(seat, action, spent, by_clock):
            return f"{'clock' if by_clock else 'act'}\t{seat}\t{text_of(action)}\t{spent}\t{digest}".encode()
        case Joined(seat, kind, name, who, entropy):
            fields = ("join", str(seat), kind.value, name, who, entropy.hex())
        case Left(seat):
            fields = ("leave", str(seat))
        case Started():
            fields = ("start",)
        case Clocked(seat, reason, overrun, spent):
            fields = ("finish", str(seat), reason.name, str(overrun), str(spent))
        case TakenOver(seat, reason, bot, overrun, spent):
            fields = ("take-over", str(seat), reason.name, bot, str(overrun), str(spent))
        case Returned(seat):
            fields = ("return", str(seat))
        case Forfeited(seat, termination, overrun):
            fields = ("forfeit", str(seat), termination.name, str(overrun))
        case Closed(termination, sentence):
            fields = ("close", termination.name, sentence)
        case Invited(who, may_join, uses):
            fields = ("invite", who, "join" if may_join else "watch", str(uses))
        case Uninvited(who):
            fields = ("uninvite", who)
    return "\t".join((*(" ".join(field.split()) for field in fields), digest)).encode()


def read_entry(line: bytes, rules: Rules) -> tuple[Entry, str]:
    """The entry and the digest of its events. Raises UnreadableEntry, or Refused for an action that is none here."""
    try:
        kind, *fields, digest = line.decode().split("\t")
        return _read(kind, fields, rules), digest
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableEntry(f"{line!r} is no entry of a table") from error


def _read(kind: str, fields: list[str], rules: Rules) -> Entry:
    match kind, fields:
        case (("act" | "clock"), [seat, text, spent]):
            return Acted(int(seat), read_action(text, rules), int(spent), kind == "clock")
        case "join", [seat, plays, name, who, entropy]:
            return Joined(int(seat), SeatKind(plays), name, who, bytes.fromhex(entropy))
        case "leave", [seat]:
            return Left(int(seat))
        case "start", []:
            return Started()
        case "finish", [seat, reason, *times]:
            return Clocked(int(seat), ClockReason[reason], *map(int, times))
        case "take-over", [seat, reason, bot, *times]:
            return TakenOver(int(seat), ClockReason[reason], bot, *map(int, times))
        case "return", [seat]:
            return Returned(int(seat))
        case "forfeit", [seat, termination, *times]:
            return Forfeited(int(seat), Termination[termination], *map(int, times))
        case "close", [termination, sentence]:
            return Closed(Termination[termination], sentence)
        case "invite", [who, ("join" | "watch") as lets, uses]:
            return Invited(who, may_join=lets == "join", uses=int(uses))
        case "uninvite", [who]:
            return Uninvited(who)
    raise ValueError(kind)
