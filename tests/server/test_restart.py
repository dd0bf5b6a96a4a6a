"""A server that is killed loses nothing that it has answered: tables are folded from the journal."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import grpc
from tests.server.at_table import OWNER, Client, refused
from tests.server.running import bearer, channel_to, running_app, server_process
from tests.server.stream_bot import StreamBot

from rummy500.v1 import play_service_pb2, rules_pb2, table_pb2, table_service_pb2
from rummy500_engine.cards import card_text
from rummy500_server.translate.cards import CARDS


async def _discard_first(client: Client, table: str, name: str) -> play_service_pb2.ActResponse:
    await client.act(table, name, "draw")
    view = await client.view(table, name)
    return await client.act(table, name, f"discard {card_text(CARDS[view.legal_actions.discards[0]])}")


async def test_a_game_goes_on_after_the_server_was_killed(tmp_path: Path) -> None:
    database = tmp_path / "journal.db"
    before = {}
    async with server_process(database) as server, channel_to(server.address) as channel:
        client = Client.on(channel)
        table = await client.playing("anna", "ben")
        for name in ("anna", "ben", "anna"):
            last = await _discard_first(client, table, name)
        drawn = await client.act(table, "ben", "draw", request_id="the-last")
        for name in ("anna", "ben", ""):
            before[name] = await client.view(table, name)
        server.signal(signal.SIGKILL)
        await server.process.wait()

    async with server_process(database) as server, channel_to(server.address) as channel:
        client = Client.on(channel)
        for name, view in before.items():
            assert await client.view(table, name) == view
        assert await client.act(table, "ben", "draw", request_id="the-last") == drawn
        async with client.watch(table, "ben", after_sequence=last.sequence) as watching:
            events = (await watching.next()).events.events
        assert list(events) == list(drawn.events)
        view = before["ben"]
        assert view.legal_actions.discards
        listed = await client.tables.ListTables(table_service_pb2.ListTablesRequest())
        assert [each.name for each in listed.tables] == [table]
        with refused("NOT_YOUR_TURN"):
            await client.act(table, "anna", "draw")


async def test_bots_come_back_to_their_games_after_a_restart(tmp_path: Path) -> None:
    """A game between a connected bot and one of the server's own is played to its end over a kill."""
    database = tmp_path / "journal.db"
    async with server_process(database) as server, channel_to(server.address) as channel:
        client = Client.on(channel)
        bot = StreamBot(channel, "rex")
        playing = asyncio.create_task(bot.play())
        await asyncio.wait_for(bot.welcome.wait(), 10)
        choice = rules_pb2.RulesChoice(options=[rules_pb2.Option(name="target", value="300")])
        table = await client.create(2, start_when_full=True, rules=choice)
        add = table_service_pb2.AddBotRequest(table=table, connected="rex")
        await client.tables.AddBot(add, metadata=bearer(OWNER))
        add = table_service_pb2.AddBotRequest(table=table, builtin=table_pb2.BuiltinBot(name="easy"))
        await client.tables.AddBot(add, metadata=bearer(OWNER))
        async with client.watch(table, after_sequence=0) as watching:
            await watching.until("discarded")
        server.signal(signal.SIGKILL)
        await asyncio.wait([playing])
        assert isinstance(playing.exception(), grpc.aio.AioRpcError)

    async with server_process(database) as server, channel_to(server.address) as channel:
        client = Client.on(channel)
        bot = StreamBot(channel, "rex")
        playing = asyncio.create_task(bot.play())
        async with client.watch(table, after_sequence=0) as watching:
            events = await watching.until("game_won")
        bot.hang_up()
        await asyncio.wait([playing])
    assert [sequence for sequence, _, _ in events] == list(range(1, len(events) + 1))
    assert max(events[-1][2].result.totals) >= 300


async def test_a_table_whose_rules_have_changed_is_broken_and_says_why(tmp_path: Path) -> None:
    """The journal keeps the digest of a table's rules; a table that another version made is not played on."""
    database = str(tmp_path / "journal.db")
    async with running_app(database=database) as app, channel_to(app.address) as channel:
        client = Client.on(channel)
        table = await client.playing("anna", "ben")
        keeper = await app.lobby.table(table)
        document = keeper.table.creation.to_json().replace(keeper.table.rules.digest.encode(), b"0" * 64)
        await app.journal.put("table", table, document)

    async with running_app(database=database) as app, channel_to(app.address) as channel:
        client = Client.on(channel)
        with refused("TABLE_BROKEN") as said:
            await client.view(table)
        assert "rules" in said.sentence
        (listed,) = (await client.tables.ListTables(table_service_pb2.ListTablesRequest())).tables
        assert listed.state == table_pb2.TABLE_STATE_CLOSED
        assert await client.playing("anna", "ben")


async def test_entries_that_give_other_events_break_the_table(tmp_path: Path) -> None:
    database = str(tmp_path / "journal.db")
    async with running_app(database=database) as app, channel_to(app.address) as channel:
        client = Client.on(channel)
        table = await client.playing("anna", "ben")
        number = len((await app.lobby.table(table)).table.history)
        await app.lobby.close()
        await app.journal.append(table, number + 1, [b"act\t0\tdraw\t0\t0123456789abcdef"])

    async with running_app(database=database) as app, channel_to(app.address) as channel:
        with refused("TABLE_BROKEN") as said:
            await Client.on(channel).view(table)
    assert f"entry {number + 1}" in said.sentence


async def test_a_finished_table_can_still_be_looked_at(tmp_path: Path) -> None:
    database = str(tmp_path / "journal.db")
    async with running_app(database=database) as app, channel_to(app.address) as channel:
        client = Client.on(channel)
        table = await client.playing("anna", "ben")
        await client.tables.CloseTable(table_service_pb2.CloseTableRequest(table=table), metadata=bearer(OWNER))
        closed = (await client.tables.GetTable(table_service_pb2.GetTableRequest(table=table))).table

    async with running_app(database=database) as app, channel_to(app.address) as channel:
        client = Client.on(channel)
        assert (await client.tables.GetTable(table_service_pb2.GetTableRequest(table=table))).table == closed
        (listed,) = (await client.tables.ListTables(table_service_pb2.ListTablesRequest())).tables
        assert listed == closed
