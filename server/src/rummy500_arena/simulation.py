"""Plays the games of a plan between built-in bots without a server, shard by shard, on whatever executor there is.

The deals, seatings and statistics are those of a match; there is no clock. What a shard gives is the same wherever and
how often it is played, but for the times, and for bots that look ahead by time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import lru_cache

from rummy500_arena.plan import Plan, PlannedGame, Unit
from rummy500_arena.play import play_game
from rummy500_arena.score import GameScore
from rummy500_bots import Bot, Decision, built_in
from rummy500_catalog import Catalog
from rummy500_engine.actions import Action
from rummy500_engine.game import Game
from rummy500_engine.rules import Rules
from rummy500_engine.shuffle import seed_for

SHARD = 16
"""Games that are played one after the other."""
AHEAD = 4
"""Shards that are given out for each process before the first is back."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """`bots` are specs as `easy` or `expert,time_ms=5`, one for each bot of the plan; option values are texts."""

    plan: Plan
    bots: tuple[str, ...]
    preset: str = ""
    variants: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()

    def rules(self) -> Rules:
        """Raises RulesRefused or ChoiceRefused."""
        return _catalog().rules(self.preset, self.variants, dict(self.options), players=self.plan.players)


@dataclass(slots=True)
class Effort:
    """Of one seat: its decisions, and the processor time that they took, in seconds."""

    decisions: int = 0
    seconds: float = 0.0
    slowest: float = 0.0


@dataclass(frozen=True, slots=True)
class Played:
    """A game that is over, with what its seats spent on it."""

    game: PlannedGame
    score: GameScore
    efforts: tuple[Effort, ...]


def simulated(simulation: Simulation, executor: Executor, *, processes: int) -> Iterator[Played]:
    """Plays all games of the plan. Those of a shard come in order, shards in the order in which they were given out."""
    games = simulation.plan.games
    starts = iter(range(0, games, SHARD))
    waiting: list[Future[list[Played]]] = []
    while True:
        while len(waiting) < AHEAD * processes and (start := next(starts, None)) is not None:
            waiting.append(executor.submit(play_shard, simulation, start, min(start + SHARD, games)))
        if not waiting:
            return
        yield from waiting.pop(0).result()


def play_shard(simulation: Simulation, first: int, end: int) -> list[Played]:
    """Plays the games from number `first` to before `end`. A bot's mistake raises Refused."""
    rules = simulation.rules()
    return [_played(simulation, rules, simulation.plan.game(index)) for index in range(first, end)]


def _played(simulation: Simulation, rules: Rules, planned: PlannedGame) -> Played:
    timed = [
        _Timed(built_in(simulation.bots[bot], seed=int.from_bytes(seed_for(planned.seed, "bot", seat)[:8], "big")))
        for seat, bot in enumerate(planned.seats)
    ]
    plan = simulation.plan
    game = Game(rules, single_round=plan.unit is Unit.DEAL, aligned=plan.is_paired)
    play_game(game, timed, seed=planned.seed)
    return Played(planned, _score(game), tuple(bot.effort for bot in timed))


def _score(game: Game) -> GameScore:
    """Of one round the highest score wins."""
    totals = tuple(game.totals)
    if game.outcome is not None and not game.single_round:
        winners = game.outcome.winners
    else:
        winners = tuple(seat for seat, points in enumerate(totals) if points == max(totals))
    sides = {game.rules.sides[seat] for seat in winners}
    return GameScore(totals, game.rounds_played, winners, len(sides) > 1)


class _Timed:
    """Plays like another bot and notes the time that it takes."""

    def __init__(self, bot: Bot) -> None:
        self._bot, self.effort = bot, Effort()

    def act(self, decision: Decision) -> Action | Sequence[Action]:
        began = time.process_time()
        answer = self._bot.act(decision)
        took = time.process_time() - began
        effort = self.effort
        effort.decisions += 1
        effort.seconds += took
        effort.slowest = max(effort.slowest, took)
        return answer


@lru_cache(maxsize=1)
def _catalog() -> Catalog:
    return Catalog()
