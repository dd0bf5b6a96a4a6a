"""Time: what a decision may take, what it is charged, and what becomes of a seat that is late. The timer stands still
until a test moves it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.server.at_table import OWNER, Client, refused
from tests.server.running import bearer, channel_to, running_app
from tests.server.stepped_timer import SteppedTimer
from tests.server.test_play_stream import seat as seat_bot
from tests.server.test_play_stream import stream

from rummy500.v1 import event_pb2, match_pb2, match_service_pb2, result_pb2, rules_pb2, table_service_pb2, view_pb2
from rummy500.v1.match_service_pb2_grpc import MatchServiceStub
from rummy500.v1.table_pb2 import WHEN_LATE_BOT, WHEN_LATE_FORFEIT, BuiltinBot, ClockSettings
from rummy500_arena.verification import records_in, verify
from rummy500_engine.cards import card_text
from rummy500_server.app import App
from rummy500_server.clock import BEAT, LoopTimer
from rummy500_server.games import record_of
from rummy500_server.journal import MemoryJournal
from rummy500_server.keeper import Keeper
from rummy500_server.requests import RequestMemory
from rummy500_server.table import TableState
from rummy500_server.translate.cards import CARDS

TEN = 10_000


class Tables:
    """A server whose clocks go by a timer that stands still."""

    def __init__(self, app: App, client: Client, timer: SteppedTimer) -> None:
        self.app, self.client, self.timer = app, client, timer

    async def playing(self, **clock: Any) -> str:
        """A table at which anna is to play, and ben."""
        return await self.client.playing("anna", "ben", clock=ClockSettings(**{"decision_ms": TEN, **clock}))

    async def keeper(self, table: str) -> Keeper:
        return await self.app.lobby.table(table)

    async def clock(self, table: str, name: str = "") -> view_pb2.ClockState:
        async with self.client.watch(table, name) as watching:
            return (await watching.next()).snapshot.clock

    async def later(self, table: str, seconds: float) -> None:
        """So much time goes by, and what the clock does then is durable."""
        keeper = await self.keeper(table)
        self.timer.advance(seconds)
        await keeper.scribe.durable()
        await until(lambda: keeper.scribe.is_durable)

    async def events(self, table: str) -> list[Any]:
        """All events so far, as (kind, event)."""
        async with self.client.watch(table, after_sequence=0) as watching:
            seen = (await watching.next()).events.events
        return [(event.WhichOneof("kind"), getattr(event, event.WhichOneof("kind") or "")) for event in seen]

    async def turn(self, table: str, name: str, *, seconds: float = 0.0) -> None:
        """A turn that draws and throws; each of its two decisions takes so long."""
        self.timer.advance(seconds)
        await self.client.act(table, name, "draw")
        self.timer.advance(seconds)
        hand = (await self.client.view(table, name)).legal_actions.discards
        await self.client.act(table, name, f"discard {_card(hand[0])}")


def _card(number: int) -> str:
    return card_text(CARDS[number])


async def until(holds: Callable[[], bool]) -> None:
    """Lets the server's loop go on until it is so."""
    async with asyncio.timeout(10):
        while not holds():
            await asyncio.sleep(0)


@pytest.fixture
async def tables() -> AsyncIterator[Tables]:
    timer = SteppedTimer()
    async with running_app(timer=timer) as app, channel_to(app.address) as channel:
        yield Tables(app, Client.on(channel), timer)


@pytest.fixture(scope="module")
async def app() -> AsyncIterator[App]:
    async with running_app() as app:
        yield app


@pytest.fixture(scope="module")
async def shared(app: App) -> AsyncIterator[Client]:
    async with channel_to(app.address) as channel:
        yield Client.on(channel)


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
    hand = (await tables.client.view(table, "anna")).legal_actions.discards
    await tables.client.act(table, "anna", f"discard {_card(hand[0])}")
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
    assert not any(seat.finished_turns for seat in keeper.table.seats)
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
        keeper.shown(0)
        tables.timer.advance(3)
        await tables.client.act(table, "anna", "draw")
    assert player.charged_ms == 3_000


async def test_a_player_that_does_not_read_gains_a_second_at_most(tables: Tables) -> None:
    table = await tables.playing()
    keeper = await tables.keeper(table)
    player = keeper.players[0]
    player.is_shown = False
    tables.timer.advance(9)
    keeper.shown(0)
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
    assert keeper.table.seats[0].finished_turns == 0
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
    assert [seat.finished_turns for seat in keeper.table.seats] == [6, 6]
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
    timer = SteppedTimer()
    async with running_app(timer=timer, ceiling_minutes=2) as app, channel_to(app.address) as channel:
        tables = Tables(app, Client.on(channel), timer)
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
    assert (keeper.table.sequence, keeper.table.seats[0].finished_turns) == (sequence, 0)


