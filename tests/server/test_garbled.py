"""Whatever bytes a client sends: a status that tells it what is wrong, never UNKNOWN or INTERNAL, and play goes on."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterator
from typing import Any

import grpc
import pytest
from tests.server.running import bearer, channel_to, running_app
from tests.server.test_access import SEAT, Place, request_of
from tests.torture.mutation import garbled_bytes

from rummy500.v1 import action_pb2, play_service_pb2, table_pb2, table_service_pb2
from rummy500.v1.play_service_pb2_grpc import PlayServiceStub
from rummy500.v1.table_service_pb2_grpc import TableServiceStub
from rummy500_server.access import METHODS, PACKAGE

OWNER = "owner-of-the-table-and-match"
ROUNDS = 30
MINE = {grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL, grpc.StatusCode.UNIMPLEMENTED}
ENDING = {"LeaveTable", "CloseTable"}
"""Methods that would end the game of the other tests: they are sent for a table that is not there."""
STREAMS = {"Watch", "Play", "WatchMatch", "GetRecord"}


def garbled(whole: bytes, dice: random.Random) -> Iterator[bytes]:
    """The bytes with some of them changed, left out, put in or repeated; and none that mean anything."""
    for _ in range(ROUNDS):
        yield garbled_bytes(whole, dice)
    yield dice.randbytes(200)


@pytest.fixture(scope="module")
async def place() -> AsyncIterator[Place]:
    """A game that is on, with a person at seat 0 who is to move."""
    async with running_app() as app, channel_to(app.address) as channel:
        tables: Any = TableServiceStub(channel)
        owner = bearer(OWNER)
        made = await tables.CreateTable(
            table_service_pb2.CreateTableRequest(seats=2, clock=table_pb2.ClockSettings(decision_ms=3_600_000)),
            metadata=owner,
        )
        name = made.table.name
        await tables.JoinTable(table_service_pb2.JoinTableRequest(table=name, name="anna", seat_secret=SEAT))
        easy = table_pb2.BuiltinBot(name="easy")
        await tables.AddBot(table_service_pb2.AddBotRequest(table=name, builtin=easy), metadata=owner)
        await tables.StartTable(table_service_pb2.StartTableRequest(table=name), metadata=owner)
        yield Place(channel, {}, name, "no-match-of-that-name")


async def status(place: Place, service: str, method: str, message: bytes, token: str) -> grpc.StatusCode:
    path = f"/{PACKAGE}.{service}/{method}"
    channel, metadata = place.channel, bearer(token)
    try:
        if method not in STREAMS:
            await channel.unary_unary(path)(message, metadata=metadata)
            return grpc.StatusCode.OK
        open_stream = channel.stream_stream if method == "Play" else channel.unary_stream
        stream = open_stream(path)(iter([message]) if method == "Play" else message, metadata=metadata, timeout=0.5)
        try:
            await stream.read()
        finally:
            stream.cancel()
    except grpc.aio.AioRpcError as error:
        return error.code()
    return grpc.StatusCode.OK


@pytest.mark.parametrize(
    ("service", "method"), [(service, method) for service, methods in METHODS.items() for method in methods]
)
async def test_garbled_requests_are_the_clients_affair(place: Place, service: str, method: str) -> None:
    dice = random.Random(f"{service}.{method}")
    target = Place(place.channel, {}, "t-000000000000", place.match) if method in ENDING else place
    whole = request_of(method, target).SerializeToString()

    for message in garbled(whole, dice):
        for token in (SEAT, OWNER):
            found = await status(place, service, method, message, token)
            assert found not in MINE, f"{message!r} of {token} gives {found}"


CARD = 99
"""A number that no card has."""
BAD_ACTIONS = [
    action_pb2.Action(),
    action_pb2.Action(discard=action_pb2.Discard()),
    action_pb2.Action(discard=action_pb2.Discard(card=CARD)),  # type: ignore[arg-type]
    action_pb2.Action(take=action_pb2.Take(card=CARD)),  # type: ignore[arg-type]
    action_pb2.Action(lay_meld=action_pb2.LayMeld(cards=[CARD] * 3)),  # type: ignore[list-item]
    action_pb2.Action(lay_off=action_pb2.LayOff(card="CARD_2C", meld=1, end=77)),  # type: ignore[arg-type]
    action_pb2.Action(text="x" * 1_025),
]


@pytest.mark.parametrize("action", BAD_ACTIONS, ids=lambda action: str(action.WhichOneof("kind")))
async def test_an_action_that_is_none_is_a_bad_request_and_changes_nothing(
    place: Place, action: action_pb2.Action
) -> None:
    play: Any = PlayServiceStub(place.channel)
    request = play_service_pb2.ActRequest(table=place.table, actions=[action])

    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await play.Act(request, metadata=bearer(SEAT))
    assert failed.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "actions[0]" in (failed.value.details() or "")


async def test_after_all_that_the_game_goes_on(place: Place) -> None:
    play: Any = PlayServiceStub(place.channel)
    listed = await play.ListLegalActions(
        play_service_pb2.ListLegalActionsRequest(table=place.table), metadata=bearer(SEAT)
    )
    assert listed.legal_actions.can_draw or listed.legal_actions.discards
