"""How a game ended, and with what scores."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Termination(Enum):
    """How a game ended; the names are those of the contract."""

    NORMAL = "by the rules"
    TIMEOUT = "a seat forfeited because its time ran out too often"
    DISCONNECT = "a seat forfeited because its player was gone"
    ILLEGAL_ACTION = "a seat forfeited because too many of its actions were refused"
    CRASH = "a bot's program ended in the game"
    START_FAILURE = "a bot's program did not start"
    ROUND_LIMIT = "the most rounds of a game were played"
    SERVER_FAULT = "the server, or a variant, is at fault"
    CANCELLED = "the owner closed the table or cancelled the match"


@dataclass(frozen=True, slots=True)
class GameResult:
    """`at_fault` is the seat to blame where it did not end by the rules; `overrun_ms` by how much its last decision
    was late. `record` names the game's record. Several sides among the winners: a draw."""

    termination: Termination
    winners: tuple[int, ...]
    totals: tuple[int, ...]
    settlement: tuple[int, ...] = ()
    at_fault: int | None = None
    overrun_ms: int = 0
    record: str = ""
    rounds: int = 0
    sentence: str = ""
