"""Matches with bots on streams of their own: what they see of a match, and what it costs when they fail."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.server.running import bearer, channel_to, running_app, server_process
from tests.server.stream_bot import Answer, nonsense, plain, silent, stream_bot
from tests.server.test_matches import OWNER, builtin, connected, plan, records, rules_for, run, watched, without_times

from rummy500.v1 import (
    match_pb2,
    match_service_pb2_grpc,
    play_service_pb2,
    play_service_pb2_grpc,
    result_pb2,
    rules_pb2,
    table_pb2,
)
from rummy500.v1 import match_service_pb2 as pb
from rummy500_arena.verification import records_in, verify
from rummy500_catalog import Catalog, installed
from rummy500_catalog.offers import VARIANTS
from rummy500_server.app import App
from rummy500_server.match_document import MatchDocument
from rummy500_server.matches import MATCH
from rummy500_server.settings import Settings
from rummy500_server.stalled import Stall, Stalls
from rummy500_server.watchdog import at_work

QUICK = table_pb2.ClockSettings(decision_ms=50)


@pytest.fixture
async def app() -> AsyncIterator[App]:
    async with running_app() as running:
        yield running


@pytest.fixture
async def channel(app: App) -> AsyncIterator[grpc.aio.Channel]:
    async with channel_to(app.address) as opened:
        yield opened


@pytest.fixture
async def matches(channel: grpc.aio.Channel) -> Any:
    return match_service_pb2_grpc.MatchServiceStub(channel)


def ended(match: match_pb2.Match, name: str) -> dict[str, int]:
    """How the games of a bot ended, by name without its prefix."""
    (result,) = [result for result in match.results if result.name == name]
    return {
        result_pb2.Termination.Name(each.termination).removeprefix("TERMINATION_"): each.count
        for each in result.terminations
    }


async def all_hold(matches: Any, match: match_pb2.Match) -> int:
    """The number of records, each of which holds."""
    found = list(records_in((await records(matches, match=match.name)).splitlines()))
    assert [str(difference) for record in found if (difference := verify(record, rules_for))] == []
    return len(found)


async def test_a_bot_on_one_stream_plays_every_seating(matches: Any, channel: grpc.aio.Channel) -> None:
    async with stream_bot(channel, "plain") as bot:
        match = await run(matches, plan(connected("plain", "plain"), builtin("easy"), deals=5))

        assert match.state == match_pb2.MATCH_STATE_FINISHED
        assert ended(match, "plain") == {"NORMAL": 10}
        assert await all_hold(matches, match) == 10
        assert match.results[0].decisions == bot.asked
        assert {game.match for game in bot.started.values()} == {match.name}
        assert {game.seat for game in bot.started.values()} == {0, 1}


async def test_a_process_for_each_seating_never_sees_the_other_side_of_its_deal(
    matches: Any, channel: grpc.aio.Channel
) -> None:
    async with stream_bot(channel, "plain#1") as first, stream_bot(channel, "plain#2") as second:
        match = await run(matches, plan(connected("plain", "plain#1", "plain#2"), builtin("easy"), deals=4))

    assert ended(match, "plain") == {"NORMAL": 8}
    assert [game.seat for game in first.started.values()] == [0] * 4
    assert [game.seat for game in second.started.values()] == [1] * 4
    for game in (*first.started.values(), *second.started.values()):
        assert sorted(game.players) == ["easy", "plain"]  # no connection, deal or seating in a name


async def test_records_do_not_depend_on_the_connections(matches: Any, channel: grpc.aio.Channel) -> None:
    texts = []
    for names in (("a#1", "a#2"), ("b#1", "b#2")):
        async with contextlib.AsyncExitStack() as bots:
            for name in names:
                await bots.enter_async_context(stream_bot(channel, name))
            match = await run(matches, plan(connected("plain", *names), builtin("random"), deals=3))
            texts.append(without_times(await records(matches, match=match.name)))

    assert texts[0] == texts[1]


@pytest.mark.parametrize(("answer", "termination"), [(silent, "TIMEOUT"), (nonsense, "ILLEGAL_ACTION")])
@pytest.mark.parametrize("players", [2, 3])
async def test_a_bot_that_fails_costs_its_own_seat(
    matches: Any, channel: grpc.aio.Channel, answer: Answer, termination: str, players: int
) -> None:
    others = [builtin(f"easy{number}", "easy") for number in range(1, players)]
    async with stream_bot(channel, "bad", answer):
        clock = QUICK if answer is silent else table_pb2.ClockSettings()
        match = await run(matches, plan(connected("bad", "bad"), *others, deals=1, clock=clock))

    games = match.games_planned
    assert match.state == match_pb2.MATCH_STATE_FINISHED
    assert ended(match, "bad").get(termination, 0) > 0
    assert "TIMEOUT" not in ended(match, "easy1")
    assert match.results[0].wins == 0
    assert match.results[0].points_per_round <= match.results[1].points_per_round
    assert await all_hold(matches, match) == games


async def test_a_bot_that_hangs_up_in_mid_match_forfeits_the_rest(matches: Any, channel: grpc.aio.Channel) -> None:
    asked = 0

    def leaves(request: play_service_pb2.DecisionRequest) -> Any:
        nonlocal asked
        asked += 1
        if asked > 30:
            bot.hang_up()
            return None
        return plain(request)

    async with stream_bot(channel, "leaves", leaves) as bot:
        bots = connected("leaves", "leaves"), builtin("easy")
        match = await run(matches, plan(*bots, deals=6, clock=QUICK, concurrency=2, arrival_ms=1_000))

    assert match.state == match_pb2.MATCH_STATE_FINISHED
    assert ended(match, "leaves")["DISCONNECT"] > 0
    assert sum(ended(match, "leaves").values()) == 12
    assert await all_hold(matches, match) == 12


async def test_a_crash_that_is_reported_ends_the_open_games_at_once(matches: Any, channel: grpc.aio.Channel) -> None:
    async with stream_bot(channel, "a#1", silent) as first, stream_bot(channel, "a#2"):
        made = await matches.CreateMatch(
            pb.CreateMatchRequest(plan=plan(connected("a", "a#1", "a#2"), builtin("easy"), deals=3, concurrency=4)),
            metadata=OWNER,
        )
        async for response in matches.WatchMatch(pb.WatchMatchRequest(match=made.match.name)):
            if response.match.state == match_pb2.MATCH_STATE_RUNNING:
                break
        first.hang_up()
        report = match_pb2.BotReport(
            bot="a", kind=result_pb2.TERMINATION_CRASH, stderr_tail="Traceback: boom", exit_code=-9, seating=0
        )
        await matches.ReportBot(pb.ReportBotRequest(match=made.match.name, report=report), metadata=OWNER)
        match = await watched(matches, made.match.name)

    assert ended(match, "a") == {"NORMAL": 3, "CRASH": 3}
    assert [(r.stderr_tail, r.exit_code, r.seating) for r in match.reports] == [("Traceback: boom", -9, 0)]
    assert await all_hold(matches, match) == 6


async def test_a_bot_that_does_not_start_fails_the_match(matches: Any) -> None:
    made = await matches.CreateMatch(
        pb.CreateMatchRequest(plan=plan(connected("a", "never"), builtin("easy"))), metadata=OWNER
    )
    assert made.match.state == match_pb2.MATCH_STATE_WAITING
    report = match_pb2.BotReport(
        bot="a", kind=result_pb2.TERMINATION_START_FAILURE, stderr_tail="x\nno such file: other-bot\n"
    )
    answer = await matches.ReportBot(pb.ReportBotRequest(match=made.match.name, report=report), metadata=OWNER)

    assert answer.match.state == match_pb2.MATCH_STATE_FAILED
    assert answer.match.sentence == "bot a: a bot's program did not start: no such file: other-bot"
    assert answer.match.games_finished == 0


async def test_a_bot_that_never_connects_fails_the_match(matches: Any) -> None:
    match = await run(matches, plan(connected("a", "never"), builtin("easy"), arrival_ms=1_000))

    assert match.state == match_pb2.MATCH_STATE_FAILED
    assert match.sentence.startswith("not connected within ")
    assert match.sentence.endswith(": never")


async def test_a_match_says_why_a_bot_was_turned_away(matches: Any, channel: grpc.aio.Channel) -> None:
    made = await matches.CreateMatch(
        pb.CreateMatchRequest(
            plan=plan(connected("a", "gifted"), connected("b", "future"), arrival_ms=1_000),
            bot_secrets=["the-token-of-a-bot-of-the-future"],
        ),
        metadata=OWNER,
    )
    hello = play_service_pb2.PlayRequest(hello=play_service_pb2.Hello(name="gifted", features=["telepathy"]))
    gifted = play_service_pb2_grpc.PlayServiceStub(channel).Play(iter([hello]), metadata=bearer("x" * 16))
    with pytest.raises(grpc.aio.AioRpcError, match="lacks telepathy"):
        await anext(aiter(gifted))
    future: grpc.aio.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream("/rummy500.v2.PlayService/Play")
    with pytest.raises(grpc.aio.AioRpcError, match="UNIMPLEMENTED"):
        await anext(aiter(future(iter([b""]), metadata=bearer("the-token-of-a-bot-of-the-future"))))

    match = await watched(matches, made.match.name)

    assert "; turned away: this server lacks telepathy; it has batches, " in match.sentence
    assert "; turned away: it called /rummy500.v2.PlayService/Play, which this server does not have: " in match.sentence


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda report: report.__setattr__("bot", "nobody"), "report.bot"),
        (lambda report: report.__setattr__("bot", "easy"), "report.bot"),
        (lambda report: report.__setattr__("kind", result_pb2.TERMINATION_TIMEOUT), "report.kind"),
        (lambda report: report.__setattr__("seating", 2), "report.seating"),
        (lambda report: report.__setattr__("stderr_tail", "x" * 8_193), "report.stderr_tail"),
    ],
)
async def test_a_report_that_cannot_be_is_refused_by_field(
    matches: Any, change: Callable[[match_pb2.BotReport], None], field: str
) -> None:
    made = await matches.CreateMatch(
        pb.CreateMatchRequest(plan=plan(connected("a", "never"), builtin("easy"))), metadata=OWNER
    )
    report = match_pb2.BotReport(bot="a", kind=result_pb2.TERMINATION_CRASH)
    change(report)
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await matches.ReportBot(pb.ReportBotRequest(match=made.match.name, report=report), metadata=OWNER)

    assert field in (refused.value.details() or "")


async def test_a_bot_is_given_no_more_games_at_a_time_than_it_wants(
    app: App, matches: Any, channel: grpc.aio.Channel
) -> None:
    most = 0

    def counting(request: play_service_pb2.DecisionRequest) -> Any:
        nonlocal most
        stream = app.connected.named("plain")
        assert stream is not None
        most = max(most, stream.games)
        return plain(request)

    async with stream_bot(channel, "plain", counting):
        await run(matches, plan(connected("plain", "plain"), builtin("easy"), deals=6, concurrency=3))

    assert most == 3


async def test_a_match_goes_on_after_a_restart(tmp_path: Path) -> None:
    wanted = plan(connected("plain", "plain"), builtin("random"), deals=8, concurrency=4)
    async with running_app() as app, channel_to(app.address) as channel, stream_bot(channel, "plain"):
        matches: Any = match_service_pb2_grpc.MatchServiceStub(channel)
        unbroken = without_times(await records(matches, match=(await run(matches, wanted)).name))

    database = str(tmp_path / "server.db")
    asked, stop = 0, asyncio.Event()

    def stopping(request: play_service_pb2.DecisionRequest) -> Any:
        nonlocal asked
        asked += 1
        if asked > 100:
            stop.set()
            return None
        return plain(request)

    async with running_app(database=database) as app, channel_to(app.address) as channel:
        matches = match_service_pb2_grpc.MatchServiceStub(channel)
        async with stream_bot(channel, "plain", stopping):
            made = await matches.CreateMatch(pb.CreateMatchRequest(plan=wanted), metadata=OWNER)
            await asyncio.wait_for(stop.wait(), 20)
    async with running_app(database=database) as app, channel_to(app.address) as channel:
        matches = match_service_pb2_grpc.MatchServiceStub(channel)
        async with stream_bot(channel, "plain"):
            match = await watched(matches, made.match.name)
            assert ended(match, "plain") == {"NORMAL": 16}
            assert without_times(await records(matches, match=match.name)) == unbroken
    async with running_app(database=database) as app, channel_to(app.address) as channel:
        matches = match_service_pb2_grpc.MatchServiceStub(channel)
        kept = (await matches.GetMatch(pb.GetMatchRequest(match=made.match.name))).match
        assert kept == match


async def test_a_server_that_is_killed_counts_every_deal_once(tmp_path: Path) -> None:
    database = tmp_path / "server.db"
    wanted = plan(builtin("easy"), builtin("random"), deals=40)
    async with running_app() as app, channel_to(app.address) as channel:
        matches: Any = match_service_pb2_grpc.MatchServiceStub(channel)
        unbroken = await run(matches, wanted)
    async with server_process(database) as server, channel_to(server.address) as channel:
        matches = match_service_pb2_grpc.MatchServiceStub(channel)
        made = await matches.CreateMatch(pb.CreateMatchRequest(plan=wanted), metadata=OWNER)
        async for response in matches.WatchMatch(pb.WatchMatchRequest(match=made.match.name)):
            if response.match.games_finished >= 10:
                break
        server.signal(signal.SIGKILL)
        await server.ended()
    async with server_process(database) as server, channel_to(server.address) as channel:
        matches = match_service_pb2_grpc.MatchServiceStub(channel)
        match = await watched(matches, made.match.name)

    assert match.games_finished == match.games_planned == 80
    for found, expected in zip(match.results, unbroken.results, strict=True):
        for field in ("decisions", "charged_ms", "refusals", "thinking"):
            found.ClearField(field)
            expected.ClearField(field)
        assert found == expected


async def test_a_match_whose_rules_have_changed_fails_after_a_restart(tmp_path: Path) -> None:
    database = str(tmp_path / "server.db")
    variants = rules_pb2.RulesChoice(variants=["queen-of-spades"])
    wanted = plan(connected("a", "never"), builtin("easy"), rules=variants)
    async with running_app(database=database) as app, channel_to(app.address) as channel:
        matches: Any = match_service_pb2_grpc.MatchServiceStub(channel)
        made = await matches.CreateMatch(pb.CreateMatchRequest(plan=wanted), metadata=OWNER)
    newer = Catalog([replace(offer, version="99.0") for offer in installed(VARIANTS)])
    async with running_app(database=database, catalog=newer) as app, channel_to(app.address) as channel:
        matches = match_service_pb2_grpc.MatchServiceStub(channel)
        match = await watched(matches, made.match.name)

    assert match.state == match_pb2.MATCH_STATE_FAILED
    assert match.sentence == "its rules are others now: a variant has changed its version"


async def test_a_match_that_held_the_server_up_fails_at_the_next_start(tmp_path: Path) -> None:
    settings = Settings(database=str(tmp_path / "server.db"))
    async with running_app(database=settings.database) as app, channel_to(app.address) as channel:
        matches: Any = match_service_pb2_grpc.MatchServiceStub(channel)
        wanted = plan(connected("a", "never"), builtin("easy"))
        made = (await matches.CreateMatch(pb.CreateMatchRequest(plan=wanted), metadata=OWNER)).match
        (_, text), *_ = await app.journal.documents(MATCH)
    name, while_folding = composing(MatchDocument.from_json(text))
    Stalls(settings).note(Stall(name, "rummy500_sets of strange_rules", while_folding))

    async with running_app(database=settings.database) as app, channel_to(app.address) as channel:
        matches = match_service_pb2_grpc.MatchServiceStub(channel)
        match = await watched(matches, made.name)

    assert match.state == match_pb2.MATCH_STATE_FAILED
    assert match.sentence == "it held the whole server up: rummy500_sets of strange_rules"
    assert Stalls(settings).read() == {}


def composing(document: MatchDocument) -> tuple[str, bool]:
    """What the watchdog finds while the rules of a match are composed."""
    return at_work(sys._getframe())
