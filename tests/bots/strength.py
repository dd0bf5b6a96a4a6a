"""How much better a bot plays than another, at tables of any size and on all cores, without a server.

Each deal is played once for each seat: the first bot sits there, and copies of the other in all other seats. A copy of
the other in its place comes out at exactly 0. A match of one bot and several copies of another would play each of these
games many times. A bot that has so much time for a decision has it in time of its processor: so a busy machine makes no
bot weaker.

    python -m tests.bots.strength expert,samples=8 normal --players 4 --deals 100
"""

from __future__ import annotations

import argparse
import gc
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache, partial

from tests.bots.yardstick import EquityBot

from rummy500_arena.play import play_game
from rummy500_arena.ratio import interval
from rummy500_bots import Bot, Decision, built_in
from rummy500_bots.expert import ExpertBot
from rummy500_catalog import Catalog
from rummy500_engine.actions import Action
from rummy500_engine.game import Game
from rummy500_engine.rules import Rules
from rummy500_engine.shuffle import seed_for

YARDSTICK = "yardstick"


@dataclass(frozen=True, slots=True)
class Table:
    preset: str
    players: int
    variants: tuple[str, ...] = ()


@dataclass(slots=True)
class Lead:
    """Points a round by which the bot is ahead of the mean of the other sides on one deal, over all seats; and the
    milliseconds of processor time of each of its decisions."""

    points: float
    took_ms: list[float] = field(default_factory=list)


class _Timed:
    def __init__(self, bot: Bot, took_ms: list[float]) -> None:
        self._bot, self._took_ms = bot, took_ms

    def act(self, decision: Decision) -> Action | Sequence[Action]:
        began = time.process_time()
        answer = self._bot.act(decision)
        self._took_ms.append((time.process_time() - began) * 1000)
        return answer


def lead(table: Table, bot: str, other: str, seed: int, deal: int) -> Lead:
    rules = _rules(table)
    found = Lead(0.0)
    for seat in range(rules.players):
        bots = [_made(other, deal + number) for number in range(rules.players)]
        bots[seat] = _Timed(_made(bot, deal), found.took_ms)
        game = Game(rules, single_round=True, aligned=True)
        play_game(game, bots, seed=seed_for(b"strength", seed, deal))
        points = dict(zip(rules.sides, game.totals, strict=True))
        own = points.pop(rules.sides[seat])
        found.points += (own - sum(points.values()) / len(points)) / rules.players
    return found


def leads(table: Table, bot: str, other: str, *, seed: int, deals: int, processes: int) -> list[Lead]:
    of_deal = partial(lead, table, bot, other, seed)
    if processes == 1:
        return list(map(of_deal, range(deals)))
    with ProcessPoolExecutor(processes) as pool:
        return list(pool.map(of_deal, range(deals)))


def _made(spec: str, seed: int) -> Bot:
    bot = EquityBot(seed) if spec == YARDSTICK else built_in(spec, seed=seed)
    if isinstance(bot, ExpertBot):
        bot.clock = time.process_time
    return bot


@lru_cache(maxsize=4)
def _rules(table: Table) -> Rules:
    """The collector does not go through what is here for good, as in a process in which the server's bots think."""
    rules = Catalog().rules(table.preset, table.variants, players=table.players)
    gc.freeze()
    return rules


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bots.strength", description=__doc__)
    parser.add_argument("bot")
    parser.add_argument("other", help=f"a built-in bot, or {YARDSTICK}: the bot of tests/bots/yardstick.py")
    parser.add_argument("--preset", default="classic")
    parser.add_argument("--variant", action="append", default=[])
    parser.add_argument("--players", type=int, default=2)
    parser.add_argument("--deals", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    table = Table(given.preset, given.players, tuple(given.variant))
    found = leads(table, given.bot, given.other, seed=given.seed, deals=given.deals, processes=given.processes)
    points = interval(each.points for each in found)
    took = sorted(ms for each in found for ms in each.took_ms)
    print(
        f"{' '.join((given.preset, *given.variant))}, {given.players} players, {given.deals} deals: {given.bot} is"
        f" {points.mean:+.1f} points a round ahead of {given.other} ({points.low:+.1f} to {points.high:+.1f});"
        f" {sum(took) / len(took):.1f} ms a decision, 99 % within {took[len(took) * 99 // 100]:.0f}, all within"
        f" {took[-1]:.0f}"
    )


if __name__ == "__main__":
    main()
