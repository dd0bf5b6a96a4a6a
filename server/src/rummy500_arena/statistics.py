"""What a match says about its bots: points a round with an interval, wins, and how games ended.

The unit of chance is the deal: the games of one deal share their packs, so a deal counts as one observation, the mean
of what a bot scored over all its seatings. Only complete deals count. The interval for a mean of n observations is
Student's: mean +- t(0.975, n - 1) * s / sqrt(n). Sources: Student, "The probable error of a mean", Biometrika 6 (1908);
Abramowitz and Stegun, 26.7.1 for the distribution, 26.5.8 for the continued fraction of the incomplete beta.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
    """One bot so far. `games` and `terminations` count every game, the rest complete deals only."""

    games: int
    rounds: int
    wins: int
    draws: int
    terminations: dict[str, int]
    deal_means: list[float]

    @property
    def points_per_round(self) -> Interval:
        return interval(self.deal_means)


class MatchStatistics:
    """Folds the games of a plan, in whatever order they end. The same games in another order give the same numbers."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._open: dict[int, dict[int, tuple[PlannedGame, GameScore]]] = {}
        self._complete: dict[int, dict[int, tuple[PlannedGame, GameScore]]] = {}
        self._terminations: list[dict[str, int]] = [{} for _ in range(plan.bots)]
        self._games = [0] * plan.bots
        self.games = 0

    def add(self, game: PlannedGame, score: GameScore) -> None:
        """A game that is over. Each game once."""
        deal = self._open.setdefault(game.deal, {})
        assert game.seating not in deal
        assert game.deal not in self._complete
        deal[game.seating] = (game, score)
        self.games += 1
        for bot in set(game.seats):
            self._games[bot] += 1
        for bot in _charged(game, score):
            counts = self._terminations[bot]
            counts[score.termination] = counts.get(score.termination, 0) + 1
        if len(deal) == self._plan.seatings:
            self._complete[game.deal] = self._open.pop(game.deal)

    @property
    def complete_deals(self) -> int:
        return len(self._complete)

    def tally(self, bot: int) -> Tally:
        tally = Tally(self._games[bot], 0, 0, 0, dict(sorted(self._terminations[bot].items())), [])
        for deal in self._counting():
            points = rounds = 0
            for game, score in deal:
                seats = [seat for seat, there in enumerate(game.seats) if there == bot]
                if not seats:
                    continue
                points += sum(score.points[seat] for seat in seats)
                rounds += score.rounds * len(seats)
                tally.rounds += score.rounds
                _judge(tally, score, seats)
            if rounds:
                tally.deal_means.append(points / rounds)
        return tally

    def difference(self, bot: int, other: int) -> Interval:
        """Points a round of one bot less those of another, paired deal by deal."""
        mine, theirs = self.tally(bot).deal_means, self.tally(other).deal_means
        return interval([a - b for a, b in zip(mine, theirs, strict=True)])

    def _counting(self) -> Iterable[Sequence[tuple[PlannedGame, GameScore]]]:
        for _, deal in sorted(self._complete.items()):
            games = [deal[seating] for seating in sorted(deal)]
            if all(score.counts for _, score in games):
                yield games


def _judge(tally: Tally, score: GameScore, seats: Sequence[int]) -> None:
    if not any(seat in score.winners for seat in seats):
        return
    if score.drawn:
        tally.draws += 1
    else:
        tally.wins += 1


def _charged(game: PlannedGame, score: GameScore) -> set[int]:
    """Whom the way a game ended counts for: the bot at fault, else every bot of the game."""
    if score.at_fault is None:
        return set(game.seats)
    return {game.seats[score.at_fault]}


def interval(values: Sequence[float]) -> Interval:
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
