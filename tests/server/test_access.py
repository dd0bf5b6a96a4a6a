"""Who may call what: every method of the matrix by every kind of caller, on real servers that ask for tokens or not."""

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
    player_service_pb2,
    player_service_pb2_grpc,
    result_pb2,
    rules_service_pb2,
    rules_service_pb2_grpc,
    table_pb2,
    table_service_pb2,
    table_service_pb2_grpc,
)
from rummy500_server.access import METHODS, Access, AtTable, Who
from rummy500_server.commands.token import add_token
from rummy500_server.identity import Role
from rummy500_server.status import DETAILS

SEAT, GUEST, FAN = "secret-of-the-seat-at-it", "invitation-that-lets-join", "invitation-to-watch-it"
BOT_OF_MATCH, STRANGER = "token-of-a-bot-of-the-match", "token-of-somebody-else"
UNREGISTERED = {
    "nobody": None,
    "stranger": STRANGER,
    "seat": SEAT,
    "guest": GUEST,
    "fan": FAN,
    "match's bot": BOT_OF_MATCH,
}
ROLES = {role.value: role for role in Role}
CALLERS = (*UNREGISTERED, "owner", *ROLES)
DENIED = {"NO_TOKEN", "UNKNOWN_TOKEN", "WRONG_ROLE", "NOT_INVITED", "NOT_SEATED", "NOT_THE_OWNER"}

STUBS: dict[str, Callable[[Any], Any]] = {
    "RulesService": rules_service_pb2_grpc.RulesServiceStub,
    "TableService": table_service_pb2_grpc.TableServiceStub,
    "PlayService": play_service_pb2_grpc.PlayServiceStub,
    "MatchService": match_service_pb2_grpc.MatchServiceStub,
    "PlayerService": player_service_pb2_grpc.PlayerServiceStub,
}


@dataclass(frozen=True, slots=True)
class Place:
    """A table that is open, with one seat taken and two invitations, and a match that waits for its bots."""

    channel: Any
    tokens: dict[str, str | None]
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
    players = player_service_pb2
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
        "RemoveSeat": tables.RemoveSeatRequest(table=place.table, seat=0),
        "InviteToTable": tables.InviteToTableRequest(
            table=place.table, secret="another-invitation", role=tables.INVITATION_ROLE_SPECTATOR
        ),
        "RevokeInvitation": tables.RevokeInvitationRequest(table=place.table),
        "LeaveTable": tables.LeaveTableRequest(table=place.table),
        "AddBot": tables.AddBotRequest(table=place.table, builtin=easy),
        "StartTable": tables.StartTableRequest(table=place.table),
        "CloseTable": tables.CloseTableRequest(table=place.table),
        "Act": play.ActRequest(table=place.table, actions=[action_pb2.Action(text="draw")]),
        "Watch": play.WatchRequest(table=place.table),
        "Play": play.PlayRequest(hello=play.Hello(name="some-bot")),
        "ListLegalActions": play.ListLegalActionsRequest(table=place.table),
        "PlanMatch": matches.PlanMatchRequest(plan=plan()),
        "CreateMatch": matches.CreateMatchRequest(plan=plan()),
        "GetMatch": matches.GetMatchRequest(match=place.match),
        "ListMatches": matches.ListMatchesRequest(),
        "WatchMatch": matches.WatchMatchRequest(match=place.match),
        "CancelMatch": matches.CancelMatchRequest(match=place.match),
        "PauseMatch": matches.PauseMatchRequest(match=place.match),
        "ReportBot": matches.ReportBotRequest(match=place.match, report=report),
        "ListGames": matches.ListGamesRequest(table=place.table),
        "RegisterPlayer": players.RegisterPlayerRequest(name="anna"),
        "GetPlayer": players.GetPlayerRequest(name="nobody of that name"),
        "GetLeaderboard": players.GetLeaderboardRequest(),
        "GetRecord": matches.GetRecordRequest(record=place.table),
    }
    return requests[method]


@pytest.fixture(scope="module", params=["open", "asks for tokens"])
async def running(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[Any, dict[str, str | None], bool]]:
    """A channel to a server, the token of each caller, and whether the server asks for tokens that it knows."""
    file = tmp_path_factory.mktemp("tokens") / "tokens"
    registered = {name: add_token(file, name, role) for name, role in ROLES.items()}
    owner = add_token(file, "owner", Role.PLAYER)
    is_required = request.param == "asks for tokens"
    async with (
        running_app(tokens=str(file), require_token=is_required) as app,
        channel_to(app.address) as channel,
    ):
        yield channel, {**UNREGISTERED, "owner": owner, **registered}, is_required


