"""What is over leaves memory: tables, and the rules that were composed for them."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import grpc
import pytest
from tests.server.at_table import OWNER, Client, refused, secret_of
from tests.server.running import bearer, channel_to, running_app
from tests.server.stream_bot import stream_bot
from tests.server.test_call_windows import window_position
from tests.server.timed_tables import Tables, timed_tables, until

from rummy500.v1 import play_service_pb2, rules_pb2, table_pb2, table_service_pb2
from rummy500_catalog import Catalog
from rummy500_catalog.catalog import REMEMBERED_RULES
from rummy500_server.keeper import Keeper
from rummy500_server.lobby import KEPT_WHEN_OVER
from rummy500_server.rules_messages import REMEMBERED

Play = Callable[[Tables], Awaitable[str]]
"""Plays a game to its end and answers its table."""


@pytest.fixture
async def tables() -> AsyncIterator[Tables]:
    async with timed_tables() as tables:
        yield tables


async def close(client: Client, table: str) -> None:
    await client.tables.CloseTable(table_service_pb2.CloseTableRequest(table=table), metadata=bearer(OWNER))


async def end_others(client: Client, number: int = KEPT_WHEN_OVER) -> None:
    """So many further tables come to their end."""
    for _ in range(number):
        await close(client, await client.create(2))


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


# --- tables


async def test_a_table_that_is_over_leaves_memory_and_can_still_be_seen(tables: Tables) -> None:
    table = await tables.client.create(2)
    await close(tables.client, table)
    await end_others(tables.client)

    assert tables.app.lobby.in_memory(table) is None
    shown = await tables.client.tables.GetTable(table_service_pb2.GetTableRequest(table=table))
    assert shown.table.result.sentence == "its owner closed the table"


async def test_the_table_that_nobody_asked_for_longest_goes_first(tables: Tables) -> None:
    first, second = await tables.client.create(2), await tables.client.create(2)
    for table in (first, second):
        await close(tables.client, table)
    await end_others(tables.client, KEPT_WHEN_OVER - 2)
    await tables.client.tables.GetTable(table_service_pb2.GetTableRequest(table=first))
    await end_others(tables.client, 1)

    assert tables.app.lobby.in_memory(first) is not None
    assert tables.app.lobby.in_memory(second) is None


def everything_of(keeper: Keeper) -> dict[str, weakref.ref[object]]:
    """The keeper, its parts and what is played, as far as they can be referred to weakly."""
    table = keeper.table
    found = {"keeper": keeper, "table": table, "log": table.log, "game": table.game, "round": table.game.round}
    found |= {name: getattr(keeper, name) for name in ("overtime", "bots", "clock", "window", "scribe")}
    return {name: weakref.ref(each) for name, each in found.items() if type(each).__weakrefoffset__}


async def two_people_play(tables: Tables) -> str:
    """With a refusal, an answer that comes too late, one that cannot be read, and a retry."""
    table, client = await tables.playing(), tables.client
    for name in ("anna", "ben"):
        await tables.turn(table, name)
    sequence = (await client.view(table)).sequence
    with refused("NOT_YOUR_TURN"):
        await client.act(table, "ben", "draw")
    with refused("STALE_SEQUENCE"):
        await client.act(table, "anna", "draw", expected_sequence=sequence - 1)
    with refused("UNKNOWN_ACTION"):
        await client.act(table, "anna", "discard XX")
    for _ in range(2):
        await client.act(table, "anna", "draw", request_id="drawn once")
    await close(client, table)
    return table


async def a_person_leaves(tables: Tables) -> str:
    table = await tables.playing()
    leave = table_service_pb2.LeaveTableRequest(table=table)
    await tables.client.tables.LeaveTable(leave, metadata=bearer(secret_of("anna")))
    return table


async def the_clock_finishes_turns(tables: Tables) -> str:
    table = await tables.playing()
    for _ in range(6):
        await tables.later(table, 10.1)
    return table


async def bots_stand_in(tables: Tables) -> str:
    """For both players in turn, of whom one comes back."""
    table = await tables.playing(when_late=table_pb2.WHEN_LATE_BOT)
    await tables.later(table, 10.1)
    await tables.turn(table, "ben")
    async with tables.client.watch(table, "anna"):
        await tables.later(table, 10.1)
    await close(tables.client, table)
    return table


async def an_answer_waits_in_a_call_window(tables: Tables) -> str:
    table = await tables.client.at_position(**window_position())
    await tables.client.act(table, "anna", "discard TD")
    window = (await tables.keeper(table)).window
    waiting = asyncio.create_task(tables.client.act(table, "ben", "pass"))
    await until(lambda: bool(window.held_by(1)))
    await close(tables.client, table)
    await asyncio.wait([waiting])
    assert waiting.exception() is not None
    return table


async def bots_play_to_the_end(tables: Tables) -> str:
    """One on a stream and one of the server's own, watched by somebody who reads to the end."""
    client = tables.client
    async with channel_to(tables.app.address) as channel, stream_bot(channel, "quick") as bot:
        rules = rules_pb2.RulesChoice(options=[rules_pb2.Option(name="max_rounds", value="1")])
        table = await client.create(2, rules=rules, start_when_full=True)
        async with client.watch(table) as watching:
            for source in ({"connected": bot.name}, {"builtin": table_pb2.BuiltinBot(name="random")}):
                request = table_service_pb2.AddBotRequest(table=table, **source)
                await client.tables.AddBot(request, metadata=bearer(OWNER))
            while not (await watching.next()).HasField("game_over"):
                pass
        await until(lambda: table in bot.over)
    return table


