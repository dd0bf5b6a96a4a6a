"""The living part of a seat, which no journal keeps: what it was asked, since when, and how often it was wrong."""

from __future__ import annotations

from dataclasses import dataclass, field

from rummy500_arena.score import Effort
from rummy500_bots import Bot
from rummy500_engine.refusals import Refused

MOST_REFUSALS = 5
"""So many refusals in one turn, and the clock finishes it."""


@dataclass(slots=True)
class Player:
    """`asked` is the sequence at which its decision was published (-1: none), `asked_at` and `deadline` are seconds of
    the loop's clock. `seen` is the last event that it had when it last decided. `refusals` count in one `turn`;
    `effort` in the game, since the table came into memory."""

    bot: Bot | None = None
    asked: int = -1
    asked_at: float = 0.0
    deadline: float = 0.0
    is_shown: bool = False
    has_grace: bool = False
    reading: int = 0
    overtaken: tuple[int, str] = (-1, "")
    charged_ms: int = 0
    seen: int = 0
    refusals: int = 0
    turn: tuple[int, int] = (-1, -1)
    refused: Refused | None = None
    streams: int = 0
    effort: Effort = field(default_factory=Effort)

    @property
    def refusals_left(self) -> int:
        return MOST_REFUSALS - self.refusals

    @property
    def is_here(self) -> bool:
        """Whether it is connected, or one of the server's own bots."""
        return self.streams > 0 or self.bot is not None
