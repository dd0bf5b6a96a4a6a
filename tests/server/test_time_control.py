"""What a decision may take, and what it is charged."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from tests.server.timed_tables import TEN, Tables, timed_tables, until

from rummy500.v1 import event_pb2, rules_pb2
from rummy500.v1.table_pb2 import ClockSettings
from rummy500_server.clock import BEAT, LoopTimer
from rummy500_server.journal import MemoryJournal
from rummy500_server.requests import RequestMemory


@pytest.fixture
async def tables() -> AsyncIterator[Tables]:
    async with timed_tables() as tables:
        yield tables


# --- bank, start-up allowance and grace


async def test_a_decision_that_takes_longer_lives_on_the_bank(tables: Tables) -> None:
    table = await tables.playing(bank_ms=60_000)
    assert (await tables.clock(table)).time_left_ms == 70_000
    await tables.turn(table, "anna", seconds=25)

    clock = await tables.clock(table)
    assert list(clock.bank_ms) == [30_000, 60_000]
    assert clock.time_left_ms == 70_000
    await tables.turn(table, "ben", seconds=10)
    assert (await tables.clock(table)).time_left_ms == 40_000


async def test_the_bank_is_gone_when_the_clock_acts(tables: Tables) -> None:
    table = await tables.playing(bank_ms=5_000)
    await tables.later(table, 14.9)
    assert (await tables.clock(table)).finished_turns == [0, 0]
    await tables.later(table, 0.2)

    clock = await tables.clock(table)
    assert (list(clock.finished_turns), list(clock.bank_ms)) == ([1, 0], [0, 5_000])


async def test_each_own_turn_adds_to_the_bank_up_to_its_most(tables: Tables) -> None:
    table = await tables.playing(increment_ms=2_000, most_bank_ms=5_000)
    banks = []
    for name in ("anna", "ben", "anna", "ben", "anna", "ben"):
        banks.append(list((await tables.clock(table)).bank_ms))
        await tables.turn(table, name)
    assert banks == [[2_000, 0], [2_000, 2_000], [4_000, 2_000], [4_000, 4_000], [5_000, 4_000], [5_000, 5_000]]


async def test_the_first_decision_of_a_seat_has_the_startup_allowance(tables: Tables) -> None:
    table = await tables.playing(startup_ms=30_000)
    assert (await tables.clock(table)).time_left_ms == 40_000
    await tables.client.act(table, "anna", "draw")
    assert (await tables.clock(table)).time_left_ms == TEN
    await tables.discard(table, "anna")
    assert (await tables.clock(table)).time_left_ms == 40_000


async def test_an_absent_player_has_its_grace_once_a_game(tables: Tables) -> None:
    table = await tables.playing(grace_ms=20_000)
    await tables.later(table, 22)
    assert (await tables.clock(table)).finished_turns == [0, 0]
    await tables.client.act(table, "anna", "draw")  # twelve seconds of the grace are used up, eight are left
    await tables.later(table, 17)
    assert (await tables.clock(table)).finished_turns == [0, 0]
    await tables.later(table, 2)
    assert (await tables.clock(table)).finished_turns == [1, 0]
    await tables.turn(table, "ben")
    await tables.later(table, 10.1)
    assert (await tables.clock(table)).finished_turns == [2, 0]


async def test_a_connected_player_has_no_grace(tables: Tables) -> None:
    table = await tables.playing(grace_ms=20_000)
    async with tables.client.watch(table, "anna", after_sequence=0) as watching:
        await watching.next()
        await tables.later(table, 10.1)
        (_, kind, acted), *_ = await watching.until("discarded")
    assert (kind, acted.reason) == ("clock_acted", event_pb2.CLOCK_REASON_TIMEOUT)


async def test_silence_in_a_call_window_costs_neither_the_bank_nor_the_turn_after_it(tables: Tables) -> None:
    rules = rules_pb2.RulesChoice(variants=["call-rummy"])
    table = await tables.client.playing("anna", "ben", clock=ClockSettings(bank_ms=5_000), rules=rules)
    keeper = await tables.keeper(table)
    banks = keeper.table.banks
    assert banks is not None
    while not keeper.table.is_polled:
        await tables.turn(table, "anna" if keeper.table.to_act() == (0,) else "ben")
    await tables.later(table, 60)
    assert not keeper.table.is_polled
    assert banks.bank == [5_000, 5_000]
    assert not any(keeper.table.finished_turns)
    assert (await tables.events(table))[-1][0] == "call_window_closed"


# --- what is charged


async def test_a_request_is_charged_from_when_it_is_handed_over(tables: Tables) -> None:
    table = await tables.playing()
    keeper = await tables.keeper(table)
    async with tables.client.watch(table, "anna") as watching:
        await watching.next()
        await tables.turn(table, "anna")
        await tables.turn(table, "ben")
        await until(lambda: keeper.players[0].is_shown)
        player = keeper.players[0]
        player.is_shown = False  # as if it still waited for its turn in the server
        tables.timer.advance(0.4)
        keeper.shown(0, tables.timer.time())
        tables.timer.advance(3)
        answer = await tables.client.act(table, "anna", "draw")
    assert answer.charged_ms == player.charged_ms == 3_000


async def test_a_player_that_does_not_read_gains_a_second_at_most(tables: Tables) -> None:
    table = await tables.playing()
    keeper = await tables.keeper(table)
    player = keeper.players[0]
    player.is_shown = False
    tables.timer.advance(9)
    keeper.shown(0, tables.timer.time())
    assert keeper.clock.spent_ms(player, tables.timer.time()) == 8_000


async def test_what_the_journal_takes_is_not_charged(tables: Tables) -> None:
    """An answer counts from when it was read, and until it is applied the clock does not act for its seat."""
    table = await tables.playing()
    keeper, journal = await tables.keeper(table), SlowToRead()
    tables.app.lobby.memory = RequestMemory(journal)
    tables.timer.advance(4)
    told = {"request_id": "once", "expected_sequence": keeper.table.sequence}
    acting = asyncio.create_task(tables.client.act(table, "anna", "draw", **told))
    await journal.is_read.wait()
    tables.timer.advance(20)
    await asyncio.sleep(0)
    assert keeper.table.finished_turns[0] == 0
    journal.gate.set()
    await acting
    assert keeper.players[0].charged_ms == 4_000


class SlowToRead(MemoryJournal):
    """A disk that lets nobody read until the gate is open."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.is_read = asyncio.Event(), asyncio.Event()

    async def get(self, kind: str, key: str) -> bytes | None:
        self.is_read.set()
        await self.gate.wait()
        return await super().get(kind, key)


async def test_while_the_loop_is_held_up_no_time_goes_by() -> None:
    timer, rang = LoopTimer(), asyncio.Event()
    before = timer.time()
    timer.call_at(before + 0.05, rang.set)
    time.sleep(0.3)  # the server is busy
    assert timer.time() - before <= BEAT + 0.001
    await rang.wait()
    assert timer.time() - before < 0.25
    timer.stop()
