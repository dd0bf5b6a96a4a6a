"""Who may call what: every method of the matrix by every kind of caller, on a real server."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from tests.server.running import bearer, channel_to, running_app

from rummy500.v1 import (
    action_pb2,
    match_pb2,
    match_service_pb2,
    match_service_pb2_grpc,
    play_service_pb2,
    play_service_pb2_grpc,
    result_pb2,
    rules_service_pb2,
    rules_service_pb2_grpc,
    table_pb2,
    table_service_pb2,
    table_service_pb2_grpc,
)
from rummy500_server.access import METHODS, Who
from rummy500_server.status import DETAILS

OWNER, SEAT, STRANGER = "owner-of-the-table-and-match", "secret-of-the-seat-at-it", "token-of-somebody-else"
CALLERS = {"nobody": None, "stranger": STRANGER, "seat": SEAT, "owner": OWNER}
DENIED = {"NO_TOKEN", "NOT_SEATED", "NOT_THE_OWNER"}

STUBS: dict[str, Callable[[Any], Any]] = {
    "RulesService": rules_service_pb2_grpc.RulesServiceStub,
    "TableService": table_service_pb2_grpc.TableServiceStub,
    "PlayService": play_service_pb2_grpc.PlayServiceStub,
    "MatchService": match_service_pb2_grpc.MatchServiceStub,
}


@dataclass(frozen=True, slots=True)
class Place:
    """A table that is open, with one seat taken, and a match that waits for its bots."""

    channel: Any
    table: str
    match: str


def plan() -> match_pb2.MatchPlan:
    absent = match_pb2.ConnectedBot(names=["nobody-of-that-name"])
    return match_pb2.MatchPlan(
        bots=[
            match_pb2.MatchBot(name="absent", connected=absent),
            match_pb2.MatchBot(name="easy", builtin=table_pb2.BuiltinBot(name="easy")),
        ],
        deals=1,
        seed=1,
    )


def request_of(method: str, place: Place) -> Message:
    """A request that is well formed, for this place."""
    tables, play, matches, rules = table_service_pb2, play_service_pb2, match_service_pb2, rules_service_pb2
    easy = table_pb2.BuiltinBot(name="easy")
    report = match_pb2.BotReport(bot="absent", kind=result_pb2.TERMINATION_CRASH, stderr_tail="x")
    requests: dict[str, Message] = {
        "ListVariants": rules.ListVariantsRequest(),
        "GetVariant": rules.GetVariantRequest(variant="classic"),
        "ListPresets": rules.ListPresetsRequest(),
        "ResolveRules": rules.ResolveRulesRequest(players=2),
        "CreateTable": tables.CreateTableRequest(seats=2),
        "GetTable": tables.GetTableRequest(table=place.table),
        "ListTables": tables.ListTablesRequest(),
        "JoinTable": tables.JoinTableRequest(table=place.table, name="cleo", seat_secret="secret-of-another-seat"),
        "LeaveTable": tables.LeaveTableRequest(table=place.table),
        "AddBot": tables.AddBotRequest(table=place.table, builtin=easy),
        "StartTable": tables.StartTableRequest(table=place.table),
        "CloseTable": tables.CloseTableRequest(table=place.table),
        "Act": play.ActRequest(table=place.table, actions=[action_pb2.Action(text="draw")]),
        "Watch": play.WatchRequest(table=place.table),
        "Play": play.PlayRequest(hello=play.Hello(name="some-bot")),
        "ListLegalActions": play.ListLegalActionsRequest(table=place.table),
        "CreateMatch": matches.CreateMatchRequest(plan=plan()),
        "GetMatch": matches.GetMatchRequest(match=place.match),
        "ListMatches": matches.ListMatchesRequest(),
        "WatchMatch": matches.WatchMatchRequest(match=place.match),
        "CancelMatch": matches.CancelMatchRequest(match=place.match),
        "ReportBot": matches.ReportBotRequest(match=place.match, report=report),
        "ListGames": matches.ListGamesRequest(),
        "GetRecord": matches.GetRecordRequest(match=place.match),
    }
    return requests[method]


@pytest.fixture(scope="module")
async def channel() -> AsyncIterator[Any]:
    async with running_app() as app, channel_to(app.address) as channel:
        yield channel


@pytest.fixture
async def place(channel: Any) -> AsyncIterator[Place]:
    tables, matches = STUBS["TableService"](channel), STUBS["MatchService"](channel)
    owner = bearer(OWNER)
    made = await tables.CreateTable(table_service_pb2.CreateTableRequest(seats=3), metadata=owner)
    join = table_service_pb2.JoinTableRequest(table=made.table.name, name="anna", seat_secret=SEAT)
    await tables.JoinTable(join)
    match = (await matches.CreateMatch(match_service_pb2.CreateMatchRequest(plan=plan()), metadata=owner)).match
    yield Place(channel, made.table.name, match.name)
    with contextlib.suppress(grpc.aio.AioRpcError):  # the test may have ended it
        await tables.CloseTable(table_service_pb2.CloseTableRequest(table=made.table.name), metadata=owner)
    with contextlib.suppress(grpc.aio.AioRpcError):
        await matches.CancelMatch(match_service_pb2.CancelMatchRequest(match=match.name), metadata=owner)


async def outcome(place: Place, service: str, method: str, token: str | None) -> str:
    """The reason of the error, or OK."""
    call = getattr(STUBS[service](place.channel), method)
    metadata = bearer(token) if token else None
    request: Any = request_of(method, place)
    try:
        if isinstance(call, grpc.aio.UnaryUnaryMultiCallable):
            await call(request, metadata=metadata)
            return "OK"
        stream: Any = call(iter([request]) if method == "Play" else request, metadata=metadata)
        try:
            await stream.read()
        finally:
            stream.cancel()
    except grpc.aio.AioRpcError as error:
        return reason_of(error)
    return "OK"


def reason_of(error: grpc.aio.AioRpcError) -> str:
    details = dict(error.trailing_metadata() or ()).get(DETAILS)
    assert isinstance(details, bytes), error
    info = error_details_pb2.ErrorInfo()
    assert status_pb2.Status.FromString(details).details[0].Unpack(info)
    return str(info.reason)


async def seen(place: Place) -> tuple[Any, Any]:
    """The table and the match, as anyone sees them."""
    tables, matches = STUBS["TableService"](place.channel), STUBS["MatchService"](place.channel)
    return (
        await tables.GetTable(table_service_pb2.GetTableRequest(table=place.table)),
        await matches.GetMatch(match_service_pb2.GetMatchRequest(match=place.match)),
    )


def expected(who: Who, caller: str) -> set[str]:
    """The denials of the matrix; empty: none."""
    match who, caller:
        case Who.ANYONE, _:
            return set()
        case _, "nobody":
            return {"NO_TOKEN"}
        case Who.SEAT, "stranger" | "owner":
            return {"NOT_SEATED"}
        case Who.OWNER, "stranger" | "seat":
            return {"NOT_THE_OWNER"}
    return set()


CASES = [
    (service, method, who, caller)
    for service, methods in METHODS.items()
    for method, who in methods.items()
    for caller in CALLERS
]


@pytest.mark.parametrize(("service", "method", "who", "caller"), CASES)
async def test_the_matrix_holds(place: Place, service: str, method: str, who: Who, caller: str) -> None:
    before = await seen(place)

    found = await outcome(place, service, method, CALLERS[caller])

    assert {found} & DENIED == expected(who, caller)
    if expected(who, caller):
        assert await seen(place) == before
