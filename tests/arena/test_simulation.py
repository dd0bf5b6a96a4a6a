"""A match without a server: the same deals, the same play and the same numbers as on one, in whatever processes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.server.running import channel_to, running_app
from tests.server.test_matches import builtin, plan, run

from rummy500.v1 import match_service_pb2_grpc
from rummy500_arena.plan import Plan, secret_of_seed
from rummy500_arena.simulation import Played, Simulation, play_shard, simulated
from rummy500_arena.statistics import MatchStatistics


def statistics_of(simulation: Simulation, games: list[Played]) -> MatchStatistics:
    statistics = MatchStatistics(simulation.plan)
    for played in games:
        statistics.add(played.game, played.score)
    return statistics


async def test_the_points_are_those_of_a_match_on_a_server() -> None:
    simulation = Simulation(Plan(2, 2, 3, secret_of_seed(7)), ("normal", "easy"))

    found = statistics_of(simulation, play_shard(simulation, 0, 6))
    async with running_app() as app, channel_to(app.address) as channel:
        matches = match_service_pb2_grpc.MatchServiceStub(channel)
        match = await run(matches, plan(builtin("normal"), builtin("easy"), deals=3, seed=7))

    assert [tally.points_per_round.mean for tally in found.tallies] == [
        pytest.approx(result.points_per_round) for result in match.results
    ]


def test_shards_give_the_same_wherever_they_are_played() -> None:
    simulation = Simulation(Plan(3, 3, 6, secret_of_seed(2)), ("normal", "easy", "random"), "bicycle")
    with ThreadPoolExecutor(2) as executor:
        spread = list(simulated(simulation, executor, processes=2))

    alone = play_shard(simulation, 0, simulation.plan.games)

    assert [(played.game, played.score) for played in spread] == [(played.game, played.score) for played in alone]
    assert all(effort.decisions > 0 for played in spread for effort in played.efforts)
