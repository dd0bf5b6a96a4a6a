"""What a match says about its bots: points a round with an interval, wins, and how games ended.

The unit of chance is the deal: the games of one deal share their packs, so a deal counts as one observation, the mean
of what a bot scored over all its seatings. Only complete deals count. The interval for a mean of n observations is
Student's: mean +- t(0.975, n - 1) * s / sqrt(n). Sources: Student, "The probable error of a mean", Biometrika 6 (1908);
Abramowitz and Stegun, 26.7.1 for the distribution, 26.5.8 for the continued fraction of the incomplete beta.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from rummy500_arena.plan import Plan, PlannedGame

CONFIDENCE = 0.95
_TINY = 1e-300
_CLOSE = 1e-15
_STEPS = 10_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the ends of its interval; both are the mean while there is only one observation."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class GameScore:
    """How a game of a plan ended: by seat the points of all its rounds together. `drawn`: the winners share the lead.

    `termination` is a name of the protocol; `at_fault` the seat to blame for it. `counts` False: the game says nothing
    about its bots (the server was at fault, the match was cancelled), so its deal is left out.
    """

    points: tuple[int, ...]
    rounds: int
    winners: tuple[int, ...]
    drawn: bool = False
    termination: str = "NORMAL"
    at_fault: int | None = None
    counts: bool = True


@dataclass(slots=True)
class Tally:
    """One bot so far. `games` and `terminations` count every game, the rest complete deals only: `deal_means` gives by
    deal the points a round that the bot scored on average over its seatings."""

    games: int = 0
    rounds: int = 0
    wins: int = 0
    draws: int = 0
    terminations: dict[str, int] = field(default_factory=dict)
    deal_means: dict[int, float] = field(default_factory=dict)

    @property
    def points_per_round(self) -> Interval:
        return interval(self.deal_means.values())


class MatchStatistics:
    """Folds the games of a plan, in whatever order they end. The same games in another order give the same numbers."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._open: dict[int, dict[int, tuple[PlannedGame, GameScore]]] = {}
        self.tallies = [Tally() for _ in range(plan.bots)]
        self.games = 0
        self.complete_deals = 0

    def add(self, game: PlannedGame, score: GameScore) -> None:
        """A game that is over. Each game once."""
        deal = self._open.setdefault(game.deal, {})
        assert game.seating not in deal
        deal[game.seating] = (game, score)
        self.games += 1
        for bot in game.seats:
            self.tallies[bot].games += 1
        for bot in _charged(game, score):
            counts = self.tallies[bot].terminations
            counts[score.termination] = counts.get(score.termination, 0) + 1
        if len(deal) == self._plan.seatings:
            self._count(game.deal, list(self._open.pop(game.deal).values()))

    def _count(self, deal: int, games: Sequence[tuple[PlannedGame, GameScore]]) -> None:
        """A complete deal, unless one of its games says nothing."""
        self.complete_deals += 1
        if not all(score.counts for _, score in games):
            return
        points, rounds = [0] * self._plan.bots, [0] * self._plan.bots
        for game, score in games:
            for seat, bot in enumerate(game.seats):
                tally = self.tallies[bot]
                points[bot] += score.points[seat]
                rounds[bot] += score.rounds
                tally.rounds += score.rounds
                if seat in score.winners:
                    tally.draws += score.drawn
                    tally.wins += not score.drawn
        for bot, tally in enumerate(self.tallies):
            if rounds[bot]:
                tally.deal_means[deal] = points[bot] / rounds[bot]

    def difference(self, bot: int, other: int) -> Interval:
        """Points a round of one bot less those of another, paired deal by deal."""
        mine, theirs = self.tallies[bot].deal_means, self.tallies[other].deal_means
        return interval([mine[deal] - theirs[deal] for deal in mine if deal in theirs])


def _charged(game: PlannedGame, score: GameScore) -> set[int]:
    """Whom the way a game ended counts for: the bot at fault, else every bot of the game."""
    return set(game.seats) if score.at_fault is None else {game.seats[score.at_fault]}


def interval(values: Collection[float]) -> Interval:
    """The mean of independent observations with its 95 % interval. No values: zero."""
    count = len(values)
    if not count:
        return Interval(0.0, 0.0, 0.0)
    mean = math.fsum(values) / count
    if count == 1:
        return Interval(mean, mean, mean)
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    half = t_quantile(0.5 + CONFIDENCE / 2, count - 1) * math.sqrt(variance / count)
    return Interval(mean, mean - half, mean + half)


def t_cumulative(t: float, freedom: int) -> float:
    """The probability that Student's t with so many degrees of freedom is at most `t`."""
    tail = 0.5 * _incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5)
    return 1 - tail if t > 0 else tail


@lru_cache(maxsize=4096)
def t_quantile(probability: float, freedom: int) -> float:
    """The t below which Student's distribution has this probability, 0.5 to 1 exclusive."""
    assert 0.5 < probability < 1
    low, high = 0.0, 1.0
    while t_cumulative(high, freedom) < probability:
        low, high = high, high * 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if t_cumulative(middle, freedom) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(x, a, b) / a
    return 1 - front * _beta_fraction(1 - x, b, a) / b


def _beta_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of Abramowitz and Stegun 26.5.8, from the front (Lentz's method)."""
    numerator, denominator = 1.0, _nonzero(1 - (a + b) * x / (a + 1))
    denominator = 1 / denominator
    value = denominator
    for step in range(1, _STEPS):
        for term in (
            step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step)),
            -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1)),
        ):
            denominator = 1 / _nonzero(1 + term * denominator)
            numerator = _nonzero(1 + term / numerator)
            change = denominator * numerator
            value *= change
        if abs(change - 1) < _CLOSE:
            return value
    return value


def _nonzero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
