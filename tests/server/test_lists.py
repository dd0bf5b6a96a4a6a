"""Lists of tables, games and matches, page by page from the journal: also over a restart, and while they change."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.server.at_table import refused
from tests.server.running import bearer, channel_to, running_app
from tests.server.test_games import Client
from tests.server.test_matches import OWNER, builtin, plan, records, run

from rummy500.v1 import match_service_pb2 as pb
from rummy500.v1 import play_service_pb2 as plays_pb
from rummy500.v1 import rules_pb2, table_pb2
from rummy500.v1 import table_service_pb2 as tables_pb
from rummy500_arena.verification import records_in
from rummy500_server import listing
from rummy500_server.app import App
from rummy500_server.journal import Put
from rummy500_server.retention import Retention

ONE_ROUND = rules_pb2.RulesChoice(options=[rules_pb2.Option(name="max_rounds", value="1")])
STRANGER = bearer("the-token-of-a-stranger")
SHORT = [table_pb2.TABLE_STATE_FINISHED, table_pb2.TABLE_STATE_CLOSED]


@contextlib.asynccontextmanager
async def server(database: Path | None = None, **more: Any) -> AsyncIterator[tuple[App, Client]]:
    async with (
        running_app(database=str(database or ":memory:"), **more) as app,
        channel_to(app.address) as channel,
    ):
        yield app, Client(channel)


async def closed(client: Client, **more: Any) -> str:
    name = await client.table(seats=2, **more)
    await client.tables.CloseTable(tables_pb.CloseTableRequest(table=name), metadata=OWNER)
    return name


async def played(client: Client, **more: Any) -> str:
    name = await client.table("random", "random", seats=2, rules=ONE_ROUND, **more)
    await client.tables.StartTable(tables_pb.StartTableRequest(table=name), metadata=OWNER)
    async for response in client.plays.Watch(plays_pb.WatchRequest(table=name), metadata=OWNER):
        if response.HasField("game_over"):
            return name
    raise AssertionError("the stream ended without the game")


async def table_names(client: Client, size: int = 2, *, metadata: Any = None, **more: Any) -> list[str]:
    """All that are listed, page by page."""
    names: list[str] = []
    request = tables_pb.ListTablesRequest(page_size=size, **more)
    while True:
        page = await client.tables.ListTables(request, metadata=metadata)
        names += [table.name for table in page.tables]
        request.page_token = page.next_page_token
        if not request.page_token:
            return names


async def record_names(client: Client, size: int = 2, *, metadata: Any = None, **more: Any) -> list[str]:
    names: list[str] = []
    request = pb.ListGamesRequest(page_size=size, **more)
    while True:
        page = await client.matches.ListGames(request, metadata=metadata)
        assert len(page.games) <= size
        names += [game.record for game in page.games]
        request.page_token = page.next_page_token
        if not request.page_token:
            return names


# --- tables


async def test_tables_that_are_over_and_those_that_are_not_are_one_list() -> None:
    async with server() as (_, client):
        made = []
        for number in range(7):
            made.append(await (closed(client) if number % 3 else client.table(seats=2)))

        assert await table_names(client) == made[::-1]
        assert await table_names(client, states=[table_pb2.TABLE_STATE_OPEN]) == [made[6], made[3], made[0]]
        assert await table_names(client, states=SHORT) == [made[at] for at in (5, 4, 2, 1)]


async def test_a_table_that_ends_between_two_pages_is_listed_once() -> None:
    async with server() as (_, client):
        made = [await client.table(seats=2) for _ in range(4)]
        first = await client.tables.ListTables(tables_pb.ListTablesRequest(page_size=2))
        for name in made:
            await client.tables.CloseTable(tables_pb.CloseTableRequest(table=name), metadata=OWNER)
        await client.table(seats=2)
        rest = await client.tables.ListTables(tables_pb.ListTablesRequest(page_token=first.next_page_token))

        assert [table.name for table in (*first.tables, *rest.tables)] == made[::-1]


async def test_where_few_are_wanted_a_page_is_short_and_the_next_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MOST_LOOKED_AT", 3)
    async with server() as (_, client):
        game = await played(client)
        for _ in range(7):
            await closed(client)
        request = tables_pb.ListTablesRequest(page_size=2, states=[table_pb2.TABLE_STATE_FINISHED])
        pages: list[list[str]] = []
        while not pages or request.page_token:
            page = await client.tables.ListTables(request)
            pages.append([table.name for table in page.tables])
            request.page_token = page.next_page_token

        assert pages == [[], [], [game]]


async def test_private_tables_and_their_games_are_listed_for_their_owner_only() -> None:
    async with server() as (_, client):
        private = await played(client, private=True)
        public = await played(client)

        for names in (table_names, record_names):
            assert await names(client, metadata=OWNER) == [public, private]
            assert await names(client, metadata=STRANGER) == await names(client) == [public]


# --- over a restart


async def test_tokens_of_pages_hold_over_a_restart(tmp_path: Path) -> None:
    async with server(tmp_path / "games.db") as (_, client):
        games = [await played(client) for _ in range(3)]
        match = await run(client.matches, plan(builtin("random"), builtin("easy"), deals=3))
        matches = [match.name, *[(await run(client.matches, plan(deals=1))).name for _ in range(2)]]
        tables = await client.tables.ListTables(tables_pb.ListTablesRequest(page_size=1))
        of_match = await client.matches.ListGames(pb.ListGamesRequest(match=match.name, page_size=4))
        newest = await client.matches.ListMatches(pb.ListMatchesRequest(page_size=1))
    async with server(tmp_path / "games.db") as (_, client):
        await closed(client)
        rest = await client.tables.ListTables(tables_pb.ListTablesRequest(page_token=tables.next_page_token))
        more = pb.ListGamesRequest(match=match.name, page_token=of_match.next_page_token)
        others = await client.matches.ListMatches(pb.ListMatchesRequest(page_token=newest.next_page_token))

        assert [table.name for table in (*tables.tables, *rest.tables)] == games[::-1]
        assert [
            (game.deal, game.seating) for game in (*of_match.games, *(await client.matches.ListGames(more)).games)
        ] == [(deal, seating) for deal in range(3) for seating in range(2)]
        assert [each.name for each in (*newest.matches, *others.matches)] == matches[::-1]


async def test_a_database_of_an_older_server_has_the_same_lists(tmp_path: Path) -> None:
    database = tmp_path / "games.db"
    async with server(database) as (_, client):
        for private in (False, True):
            await played(client, private=private)
            await closed(client, private=private)
        match = (await run(client.matches, plan(builtin("random"), builtin("easy"), deals=11))).name
        before = await lists_of(client, match)
        told = await records(client.matches, match=match)
    as_an_older_server_left_it(database)
    async with server(database) as (_, client):
        assert await lists_of(client, match) == before
        assert await records(client.matches, match=match) == told
    assert [len(each) for each in before] == [4, 2, 24, 23, 22]
    assert [record.lines[0]["match"]["deal"] for record in records_in(told.splitlines())][::2] == list(range(11))


async def lists_of(client: Client, match: str) -> list[list[str]]:
    found = [await names(client, 9, metadata=who) for names in (table_names, record_names) for who in (OWNER, STRANGER)]
    return [*found, await record_names(client, 9, match=match)]


def as_an_older_server_left_it(database: Path) -> None:
    """Takes back what the second step of the schema has made."""
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        for record, key in connection.execute("SELECT key, value FROM documents WHERE kind = 'record'").fetchall():
            connection.execute("UPDATE documents SET key = ? WHERE kind = 'game' AND key = ?", (record, key.decode()))
        connection.execute("DELETE FROM documents WHERE kind = 'record'")
        connection.execute("DROP INDEX lists")
        for column in ("listed_at", "listed_for"):
            connection.execute(f"ALTER TABLE documents DROP COLUMN {column}")
        connection.execute("UPDATE about SET schema = 1")


# --- what is wrong


@pytest.mark.parametrize("damaged", [b"", b"\xff\xff no message"])
async def test_a_table_that_can_be_read_no_more_does_not_hide_the_others(damaged: bytes) -> None:
    async with server() as (app, client):
        made = [await closed(client) for _ in range(3)]
        (middle,) = [
            each for each in await app.journal.listed("ended_table", reader=None, most=9) if each.key == made[1]
        ]
        await app.journal.commit(Put("ended_table", made[1], damaged, listed_at=middle.at))

        assert await table_names(client) == made[::-1]


async def test_a_game_that_can_be_read_no_more_does_not_hide_the_others_and_says_so_itself() -> None:
    async with server() as (app, client):
        second, first, third = [await played(client) for _ in range(3)]
        (_, middle, _) = await app.journal.listed("game", reader=None, most=3)
        await app.journal.commit(Put("game", first, b"{", listed_at=middle.at))

        assert await record_names(client, 1) == [third, second]
        with refused("TABLE_BROKEN") as said:
            await records(client.matches, record=first)
        assert said.sentence == f"the database is damaged, game '{first}' cannot be read: restore a backup"


async def test_a_table_whose_document_is_damaged_says_so_and_is_kept() -> None:
    async with server() as (app, client):
        tables = [await played(client) for _ in range(2)]
        app.lobby.forget(await app.lobby.creation(tables[0]))
        await app.journal.put("table", tables[0], b"{")

        with refused("TABLE_BROKEN"):
            await client.tables.GetTable(tables_pb.GetTableRequest(table=tables[0]))
        pruned = await Retention(app.journal, now=lambda: time.time() + 1_000).sweep(1)
        assert pruned.tables == 1
        assert await app.journal.get("table", tables[0]) == b"{"


async def test_a_token_of_another_list_is_refused() -> None:
    async with server() as (_, client):
        for _ in range(2):
            await played(client)
        token = (await client.tables.ListTables(tables_pb.ListTablesRequest(page_size=1))).next_page_token
        with refused("BAD_REQUEST") as said:
            await client.matches.ListGames(pb.ListGamesRequest(page_token=token))
        assert said.fields == ["page_token"]


@pytest.mark.parametrize(
    "record", ["m-0123.٣.0", "m-0123.-1.0", "m-0123.x.0", "..", "m-0123.007.0", "m-0123.0000000000.000000"]
)
async def test_a_name_that_only_looks_like_that_of_a_record_is_none(record: str) -> None:
    async with server() as (_, client):
        with refused("NO_SUCH_RECORD"):
            await records(client.matches, record=record)
