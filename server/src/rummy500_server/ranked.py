"""Ranked games: which tables may be ranked, how a game is settled, and what the games of a player come to.

The rating is Weng and Lin's for Plackett-Luce ("A Bayesian approximation method for online ranking", Journal of
Machine Learning Research 12, 2011), of the library openskill, on a scale on which a new player has 1500 with a
deviation of 500. The levels are fixed points of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from functools import cache

from openskill.models import PlackettLuce

from rummy500_bots.registry import kinds
from rummy500_engine.rules import Rules
from rummy500_server.clock_terms import ClockTerms, WhenLate
from rummy500_server.lobby import Wish
from rummy500_server.results import GameResult, Termination
from rummy500_server.status import Failure, bad_request

TARGET, MOST_OPPONENTS = 500, 3
MOST_MS = 600_000
"""The longest time of any kind that the clock of a ranked table gives: it is no pause."""
START, START_DEVIATION, PERFORMANCE, DRIFT = 1_500.0, 500.0, 250.0, 5.0
LEVEL_DEVIATION = 50.0


@dataclass(frozen=True, slots=True)
class Level:
    """What a game won against bots of a level earns, and their rating."""

    points: int
    rating: float


LEVELS: Mapping[str, Level] = {
    "easy": Level(10, 1_200.0),
    "normal": Level(30, 1_500.0),
    "expert": Level(100, 1_700.0),
}


class Outcome(Enum):
    """The names are those of the contract."""

    WON = "won"
    DRAWN = "drawn"
    LOST = "lost"
    VOID = "not counted"


@dataclass(frozen=True, slots=True)
class RankedResult:
    """A ranked game that is over, as the journal keeps it. `player` is the digest of the player's token. `ranks` are
    the places in the game, from 1: the player's and then those of the levels."""

    record: str
    player: str
    preset: str
    levels: tuple[str, ...]
    outcome: Outcome
    ranks: tuple[int, ...]
    finished_ms: int

    @property
    def points(self) -> int:
        return points_for(self.levels) if self.outcome is Outcome.WON else 0

    def to_json(self) -> bytes:
        return json.dumps({**asdict(self), "outcome": self.outcome.name}, separators=(",", ":")).encode()

    @classmethod
    def from_json(cls, text: bytes) -> RankedResult:
        values = json.loads(text)
        levels, ranks = tuple(values["levels"]), tuple(values["ranks"])
        return cls(**{**values, "outcome": Outcome[values["outcome"]], "levels": levels, "ranks": ranks})


def points_for(levels: Sequence[str]) -> int:
    """What a win earns: the mean over the opponents, rounded down. So a strong opponent is worth no less beside a weak
    one than half of what it is worth alone, and a weak one adds nothing."""
    return sum(LEVELS[level].points for level in levels) // len(levels)


# --- which tables may be ranked


def read_levels(levels: Sequence[str]) -> tuple[str, ...]:
    """Raises Failure BAD_REQUEST."""
    if len(levels) > MOST_OPPONENTS:
        raise bad_request("ranked", f"{len(levels)} opponents: a ranked game has 1 to {MOST_OPPONENTS}")
    there = [level for level in LEVELS if level in kinds()]
    for at, level in enumerate(levels):
        if level not in there:
            raise bad_request(f"ranked[{at}]", f"{level!r}: the levels are {', '.join(there)}, without settings")
    return tuple(levels)


def verify_ranked(wish: Wish, clock: ClockTerms, rules: Rules) -> None:
    """Whether a table as it is wished for may be ranked. Raises Failure BAD_REQUEST, naming the field."""
    problem = _problem_of_rules(wish, rules) or _problem_of_clock(clock)
    if problem is not None:
        raise problem


def _problem_of_rules(wish: Wish, rules: Rules) -> Failure | None:
    if wish.from_seed:
        return bad_request("seed", "must be empty at a ranked table: the server draws a secret")
    if wish.position is not None:
        return bad_request("position_json", "must be empty at a ranked table")
    if wish.choice.variants or wish.choice.options:
        changed = "variants" if wish.choice.variants else "options"
        return bad_request(
            f"rules.{changed}", "must be empty at a ranked table: name a preset and change nothing in it"
        )
    if rules.target != TARGET:
        return bad_request("rules.preset", f"its games go to {rules.target}; a ranked game goes to {TARGET}")
    if len(set(rules.sides)) < rules.players:
        return bad_request("rules.preset", "at a ranked table nobody has a partner")
    return None


