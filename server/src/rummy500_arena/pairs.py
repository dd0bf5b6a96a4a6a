"""Two bots against each other, deal by deal: points, games won, and who was ahead on the deal."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from itertools import combinations

from rummy500_arena.elo import Elo, elo_of
from rummy500_arena.plan import PlannedGame
from rummy500_arena.ratio import RatioSums
from rummy500_arena.score import GameScore

BLOCKS = 128
"""Groups of deals that ratings draw again from (`rummy500_arena.ratings`)."""


@dataclass(slots=True)
class Meeting:
    """What the first of two bots reached against the second on one deal: points more than it, rounds, half points of
    games won, games."""

    difference: int = 0
    rounds: int = 0
    half_wins: int = 0
    games: int = 0

    def add(self, difference: int, rounds: int, half_wins: int) -> None:
        self.difference += difference
        self.rounds += rounds
        self.half_wins += half_wins
        self.games += 1


def meet(meetings: dict[tuple[int, int], Meeting], game: PlannedGame, score: GameScore) -> None:
    """Adds a game to the meetings of its bots, the lower index first. Partners do not meet."""
    for seat, other in combinations(range(len(game.seats)), 2):
        if score.is_one_side(seat, other):
            continue
        if game.seats[seat] > game.seats[other]:
            seat, other = other, seat
        meeting = meetings.setdefault((game.seats[seat], game.seats[other]), Meeting())
        meeting.add(score.points[seat] - score.points[other], score.rounds, score.half_wins(seat, other))


@dataclass(slots=True)
class PairTally:
    """The first of two bots against the second. `difference` weighs points by rounds, `score` games won by games.

    `deals_won`: it has more points over all games of the deal in which they met. `outcomes` counts deals by the half
    points of games won; with two games a deal these are the pentanomial counts. `…_by_block`: by deal modulo BLOCKS.
    """

    difference: RatioSums = field(default_factory=RatioSums)
    score: RatioSums = field(default_factory=RatioSums)
    deals_won: int = 0
    deals_drawn: int = 0
    outcomes: dict[int, int] = field(default_factory=dict)
    half_wins_by_block: array[int] = field(default_factory=lambda: array("q", bytes(8 * BLOCKS)))
    games_by_block: array[int] = field(default_factory=lambda: array("q", bytes(8 * BLOCKS)))

    def add(self, deal: int, meeting: Meeting) -> None:
        self.difference.add(meeting.difference, meeting.rounds)
        self.score.add(meeting.half_wins, 2 * meeting.games)
        self.deals_won += meeting.difference > 0
        self.deals_drawn += meeting.difference == 0
        self.outcomes[meeting.half_wins] = self.outcomes.get(meeting.half_wins, 0) + 1
        self.half_wins_by_block[deal % BLOCKS] += meeting.half_wins
        self.games_by_block[deal % BLOCKS] += meeting.games

    @property
    def deals(self) -> int:
        return self.difference.count

    @property
    def deals_lost(self) -> int:
        return self.deals - self.deals_won - self.deals_drawn

    @property
    def elo(self) -> Elo | None:
        return elo_of(self.score)
