"""What a match tells of its bots over gRPC: pairs, ratings, luck, thinking times, and a rule that ends it early."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.server.running import TOKEN, bearer, channel_to, running_app, server_process

from rummy500.v1 import match_pb2, match_service_pb2_grpc, table_pb2
from rummy500.v1 import match_service_pb2 as pb
from rummy500.v1.match_pb2 import StoppingRule
from rummy500_arena.stopping import FEWEST_DEALS

OWNER = bearer(TOKEN)
OVER = (match_pb2.MATCH_STATE_FINISHED, match_pb2.MATCH_STATE_CANCELLED, match_pb2.MATCH_STATE_FAILED)


def plan(*names: str, deals: int, **more: Any) -> match_pb2.MatchPlan:
    bots = [
        match_pb2.MatchBot(name=f"{name}{at}", builtin=table_pb2.BuiltinBot(name=name)) for at, name in enumerate(names)
    ]
    return match_pb2.MatchPlan(bots=bots, deals=deals, seed=7, **more)


async def run(matches: Any, wanted: match_pb2.MatchPlan) -> match_pb2.Match:
    made = await matches.CreateMatch(pb.CreateMatchRequest(plan=wanted), metadata=OWNER)
    return await watched(matches, made.match.name)


async def watched(matches: Any, name: str) -> match_pb2.Match:
    match = match_pb2.Match()
    async for response in matches.WatchMatch(pb.WatchMatchRequest(match=name)):
        match = response.match
    assert match.state in OVER
    return match


async def test_two_bots_have_a_pair_with_its_pentanomial_and_elo() -> None:
    async with running_app() as app, channel_to(app.address) as channel:
        matches: Any = match_service_pb2_grpc.MatchServiceStub(channel)
        match = await run(matches, plan("easy", "random", deals=12))
        shown = (await matches.GetMatch(pb.GetMatchRequest(match=match.name))).match
        (listed,) = (await matches.ListMatches(pb.ListMatchesRequest())).matches

    (pair,) = match.pairs
    first, second = match.results
    assert shown == match
    assert (pair.deals, pair.rounds, match.deals_counted) == (12, 24, 12)
    assert pair.difference == pytest.approx(first.points_per_round - second.points_per_round)
    assert pair.difference_low < pair.difference < pair.difference_high
    assert sum(pair.outcomes) == 12
    assert sum(half * deals for half, deals in enumerate(pair.outcomes)) == pytest.approx(pair.score * 48)
    assert first.sets_won + second.sets_won + first.sets_drawn == 12
    assert first.luck == pytest.approx(0, abs=1e-9)
    assert first.adjusted == pytest.approx(first.points_per_round)
    assert sum(time.count for time in first.thinking) == first.decisions
    assert not listed.pairs


async def test_three_bots_that_are_done_have_ratings() -> None:
    async with running_app() as app, channel_to(app.address) as channel:
        matches: Any = match_service_pb2_grpc.MatchServiceStub(channel)
        match = await run(matches, plan("easy", "easy", "random", deals=6, players=2))

    ratings = [result.rating for result in match.results]
    assert [(pair.bot, pair.other) for pair in match.pairs] == [(0, 1), (0, 2), (1, 2)]
    assert sum(ratings) == pytest.approx(0, abs=1e-6)
    assert ratings[0] == pytest.approx(ratings[1], abs=0.01)  # two copies of a deterministic bot
    assert all(result.rating_low <= result.rating <= result.rating_high for result in match.results)


async def test_a_rule_ends_a_match_early_and_says_so() -> None:
    rule = StoppingRule(difference0=-20, difference1=20)
    async with running_app() as app, channel_to(app.address) as channel:
        matches: Any = match_service_pb2_grpc.MatchServiceStub(channel)
        match = await run(matches, plan("easy", "random", deals=500, stopping=rule, concurrency=7))

    assert match.state == match_pb2.MATCH_STATE_FINISHED
    (pair,) = match.pairs
    is_more = match.stopping.verdict == match_pb2.STOPPING_VERDICT_DIFFERENCE1
    assert is_more == (pair.difference > 0) == (match.stopping.ratio >= match.stopping.upper)
    assert match.stopping.is_stopped_early
    assert FEWEST_DEALS <= match.stopping.deals == match.deals_counted < 500
    assert (match.plan.stopping.bot, match.plan.stopping.alpha) == ("easy0", 0.05)
    found = "20 points a round rather than -20" if is_more else "-20 points a round rather than 20"
    assert f"easy0 less random1 is {found}" in match.sentence
    assert "biased" in match.sentence
    assert [result.games for result in match.results] == [2 * match.deals_counted] * 2


async def test_a_rule_that_comes_to_nothing_is_undecided_at_the_end() -> None:
    rule = StoppingRule(bot="easy1", other="easy0", difference0=-1, difference1=1)
    async with running_app() as app, channel_to(app.address) as channel:
        matches: Any = match_service_pb2_grpc.MatchServiceStub(channel)
        match = await run(matches, plan("easy", "easy", deals=3, stopping=rule))

    assert match.stopping.verdict == match_pb2.STOPPING_VERDICT_UNDECIDED
    assert not match.stopping.is_stopped_early
    assert match.sentence.startswith("all 3 deals were played, and whether easy1 less easy0")


async def test_a_match_that_was_killed_stops_at_the_same_deal(tmp_path: Path) -> None:
    wanted = plan("easy", "random", deals=300, stopping=StoppingRule(difference0=0, difference1=10), concurrency=5)
    async with running_app() as app, channel_to(app.address) as channel:
        unbroken = await run(match_service_pb2_grpc.MatchServiceStub(channel), wanted)
    async with server_process(tmp_path / "server.db") as server, channel_to(server.address) as channel:
        matches: Any = match_service_pb2_grpc.MatchServiceStub(channel)
        made = await matches.CreateMatch(pb.CreateMatchRequest(plan=wanted), metadata=OWNER)
        async for response in matches.WatchMatch(pb.WatchMatchRequest(match=made.match.name)):
            if response.match.games_finished >= 15:
                break
        server.signal(signal.SIGKILL)
        await server.ended()
    async with server_process(tmp_path / "server.db") as server, channel_to(server.address) as channel:
        matches = match_service_pb2_grpc.MatchServiceStub(channel)
        match = await watched(matches, made.match.name)
    async with server_process(tmp_path / "server.db") as server, channel_to(server.address) as channel:
        matches = match_service_pb2_grpc.MatchServiceStub(channel)
        again = (await matches.GetMatch(pb.GetMatchRequest(match=made.match.name))).match

    assert match.stopping == unbroken.stopping == again.stopping
    assert match.pairs == unbroken.pairs == again.pairs
    assert match.sentence == unbroken.sentence
    assert [result.points_per_round for result in match.results] == [
        result.points_per_round for result in unbroken.results
    ]


async def test_a_match_that_is_cancelled_counts_what_is_complete_before_and_after_a_restart(tmp_path: Path) -> None:
    wanted = plan("easy", "random", deals=2_000, concurrency=6)
    async with server_process(tmp_path / "server.db") as server, channel_to(server.address) as channel:
        matches: Any = match_service_pb2_grpc.MatchServiceStub(channel)
        made = await matches.CreateMatch(pb.CreateMatchRequest(plan=wanted), metadata=OWNER)
        async for response in matches.WatchMatch(pb.WatchMatchRequest(match=made.match.name)):
            if response.match.deals_counted >= 3:
                break
        await matches.CancelMatch(pb.CancelMatchRequest(match=made.match.name), metadata=OWNER)
        name = made.match.name
        async with asyncio.timeout(20):
            while True:
                cancelled = (await matches.GetMatch(pb.GetMatchRequest(match=name))).match
                if cancelled.games_finished == sum(result.games for result in cancelled.results) / 2:
                    break
    async with server_process(tmp_path / "server.db") as server, channel_to(server.address) as channel:
        matches = match_service_pb2_grpc.MatchServiceStub(channel)
        again = (await matches.GetMatch(pb.GetMatchRequest(match=name))).match

    assert cancelled.deals_counted >= 3
    assert again.pairs == cancelled.pairs
    assert [result.adjusted for result in again.results] == [result.adjusted for result in cancelled.results]


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        (StoppingRule(bot="nobody", difference1=1), "plan.stopping.bot"),
        (StoppingRule(bot="easy1", difference1=1), "plan.stopping.other"),
        (StoppingRule(difference0=3, difference1=3), "plan.stopping.difference1"),
        (StoppingRule(difference1=float("nan")), "plan.stopping.difference1"),
        (StoppingRule(difference1=1, alpha=0.5), "plan.stopping.alpha"),
        (StoppingRule(difference1=1, beta=-0.1), "plan.stopping.beta"),
    ],
)
async def test_a_rule_that_makes_no_sense_is_refused_with_its_field(rule: StoppingRule, field: str) -> None:
    async with running_app() as app, channel_to(app.address) as channel:
        matches: Any = match_service_pb2_grpc.MatchServiceStub(channel)
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await run(matches, plan("easy", "easy", deals=3, stopping=rule))

    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert field in str(refused.value.details())


async def test_a_game_tells_what_its_match_counts() -> None:
    async with running_app() as app, channel_to(app.address) as channel:
        matches: Any = match_service_pb2_grpc.MatchServiceStub(channel)
        match = await run(matches, plan("easy", "random", deals=1))
        games = (await matches.ListGames(pb.ListGamesRequest(match=match.name), metadata=OWNER)).games

    assert [list(game.bots) for game in games] == [[0, 1], [1, 0]]
    assert all(game.counts and game.rounds == 1 and list(game.sides) == [0, 1] for game in games)
    points = sum(game.seats[list(game.bots).index(0)].points for game in games)
    assert points / 2 == match.results[0].points_per_round
