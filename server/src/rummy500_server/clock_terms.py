"""How much time the seats of a table have, and what becomes of a seat that is late: the terms of a table's clock."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any

from rummy500_server.settings import Settings

STAND_IN = "easy"
"""The bot that plays for a late seat where none is named."""


class WhenLate(Enum):
    """What becomes of a seat whose time is over; the names are those of the contract, the values the setting's."""

    FINISH_TURN = "finish-turn"
    BOT = "bot"
    FORFEIT = "forfeit"


@dataclass(frozen=True, slots=True)
class ClockTerms:
    """Times in milliseconds. `decision_ms` 0: no clock runs. `stand_in` is a built-in bot with its settings, for BOT
    only. `forfeit_after` so many turns that the clock finished a seat forfeits; 0: never."""

    decision_ms: int
    bank_ms: int = 0
    increment_ms: int = 0
    most_bank_ms: int = 0
    startup_ms: int = 0
    grace_ms: int = 0
    when_late: WhenLate = WhenLate.FINISH_TURN
    stand_in: str = ""
    forfeit_after: int = 3

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "when_late": self.when_late.value}

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> ClockTerms:
        """Takes the clock out of a document; one that was written when a clock was one number has that."""
        if "clock_ms" in document:
            return cls(document.pop("clock_ms"))
        values = document.pop("clock")
        return cls(**{**values, "when_late": WhenLate(values["when_late"])})

    @property
    def is_untimed(self) -> bool:
        return not self.decision_ms

    @property
    def has_bank(self) -> bool:
        return self.bank_ms > 0 or self.increment_ms > 0

    @property
    def has_extra_time(self) -> bool:
        """Whether a decision may ever take longer than `decision_ms`."""
        return self.has_bank or self.startup_ms > 0 or self.grace_ms > 0


def usual_terms(settings: Settings) -> ClockTerms:
    """The clock of a table whose maker names none."""
    when_late = WhenLate(settings.when_late)
    return ClockTerms(
        decision_ms=settings.decision_ms,
        bank_ms=settings.bank_ms,
        increment_ms=settings.increment_ms,
        most_bank_ms=max(settings.most_bank_ms, settings.bank_ms),
        startup_ms=settings.startup_ms,
        grace_ms=settings.grace_ms,
        when_late=when_late,
        stand_in=STAND_IN if when_late is WhenLate.BOT else "",
        forfeit_after=settings.forfeit_after,
    )
