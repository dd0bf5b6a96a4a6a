"""`rummy500 arena`: plays a match between built-in bots without a server, and shows what came of it."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from rummy500_arena.plan import SEEDS, Plan, Unit, secret_of_seed
from rummy500_arena.simulation import Effort, Simulation, simulated
from rummy500_arena.statistics import MatchStatistics
from rummy500_bots import BotRefused, built_in
from rummy500_catalog import ChoiceRefused
from rummy500_engine.terms import RulesRefused, VariantError

REFUSED = 2
"""Exit code: the match cannot be."""


def add(subparsers: Any) -> None:
    """Adds the subcommand to the parser of `rummy500`."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "arena",
        help="play built-in bots against each other in bulk, without a server",
        description="Plays each deal in every seating, as `rummy500 match run` does with the same seed, but without "
        "server, clock and records. Prints the points a round of each bot with their 95 % interval over deals, and the "
        "difference to the first. Exit code 2 when the match cannot be.",
    )
    parser.add_argument("--bot", action="append", required=True, metavar="SPEC", help="as easy, or expert,time_ms=5")
    parser.add_argument("--players", type=int, default=0, metavar="N", help="seats; else as many as there are bots")
    parser.add_argument("--deals", type=int, default=100, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="what the deals follow from")
    parser.add_argument("--game", action="store_true", help="play games to the target, not single rounds")
    parser.add_argument("--preset", default="", metavar="NAME", help="the rules; classic if nothing is said")
    parser.add_argument("--variant", action="append", default=[], metavar="NAME")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    problem = _problem(arguments)
    if problem:
        return _refuse(problem)
    players = arguments.players or len(arguments.bot)
    unit = Unit.GAME if arguments.game else Unit.DEAL
    plan = Plan(len(arguments.bot), players, arguments.deals, secret_of_seed(arguments.seed), unit)
    options = tuple((name, value) for name, _, value in (option.partition("=") for option in arguments.option))
    simulation = Simulation(plan, tuple(arguments.bot), arguments.preset, tuple(arguments.variant), options)
    try:
        simulation.rules()
        for bot in arguments.bot:
            built_in(bot, seed=0)
    except (RulesRefused, ChoiceRefused, VariantError, BotRefused) as error:
        return _refuse(str(error))
    statistics, efforts = MatchStatistics(plan), [Effort() for _ in arguments.bot]
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(arguments.processes, mp_context=spawned) as executor:
        for played in simulated(simulation, executor, processes=arguments.processes):
            statistics.add(played.game, played.score)
            for seat, effort in enumerate(played.efforts):
                total = efforts[played.game.seats[seat]]
                total.decisions += effort.decisions
                total.seconds += effort.seconds
                total.slowest = max(total.slowest, effort.slowest)
    _show(arguments.bot, statistics, efforts)
    return 0


def _problem(arguments: argparse.Namespace) -> str:
    bots = len(arguments.bot)
    if bots < 2:
        return "a match is between two bots or more: give --bot twice"
    if arguments.players and not 2 <= arguments.players <= bots:
        return f"--players is {arguments.players}: it may be 2 to {bots}, the number of bots"
    if not 1 <= arguments.deals <= 10_000_000:
        return f"--deals is {arguments.deals}: it may be 1 to 10000000"
    if not 0 <= arguments.seed < SEEDS:
        return f"--seed is {arguments.seed}: it may be 0 to {SEEDS - 1}"
    if not 1 <= arguments.processes <= 1_024:
        return f"--processes is {arguments.processes}: it may be 1 to 1024"
    wrong = [option for option in arguments.option if "=" not in option]
    return f"--option {wrong[0]}: an option is NAME=VALUE" if wrong else ""


def _refuse(sentence: str) -> int:
    print(f"rummy500 arena: {sentence}", file=sys.stderr)
    return REFUSED


def _show(bots: list[str], statistics: MatchStatistics, efforts: list[Effort]) -> None:
    """A table, a bot a line."""
    print(f"{statistics.counted} deals, {statistics.games} games")
    width = max(map(len, bots))
    print(f"{'bot':{width}}  {'points a round':>22}  {'ahead of the first':>22}  {'wins':>6}  {'ms':>6}  {'most':>6}")
    for index, (bot, tally, effort) in enumerate(zip(bots, statistics.tallies, efforts, strict=True)):
        points, ahead = tally.points_per_round, statistics.difference(index, 0)
        mean_ms = 1000 * effort.seconds / max(1, effort.decisions)
        shown = f"{ahead.mean:+8.2f} ± {ahead.high - ahead.mean:<6.2f}" if index else ""
        print(
            f"{bot:{width}}  {points.mean:12.2f} ± {points.high - points.mean:<7.2f}  {shown:>22}  {tally.wins:>6}  "
            f"{mean_ms:>6.2f}  {1000 * effort.slowest:>6.1f}"
        )