def _problem_of_clock(clock: ClockTerms) -> Failure | None:
    if clock.is_untimed:
        return bad_request("clock.untimed", "must be false at a ranked table")
    if clock.when_late is WhenLate.BOT:
        return bad_request(
            "clock.when_late", "no bot plays for a player at a ranked table: the turn, or the game, is lost"
        )
    if not clock.forfeit_after:
        return bad_request(
            "clock.forfeit_after", "must not be 0 at a ranked table: a game that nobody plays has to end"
        )
    times = {"decision_ms": clock.decision_ms, "startup_ms": clock.startup_ms, "grace_ms": clock.grace_ms}
    if clock.has_bank:
        times |= {"bank_ms": clock.bank_ms, "increment_ms": clock.increment_ms, "most_bank_ms": clock.most_bank_ms}
    for name, value in times.items():
        if value > MOST_MS:
            return bad_request(f"clock.{name}", f"{value}: at most {MOST_MS} at a ranked table")
    return None


# --- how a game is settled


def settle(result: GameResult, *, seat: int) -> Outcome:
    """What a game that has begun and is over is to the player in that seat.

    Who gives it up has lost: leaves it, is late too often, sends too much that is refused, or lets it lie until the
    server closes it. What the server, one of its bots or its host ended does not count.
    """
    if result.at_fault == seat:
        return Outcome.LOST
    match result.termination:
        case Termination.NORMAL | Termination.ROUND_LIMIT:
            if seat not in result.winners:
                return Outcome.LOST
            is_alone = len(result.winners) == 1 and result.termination is Termination.NORMAL
            return Outcome.WON if is_alone else Outcome.DRAWN
        case Termination.TIMEOUT if result.at_fault is None:
            return Outcome.LOST
    return Outcome.VOID


def ranks_of(result: GameResult, outcome: Outcome, *, seat: int) -> tuple[int, ...]:
    """The places from 1, the player's first and then those of the other seats: by who won, then by totals; a player who
    gave the game up is last."""
    others = [each for each in range(len(result.totals)) if each != seat]
    if outcome is Outcome.LOST and result.at_fault in (seat, None) and result.termination is not Termination.NORMAL:
        return (2, *(1 for _ in others))

    def merit(each: int) -> tuple[bool, int]:
        return each in result.winners, 0 if each in result.winners else result.totals[each]

    places = sorted({merit(each) for each in (seat, *others)}, reverse=True)
    return tuple(places.index(merit(each)) + 1 for each in (seat, *others))


# --- what the games of a player come to


@dataclass(frozen=True, slots=True)
class Standing:
    """Of the games that count. `ratings` are those after each of all games."""

    points: int = 0
    games: int = 0
    wins: int = 0
    draws: int = 0
    rating: float = START
    deviation: float = START_DEVIATION
    ratings: tuple[float, ...] = ()


def standing_of(results: Iterable[RankedResult]) -> Standing:
    """The same games in the same order give the same standing."""
    model = _model()
    own = model.rating()
    counted: list[RankedResult] = []
    ratings: list[float] = []
    for result in results:
        if result.outcome is not Outcome.VOID:
            counted.append(result)
            levels = [model.rating(mu=LEVELS[level].rating, sigma=LEVEL_DEVIATION) for level in result.levels]
            teams = [[own], *([level] for level in levels)]
            own = model.rate(teams, ranks=[float(rank) for rank in result.ranks])[0][0]
        ratings.append(own.mu)
    outcomes = [result.outcome for result in counted]
    return Standing(
        points=sum(result.points for result in counted),
        games=len(counted),
        wins=outcomes.count(Outcome.WON),
        draws=outcomes.count(Outcome.DRAWN),
        rating=own.mu,
        deviation=own.sigma,
        ratings=tuple(ratings),
    )


@cache
def _model() -> PlackettLuce:
    return PlackettLuce(mu=START, sigma=START_DEVIATION, beta=PERFORMANCE, tau=DRIFT)
