"""Matches that a runner attends: what becomes of them when it is gone, comes back, begins anew or pauses them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.server.running import bearer, channel_to, running_app
from tests.server.stepped_timer import SteppedTimer
from tests.server.stream_bot import StreamBot, nonsense, plain, stream_bot
from tests.server.test_matches import OWNER, STRANGER, builtin, connected, plan, reason, records, run, without_times

from rummy500.v1 import (
    match_pb2,
    match_service_pb2_grpc,
    play_service_pb2,
    play_service_pb2_grpc,
    result_pb2,
    table_pb2,
)
from rummy500.v1 import match_service_pb2 as pb
from rummy500_server.app import App

RUN, ANOTHER_RUN = "a-run-of-the-runner", "another-run-of-the-runner"
State = match_pb2.MatchState


@dataclass
class World:
    timer: SteppedTimer
    app: App
    channel: grpc.aio.Channel
    matches: Any

    async def create(self, wanted: match_pb2.MatchPlan, *bots: StreamBot) -> str:
        """An attended match; `bots` are started by its runner."""
        request = pb.CreateMatchRequest(plan=wanted, bot_secrets=[f"the-token-of-{bot.name:0>16}" for bot in bots])
        return str((await self.matches.CreateMatch(request, metadata=OWNER)).match.name)

    async def get(self, name: str) -> match_pb2.Match:
        match: match_pb2.Match = (await self.matches.GetMatch(pb.GetMatchRequest(match=name))).match
        return match


@pytest.fixture
async def world() -> AsyncIterator[World]:
    timer = SteppedTimer()
    async with running_app(timer=timer) as app, channel_to(app.address) as channel:
        yield World(timer, app, channel, match_service_pb2_grpc.MatchServiceStub(channel))


class Runner:
    """A stream that attends. `match` is what it was told last."""

    def __init__(self, matches: Any, name: str, run: str = RUN, metadata: Any = OWNER) -> None:
        self._call = matches.WatchMatch(pb.WatchMatchRequest(match=name, attend=run), metadata=metadata)
        self.match = match_pb2.Match()

    async def until(self, *states: State.ValueType, open_games: int | None = None) -> match_pb2.Match:
        while True:
            response = await asyncio.wait_for(self._call.read(), 20)
            assert response is not grpc.aio.EOF
            self.match = response.match
            if self.match.state in states and open_games in (None, self.match.games_open):
                return self.match

    async def ended(self) -> grpc.aio.AioRpcError:
        """With what the stream ended."""
        try:
            while await asyncio.wait_for(self._call.read(), 20) is not grpc.aio.EOF:
                pass
        except grpc.aio.AioRpcError as error:
            return error
        raise AssertionError("the stream ended without an error")

    def leave(self) -> None:
        self._call.cancel()


@contextlib.contextmanager
def attending(matches: Any, name: str, run: str = RUN) -> Any:
    runner = Runner(matches, name, run)
    try:
        yield runner
    finally:
        runner.leave()


async def watched_until(
    world: World, name: str, state: State.ValueType, *, attended: bool | None = None
) -> match_pb2.Match:
    async for response in world.matches.WatchMatch(pb.WatchMatchRequest(match=name)):
        found: match_pb2.Match = response.match
        if found.state == state and attended in (None, found.is_attended):
            return found
    raise AssertionError("the match is over")


def held_back(after: int) -> tuple[Any, asyncio.Event]:
    """An answer that keeps silent after so many requests, and tells when it does."""
    asked, silent = 0, asyncio.Event()

    def answer(request: play_service_pb2.DecisionRequest) -> Any:
        nonlocal asked
        asked += 1
        if asked <= after:
            return plain(request)
        silent.set()
        return None

    return answer, silent


SLOW = table_pb2.ClockSettings(decision_ms=60_000)
PLAN: dict[str, Any] = {"deals": 3, "concurrency": 2, "attended": True, "clock": SLOW}


Unbroken = tuple[match_pb2.Match, list[dict[str, Any]]]


@pytest.fixture(scope="module")
async def unbroken() -> Unbroken:
    """The same match, that nothing disturbs, and its records."""
    async with running_app() as app, channel_to(app.address) as channel, stream_bot(channel, "plain"):
        matches = match_service_pb2_grpc.MatchServiceStub(channel)
        match = await run(matches, plan(connected("plain", "plain"), builtin("random"), **{**PLAN, "attended": False}))
        return match, without_times(await records(matches, match=match.name))


@contextlib.asynccontextmanager
async def held_match(world: World) -> AsyncIterator[tuple[str, StreamBot, Runner]]:
    """A match that stands still in the middle of its games, its bot that keeps silent, and its runner."""
    answer, silent = held_back(60)
    async with stream_bot(world.channel, "plain", answer) as bot:
        name = await world.create(plan(connected("plain", "plain"), builtin("random"), **PLAN), bot)
        with attending(world.matches, name) as runner:
            await asyncio.wait_for(silent.wait(), 20)
            yield name, bot, runner


async def assert_same(world: World, match: match_pb2.Match, unbroken: Unbroken) -> None:
    """Results and records are those of the match that nothing disturbed."""
    expected, lines = unbroken
    assert match.games_finished == expected.games_finished == 6
    for found, other in zip(match.results, expected.results, strict=True):
        for times in ("charged_ms", "thinking"):
            found.ClearField(times)
            other.ClearField(times)
        assert found == other
    assert without_times(await records(world.matches, match=match.name)) == lines


async def test_it_begins_when_its_runner_is_there(world: World) -> None:
    name = await world.create(plan(attended=True, deals=1))
    assert (await world.get(name)).state == State.MATCH_STATE_WAITING
    with attending(world.matches, name) as runner:
        match = await runner.until(State.MATCH_STATE_FINISHED)
    assert match.games_finished == match.games_planned


async def test_without_its_runner_it_is_paused_and_goes_on_as_if_nothing_had_been(
    world: World, unbroken: Unbroken
) -> None:
    answer, silent = held_back(60)
    async with stream_bot(world.channel, "plain", answer) as bot:
        name = await world.create(plan(connected("plain", "plain"), builtin("random"), **PLAN), bot)
        with attending(world.matches, name):
            await asyncio.wait_for(silent.wait(), 20)
        await watched_until(world, name, State.MATCH_STATE_RUNNING, attended=False)
        world.timer.advance(9.9)
        assert (await world.get(name)).state == State.MATCH_STATE_RUNNING
        world.timer.advance(0.1)
        paused = await watched_until(world, name, State.MATCH_STATE_PAUSED)
    assert (paused.games_open, paused.sentence) == (0, "no runner attends it")
    assert 0 < paused.games_again <= 2
    async with stream_bot(world.channel, "plain"):
        with attending(world.matches, name) as runner:
            match = await runner.until(State.MATCH_STATE_FINISHED)
    await assert_same(world, match, unbroken)


async def test_a_lost_connection_of_its_runner_costs_nothing(world: World, unbroken: Unbroken) -> None:
    answer, silent = held_back(60)
    async with stream_bot(world.channel, "plain", answer) as bot:
        name = await world.create(plan(connected("plain", "plain"), builtin("random"), **PLAN), bot)
        with attending(world.matches, name):
            await asyncio.wait_for(silent.wait(), 20)
        await watched_until(world, name, State.MATCH_STATE_RUNNING, attended=False)
        world.timer.advance(9)
        with attending(world.matches, name) as runner:
            await runner.until(State.MATCH_STATE_RUNNING, open_games=2)
            world.timer.advance(9)
            bot.hang_up()
            async with stream_bot(world.channel, "plain"):
                match = await runner.until(State.MATCH_STATE_FINISHED)
    assert match.games_again == 0
    expected, lines = unbroken
    assert without_times(await records(world.matches, match=match.name)) == lines
    assert match.results[0].points_per_round == expected.results[0].points_per_round


async def test_a_new_run_has_new_bots_that_play_open_games_from_their_start(world: World, unbroken: Unbroken) -> None:
    async with held_match(world) as (name, old, before):
        with attending(world.matches, name, ANOTHER_RUN) as runner:
            assert reason(await before.ended()) == "STREAM_REPLACED"
            assert reason(await old.ended()) == "STREAM_REPLACED"
            await runner.until(State.MATCH_STATE_WAITING)
            async with stream_bot(world.channel, "plain") as bot:
                match = await runner.until(State.MATCH_STATE_FINISHED)
    assert match.games_again > 0
    assert not set(old.over) & set(bot.over)
    await assert_same(world, match, unbroken)


async def test_a_paused_match_lets_its_open_games_end_and_goes_on_in_another_run(
    world: World, unbroken: Unbroken
) -> None:
    async with held_match(world) as (name, bot, runner):
        await world.matches.PauseMatch(pb.PauseMatchRequest(match=name), metadata=OWNER)
        paused = await runner.until(State.MATCH_STATE_PAUSED, open_games=2)
        assert paused.sentence == "its owner paused it"
        bot.hang_up()
        async with stream_bot(world.channel, "plain"):
            paused = await runner.until(State.MATCH_STATE_PAUSED, open_games=0)
        assert paused.games_again == 0
    with attending(world.matches, name) as same:
        assert (await same.until(State.MATCH_STATE_PAUSED)).games_finished == paused.games_finished
    with attending(world.matches, name, ANOTHER_RUN) as runner:
        await runner.until(State.MATCH_STATE_WAITING)
        async with stream_bot(world.channel, "plain"):
            match = await runner.until(State.MATCH_STATE_FINISHED)
    assert match.games_again == 0
    assert match.results[0].points_per_round == unbroken[0].results[0].points_per_round


async def test_bots_that_do_not_come_back_pause_it_and_lose_nothing(world: World, unbroken: Unbroken) -> None:
    answer, silent = held_back(200)
    wanted = plan(connected("plain", "plain"), builtin("random"), **PLAN, arrival_ms=1_000)
    async with stream_bot(world.channel, "plain", answer) as bot:
        name = await world.create(wanted, bot)
        with attending(world.matches, name):
            await asyncio.wait_for(silent.wait(), 20)
    with attending(world.matches, name, ANOTHER_RUN) as runner:
        paused = await runner.until(State.MATCH_STATE_PAUSED)
    assert paused.sentence == "not connected within 1 seconds: plain"
    assert paused.games_finished > 0
    with attending(world.matches, name, RUN) as runner:
        await runner.until(State.MATCH_STATE_WAITING)
        async with stream_bot(world.channel, "plain"):
            await assert_same(world, await runner.until(State.MATCH_STATE_FINISHED), unbroken)


async def test_after_a_restart_of_the_server_open_games_are_played_from_their_start(
    tmp_path: Path, unbroken: Unbroken
) -> None:
    database = str(tmp_path / "server.db")
    answer, silent = held_back(60)
    async with running_app(database=database) as app, channel_to(app.address) as channel:
        world = World(SteppedTimer(), app, channel, match_service_pb2_grpc.MatchServiceStub(channel))
        async with stream_bot(channel, "plain", answer) as bot:
            name = await world.create(plan(connected("plain", "plain"), builtin("random"), **PLAN), bot)
            with attending(world.matches, name):
                await asyncio.wait_for(silent.wait(), 20)
    async with running_app(database=database) as app, channel_to(app.address) as channel:
        world = World(SteppedTimer(), app, channel, match_service_pb2_grpc.MatchServiceStub(channel))
        async with stream_bot(channel, "plain"):
            with attending(world.matches, name) as runner:
                match = await runner.until(State.MATCH_STATE_FINISHED)
        assert match.games_again > 0
        await assert_same(world, match, unbroken)


async def test_after_a_restart_a_runner_that_comes_before_the_tables_are_back_is_not_forgotten(
    world: World, unbroken: Unbroken
) -> None:
    async with held_match(world) as (name, bot, runner):
        bot.hang_up()
        async with stream_bot(world.channel, "plain"):
            world.app.matches.named(name).begin()  # what a server that starts does when its tables are back
            match = await runner.until(State.MATCH_STATE_FINISHED)
    assert match.games_again > 0
    await assert_same(world, match, unbroken)


@pytest.mark.parametrize(
    ("wanted", "run", "metadata", "told"),
    [
        (plan(attended=True), RUN, STRANGER, "NOT_THE_OWNER"),
        (plan(attended=True), RUN, None, "NO_TOKEN"),
        (plan(attended=True), "short", OWNER, "BAD_REQUEST"),
        (plan(connected("a", "never"), builtin("easy")), RUN, OWNER, "BAD_REQUEST"),
    ],
)
async def test_who_may_not_attend_is_told(
    world: World, wanted: match_pb2.MatchPlan, run: str, metadata: Any, told: str
) -> None:
    name = await world.create(wanted)
    before = await world.get(name)
    assert reason(await Runner(world.matches, name, run, metadata).ended()) == told
    assert await world.get(name) == before


async def test_only_an_attended_match_is_paused(world: World) -> None:
    name = await world.create(plan(connected("a", "never"), builtin("easy")))
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await world.matches.PauseMatch(pb.PauseMatchRequest(match=name), metadata=OWNER)
    assert reason(refused.value) == "BAD_REQUEST"


@pytest.mark.parametrize(("strikes", "refused_games"), [(2, 2), (0, 8)])
async def test_a_bot_with_too_many_faults_is_out(world: World, strikes: int, refused_games: int) -> None:
    wanted = plan(connected("bad", "bad"), builtin("easy"), deals=4, concurrency=1, strikes=strikes)
    async with stream_bot(world.channel, "bad", nonsense) as bot:
        match = await run(world.matches, wanted)
    bad, easy = match.results
    assert [(each.termination, each.count) for each in bad.terminations] == [(result_pb2.TERMINATION_ILLEGAL_ACTION, 8)]
    assert (bad.out == result_pb2.TERMINATION_ILLEGAL_ACTION) is bool(strikes)
    assert not easy.out
    assert len(bot.over) == refused_games
    assert (easy.games, easy.wins) == (8, 8)


async def test_a_program_that_is_started_again_plays_the_next_games(world: World) -> None:
    answer, silent = held_back(5)
    wanted = plan(connected("a", "a"), builtin("easy"), deals=3, concurrency=1, attended=True)
    async with stream_bot(world.channel, "a", answer) as first:
        name = await world.create(wanted, first)
        with attending(world.matches, name) as runner:
            await asyncio.wait_for(silent.wait(), 20)
            report = match_pb2.BotReport(
                bot="a", kind=result_pb2.TERMINATION_CRASH, exit_code=1, seating=0, is_restarted=True
            )
            request = pb.ReportBotRequest(match=name, report=report)
            answered = (await world.matches.ReportBot(request, metadata=OWNER)).match
            assert reason(await first.ended()) == "STREAM_REPLACED"
            async with stream_bot(world.channel, "a"):
                match = await runner.until(State.MATCH_STATE_FINISHED)
    (told,) = answered.reports
    assert '"table":' in told.last_sent.replace('"table": ', '"table":')
    ended = {each.termination: each.count for each in match.results[0].terminations}
    assert ended == {result_pb2.TERMINATION_NORMAL: 5, result_pb2.TERMINATION_CRASH: 1}
    assert not match.results[0].out


@pytest.mark.parametrize(("is_relayed", "charged_ms"), [(True, 10), (False, 60)])
async def test_what_a_relay_held_is_not_charged_where_the_plan_says_that_there_is_one(
    world: World, is_relayed: bool, charged_ms: int
) -> None:
    bot = match_pb2.MatchBot(name="a", connected=match_pb2.ConnectedBot(names=["a"], is_relayed=is_relayed))
    call: Any = play_service_pb2_grpc.PlayServiceStub(world.channel).Play(metadata=bearer("the-token-of-the-relayed"))
    request = pb.CreateMatchRequest(plan=plan(bot, builtin("easy"), deals=1), bot_secrets=["the-token-of-the-relayed"])
    await world.matches.CreateMatch(request, metadata=OWNER)
    await call.write(play_service_pb2.PlayRequest(hello=play_service_pb2.Hello(name="a")))
    asked = await _decision(call)
    world.timer.advance(0.06)
    decision = play_service_pb2.Decision(table=asked.table, sequence=asked.sequence, actions=plain(asked))
    await call.write(play_service_pb2.PlayRequest(decisions=[decision], relayed_us=50_000))
    again = await _decision(call, asked.table)
    call.cancel()
    assert again.charged_ms == charged_ms


async def _decision(call: Any, table: str = "") -> play_service_pb2.DecisionRequest:
    """The next that is asked, at that table or at any."""
    while True:
        response = await asyncio.wait_for(call.read(), 20)
        for request in response.decision_requests:
            if table in ("", request.table):
                found: play_service_pb2.DecisionRequest = request
                return found