async def new_place(channel: Any, tokens: dict[str, str | None]) -> Place:
    tables, matches = STUBS["TableService"](channel), STUBS["MatchService"](channel)
    owner = bearer(tokens["owner"] or "")
    made = await tables.CreateTable(table_service_pb2.CreateTableRequest(seats=3), metadata=owner)
    join = table_service_pb2.JoinTableRequest(table=made.table.name, name="anna", seat_secret=SEAT)
    await tables.JoinTable(join, metadata=owner)
    for secret, role in (
        (GUEST, table_service_pb2.INVITATION_ROLE_PLAYER),
        (FAN, table_service_pb2.INVITATION_ROLE_SPECTATOR),
    ):
        invite = table_service_pb2.InviteToTableRequest(table=made.table.name, secret=secret, role=role)
        await tables.InviteToTable(invite, metadata=owner)
    create = match_service_pb2.CreateMatchRequest(plan=plan(), bot_secrets=[BOT_OF_MATCH])
    match = (await matches.CreateMatch(create, metadata=owner)).match
    return Place(channel, tokens, made.table.name, match.name)


async def cancel_match(place: Place) -> None:
    """So that there are never too many of them."""
    request = match_service_pb2.CancelMatchRequest(match=place.match)
    with contextlib.suppress(grpc.aio.AioRpcError):  # the test may have ended it
        await STUBS["MatchService"](place.channel).CancelMatch(request, metadata=bearer(place.tokens["owner"] or ""))


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
    """The table and the match, as their owner sees them."""
    tables, matches = STUBS["TableService"](place.channel), STUBS["MatchService"](place.channel)
    owner = bearer(place.tokens["owner"] or "")
    return (
        await tables.GetTable(table_service_pb2.GetTableRequest(table=place.table), metadata=owner),
        await matches.GetMatch(match_service_pb2.GetMatchRequest(match=place.match), metadata=owner),
    )


def expected(access: Access, caller: str, *, is_required: bool) -> set[str]:
    """The denials of the matrix; empty: none."""
    if caller == "nobody":
        return {"NO_TOKEN"} if is_required or access.who is not Who.ANYONE else set()
    role = Role.PLAYER if caller == "owner" else ROLES.get(caller)
    if role is not None and role not in access.roles:
        return {"WRONG_ROLE"}
    if is_required and role is None and not serves_unregistered(access.at_table, caller):
        return (
            {"NOT_INVITED"}
            if access.at_table is AtTable.INVITATION and caller in ("fan", "seat")
            else {"UNKNOWN_TOKEN"}
        )
    match access:
        case Access(who=Who.SEAT) if caller != "seat":
            return {"NOT_SEATED"}
        case Access(who=Who.OWNER) if caller not in ("owner", "host"):
            return {"NOT_THE_OWNER"}
        case Access(at_table=AtTable.INVITATION) if caller == "fan":
            return {"NOT_INVITED"}
    return set()


def serves_unregistered(at_table: AtTable, caller: str) -> bool:
    """Whether a token that is not registered is one that the method takes at its table."""
    return (
        caller
        in {
            AtTable.NOTHING: (),
            AtTable.SEAT: ("seat",),
            AtTable.SEAT_OR_INVITATION: ("seat", "guest", "fan"),
            AtTable.INVITATION: ("guest",),
            AtTable.SEAT_OR_BOT: ("seat", "match's bot"),
        }[at_table]
    )


CASES = [(service, method, access) for service, methods in METHODS.items() for method, access in methods.items()]


@pytest.mark.parametrize(("service", "method", "access"), CASES, ids=[method for _, method, _ in CASES])
async def test_the_matrix_holds(
    running: tuple[Any, dict[str, str | None], bool], service: str, method: str, access: Access
) -> None:
    channel, tokens, is_required = running
    place = await new_place(channel, tokens)
    for caller in CALLERS:
        before, wanted = await seen(place), expected(access, caller, is_required=is_required)

        found = await outcome(place, service, method, place.tokens[caller])

        assert {found} & DENIED == wanted, caller
        if await seen(place) != before:
            assert not wanted, caller
            await cancel_match(place)
            place = await new_place(channel, tokens)
    await cancel_match(place)
