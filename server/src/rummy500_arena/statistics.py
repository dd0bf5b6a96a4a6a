"""What a match says about its bots, folded game by game.

The unit of chance is the deal: the games of one deal share their packs, so a deal counts as one observation. Deals are
counted in their order, each when it and all before it are complete, so that nothing depends on which game ends first.
Where a deal was played in several sets (one by each pairing of bots that plays it), all of them are one unit. A deal is
left out when one of its games says nothing. docs/statistics.md has the formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from rummy500_arena.pairs import Meeting, PairTally, meet
from rummy500_arena.plan import Plan, PlannedGame
from rummy500_arena.ratings import ratings
from rummy500_arena.ratio import NOTHING, Interval, RatioSums
from rummy500_arena.score import Effort, GameScore
from rummy500_arena.stopping import StoppingRule, Verdict

Played = tuple[PlannedGame, GameScore, Sequence[Effort]]


@dataclass(slots=True)
class Tally:
    """One bot so far. `games` and `terminations` count every game, the effort complete deals, the rest counted deals.

    How long a game took tells something of its pack, which others may still be playing.

    `wins` and `draws` are of games, `sets_won` and `sets_drawn` of sets: who has most points in all seatings of a deal.
    `fate` gives by deal what its seats held: by seat the points of all bots there, averaged, times its rounds there.
    """

    games: int = 0
    terminations: dict[str, int] = field(default_factory=dict)
    effort: Effort = field(default_factory=Effort)
    rounds: int = 0
    wins: int = 0
    draws: int = 0
    sets_won: int = 0
    sets_drawn: int = 0
    points: RatioSums = field(default_factory=RatioSums)
    fate: RatioSums = field(default_factory=RatioSums)
    above_fate: RatioSums = field(default_factory=RatioSums)

    @property
    def points_per_round(self) -> Interval:
        return self.points.interval

    def end(self, seat: int, score: GameScore, *, times: int = 1) -> None:
        """A game ended in which it sat there; `times` -1 takes that back."""
        self.games += times
        if score.at_fault in (None, seat):
            left = self.terminations.get(score.termination, 0) + times
            self.terminations[score.termination] = left
            if not left:
                del self.terminations[score.termination]


class MatchStatistics:
    """Folds the games of a plan, in whatever order they end. The same games in another order give the same numbers."""

    def __init__(self, plan: Plan, stopping: StoppingRule | None = None) -> None:
        self._plan, self._stopping = plan, stopping
        self._open: dict[int, dict[int, Played]] = {}
        self.tallies = [Tally() for _ in range(plan.bots)]
        self.pairs: dict[tuple[int, int], PairTally] = {}
        """Pairs of bots that met, the lower index first."""
        self.games = 0
        self.next_deal = 0
        """All deals before it are complete and counted."""
        self.left_out = 0
        self.verdict = Verdict.UNDECIDED
        self._points = RatioSums()
        self._is_settled = False

    @property
    def counted(self) -> int:
        """Deals that count."""
        return self._points.count

    @property
    def is_stopped(self) -> bool:
        """By its rule; what is played of later deals does not count."""
        return self.verdict is not Verdict.UNDECIDED

    def add(self, game: PlannedGame, score: GameScore, efforts: Sequence[Effort] = ()) -> None:
        """A game that is over, with the effort of each seat. Each game once."""
        self.games += 1
        if self.is_stopped and game.deal >= self.next_deal:
            return
        deal = self._open.setdefault(game.deal, {})
        assert game.seating not in deal
        deal[game.seating] = (game, score, efforts)
        self._tell(deal[game.seating])
        if self._is_settled:
            self._count_if_complete(game.deal)
            return
        while not self.is_stopped and self._count_if_complete(self.next_deal):
            self.next_deal += 1
            self._look_at_rule()

    def settle(self) -> None:
        """The match is over: complete deals count although one before them never will."""
        self._is_settled = True
        for deal in sorted(self._open):
            self._count_if_complete(deal)

    def _count_if_complete(self, deal: int) -> bool:
        if len(self._open.get(deal, ())) < self._plan.seatings:
            return False
        self._count(list(self._open.pop(deal).values()))
        return True

    def _tell(self, played: Played, *, times: int = 1) -> None:
        game, score, _ = played
        for seat, bot in enumerate(game.seats):
            self.tallies[bot].end(seat, score, times=times)

    def _look_at_rule(self) -> None:
        if self._stopping is None:
            return
        self.verdict = self._stopping.verdict(self.tested)
        if self.is_stopped:
            for played in (game for deal in self._open.values() for game in deal.values()):
                self._tell(played, times=-1)
            self._open.clear()

    @property
    def tested(self) -> RatioSums:
        """What the stopping rule looks at: the difference of its two bots."""
        assert self._stopping is not None
        return self.difference_sums(self._stopping.bot, self._stopping.other)

    # --- a complete deal

    def _count(self, games: Sequence[Played]) -> None:
        for game, _, efforts in games:
            for bot, effort in zip(game.seats, efforts, strict=False):
                self.tallies[bot].effort.add(effort)
        if not all(score.counts for _, score, _ in games):
            self.left_out += 1
            return
        games = sorted(games, key=lambda played: played[0].seating)
        self._count_points(games)
        self._count_sets(games)
        meetings: dict[tuple[int, int], Meeting] = {}
        for game, score, _ in games:
            meet(meetings, game, score)
        for pair, meeting in meetings.items():
            self.pairs.setdefault(pair, PairTally()).add(games[0][0].deal, meeting)

    def _count_points(self, games: Sequence[Played]) -> None:
        players, bots = self._plan.players, self._plan.bots
        points, rounds, fates = [0] * bots, [0] * bots, [0.0] * bots
        held, scored = [0] * players, [0] * players
        for game, score, _ in games:
            for seat, bot in enumerate(game.seats):
                points[bot] += score.points[seat]
                rounds[bot] += score.rounds
                held[seat] += score.points[seat]
                scored[seat] += score.rounds
                tally = self.tallies[bot]
                tally.rounds += score.rounds
                tally.draws += seat in score.winners and score.drawn
                tally.wins += seat in score.winners and not score.drawn
        for game, score, _ in games:
            for seat, bot in enumerate(game.seats):
                fates[bot] += held[seat] * score.rounds / scored[seat] if scored[seat] else 0
        self._points.add(sum(points), sum(rounds))
        for bot, tally in enumerate(self.tallies):
            if rounds[bot]:
                tally.points.add(points[bot], rounds[bot])
                tally.fate.add(fates[bot], rounds[bot])
                tally.above_fate.add(points[bot] - fates[bot], rounds[bot])

    def _count_sets(self, games: Sequence[Played]) -> None:
        sets: dict[int, dict[int, int]] = {}
        for game, score, _ in games:
            points = sets.setdefault(game.pairing, {})
            for seat, bot in enumerate(game.seats):
                points[bot] = points.get(bot, 0) + score.points[seat]
        for points in sets.values():
            best = max(points.values())
            leaders = [bot for bot, reached in points.items() if reached == best]
            for bot in leaders:
                self.tallies[bot].sets_won += len(leaders) == 1
                self.tallies[bot].sets_drawn += len(leaders) > 1

    # --- what it comes to

    def difference_sums(self, bot: int, other: int) -> RatioSums:
        """Points of one bot less those of another, over the games in which they met, deal by deal."""
        pair = self.pairs.get((min(bot, other), max(bot, other)), PairTally())
        return pair.difference if bot < other else pair.difference.negated()

    def difference(self, bot: int, other: int) -> Interval:
        """Points a round of one bot less those of another, where they met."""
        return self.difference_sums(bot, other).interval

    @property
    def mean(self) -> float:
        """Points a round of all bots."""
        return self._points.mean

    @cached_property
    def ratings(self) -> list[Interval]:
        """By bot, when nothing more is added. With many bots this takes seconds."""
        return ratings(self._plan.bots, self.pairs)

    def luck(self, bot: int) -> float:
        """Points a round that its seats held more than a seat does on average. Where seatings do not share their packs,
        nothing is known of it."""
        fate = self.tallies[bot].fate
        return round(fate.mean - self.mean, 9) + 0.0 if fate.weights and self._plan.is_paired else 0.0

    def adjusted(self, bot: int) -> Interval:
        """Points a round less luck."""
        tally = self.tallies[bot]
        if not self._plan.is_paired:
            return tally.points_per_round
        return tally.above_fate.interval.moved(self.mean) if tally.above_fate.weights else NOTHING
