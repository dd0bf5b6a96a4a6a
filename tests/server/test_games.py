"""Games outside of matches: they are listed when they are over, and have records too."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.server.running import bearer, channel_to, running_app
from tests.server.test_matches import OWNER, reason, records, rules_for

from rummy500.v1 import (
    action_pb2,
    match_service_pb2_grpc,
    play_service_pb2,
    play_service_pb2_grpc,
    result_pb2,
    rules_pb2,
    table_pb2,
    table_service_pb2,
    table_service_pb2_grpc,
)
from rummy500.v1 import (
    match_service_pb2 as pb,
)
from rummy500_arena.verification import records_in, verify
from rummy500_server.app import App

SCENARIOS = Path(__file__).parents[1] / "scenarios"
ANNA = "the-secret-of-anna-0001"


@pytest.fixture
async def app() -> AsyncIterator[App]:
    async with running_app() as running:
        yield running


class Client:
    """The three services over one channel."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.tables: Any = table_service_pb2_grpc.TableServiceStub(channel)
        self.plays: Any = play_service_pb2_grpc.PlayServiceStub(channel)
        self.matches: Any = match_service_pb2_grpc.MatchServiceStub(channel)

    async def table(self, *bots: str, **more: Any) -> str:
        """A table whose first seats are taken by built-in bots."""
        request = table_service_pb2.CreateTableRequest(**more)
        name = (await self.tables.CreateTable(request, metadata=OWNER)).table.name
        for bot in bots:
            add = table_service_pb2.AddBotRequest(table=name, builtin=table_pb2.BuiltinBot(name=bot))
            await self.tables.AddBot(add, metadata=OWNER)
        return str(name)

    async def played(self, table: str) -> result_pb2.GameResult:
        """Starts the game and watches it to its end."""
        await self.tables.StartTable(table_service_pb2.StartTableRequest(table=table), metadata=OWNER)
        async for response in self.plays.Watch(play_service_pb2.WatchRequest(table=table)):
            if response.HasField("game_over"):
                return result_pb2.GameResult.FromString(response.game_over.result.SerializeToString())
        raise AssertionError("the stream ended without the game")

    async def holds(self, record: str) -> list[dict[str, Any]]:
        """The lines of a record, which the engine agrees with."""
        (found,) = records_in((await records(self.matches, metadata=None, record=record)).splitlines())
        assert verify(found, rules_for) is None
        return list(found.lines)


@pytest.fixture
async def client(app: App) -> AsyncIterator[Client]:
    async with channel_to(app.address) as channel:
        yield Client(channel)


async def test_a_game_of_bots_has_a_record_under_its_tables_name(client: Client) -> None:
    table = await client.table("easy", "random", "easy", seats=3)
    result = await client.played(table)

    lines = await client.holds(result.record)
    assert result.record == table
    assert lines[0]["table"] == table
    assert "match" not in lines[0]
    assert lines[-1]["totals"] == list(result.totals)
    listed = await client.matches.ListGames(pb.ListGamesRequest(table=table))
    assert [(game.table, game.match, list(game.players)) for game in listed.games] == [
        (table, "", ["easy", "random", "easy"])
    ]


async def test_games_of_a_variant_have_records(client: Client) -> None:
    rules = rules_pb2.RulesChoice(preset="queen-40")
    result = await client.played(await client.table("easy", "random", seats=2, rules=rules))

    lines = await client.holds(result.record)
    assert lines[0]["rules"]["preset"] == "queen-40"
    assert "queen-of-spades" in lines[0]["rules"]["variants"]


async def test_a_game_from_a_position_has_a_record(client: Client) -> None:
    (scenario,) = [found for found in json.loads((SCENARIOS / "digging.json").read_text()) if found["id"] == "dig-001"]
    table = await client.table("easy", "easy", position_json=json.dumps(scenario))
    await client.played(table)

    lines = await client.holds(table)
    assert lines[0]["position"]["hands"] == scenario["hands"]
    assert lines[0]["players"] == scenario["players"]


async def test_a_game_that_is_not_over_has_no_record_yet(client: Client) -> None:
    table = await client.table("easy", seats=2)
    join = table_service_pb2.JoinTableRequest(table=table, name="anna", seat_secret=ANNA)
    seat = (await client.tables.JoinTable(join)).seat
    await client.tables.StartTable(table_service_pb2.StartTableRequest(table=table), metadata=OWNER)

    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await records(client.matches, record=table)
    assert reason(refused.value) == "RECORD_NOT_OPEN"
    assert not (await client.matches.ListGames(pb.ListGamesRequest())).games

    act = play_service_pb2.ActRequest(table=table, actions=[action_pb2.Action(text="draw")])
    waiting = client.plays.Watch(play_service_pb2.WatchRequest(table=table, with_views=True), metadata=bearer(ANNA))
    async for response in waiting:
        view = response.snapshot if response.HasField("snapshot") else response.events.view
        if view.legal_actions.can_draw:
            break
    waiting.cancel()
    await client.plays.Act(act, metadata=bearer(ANNA))
    await client.tables.CloseTable(table_service_pb2.CloseTableRequest(table=table), metadata=OWNER)

    lines = await client.holds(table)
    assert lines[-1]["termination"] == "CANCELLED"
    assert any(line.get("seat") == seat and line.get("text") == "draw" for line in lines)


async def test_a_table_that_never_started_is_no_game(client: Client) -> None:
    table = await client.table("easy", seats=2)
    await client.tables.CloseTable(table_service_pb2.CloseTableRequest(table=table), metadata=OWNER)

    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await records(client.matches, record=table)
    assert reason(refused.value) == "NO_SUCH_RECORD"


async def test_records_outlive_the_server(tmp_path: Path) -> None:
    database = str(tmp_path / "server.db")
    async with running_app(database=database) as app, channel_to(app.address) as channel:
        client = Client(channel)
        table = await client.table("easy", "random", seats=2)
        await client.played(table)
        before = await client.holds(table)
    async with running_app(database=database) as app, channel_to(app.address) as channel:
        client = Client(channel)
        assert await client.holds(table) == before
        assert [game.table for game in (await client.matches.ListGames(pb.ListGamesRequest())).games] == [table]
