"""Connections that are late, cut or half open; answers that are lost, requests that come twice or in another order."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator

import grpc
import pytest
from tests.server.at_table import OWNER, SECONDS, Client, position, refused, secret_of
from tests.server.running import bearer, running_app
from tests.tcp_proxy import TcpProxy, proxy_to

from rummy500.v1 import action_pb2, event_pb2, table_service_pb2, view_pb2
from rummy500.v1 import play_service_pb2 as pb
from rummy500_server.app import App

KEEPALIVE_MS = 400
SETS = position(hands={"anna": "7S 7H 7D 2C", "ben": "2S 3S"}, discards="9C", stock="5D KC 8C")
SCATTERED = position(
    hands={"anna": "2S 5H 9D", "ben": "KC 4D 8S"},
    discards="JH",
    stock="3C 7H QS 6D TC 2H 5S 9C KD 4S 8H JD 3H 7S QC 6S TD 2C 5D 9H KS 4H 8C JS",
)
"""A round of some length, and no next one."""
QUICKLY = [("grpc.initial_reconnect_backoff_ms", 20), ("grpc.min_reconnect_backoff_ms", 20)]


@pytest.fixture(scope="module")
async def app() -> AsyncIterator[App]:
    async with running_app(keepalive_ms=KEEPALIVE_MS) as app:
        yield app


@pytest.fixture(scope="module")
async def direct(app: App) -> AsyncIterator[Client]:
    async with grpc.aio.insecure_channel(app.address) as channel:
        yield Client.on(channel)


@pytest.fixture
def proxy(app: App) -> Iterator[TcpProxy]:
    with proxy_to(app.address) as proxy:
        yield proxy


@pytest.fixture
async def remote(proxy: TcpProxy) -> AsyncIterator[Client]:
    """Somebody behind the proxy."""
    async with grpc.aio.insecure_channel(proxy.address, options=QUICKLY) as channel:
        yield Client.on(channel)


async def followed(client: Client, table: str, name: str) -> list[event_pb2.Event]:
    """All events of the game as the player, or a spectator, sees them; opens the stream again whenever it breaks."""
    seen: list[event_pb2.Event] = []
    while True:
        request = pb.WatchRequest(table=table, after_sequence=len(seen))
        call = client.plays.Watch(request, metadata=bearer(secret_of(name)) if name else None, wait_for_ready=True)
        try:
            async for response in call:
                seen += response.events.events
                if response.HasField("game_over"):
                    return seen
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.UNAVAILABLE:
                raise
        finally:
            call.cancel()


def simple(view: view_pb2.View) -> action_pb2.Action:
    """An action that brings the round to its end without a thought."""
    if view.legal_actions.can_draw:
        return action_pb2.Action(draw=action_pb2.Draw())
    return action_pb2.Action(discard=action_pb2.Discard(card=view.legal_actions.discards[0]))


async def played(client: Client, table: str, proxy: TcpProxy) -> None:
    """Plays anna's and ben's game to its end; at every fifth action the proxy cuts."""
    actions = 0
    for name in itertools.cycle(("anna", "ben")):
        view = await client.view(table, name)
        while view.legal_actions.can_draw or view.legal_actions.discards:
            request = pb.ActRequest(table=table, actions=[simple(view)], with_view=True)
            view = (await client.plays.Act(request, metadata=bearer(secret_of(name)))).view
            actions += 1
            if actions % 5 == 0:
                proxy.cut()
        if view.phase in (view_pb2.PHASE_ROUND_OVER, view_pb2.PHASE_GAME_OVER):
            return


@pytest.mark.parametrize("name", ["anna", "ben", ""])
async def test_every_event_comes_once_however_often_the_connection_is_cut(
    direct: Client, remote: Client, proxy: TcpProxy, name: str
) -> None:
    table = await direct.at_position(**SCATTERED)
    proxy.delay = 0.002
    unbroken = asyncio.create_task(followed(direct, table, name))
    broken = asyncio.create_task(followed(remote, table, name))

    await played(direct, table, proxy)
    whole, pieced = await asyncio.wait_for(asyncio.gather(unbroken, broken), SECONDS)

    assert [event.sequence for event in pieced] == list(range(1, len(pieced) + 1))
    assert pieced == whole
    assert proxy.connections > 1, "it was cut"


async def test_a_retry_of_an_action_whose_answer_was_lost_gets_the_first_answer(
    direct: Client, remote: Client, proxy: TcpProxy
) -> None:
    table = await direct.at_position(**SETS)
    await remote.view(table)  # the connection is there
    proxy.delay = 0.1
    async with direct.watch(table) as watching:
        await watching.next()
        first = asyncio.ensure_future(remote.act(table, "anna", "draw", request_id="drawn"))
        await watching.until("drew_from_stock")
        proxy.cut()
        with pytest.raises(grpc.aio.AioRpcError) as lost:
            await first
    assert lost.value.code() is grpc.StatusCode.UNAVAILABLE
    proxy.delay = 0.0

    again = await persistently(remote, table, "anna", "draw", request_id="drawn")

    assert again.applied == 1
    assert (await direct.view(table, "anna")).sequence == again.sequence, "it was applied once"


async def test_requests_that_come_twice_at_the_same_time_are_one(direct: Client) -> None:
    table = await direct.at_position(**SETS)
    answers = await asyncio.gather(*(direct.act(table, "anna", "draw", request_id="twice") for _ in range(8)))
    assert len({answer.SerializeToString(deterministic=True) for answer in answers}) == 1
    assert (await direct.view(table, "anna")).sequence == answers[0].sequence


async def test_a_retry_that_comes_after_later_actions_changes_nothing(direct: Client) -> None:
    table = await direct.at_position(**SETS)
    drawn = await direct.act(table, "anna", "draw", request_id="one", expected_sequence=2)
    melded = await direct.act(table, "anna", "meld 7S 7H 7D", request_id="two")
    before = await direct.view(table, "anna")

    assert await direct.act(table, "anna", "draw", request_id="one", expected_sequence=2) == drawn
    assert await direct.act(table, "anna", "meld 7S 7H 7D", request_id="two") == melded
    with refused("STALE_SEQUENCE") as said:
        await direct.act(table, "anna", "discard 2C", expected_sequence=drawn.sequence)
    assert said.code is grpc.StatusCode.ABORTED
    assert said.metadata["sequence"] == str(melded.sequence)
    assert await direct.view(table, "anna") == before


async def persistently(client: Client, table: str, name: str, line: str, *, request_id: str) -> pb.ActResponse:
    """Acts, again and again until an answer comes."""
    while True:
        try:
            return await client.act(table, name, line, request_id=request_id)
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.UNAVAILABLE:
                raise


async def is_connected(client: Client, table: str, seat: int) -> bool:
    request = table_service_pb2.GetTableRequest(table=table)
    return (await client.tables.GetTable(request)).table.seats[seat].connected


async def test_a_half_open_connection_is_noticed_and_its_bot_goes_on_over_a_new_one(
    direct: Client, remote: Client, proxy: TcpProxy
) -> None:
    async def open_stream() -> grpc.aio.StreamStreamCall[pb.PlayRequest, pb.PlayResponse]:
        call = remote.plays.Play(metadata=bearer(secret_of("stalled")))
        await call.write(pb.PlayRequest(hello=pb.Hello(name="stalled")))
        return call

    async def asked(call: grpc.aio.StreamStreamCall[pb.PlayRequest, pb.PlayResponse]) -> pb.DecisionRequest:
        while True:
            response = await asyncio.wait_for(call.read(), SECONDS)
            assert isinstance(response, pb.PlayResponse)
            if response.decision_requests:
                return response.decision_requests[0]

    half_open = await open_stream()
    await half_open.read()
    table = await direct.create(2, start_when_full=True)
    await direct.tables.AddBot(
        table_service_pb2.AddBotRequest(table=table, connected="stalled"), metadata=bearer(OWNER)
    )
    await direct.join(table, "anna")
    view = await direct.view(table, "anna")
    if view.turn == 1:
        for _ in range(2):
            view = (
                await direct.plays.Act(
                    pb.ActRequest(table=table, actions=[simple(view)], with_view=True),
                    metadata=bearer(secret_of("anna")),
                )
            ).view
    before = await asked(half_open)
    assert await is_connected(direct, table, 0)

    proxy.stall()
    async with asyncio.timeout(SECONDS):
        while await is_connected(direct, table, 0):
            pass
    half_open.cancel()
    proxy.cut()

    back = await open_stream()
    again = await asked(back)
    assert (again.sequence, again.view.hand) == (before.sequence, before.view.hand)
    assert await is_connected(direct, table, 0)
    back.cancel()