async def test_after_a_restart_the_banks_are_what_they_were_and_the_open_decision_has_all_its_time(
    tmp_path: Path,
) -> None:
    timer, database = SteppedTimer(), str(tmp_path / "games.db")
    async with running_app(timer=timer, database=database) as app, channel_to(app.address) as channel:
        tables = Tables(app, Client.on(channel), timer)
        table = await tables.playing(bank_ms=60_000, increment_ms=1_000, when_late=WHEN_LATE_BOT)
        await tables.turn(table, "anna", seconds=12)
        await tables.later(table, 71.1)
        keeper = await tables.keeper(table)
        await until(lambda: keeper.table.seats[1].stand_in != "" and keeper.scribe.is_durable)
        await until(lambda: keeper.table.to_act() == (0,) and keeper.scribe.is_durable)
        timer.advance(9)
        before = await tables.clock(table)
    async with running_app(timer=SteppedTimer(), database=database) as app, channel_to(app.address) as channel:
        tables = Tables(app, Client.on(channel), timer)
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


# --- what contradicts itself


@pytest.mark.parametrize(
    ("clock", "field"),
    [
        ({"decision_ms": 49}, "decision_ms"),
        ({"decision_ms": 86_400_001}, "decision_ms"),
        ({"bank_ms": 86_400_001}, "bank_ms"),
        ({"increment_ms": 86_400_001}, "increment_ms"),
        ({"startup_ms": 86_400_001}, "startup_ms"),
        ({"grace_ms": 86_400_001}, "grace_ms"),
        ({"bank_ms": 5_000, "most_bank_ms": 4_999}, "most_bank_ms"),
        ({"most_bank_ms": 4_999}, "most_bank_ms"),
        ({"when_late": 9}, "when_late"),
        ({"stand_in": BuiltinBot(name="easy")}, "stand_in"),
        ({"when_late": WHEN_LATE_BOT, "stand_in": BuiltinBot(name="")}, "stand_in.name"),
        ({"forfeit_after": 1_001}, "forfeit_after"),
        ({"untimed": True, "decision_ms": 10_000}, "untimed"),
        ({"untimed": True, "grace_ms": 0}, "untimed"),
    ],
)
async def test_a_clock_that_cannot_be_is_refused_and_the_field_named(
    shared: Client, clock: dict[str, Any], field: str
) -> None:
    with refused("BAD_REQUEST") as said:
        await shared.create(2, clock=ClockSettings(**clock))
    assert said.fields == [f"clock.{field}"]


@pytest.mark.parametrize("clock", [{"untimed": True}, {"when_late": WHEN_LATE_BOT}])
async def test_in_a_match_every_bot_plays_for_itself_and_in_time(app: App, clock: dict[str, Any]) -> None:
    bots = [match_pb2.MatchBot(name=name, builtin=BuiltinBot(name="easy")) for name in ("one", "two")]
    plan = match_pb2.MatchPlan(bots=bots, deals=1, clock=ClockSettings(**clock))
    async with channel_to(app.address) as channel:
        with refused("BAD_REQUEST") as said:
            request = match_service_pb2.CreateMatchRequest(plan=plan)
            await MatchServiceStub(channel).CreateMatch(request, metadata=bearer(OWNER))
    assert said.fields == [f"plan.clock.{next(iter(clock))}"]


async def test_a_bot_that_there_is_not_cannot_stand_in(shared: Client) -> None:
    with refused("NO_SUCH_BOT"):
        await shared.create(2, clock=ClockSettings(when_late=WHEN_LATE_BOT, stand_in=BuiltinBot(name="nobody")))


async def test_the_server_says_what_clock_a_table_has_that_names_none() -> None:
    usual: dict[str, Any] = {
        "bank_ms": 7_000,
        "increment_ms": 100,
        "startup_ms": 200,
        "grace_ms": 300,
        "when_late": "bot",
    }
    async with running_app(**usual, most_bank_ms=9_000, forfeit_after=5) as app, channel_to(app.address) as channel:
        client = Client.on(channel)
        table = await client.create(2, clock=ClockSettings(grace_ms=0))
        shown = await client.tables.GetTable(table_service_pb2.GetTableRequest(table=table))
    assert shown.table.clock == ClockSettings(
        decision_ms=10_000,
        bank_ms=7_000,
        increment_ms=100,
        most_bank_ms=9_000,
        startup_ms=200,
        grace_ms=0,
        when_late=WHEN_LATE_BOT,
        stand_in=BuiltinBot(name="easy"),
        forfeit_after=5,
    )
