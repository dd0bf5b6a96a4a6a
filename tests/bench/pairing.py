"""How much duplicate deals help: the standard error of the difference between two bots, with and without them.

    python -m tests.bench.pairing [--deals 1000] [--players 2] [--preset classic] [--bots easy careless:20]

Each line is a pair of bots. All columns are of as many games: a set is a deal in all its seatings, its difference the
mean over them. Unpaired each seating has packs of its own; shared packs are dealt alike and drawn from the top; aligned
is what a match plays. The ratio is that of games: so many times as many unpaired ones would say as much.
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from math import sqrt

from rummy500_arena.plan import Plan, PlannedGame
from rummy500_arena.play import play_game
from rummy500_bots import Bot, Decision, built_in
from rummy500_catalog import Catalog
from rummy500_engine.actions import Action
from rummy500_engine.game import Game
from rummy500_engine.rules import Rules
from rummy500_engine.shuffle import seed_for

WAYS = {"unpaired": (False, False), "shared packs": (True, False), "aligned": (True, True)}
"""Whether the seatings of a deal share its packs, and whether draws are aligned."""
SHARES = 8
"""Parts of a line that are played side by side."""


@dataclass(slots=True)
class Careless:
    """The bot `easy`, which in one of so many decisions takes any legal action."""

    one_in: int
    dice: random.Random

    def act(self, decision: Decision) -> Action | Sequence[Action]:
        if not self.dice.randrange(self.one_in):
            return self.dice.choice(decision.legal)
        return built_in("easy", seed=0).act(decision)


def bot_of(name: str, seed: int) -> Bot:
    """A built-in bot, or `careless:N`."""
    kind, _, one_in = name.partition(":")
    return Careless(int(one_in), random.Random(seed)) if kind == "careless" else built_in(name, seed=seed)


PAIRS = (("easy", "easy"), ("easy", "careless:200"), ("easy", "careless:20"), ("easy", "normal"), ("easy", "random"))


def difference(rules: Rules, game: PlannedGame, names: Sequence[str], *, aligned: bool) -> float:
    """Points of bot 0 less those of the others on average. A bot's dice hang on deal and seat alone."""
    bots = [
        bot_of(names[bot], int.from_bytes(seed_for(game.seed, "bot", seat)[:8], "big"))
        for seat, bot in enumerate(game.seats)
    ]
    totals = play_game(Game(rules, single_round=True, aligned=aligned), bots, seed=game.seed).totals
    mine = game.seats.index(0)
    return totals[mine] - statistics.fmean(total for seat, total in enumerate(totals) if seat != mine)


def sets(preset: str, players: int, names: tuple[str, str], way: str, part: int, deals: int) -> list[float]:
    """The difference of each set of a part of the deals; all but the first bot are of the second kind."""
    is_paired, aligned = WAYS[way]
    rules = Catalog().rules(preset, players=players)
    plan = Plan(players, players, deals, seed_for(b"pairing", part), is_paired=is_paired)
    every = (names[0], *[names[1]] * (players - 1))
    found: list[float] = []
    for deal in range(deals):
        games = [plan.game(deal * plan.seatings + seating) for seating in range(plan.seatings)]
        found.append(statistics.fmean(difference(rules, game, every, aligned=aligned) for game in games))
    return found


def error_of(values: Sequence[float]) -> float:
    return statistics.stdev(values) / sqrt(len(values))


def measured(
    preset: str, players: int, names: tuple[str, str], way: str, deals: int, pool: ProcessPoolExecutor
) -> list[float]:
    parts = [pool.submit(sets, preset, players, names, way, part, deals // SHARES) for part in range(SHARES)]
    return [value for part in parts for value in part.result()]


def main(tell: Callable[[str], object] = print) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.pairing", description=__doc__.split("\n")[0] if __doc__ else ""
    )
    parser.add_argument("--deals", type=int, default=1_000)
    parser.add_argument("--players", type=int, default=2)
    parser.add_argument("--preset", default="classic")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--bots", nargs=2, help="else a few pairs")
    arguments = parser.parse_args()
    tell(f"{arguments.preset}, {arguments.players} seats, {arguments.deals // SHARES * SHARES} deals in every seating")
    tell(f"{'bots':<20}{'difference':>12}" + "".join(f"{f'error, {way}':>22}" for way in WAYS) + f"{'games':>10}")
    with ProcessPoolExecutor(arguments.processes) as pool:
        for names in [tuple(arguments.bots)] if arguments.bots else PAIRS:
            found = [measured(arguments.preset, arguments.players, names, way, arguments.deals, pool) for way in WAYS]
            errors = [error_of(values) for values in found]
            gain = (errors[0] / errors[-1]) ** 2 if errors[-1] else float("inf")
            row = f"{' - '.join(names):<20}{statistics.fmean(found[-1]):>12.2f}"
            tell(row + "".join(f"{error:>22.3f}" for error in errors) + f"{f'x {gain:.1f}':>10}")


if __name__ == "__main__":
    main()
