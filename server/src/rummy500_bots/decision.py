"""What a bot is asked, and what it answers: the decision request of the protocol, decoded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rummy500_engine.actions import Action
from rummy500_engine.events import Event
from rummy500_engine.rules import Rules
from rummy500_engine.view import View


@dataclass(frozen=True, slots=True)
class Decision:
    """One question to one seat. It is complete: a bot that keeps nothing can play.

    `events` are those since the seat's last decision, as the seat may see them; `time_left_ms` None: no clock runs.
    """

    view: View
    rules: Rules
    events: tuple[Event, ...] = ()
    time_left_ms: int | None = None

    @property
    def legal(self) -> tuple[Action, ...]:
        """Exactly what would be accepted; never empty for a seat that is asked."""
        return self.view.legal


@dataclass(frozen=True, slots=True)
class Advice:
    """What a bot would do, and why, in one sentence."""

    actions: tuple[Action, ...]
    sentence: str


class Bot(Protocol):
    """Plays one seat of one game, from its first decision to its last."""

    def act(self, decision: Decision) -> Action | Sequence[Action]:
        """One action, or several in order: they are applied until one is refused or something new is revealed."""
        ...


class Adviser(Bot, Protocol):
    """A bot that can say why."""

    def advise(self, decision: Decision) -> Advice:
        """What `act` would answer, with the reason."""
        ...
