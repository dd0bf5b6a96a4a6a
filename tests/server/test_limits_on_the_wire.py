"""A principal that asks for too much is told which limit it met and when to come back; others are not concerned."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from tests.server.at_table import OWNER, Client
from tests.server.running import TOKEN, bearer, channel_to, running_app
from tests.server.stream_bot import stream_bot

from rummy500.v1 import match_pb2, match_service_pb2, play_service_pb2, table_pb2, table_service_pb2
from rummy500.v1.match_service_pb2_grpc import MatchServiceStub
from rummy500.v1.play_service_pb2_grpc import PlayServiceStub
from rummy500.v1.table_service_pb2_grpc import TableServiceStub
from rummy500_server.status import DETAILS

OTHER = "token-of-somebody-else"
TABLE = table_service_pb2.CreateTableRequest(seats=2)


def verify_limit(error: grpc.aio.AioRpcError, reason: str, limit: int) -> None:
    """The error carries ErrorInfo, QuotaFailure and RetryInfo for this limit."""
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    serialized = dict(error.trailing_metadata() or ())[DETAILS]
    assert isinstance(serialized, bytes)
    status = status_pb2.Status.FromString(serialized)
    info, quota, retry = (
        error_details_pb2.ErrorInfo(),
        error_details_pb2.QuotaFailure(),
        error_details_pb2.RetryInfo(),
    )
    found: tuple[Message, ...] = (info, quota, retry)
    assert [detail.Unpack(message) for detail, message in zip(status.details, found, strict=True)] == [True] * 3
    assert (info.reason, dict(info.metadata)) == (reason, {"limit": str(limit)})
    assert quota.violations[0].description == error.details()
    assert retry.retry_delay.ToMilliseconds() > 0


async def test_too_many_tables_of_one_owner() -> None:
    async with running_app(tables_per_principal=2) as app, channel_to(app.address) as channel:
        tables: Any = TableServiceStub(channel)
        made = [(await tables.CreateTable(TABLE, metadata=bearer(TOKEN))).table.name for _ in range(2)]

        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await tables.CreateTable(TABLE, metadata=bearer(TOKEN))
        verify_limit(failed.value, "TOO_MANY_TABLES", 2)
        await tables.CreateTable(TABLE, metadata=bearer(OTHER))
        await tables.CloseTable(table_service_pb2.CloseTableRequest(table=made[0]), metadata=bearer(TOKEN))
        await tables.CreateTable(TABLE, metadata=bearer(TOKEN))


async def test_too_many_matches_of_one_owner() -> None:
    absent = match_pb2.MatchBot(name="absent", connected=match_pb2.ConnectedBot(names=["nobody"]))
    easy = match_pb2.MatchBot(name="easy", builtin=table_pb2.BuiltinBot(name="easy"))
    request = match_service_pb2.CreateMatchRequest(plan=match_pb2.MatchPlan(bots=[absent, easy], deals=1))
    async with running_app(matches_per_principal=1) as app, channel_to(app.address) as channel:
        matches: Any = MatchServiceStub(channel)
        made = (await matches.CreateMatch(request, metadata=bearer(TOKEN))).match.name

        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await matches.CreateMatch(request, metadata=bearer(TOKEN))
        verify_limit(failed.value, "TOO_MANY_MATCHES", 1)
        await matches.CancelMatch(match_service_pb2.CancelMatchRequest(match=made), metadata=bearer(TOKEN))
        await matches.CreateMatch(request, metadata=bearer(TOKEN))


async def test_too_many_streams_of_one_principal() -> None:
    async with running_app(streams_per_principal=1) as app, channel_to(app.address) as channel:
        tables, play = TableServiceStub(channel), PlayServiceStub(channel)
        made = (await tables.CreateTable(TABLE, metadata=bearer(TOKEN))).table.name
        watch: Any = play.Watch(play_service_pb2.WatchRequest(table=made), metadata=bearer(TOKEN))
        await watch.read()

        second: Any = play.Watch(play_service_pb2.WatchRequest(table=made), metadata=bearer(TOKEN))
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await second.read()
        verify_limit(failed.value, "TOO_MANY_STREAMS", 1)
        other: Any = play.Watch(play_service_pb2.WatchRequest(table=made), metadata=bearer(OTHER))
        await other.read()
        for stream in (watch, other):
            stream.cancel()


async def test_too_many_requests_of_one_principal() -> None:
    async with running_app(requests_per_second=5) as app, channel_to(app.address) as channel:
        tables = TableServiceStub(channel)
        request = table_service_pb2.ListTablesRequest()

        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await asyncio.gather(*(tables.ListTables(request, metadata=bearer(TOKEN)) for _ in range(50)))
        verify_limit(failed.value, "TOO_MANY_REQUESTS", 5)
        await tables.ListTables(request, metadata=bearer(OTHER))
        await tables.ListTables(request)


async def test_too_many_built_in_bots_of_one_owner() -> None:
    bot = table_pb2.BuiltinBot(name="random")
    async with running_app(builtin_bots_per_principal=3) as app, channel_to(app.address) as channel:
        tables: Any = TableServiceStub(channel)
        made = [(await tables.CreateTable(TABLE, metadata=bearer(TOKEN))).table.name for _ in range(2)]
        requests = [table_service_pb2.AddBotRequest(table=name, builtin=bot) for name in made * 2]
        for request in requests[:3]:
            await tables.AddBot(request, metadata=bearer(TOKEN))

        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await tables.AddBot(requests[3], metadata=bearer(TOKEN))
        verify_limit(failed.value, "TOO_MANY_BOTS", 3)
        await tables.CloseTable(table_service_pb2.CloseTableRequest(table=made[0]), metadata=bearer(TOKEN))
        await tables.AddBot(requests[3], metadata=bearer(TOKEN))


async def test_decisions_that_are_refused_are_counted_and_others_are_not() -> None:
    """A bot that answers what it is asked may be as fast as it can."""
    async with running_app(refusals_per_second=20) as app, channel_to(app.address) as channel:
        client = Client.on(channel)
        async with stream_bot(channel, "one") as one, stream_bot(channel, "two") as two:
            table = await client.create(2, start_when_full=True)
            for name in ("one", "two"):
                request = table_service_pb2.AddBotRequest(table=table, connected=name)
                await client.tables.AddBot(request, metadata=bearer(OWNER))
            async with asyncio.timeout(30), client.watch(table, after_sequence=0) as watching:
                while not (await watching.next()).HasField("game_over"):
                    pass
            assert one.asked + two.asked > 100

        play: Any = PlayServiceStub(channel)
        stream = play.Play(metadata=bearer(OTHER))
        await stream.write(play_service_pb2.PlayRequest(hello=play_service_pb2.Hello(name="three")))
        unasked = [play_service_pb2.Decision(table=table, sequence=1) for _ in range(30)]
        await stream.write(play_service_pb2.PlayRequest(decisions=unasked))
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            async for _ in stream:
                pass
        verify_limit(failed.value, "TOO_MANY_REQUESTS", 20)


async def test_while_the_server_drains_nothing_new_begins_and_games_go_on() -> None:
    async with running_app() as app, channel_to(app.address) as channel:
        tables: Any = TableServiceStub(channel)
        made = (await tables.CreateTable(TABLE, metadata=bearer(TOKEN))).table.name
        app.drain.begin(30)

        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await tables.CreateTable(TABLE, metadata=bearer(TOKEN))
        status = status_pb2.Status.FromString(bytes(dict(failed.value.trailing_metadata() or ())[DETAILS]))
        retry = error_details_pb2.RetryInfo()
        assert failed.value.code() is grpc.StatusCode.UNAVAILABLE
        assert any(detail.Unpack(retry) for detail in status.details)
        assert 30_000 < retry.retry_delay.ToMilliseconds() <= 31_000
        join = table_service_pb2.JoinTableRequest(table=made, name="anna", seat_secret=OTHER)
        assert (await tables.JoinTable(join)).seat == 0
