"""A client that stops reading its socket is cut off with the sequence to go on from; no game waits for it, and no
memory grows."""

from __future__ import annotations

import asyncio
import contextlib
import os
from base64 import b64decode
from pathlib import Path

from google.rpc import error_details_pb2, status_pb2
from tests.server.at_table import OWNER, Client
from tests.server.raw_http2 import RawConnection, raw_connection
from tests.server.running import bearer, channel_to, server_process

from rummy500.v1 import play_service_pb2 as pb
from rummy500.v1 import result_pb2, table_pb2, table_service_pb2

PAGE_KIB = os.sysconf("SC_PAGE_SIZE") // 1024
READERS_OF_EACH = 24
MOST_GROWTH_KIB = 8 << 10
"""What the readers would have to be kept of is several times as much: 96 streams of 300 events with their views."""


def resident_kib(process: int) -> int:
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE_KIB


async def tables_of_bots(client: Client, count: int) -> list[str]:
    """Tables at which two built-in bots sit and wait for the start."""
    names = [await client.create(2) for _ in range(count)]
    bot = table_pb2.BuiltinBot(name="random")
    for name in names * 2:
        await client.tables.AddBot(table_service_pb2.AddBotRequest(table=name, builtin=bot), metadata=bearer(OWNER))
    return names


async def ends(client: Client, table: str) -> table_pb2.Table:
    """How the table ended. It is not watched: the bots may be too quick for that, too."""
    while True:
        shown = (await client.tables.GetTable(table_service_pb2.GetTableRequest(table=table))).table
        if shown.HasField("result"):
            return shown
        await asyncio.sleep(0.05)


def error_info(trailers: dict[str, str]) -> error_details_pb2.ErrorInfo:
    packed = trailers["grpc-status-details-bin"]
    status = status_pb2.Status.FromString(b64decode(packed + "=" * (-len(packed) % 4)))
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    return info


async def test_who_stops_reading_is_told_where_to_go_on_and_nobody_waits(tmp_path: Path) -> None:
    flags = ("--events-behind", "16", "--durability", "process")
    async with (
        server_process(tmp_path / "games.db", *flags) as server,
        channel_to(server.address) as channel,
    ):
        client = Client.on(channel)
        (warm,), tables = await tables_of_bots(client, 1), await tables_of_bots(client, 4)
        await client.tables.StartTable(table_service_pb2.StartTableRequest(table=warm), metadata=bearer(OWNER))
        await ends(client, warm)
        with raw_connection(server.address, seconds=60) as reader:
            streams = {
                reader.call(
                    "/rummy500.v1.PlayService/Watch",
                    pb.WatchRequest(table=table, with_views=True).SerializeToString(),
                ): table
                for table in tables * READERS_OF_EACH
            }
            before = resident_kib(server.process.pid)
            for table in tables:
                await client.tables.StartTable(table_service_pb2.StartTableRequest(table=table), metadata=bearer(OWNER))
            over = [await ends(client, table) for table in tables]
            growth = resident_kib(server.process.pid) - before

            assert {table.result.termination for table in over} == {result_pb2.TERMINATION_NORMAL}
            assert growth < MOST_GROWTH_KIB, f"{growth} KiB more for readers that do not read"
            await verify_all_are_told(reader, streams, {table.name: table.sequence for table in over})


async def verify_all_are_told(reader: RawConnection, streams: dict[int, str], last: dict[str, int]) -> None:
    """Once it reads again, each stream ends: cut off with where to go on, or with the game if it was quick enough."""
    told = {stream: await asyncio.to_thread(reader.until_ended, stream) for stream in streams}
    cut = {stream: error_info(trailers) for stream, trailers in told.items() if trailers["grpc-status"] == "10"}
    assert {trailers["grpc-status"] for trailers in told.values()} <= {"0", "10"}
    assert cut
    for stream, info in cut.items():
        assert info.reason == "SLOW_READER"
        assert 0 <= int(info.metadata["resume_after"]) < last[streams[stream]]


async def test_a_bot_that_answers_and_never_reads_is_cut_off(tmp_path: Path) -> None:
    """Each of its decisions is refused, and the refusals cannot be sent: they are not kept for ever."""
    async with (
        server_process(tmp_path / "games.db", "--refusals-per-second", "1000000") as server,
        channel_to(server.address) as channel,
    ):
        hello = pb.PlayRequest(hello=pb.Hello(name="deaf")).SerializeToString()
        flood = pb.PlayRequest(decisions=[pb.Decision(table=f"t-{n:012}", sequence=n) for n in range(500)])
        before = resident_kib(server.process.pid)
        with raw_connection(server.address, seconds=60) as bot:
            stream = bot.call("/rummy500.v1.PlayService/Play", hello, token="the-token-of-a-deaf-bot", ends=False)
            await asyncio.to_thread(flood_with, bot, stream, flood.SerializeToString())
            growth = resident_kib(server.process.pid) - before
            trailers = await asyncio.to_thread(bot.until_ended, stream)
        assert growth < 3 * MOST_GROWTH_KIB, f"{growth} KiB more for a bot that does not read"
        assert trailers["grpc-status"] == "10"
        assert error_info(trailers).reason == "SLOW_READER"
        await Client.on(channel).create(2)


MOST_WRITTEN = 1_000
"""Messages of 500 decisions; their refusals would be 80 MB."""


def flood_with(bot: RawConnection, stream: int, message: bytes) -> None:
    """Sends as long as the server takes it, while nothing that it says is taken."""
    whole = bot.socket.gettimeout()
    bot.socket.settimeout(1.0)
    with contextlib.suppress(TimeoutError):
        for _ in range(MOST_WRITTEN):
            while stream not in bot.ended and bot.http.local_flow_control_window(stream) < len(message) + 5:
                bot.read(opens_windows=False)
            if stream in bot.ended:
                break
            bot.send(stream, message)
    bot.socket.settimeout(whole)
