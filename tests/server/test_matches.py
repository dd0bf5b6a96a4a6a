"""Matches over gRPC: played, watched, cancelled, their records, and who may see what."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2
from tests.server.running import TOKEN, bearer, channel_to, running_app

from rummy500.v1 import match_pb2, match_service_pb2_grpc, result_pb2, rules_pb2, table_pb2
from rummy500.v1 import match_service_pb2 as pb
from rummy500_arena.ratio import interval
from rummy500_arena.verification import records_in, verify
from rummy500_catalog import Catalog
from rummy500_engine.rules import Rules
from rummy500_server.app import App

OWNER = bearer(TOKEN)
STRANGER = bearer("somebody-else-with-a-token")
OVER = (match_pb2.MATCH_STATE_FINISHED, match_pb2.MATCH_STATE_CANCELLED, match_pb2.MATCH_STATE_FAILED)
CATALOG = Catalog()


def rules_for(variants: Sequence[str], options: Mapping[str, Any], players: int) -> Rules:
    return CATALOG.rules("classic", variants, options, players=players)


@pytest.fixture
async def app() -> AsyncIterator[App]:
    async with running_app() as running:
        yield running


@pytest.fixture
async def matches(app: App) -> AsyncIterator[match_service_pb2_grpc.MatchServiceAsyncStub]:
    async with channel_to(app.address) as channel:
        yield match_service_pb2_grpc.MatchServiceStub(channel)


def builtin(name: str, spec: str = "", **settings: str) -> match_pb2.MatchBot:
    options = [rules_pb2.Option(name=key, value=value) for key, value in settings.items()]
    return match_pb2.MatchBot(name=name, builtin=table_pb2.BuiltinBot(name=spec or name, settings=options))


def plan(*bots: match_pb2.MatchBot, deals: int = 3, seed: int = 7, **more: Any) -> match_pb2.MatchPlan:
    return match_pb2.MatchPlan(bots=bots or [builtin("easy"), builtin("random")], deals=deals, seed=seed, **more)


async def run(matches: Any, wanted: match_pb2.MatchPlan) -> match_pb2.Match:
    """Makes the match and watches it to its end."""
    made = await matches.CreateMatch(pb.CreateMatchRequest(plan=wanted), metadata=OWNER)
    return await watched(matches, made.match.name)


async def watched(matches: Any, name: str) -> match_pb2.Match:
    last = match_pb2.Match()
    async for response in matches.WatchMatch(pb.WatchMatchRequest(match=name), metadata=OWNER):
        last = response.match
    assert last.state in OVER
    return last


async def records(matches: Any, *, metadata: Any = OWNER, **source: str) -> str:
    chunks = [r.chunk async for r in matches.GetRecord(pb.GetRecordRequest(**source), metadata=metadata)]
    assert all(0 < len(chunk) <= 512 << 10 for chunk in chunks)
    return b"".join(chunks).decode()


def without_times(text: str) -> list[dict[str, Any]]:
    return [{key: value for key, value in json.loads(line).items() if key != "times"} for line in text.splitlines()]


def reason(error: grpc.aio.AioRpcError) -> str:
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in status_pb2.Status.FromString(value).details:
                found = error_details_pb2.ErrorInfo()
                if detail.Unpack(found):
                    return str(found.reason)
    return ""


async def test_two_built_in_bots_play_a_match(matches: Any) -> None:
    match = await run(matches, plan())

    assert match.state == match_pb2.MATCH_STATE_FINISHED
    assert (match.games_planned, match.games_finished, match.seatings) == (6, 6, 2)
    assert [result.name for result in match.results] == ["easy", "random"]
    for result in match.results:
        assert (result.games, result.rounds) == (6, 6)
        assert result.decisions > 0
        assert result.interval_low <= result.points_per_round <= result.interval_high
        assert [(t.termination, t.count) for t in result.terminations] == [(result_pb2.TERMINATION_NORMAL, 6)]
    first, second = match.results
    assert first.wins + second.wins + first.draws == 6


async def test_the_results_follow_from_the_records(matches: Any) -> None:
    match = await run(matches, plan(deals=4))
    found = list(records_in((await records(matches, match=match.name)).splitlines()))

    points: dict[str, dict[int, list[int]]] = {"easy": {}, "random": {}}
    for record in found:
        assert verify(record, rules_for) is None
        header, ended = record.lines[0], record.lines[-1]
        for seat, name in enumerate(header["players"]):
            points[name].setdefault(header["match"]["deal"], []).append(ended["totals"][seat])
    assert len(found) == 8
    for result in match.results:
        wanted = interval([sum(scores) / 2 for scores in points[result.name].values()])
        assert (result.interval_low, result.points_per_round, result.interval_high) == pytest.approx(
            (wanted.low, wanted.mean, wanted.high)
        )


async def test_records_come_in_the_order_of_deals_and_seatings_and_name_the_same_packs(matches: Any) -> None:
    match = await run(matches, plan(deals=3, concurrency=8))
    lines = without_times(await records(matches, match=match.name))

    headers = [line for line in lines if line["type"] == "game"]
    assert [(h["match"]["deal"], h["match"]["rotation"]) for h in headers] == [
        (d, r) for d in range(3) for r in range(2)
    ]
    assert [h["players"] for h in headers] == [["easy", "random"], ["random", "easy"]] * 3
    dealt = [(line["hands"], line["stock"]) for line in lines if line["type"] == "deal"]
    assert dealt[0::2] == dealt[1::2]
    assert len({str(deal) for deal in dealt}) == 3


async def test_the_same_seed_and_bots_give_the_same_records(matches: Any) -> None:
    texts = []
    for concurrency in (1, 5):
        match = await run(matches, plan(deals=3, concurrency=concurrency))
        texts.append(without_times(await records(matches, match=match.name)))

    assert texts[0] == texts[1]


async def test_many_records_come_in_parts_that_are_one_file(matches: Any) -> None:
    match = await run(matches, plan(deals=25))
    parts = [part.chunk async for part in matches.GetRecord(pb.GetRecordRequest(match=match.name))]

    assert len(parts) > 1
    assert len(list(records_in(b"".join(parts).decode().splitlines()))) == 50


async def test_a_match_plays_whole_games(matches: Any) -> None:
    match = await run(matches, plan(deals=1, unit=match_pb2.MATCH_UNIT_GAME))

    assert match.games_finished == 2
    assert match.results[0].rounds > 2
    found = list(records_in((await records(matches, match=match.name)).splitlines()))
    assert [verify(record, rules_for) for record in found] == [None, None]
    assert all(max(record.lines[-1]["totals"]) >= 500 for record in found)
    first = [[line["stock"] for line in record.lines if line["type"] == "deal"] for record in found]
    shared = min(map(len, first))
    assert first[0][:shared] == first[1][:shared]


async def test_three_bots_take_turns_at_tables_of_two(matches: Any) -> None:
    match = await run(matches, plan(builtin("a", "easy"), builtin("b", "easy"), builtin("c", "random"), players=2))

    assert (match.seatings, match.games_finished) == (6, 18)
    assert [result.games for result in match.results] == [12, 12, 12]


async def test_copies_of_one_bot_come_out_even(matches: Any) -> None:
    match = await run(matches, plan(builtin("a", "easy"), builtin("b", "easy"), deals=5))

    first, second = match.results
    assert first.points_per_round == second.points_per_round
    assert first.wins == second.wins


async def test_a_request_id_makes_a_retry_safe(matches: Any) -> None:
    request = pb.CreateMatchRequest(plan=plan(deals=1), request_id="once")
    first = await matches.CreateMatch(request, metadata=OWNER)
    again = await matches.CreateMatch(request, metadata=OWNER)
    request.plan.deals = 2

    assert first == again
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await matches.CreateMatch(request, metadata=OWNER)
    assert reason(refused.value) == "REQUEST_ID_REUSED"
    await watched(matches, first.match.name)


async def test_matches_are_listed_newest_first(matches: Any) -> None:
    names = [(await run(matches, plan(deals=1, seed=seed))).name for seed in range(3)]

    page = await matches.ListMatches(pb.ListMatchesRequest(page_size=2))
    rest = await matches.ListMatches(pb.ListMatchesRequest(page_size=2, page_token=page.next_page_token))

    assert {match.name for match in (*page.matches, *rest.matches)} == set(names)
    assert not rest.next_page_token
    created = [match.created.ToMilliseconds() for match in (*page.matches, *rest.matches)]
    assert created == sorted(created, reverse=True)


async def test_games_are_listed_with_their_results(matches: Any) -> None:
    match = await run(matches, plan(deals=2))
    listed = await matches.ListGames(pb.ListGamesRequest(match=match.name))

    assert [(game.deal, game.seating) for game in listed.games] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    one = listed.games[2]
    assert list(one.players) == ["easy", "random"]
    assert one.result.termination == result_pb2.TERMINATION_NORMAL
    assert one.result.record == one.record
    text = await records(matches, record=one.record)
    assert without_times(text)[-1]["totals"] == list(one.result.totals)
    only = await matches.ListGames(pb.ListGamesRequest(table=one.table))
    assert [game.record for game in only.games] == [one.record]


async def test_a_match_is_cancelled_by_its_owner_only(matches: Any) -> None:
    made = await matches.CreateMatch(pb.CreateMatchRequest(plan=plan(deals=100_000)), metadata=OWNER)
    request = pb.CancelMatchRequest(match=made.match.name)

    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await matches.CancelMatch(request, metadata=STRANGER)
    assert reason(refused.value) == "NOT_THE_OWNER"
    cancelled = await matches.CancelMatch(request, metadata=OWNER)
    assert cancelled.match.state == match_pb2.MATCH_STATE_CANCELLED
    with pytest.raises(grpc.aio.AioRpcError) as over:
        await matches.CancelMatch(request, metadata=OWNER)
    assert reason(over.value) == "MATCH_OVER"
    last = await watched(matches, made.match.name)
    assert last.games_finished < last.games_planned
    found = list(records_in((await records(matches, match=last.name)).splitlines()))
    assert [verify(record, rules_for) for record in found] == [None] * last.games_finished


async def test_what_is_still_to_be_played_is_shown_to_nobody(matches: Any) -> None:
    made = await matches.CreateMatch(pb.CreateMatchRequest(plan=plan(deals=100_000)), metadata=OWNER)
    name = made.match.name
    async for response in matches.WatchMatch(pb.WatchMatchRequest(match=name), metadata=STRANGER):
        assert not response.match.plan.HasField("seed")
        if response.match.games_finished > 2:
            break

    shown = await matches.GetMatch(pb.GetMatchRequest(match=name), metadata=STRANGER)
    assert not shown.match.plan.HasField("seed")
    games = await matches.ListGames(pb.ListGamesRequest(match=name), metadata=STRANGER)
    assert games.games
    assert not any(game.table for game in games.games)
    for source in ({"match": name}, {"record": games.games[0].record}):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await records(matches, metadata=STRANGER, **source)
        assert reason(refused.value) == "RECORD_NOT_OPEN"
    mine = await matches.GetMatch(pb.GetMatchRequest(match=name), metadata=OWNER)
    assert not made.match.plan.HasField("seed")
    assert not mine.match.plan.HasField("seed")
    assert mine.match.from_seed
    assert await records(matches, record=games.games[0].record)
    await matches.CancelMatch(pb.CancelMatchRequest(match=name), metadata=OWNER)
    after = await matches.GetMatch(pb.GetMatchRequest(match=name), metadata=STRANGER)
    assert after.match.plan.seed == 7
    assert await records(matches, metadata=STRANGER, match=name)


def connected(name: str, *streams: str) -> match_pb2.MatchBot:
    return match_pb2.MatchBot(name=name, connected=match_pb2.ConnectedBot(names=streams))


@pytest.mark.parametrize(
    ("wanted", "code", "field"),
    [
        (plan(builtin("easy")), "BAD_REQUEST", "plan.bots"),
        (plan(builtin("a", "easy"), builtin("a", "easy")), "BAD_REQUEST", "plan.bots[1].name"),
        (plan(builtin("a", "genius"), builtin("easy")), "NO_SUCH_BOT", "genius"),
        (plan(builtin("a", "random", seed="x"), builtin("easy")), "BAD_REQUEST", "plan.bots[0].builtin.settings"),
        (plan(match_pb2.MatchBot(name="a"), builtin("easy")), "BAD_REQUEST", "plan.bots[0].source"),
        (plan(connected("a"), builtin("easy")), "BAD_REQUEST", "plan.bots[0].connected.names"),
        (plan(connected("a", "x", "y", "z"), builtin("easy")), "BAD_REQUEST", "plan.bots[0].connected.names"),
        (plan(connected("a", "x"), connected("b", "x")), "BAD_REQUEST", "plan.bots[1].connected.names"),
        (plan(players=4), "BAD_REQUEST", "plan.players"),
        (plan(players=9), "BAD_REQUEST", "plan.players"),
        (plan(deals=0), "BAD_REQUEST", "plan.deals"),
        (plan(deals=1_000_001), "BAD_REQUEST", "plan.deals"),
        (plan(concurrency=1_025), "BAD_REQUEST", "plan.concurrency"),
        (plan(clock=table_pb2.ClockSettings(decision_ms=1)), "BAD_REQUEST", "plan.clock.decision_ms"),
        (plan(rules=rules_pb2.RulesChoice(preset="moon")), "RULES_REFUSED", "moon"),
        (
            plan(rules=rules_pb2.RulesChoice(options=[rules_pb2.Option(name="target", value="0")])),
            "RULES_REFUSED",
            "target",
        ),
    ],
)
async def test_a_plan_that_cannot_be_is_refused_by_field(
    matches: Any, wanted: match_pb2.MatchPlan, code: str, field: str
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await matches.CreateMatch(pb.CreateMatchRequest(plan=wanted), metadata=OWNER)

    assert reason(refused.value) == code
    assert field in (refused.value.details() or "")
    assert not (await matches.ListMatches(pb.ListMatchesRequest())).matches


async def test_a_plan_of_too_many_games_is_refused(matches: Any) -> None:
    bots = [builtin(f"b{number}", "easy") for number in range(64)]
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await matches.CreateMatch(pb.CreateMatchRequest(plan=plan(*bots, players=8, deals=10)), metadata=OWNER)

    assert "plan.deals" in (refused.value.details() or "")


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda m: m.GetMatch(pb.GetMatchRequest(match="m-none")), "NO_SUCH_MATCH"),
        (lambda m: m.GetMatch(pb.GetMatchRequest()), "BAD_REQUEST"),
        (lambda m: m.ListGames(pb.ListGamesRequest(match="m-none")), "NO_SUCH_MATCH"),
        (lambda m: m.ListGames(pb.ListGamesRequest(page_size=1_001)), "BAD_REQUEST"),
        (lambda m: m.CancelMatch(pb.CancelMatchRequest(match="m-none"), metadata=OWNER), "NO_SUCH_MATCH"),
        (lambda m: m.CancelMatch(pb.CancelMatchRequest(match="m-none")), "NO_TOKEN"),
        (lambda m: m.ReportBot(pb.ReportBotRequest(match="m-none"), metadata=OWNER), "NO_SUCH_MATCH"),
        (lambda m: m.CreateMatch(pb.CreateMatchRequest(plan=plan())), "NO_TOKEN"),
        (lambda m: records(m, record="none"), "NO_SUCH_RECORD"),
        (lambda m: records(m, record="x" * 129), "BAD_REQUEST"),
        (lambda m: records(m, match="m-none"), "NO_SUCH_MATCH"),
        (lambda m: records(m), "BAD_REQUEST"),
    ],
)
async def test_what_is_not_there_is_said_to_be_missing(matches: Any, call: Any, code: str) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await call(matches)

    assert reason(refused.value) == code


async def test_open_matches_of_one_principal_are_counted() -> None:
    async with running_app(matches_per_principal=1) as app, channel_to(app.address) as channel:
        matches: Any = match_service_pb2_grpc.MatchServiceStub(channel)
        made = await matches.CreateMatch(pb.CreateMatchRequest(plan=plan(deals=100_000)), metadata=OWNER)
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await matches.CreateMatch(pb.CreateMatchRequest(plan=plan(deals=1)), metadata=OWNER)
        assert reason(refused.value) == "TOO_MANY_MATCHES"
        await matches.CancelMatch(pb.CancelMatchRequest(match=made.match.name), metadata=OWNER)
        await run(matches, plan(deals=1))


async def test_watchers_are_told_when_the_server_drains() -> None:
    async with running_app() as app, channel_to(app.address) as channel:
        matches: Any = match_service_pb2_grpc.MatchServiceStub(channel)
        made = await matches.CreateMatch(
            pb.CreateMatchRequest(plan=plan(connected("a", "nobody"), builtin("easy"))), metadata=OWNER
        )
        call = matches.WatchMatch(pb.WatchMatchRequest(match=made.match.name))
        first = await call.read()
        assert first.match.state == match_pb2.MATCH_STATE_WAITING
        app.drain.begin(5)
        with pytest.raises(grpc.aio.AioRpcError) as ended:
            await asyncio.wait_for(call.read(), 5)
        assert reason(ended.value) == "DRAINING"


async def test_a_match_refuses_rules_that_depend_on_the_network(matches: Any) -> None:
    first_received = rules_pb2.RulesChoice(
        variants=["call-rummy"], options=[rules_pb2.Option(name="call-rummy.priority", value="first_received")]
    )
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await matches.CreateMatch(pb.CreateMatchRequest(plan=plan(rules=first_received)), metadata=OWNER)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert reason(caught.value) == "RULES_REFUSED"
    assert "which message arrives first" in str(caught.value.details())
