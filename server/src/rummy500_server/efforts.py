"""What the bots of a match did: decisions, refusals and time, in complete deals.

How long a game took tells something of its pack, which others may still be playing.
"""

from __future__ import annotations

from rummy500_arena.plan import Plan, PlannedGame
from rummy500_server.games import Effort, FinishedGame


class Efforts:
    """`by_bot` in the order of the plan's bots."""

    def __init__(self, plan: Plan) -> None:
        self.by_bot = [Effort(0, 0, 0)] * plan.bots
        self._seatings = plan.seatings
        self._open: dict[int, list[tuple[PlannedGame, FinishedGame]]] = {}
        """By deal, as long as it is not complete: its games that are over."""

    def add(self, planned: PlannedGame, game: FinishedGame) -> None:
        """A game that is over. Each game once."""
        games = self._open.setdefault(planned.deal, [])
        games.append((planned, game))
        if len(games) < self._seatings:
            return
        for each, played in self._open.pop(planned.deal):
            for bot, effort in zip(each.seats, played.efforts, strict=True):
                before = self.by_bot[bot]
                self.by_bot[bot] = Effort(
                    before.decisions + effort.decisions,
                    before.refusals + effort.refusals,
                    before.charged_ms + effort.charged_ms,
                )
