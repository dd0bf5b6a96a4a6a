"""What becomes of a seat that is late, of a game without a clock, and of both when the server stops."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.server.at_table import OWNER, Client, refused, secret_of
from tests.server.running import bearer, channel_to, server_process
from tests.server.test_play_stream import seat as seat_bot
from tests.server.test_play_stream import stream
from tests.server.timed_tables import Tables, timed_tables, until

from rummy500.v1 import event_pb2, result_pb2, table_service_pb2
from rummy500.v1.table_pb2 import WHEN_LATE_BOT, WHEN_LATE_FORFEIT, BuiltinBot, ClockSettings
from rummy500_arena.verification import records_in, verify
from rummy500_server.games import record_of
from rummy500_server.table import TableState


@pytest.fixture
async def tables() -> AsyncIterator[Tables]:
    async with timed_tables() as tables:
        yield tables


# --- what becomes of a late seat


async def test_a_late_seat_forfeits_at_once_where_the_table_says_so(tables: Tables) -> None:
    table = await tables.playing(when_late=WHEN_LATE_FORFEIT)
    async with tables.client.watch(table, "anna", after_sequence=0) as watching:
        await watching.next()
        await tables.later(table, 10)
        events = await watching.until("game_won")
    result = events[-1][2].result
    assert events[0][1] == "seat_forfeited"
    assert (result.termination, result.at_fault) == (result_pb2.TERMINATION_TIMEOUT, 0)
    assert (result.overrun_ms, result.sentence) == (1, "anna forfeited: its time ran out")


@pytest.mark.parametrize("most", [1, 2])
async def test_the_table_says_how_many_finished_turns_forfeit(tables: Tables, most: int) -> None:
    table = await tables.playing(forfeit_after=most)
    for _ in range(most):
        await tables.later(table, 10.1)
        if not (await tables.keeper(table)).table.is_over:
            await tables.turn(table, "ben")
    kinds = [kind for kind, _ in await tables.events(table)]
    assert (kinds.count("clock_acted"), "game_won" in kinds) == (most, True)


async def test_no_number_of_finished_turns_forfeits_where_the_table_says_so(tables: Tables) -> None:
    table = await tables.playing(forfeit_after=0)
    for _ in range(12):
        await tables.later(table, 10.1)
    keeper = await tables.keeper(table)
    assert keeper.table.finished_turns == (6, 6)
    assert not keeper.table.is_over


async def test_a_bot_plays_for_a_late_player_while_another_waits(tables: Tables) -> None:
    table = await tables.playing(when_late=WHEN_LATE_BOT)
    keeper = await tables.keeper(table)
    await tables.later(table, 10.1)
    await until(lambda: keeper.table.to_act() == (1,) and keeper.scribe.is_durable)
    events = await tables.events(table)
    at = [kind for kind, _ in events].index("seat_taken_over")
    (_, taken), drew = events[at], events[at + 1]
    assert taken == event_pb2.SeatTakenOver(bot="easy", reason=event_pb2.CLOCK_REASON_DISCONNECT)
    assert drew[0] == "drew_from_stock"
    shown = await tables.client.tables.GetTable(table_service_pb2.GetTableRequest(table=table))
    assert [seat.stand_in for seat in shown.table.seats] == ["easy", ""]
    await tables.turn(table, "ben")
    await until(lambda: keeper.table.to_act() == (1,) and keeper.scribe.is_durable)
    assert not keeper.table.is_over


async def test_without_another_player_the_game_does_not_run_away(tables: Tables) -> None:
    table = await tables.client.create(2, start_when_full=True, clock=ClockSettings(when_late=WHEN_LATE_BOT))
    await tables.client.join(table, "anna")
    request = table_service_pb2.AddBotRequest(table=table, builtin=BuiltinBot(name="easy"))
    await tables.client.tables.AddBot(request, metadata=bearer(OWNER))
    keeper = await tables.keeper(table)
    await until(lambda: keeper.table.to_act() == (0,) and keeper.scribe.is_durable)
    await tables.later(table, 10.1)
    assert (keeper.table.seats[0].stand_in, keeper.table.turn[1]) == ("easy", 0)
    for turn in range(1, 4):
        await tables.later(table, 9.8)
        assert keeper.table.turn[1] == 2 * turn - 2
        await tables.later(table, 0.3)
        await until(lambda turn=turn: keeper.table.turn[1] == 2 * turn and keeper.scribe.is_durable)  # type: ignore[misc]


async def test_an_answer_of_the_player_gives_the_seat_back(tables: Tables) -> None:
    table = await tables.playing(when_late=WHEN_LATE_BOT, stand_in=BuiltinBot(name="random"))
    keeper = await tables.keeper(table)
    asked = keeper.table.sequence
    await tables.later(table, 10.1)
    await until(lambda: keeper.table.to_act() == (1,) and keeper.scribe.is_durable)
    with refused("STALE_SEQUENCE") as said:
        await tables.client.act(table, "anna", "draw", expected_sequence=asked)
    assert said.sentence.endswith(f"was about {asked}: its time was over, and random took the seat over")
    await keeper.scribe.durable()
    assert (await tables.events(table))[-1] == ("seat_returned", event_pb2.SeatReturned())
    assert said.metadata["sequence"] == str(keeper.table.sequence), "what the player acts on next, its return included"
    await tables.turn(table, "ben")
    await tables.turn(table, "anna")
    assert keeper.table.to_act() == (1,)


async def test_a_stream_of_the_player_gives_the_seat_back(tables: Tables) -> None:
    table = await tables.playing(when_late=WHEN_LATE_BOT)
    keeper = await tables.keeper(table)
    await tables.later(table, 10.1)
    await until(lambda: keeper.table.to_act() == (1,) and keeper.scribe.is_durable)
    async with tables.client.watch(table, "anna", after_sequence=0) as watching:
        events = await watching.until("seat_returned")
    assert events[-1][2] == event_pb2.SeatReturned()
    assert keeper.players[0].bot is None


async def test_a_connected_bot_that_comes_back_is_asked_again_and_told_what_it_missed(tables: Tables) -> None:
    table = await tables.client.create(2, start_when_full=True, clock=ClockSettings(when_late=WHEN_LATE_BOT))
    async with stream(tables.client, "hugo") as hugo:
        await seat_bot(tables.client, table, "hugo")
        await tables.client.join(table, "ben")
        request = await hugo.request()
        keeper = await tables.keeper(table)
    await until(lambda: keeper.players[0].streams == 0)
    await tables.later(table, 10.1)
    await until(lambda: keeper.table.to_act() == (1,) and keeper.scribe.is_durable)
    await tables.turn(table, "ben")
    await until(lambda: keeper.table.to_act() == (1,) and keeper.scribe.is_durable)
    async with stream(tables.client, "hugo") as hugo:
        await tables.turn(table, "ben")
        again = await hugo.request()
    kinds = [event.WhichOneof("kind") for event in again.events]
    assert again.events[0].sequence == request.sequence + 1
    assert kinds[0] == "seat_taken_over"
    assert kinds.count("seat_returned") == 1


async def test_an_answer_that_comes_after_the_clock_acted_is_told_so_and_play_goes_on(tables: Tables) -> None:
    table = await tables.playing()
    asked = (await tables.keeper(table)).table.sequence
    await tables.later(table, 10.1)
    with refused("STALE_SEQUENCE") as said:
        await tables.client.act(table, "anna", "draw", expected_sequence=asked)
    assert said.sentence.endswith("its time was over, and the clock finished the turn")
    await tables.turn(table, "ben")
    await tables.turn(table, "anna")


# --- no clock, and when no clock acts


async def test_a_table_without_a_clock_shows_none_and_waits_for_a_day(tables: Tables) -> None:
    table = await tables.client.playing("anna", "ben", clock=ClockSettings(untimed=True))
    async with tables.client.watch(table, "anna") as watching:
        assert not (await watching.next()).snapshot.HasField("clock")
    await tables.later(table, 86_000)
    await tables.client.act(table, "anna", "draw")
    await tables.later(table, 86_000)
    assert (await tables.keeper(table)).table.state is TableState.PLAYING
    await tables.later(table, 401)
    kind, closed = (await tables.events(table))[-1]
    assert (kind, closed.termination) == ("table_closed", result_pb2.TERMINATION_TIMEOUT)
    assert closed.sentence == "no player has acted for 24 hours, the most that a table waits"


async def test_a_bot_at_a_table_without_a_clock_is_told_that_none_runs(tables: Tables) -> None:
    table = await tables.client.create(2, start_when_full=True, clock=ClockSettings(untimed=True))
    async with stream(tables.client, "hugo") as hugo:
        await seat_bot(tables.client, table, "hugo")
        await tables.client.join(table, "ben")
        request = await hugo.request()
    assert (request.time_left_ms, request.deadline_unix_ms, request.view.HasField("clock")) == (0, 0, False)


async def test_a_game_that_only_the_clock_plays_is_closed_in_the_end() -> None:
    async with timed_tables(ceiling_minutes=2) as tables:
        table = await tables.playing(forfeit_after=0)
        for _ in range(15):
            await tables.later(table, 10.1)
        kinds = [kind for kind, _ in await tables.events(table)]
    assert kinds[-1] == "table_closed"
    assert 11 <= kinds.count("clock_acted") <= 13


async def test_while_the_server_drains_no_clock_acts(tables: Tables) -> None:
    table = await tables.playing()
    keeper = await tables.keeper(table)
    await tables.client.act(table, "anna", "draw")
    tables.app.drain.begin(60)
    sequence = keeper.table.sequence
    await tables.later(table, 100)
    assert (keeper.table.sequence, keeper.table.finished_turns[0]) == (sequence, 0)


async def test_after_a_restart_the_banks_are_what_they_were_and_the_open_decision_has_all_its_time(
    tmp_path: Path,
) -> None:
    database = str(tmp_path / "games.db")
    async with timed_tables(database=database) as tables:
        table = await tables.playing(bank_ms=60_000, increment_ms=1_000, when_late=WHEN_LATE_BOT)
        await tables.turn(table, "anna", seconds=12)
        await tables.later(table, 71.1)
        keeper = await tables.keeper(table)
        await until(lambda: keeper.table.seats[1].stand_in != "" and keeper.scribe.is_durable)
        await until(lambda: keeper.table.to_act() == (0,) and keeper.scribe.is_durable)
        tables.timer.advance(9)
        before = await tables.clock(table)
    async with timed_tables(database=database) as tables:
        after = await tables.clock(table)
        keeper = await tables.keeper(table)
    assert list(before.bank_ms) == list(after.bank_ms) == [58_000, 0]
    assert (before.time_left_ms, after.time_left_ms) == (59_000, 68_000)
    assert keeper.table.seats[1].stand_in == "easy"


async def test_a_record_tells_who_played_for_a_late_player_and_verifies(tables: Tables) -> None:
    table = await tables.playing(when_late=WHEN_LATE_BOT)
    keeper = await tables.keeper(table)
    await tables.later(table, 10.1)
    await until(lambda: keeper.table.to_act() == (1,) and keeper.scribe.is_durable)
    await tables.turn(table, "ben")
    async with tables.client.watch(table, "anna") as watching:
        await watching.next()
    await tables.client.tables.CloseTable(table_service_pb2.CloseTableRequest(table=table), metadata=bearer(OWNER))
    lines = [line for line in record_of(keeper.table).splitlines()]
    (record,) = records_in(lines)
    assert verify(record, lambda variants, options, players: keeper.table.rules) is None
    told = [(line["type"], line.get("by", "")) for line in record.lines]
    assert told[2:5] == [("take_over", ""), ("action", "bot"), ("action", "bot")]
    assert ("give_back", "") in told


async def test_a_killed_server_goes_on_with_the_bot_in_the_place_of_a_late_player(tmp_path: Path) -> None:
    database, clock = tmp_path / "games.db", ClockSettings(decision_ms=50, bank_ms=100, when_late=WHEN_LATE_BOT)
    async with server_process(database) as server, channel_to(server.address) as channel:
        client = Client.on(channel)
        table = await client.playing("anna", "ben", clock=clock)
        async with client.watch(table, after_sequence=0) as watching:
            await watching.until("seat_taken_over")
        server.signal(signal.SIGKILL)
        await server.ended()
    async with server_process(database) as server, channel_to(server.address) as channel:
        client = Client.on(channel)
        async with client.watch(table) as watching:
            before = (await watching.next()).snapshot
            await watching.until("discarded")
        shown = (await client.tables.GetTable(table_service_pb2.GetTableRequest(table=table))).table
        async with client.watch(table, "anna", after_sequence=before.sequence) as watching:
            events = await watching.until("seat_returned")
    assert shown.seats[0].stand_in == "easy"
    assert before.clock.bank_ms[0] == 0
    assert (events[-1][1], events[-1][2].seat) == ("seat_returned", 0)


async def test_a_restart_in_the_middle_of_a_bank_charges_nothing_of_the_open_decision(tmp_path: Path) -> None:
    database = str(tmp_path / "games.db")
    async with timed_tables(database=database) as tables:
        table = await tables.playing(bank_ms=60_000)
        await tables.later(table, 40)
        before = await tables.clock(table)
    async with timed_tables(database=database) as tables:
        after = await tables.clock(table)
        await tables.turn(table, "anna", seconds=25)
        charged = await tables.clock(table)
    assert (before.time_left_ms, after.time_left_ms) == (30_000, 70_000)
    assert list(after.bank_ms) == [60_000, 60_000]
    assert list(charged.bank_ms) == [30_000, 60_000]


@pytest.mark.parametrize("ended", ["left", "closed"])
async def test_a_game_that_ended_under_a_stand_in_stays_so_when_the_server_is_killed(
    tmp_path: Path, ended: str
) -> None:
    database, clock = tmp_path / "games.db", ClockSettings(decision_ms=50, when_late=WHEN_LATE_BOT)
    async with server_process(database) as server, channel_to(server.address) as channel:
        client = Client.on(channel)
        table = await client.playing("anna", "ben", clock=clock)
        async with client.watch(table, after_sequence=0) as watching:
            await watching.until("seat_taken_over")
        if ended == "left":
            leave = table_service_pb2.LeaveTableRequest(table=table)
            told = (await client.tables.LeaveTable(leave, metadata=bearer(secret_of("anna")))).table
        else:
            close = table_service_pb2.CloseTableRequest(table=table)
            told = (await client.tables.CloseTable(close, metadata=bearer(OWNER))).table
        server.signal(signal.SIGKILL)
        await server.ended()
    async with server_process(database) as server, channel_to(server.address) as channel:
        client = Client.on(channel)
        shown = (await client.tables.GetTable(table_service_pb2.GetTableRequest(table=table))).table
        with refused("GAME_OVER"):
            await client.act(table, "ben", "draw")
    assert (shown.result, shown.sequence) == (told.result, told.sequence)
    assert shown.result.termination == (
        result_pb2.TERMINATION_DISCONNECT if ended == "left" else result_pb2.TERMINATION_CANCELLED
    )