GAMES = (
    two_people_play,
    a_person_leaves,
    the_clock_finishes_turns,
    bots_stand_in,
    an_answer_waits_in_a_call_window,
    bots_play_to_the_end,
)


@pytest.mark.parametrize("play", GAMES, ids=lambda play: play.__name__)
async def test_a_table_that_is_let_go_does_not_wait_for_the_collector(tables: Tables, play: Play) -> None:
    await end_others(tables.client, 1)
    with without_collector():
        table = await play(tables)
        keeper = await tables.keeper(table)
        assert keeper.table.is_over
        parts = everything_of(keeper)
        del keeper
        await end_others(tables.client)

        assert [name for name, part in parts.items() if part() is not None] == []


# --- calls


async def left_for_the_collector(call: Callable[[], Awaitable[object]]) -> int:
    """The objects that fifty calls leave in cycles."""
    with without_collector():
        for _ in range(50):
            with contextlib.suppress(grpc.aio.AioRpcError):
                await call()
        return gc.collect()


async def test_a_refused_call_leaves_the_collector_no_more_than_an_answered_one(tables: Tables) -> None:
    client, table = tables.client, await tables.client.create(2)

    async def read(name: str) -> None:
        async for _ in client.plays.Watch(play_service_pb2.WatchRequest(table=name), metadata=bearer(OWNER)):
            return

    def look(name: str) -> Callable[[], Awaitable[object]]:
        request = table_service_pb2.GetTableRequest(table=name)
        return lambda: client.tables.GetTable(request, metadata=bearer(OWNER))

    answered = await left_for_the_collector(look(table))
    assert await left_for_the_collector(look("none")) <= answered
    assert await left_for_the_collector(lambda: read("none")) <= answered


# --- rules


async def test_rules_that_were_composed_are_remembered_up_to_a_number() -> None:
    catalog = Catalog()
    async with running_app(catalog=catalog) as app, channel_to(app.address) as channel:
        client = Client.on(channel)
        for target in range(100, 100 + REMEMBERED_RULES + 20):
            rules = rules_pb2.RulesChoice(options=[rules_pb2.Option(name="target", value=str(target))])
            await close(client, await client.create(2, rules=rules))

    assert len(catalog._rules) == REMEMBERED_RULES
    assert len(app.rules_messages._made) == REMEMBERED
