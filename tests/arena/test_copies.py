"""Two copies of one deterministic bot score exactly 0 against each other, whoever else sits there and by all rules."""

from __future__ import annotations

import pytest

from rummy500_arena.plan import Plan, Schedule, Unit, secret_of_seed
from rummy500_arena.play import play_game
from rummy500_bots import Bot, built_in
from rummy500_catalog import Catalog
from rummy500_engine.game import Game
from rummy500_engine.rules import Rules
from rummy500_engine.shuffle import seed_for
from rummy500_engine.terms import RulesRefused

CATALOG = Catalog()
PRESETS = [preset.name for preset in CATALOG.presets()]
COPIES = (0, 1)


def rules_by_preset(players: int) -> dict[str, Rules]:
    """The presets that are for so many players."""
    found: dict[str, Rules] = {}
    for preset in PRESETS:
        for options in ({}, {"deal": 6}):  # eight players need a short deal, or two packs
            try:
                found.setdefault(preset, CATALOG.rules(preset, (), options, players=players))
            except RulesRefused:
                continue
    return found


def points_of(plan: Plan, rules: Rules, others: str) -> list[dict[int, int]]:
    """By set the points of its bots in all its games; the first two bots are copies, and dice hang on deal and seat as
    at a server's table."""
    sets: dict[tuple[int, int], dict[int, int]] = {}
    for game in plan:
        bots: list[Bot] = []
        for seat, bot in enumerate(game.seats):
            seed = seed_for(game.seed, "bot", seat)
            bots.append(built_in("easy" if bot in COPIES else others, seed=int.from_bytes(seed[:8], "big")))
        table = Game(rules, single_round=plan.unit is Unit.DEAL, aligned=plan.is_paired)
        totals = play_game(table, bots, seed=game.seed).totals
        points = sets.setdefault((game.deal, game.pairing), dict.fromkeys(game.seats, 0))
        for bot, total in zip(game.seats, totals, strict=True):
            points[bot] += total
    return list(sets.values())


@pytest.mark.parametrize("players", [2, 3, 4])
def test_up_to_four_seats_copies_come_out_even_in_every_deal_whoever_else_plays(players: int) -> None:
    rules = rules_by_preset(players)
    assert len(rules) > 5
    for number, preset in enumerate(rules):
        secret = secret_of_seed(number)
        plan = Plan(bots=players, players=players, deals=1, secret=secret)
        (points,) = points_of(plan, rules[preset], "random")
        assert points[0] == points[1], preset
        if players > 2 and "partners" not in preset:
            assert points[2] != points[0], "the others are other bots"


@pytest.mark.parametrize("players", [5, 6, 7, 8])
def test_with_more_seats_copies_come_out_even_when_all_are(players: int) -> None:
    for preset, rules in rules_by_preset(players).items():
        plan = Plan(bots=players, players=players, deals=1, secret=secret_of_seed(players))
        (points,) = points_of(plan, rules, "easy")
        assert len(set(points.values())) == 1, preset


@pytest.mark.parametrize("schedule", list(Schedule))
@pytest.mark.parametrize("unit", list(Unit))
def test_copies_come_out_even_by_every_schedule_and_unit(schedule: Schedule, unit: Unit) -> None:
    rules = CATALOG.rules(players=2, options={"target": 100})
    deals = 3 if schedule is Schedule.POOL else 1
    plan = Plan(bots=3, players=2, deals=deals, secret=secret_of_seed(9), schedule=schedule, unit=unit)
    sets = points_of(plan, rules, "easy")

    assert len(sets) == plan.deals * plan.pairings
    assert all(len(set(points.values())) == 1 for points in sets)


def test_without_shared_packs_they_do_not() -> None:
    """So the tests above are some that can fail."""
    rules = CATALOG.rules(players=2)
    plan = Plan(bots=2, players=2, deals=2, secret=secret_of_seed(1), is_paired=False)
    assert any(points[0] != points[1] for points in points_of(plan, rules, "easy"))
