"""Calling "Rummy!" over the wire (RULES 3): how long a window lasts, and that nothing tells who could call."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.server.at_table import OWNER, SECONDS, Client, refused, secret_of
from tests.server.running import bearer, channel_to, running_app, server_process
from tests.server.stepped_timer import SteppedTimer
from tests.server.test_play_stream import stream

from rummy500.v1 import action_pb2, card_pb2, rules_pb2, table_pb2, table_service_pb2, view_pb2
from rummy500.v1 import play_service_pb2 as pb
from rummy500_arena.verification import records_in
from rummy500_server.app import App
from rummy500_server.games import record_of
from rummy500_server.keeper import Keeper
from rummy500_server.window import LEAST_SECONDS

SHORT_OF_IT = LEAST_SECONDS - 0.1


class Tables:
    """A server whose tables go by a timer that stands still."""

    def __init__(self, app: App, client: Client, timer: SteppedTimer) -> None:
        self.app, self.client, self.timer = app, client, timer

    async def open_window(self, **options: Any) -> str:
        """A table at which anna has just thrown a card that cleo can lay off on m1, if she says so in time."""
        table = await self.client.at_position(**window_position(**options))
        await self.client.act(table, "anna", "discard TD")
        return table

    async def keeper(self, table: str) -> Keeper:
        return await self.app.lobby.table(table)

    async def begin(self, table: str, name: str, line: str) -> asyncio.Task[pb.ActResponse]:
        """An answer that has arrived and waits."""
        keeper, seat = await self.keeper(table), "abcd".index(name[0])
        before = len(keeper.window.held_by(seat))
        task = asyncio.create_task(self.client.act(table, name, line))
        await until(lambda: len(keeper.window.held_by(seat)) > before or task.done())
        return task


def window_position(**options: Any) -> dict[str, Any]:
    """anna is about to throw TD, which fits m1."""
    flat = {f"call-rummy.{name}": value for name, value in options.items()}
    return {
        "rules": {"variants": ["call-rummy"], "options": flat},
        "players": ["anna", "ben", "cleo", "dora"],
        "hands": {"anna": "TD 2H", "ben": "4S 5D", "cleo": "KC 3H", "dora": "2C 2S"},
        "melds": ["7D 8D 9D by dora"],
        "discards": "5H",
        "stock": "3C 4C 6C 8C",
        "turn": "anna",
        "phase": "play",
    }


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(SECONDS):
        while not holds():
            await asyncio.sleep(0)


@pytest.fixture
async def tables() -> AsyncIterator[Tables]:
    timer = SteppedTimer()
    async with running_app(timer=timer) as app, channel_to(app.address) as channel:
        yield Tables(app, Client.on(channel), timer)


async def events_of(client: Client, table: str, name: str = "") -> list[Any]:
    async with client.watch(table, name, after_sequence=0) as watching:
        return list((await watching.next()).events.events)


def kinds(events: Iterable[Any]) -> list[str]:
    return [event.WhichOneof("kind") for event in events]


async def test_with_people_a_window_lasts_a_while_whoever_has_answered(tables: Tables) -> None:
    table = await tables.open_window()
    keeper = await tables.keeper(table)
    answers = [await tables.begin(table, name, "pass") for name in ("ben", "cleo", "dora")]
    tables.timer.advance(SHORT_OF_IT)
    assert not any(answer.done() for answer in answers)
    assert keeper.table.game.round is not None
    assert keeper.table.game.round.poll is not None

    tables.timer.advance(0.1)

    told = [await answer for answer in answers]
    assert {(each.applied, each.stop) for each in told} == {(1, pb.ACT_STOP_ALL_APPLIED)}
    assert kinds(await events_of(tables.client, table))[-2:] == ["call_window_opened", "call_window_closed"]


async def test_a_winning_call_is_told_with_what_it_took_and_laid(tables: Tables) -> None:
    table = await tables.open_window()
    call = await tables.begin(table, "cleo", "call TD m1")
    passed = await tables.begin(table, "ben", "pass")
    tables.timer.advance(LEAST_SECONDS)

    assert (await passed).applied == (await call).applied == 1
    events = await events_of(tables.client, table)
    called = next(event.rummy_called for event in events if event.HasField("rummy_called"))
    assert (called.seat, called.card, called.place) == (2, card_pb2.CARD_TD, 2)
    assert kinds(events)[-2:] == ["took_from_pile", "laid_off"]
    view = await tables.client.view(table, "cleo")
    assert (view.turn, view.phase) == (2, view_pb2.PHASE_PLAY)


async def test_whoever_answers_first_the_window_tells_the_others_nothing(tables: Tables) -> None:
    """Answers move no sequence number and reach nobody else, whether they call or pass, and in whatever order."""
    transcripts = []
    for line in ("call TD m1", "pass"):
        table = await tables.open_window()
        async with contextlib.AsyncExitStack() as stack:
            watching = [await stack.enter_async_context(tables.client.watch(table, n)) for n in ("dora", "anna", "")]
            before = [(await each.next()).snapshot for each in watching]
            answer = await tables.begin(table, "cleo", line)
            tables.timer.advance(LEAST_SECONDS)
            await answer
            after = [await tables.client.view(table, name) for name in ("dora", "anna", "")]
            silent = [asyncio.create_task(each.next()) for each in watching]
            await tables.client.view(table)
            assert not any(task.done() for task in silent)
            for task in silent:
                task.cancel()
        for view in (*before, *after):
            view.ClearField("clock")
            view.table = ""
        assert before == after
        transcripts.append([view.SerializeToString(deterministic=True) for view in after])
    assert transcripts[0] == transcripts[1]


async def test_a_seat_that_has_answered_is_not_asked_again(tables: Tables) -> None:
    table = await tables.open_window()
    first = await tables.begin(table, "cleo", "pass")
    for _ in range(2):
        assert (await tables.client.view(table, "cleo")).legal_actions == action_pb2.LegalActions(complete=True)
        assert list((await tables.client.view(table, "cleo")).waiting) == [1, 2, 3]
        with refused("NOT_YOUR_TURN"):
            await tables.client.act(table, "cleo", "pass")
        with refused("CALL_NOT_VALID"):
            await tables.client.act(table, "cleo", "call TD m1")
        tables.timer.advance(LEAST_SECONDS)
        await first


async def test_the_same_request_waits_for_the_same_answer(tables: Tables) -> None:
    table = await tables.open_window()
    keeper = await tables.keeper(table)
    tasks = [asyncio.create_task(tables.client.act(table, "ben", "pass", request_id="r")) for _ in range(2)]
    await until(lambda: bool(keeper.window.held_by(1)))
    tables.timer.advance(LEAST_SECONDS)
    first, again = [await task for task in tasks]
    assert first == again


async def test_what_is_refused_is_refused_at_once(tables: Tables) -> None:
    table = await tables.open_window()
    for name, line, reason in (
        ("ben", "draw", "WRONG_PHASE"),
        ("ben", "call TD m2", "CALL_NOT_VALID"),
        ("anna", "call TD m1", "CALL_NOT_VALID"),
        ("anna", "pass", "NOT_YOUR_TURN"),
        ("ben", "sing", "UNKNOWN_ACTION"),
    ):
        with refused(reason):
            await tables.client.act(table, name, line)


async def test_silence_is_a_pass_and_no_timeout(tables: Tables) -> None:
    table = await tables.open_window(window_seconds=7)
    view = await tables.client.view(table, "cleo")
    async with tables.client.watch(table, "cleo") as watching:
        clock = (await watching.next()).snapshot.clock
        assert clock.time_left_ms == 7_000
        tables.timer.advance(6.9)
        assert (await tables.client.view(table, "cleo")) == view
        tables.timer.advance(0.1)
        (closed,) = await watching.until("call_window_closed")
    assert not closed[2].HasField("caller")
    keeper = await tables.keeper(table)
    assert keeper.table.finished_turns == (0, 0, 0, 0)
    assert "clock_acted" not in kinds(await events_of(tables.client, table))


async def test_a_short_window_still_hides_who_could_call(tables: Tables) -> None:
    table = await tables.open_window(window_seconds=1)
    keeper = await tables.keeper(table)
    answer = await tables.begin(table, "cleo", "call TD m1")
    tables.timer.advance(SHORT_OF_IT)
    assert keeper.table.game.round is not None
    assert keeper.table.game.round.poll is not None
    tables.timer.advance(0.1)
    assert (await answer).applied == 1
    tables.timer.advance(0)
    assert keeper.table.game.round.poll is None
    assert keeper.table.game.round.turn == 2


async def test_nearest_caller_wins_however_the_answers_arrived(tables: Tables) -> None:
    table = await tables.open_window()
    answers = [await tables.begin(table, name, "call TD m1") for name in ("dora", "cleo", "ben")]
    tables.timer.advance(LEAST_SECONDS)
    assert [(await answer).applied for answer in answers] == [1, 1, 1]
    assert (await tables.client.view(table)).turn == 1


async def test_first_received_the_first_call_wins_and_the_next_seat_may_draw(tables: Tables) -> None:
    table = await tables.open_window(priority="first_received")
    legal = (await tables.client.view(table, "ben")).legal_actions
    assert legal.can_draw
    assert legal.can_pass
    assert legal.calls
    first = await tables.begin(table, "dora", "call TD m1")
    second = await tables.begin(table, "cleo", "call TD m1")
    drawn = await tables.begin(table, "ben", "draw")
    tables.timer.advance(LEAST_SECONDS)
    assert (await first).applied == 1
    with refused("NO_CALL_OPEN"):
        await second
    with refused("NOT_YOUR_TURN"):
        await drawn
    assert (await tables.client.view(table)).turn == 3


async def test_first_received_a_draw_closes_the_window_also_after_a_pass(tables: Tables) -> None:
    table = await tables.open_window(priority="first_received")
    passed = await tables.begin(table, "ben", "pass")
    open_still = (await tables.client.view(table, "ben")).legal_actions
    assert (open_still.can_draw, open_still.can_pass, len(open_still.calls)) == (True, False, 0)
    drawn = await tables.begin(table, "ben", "draw")
    tables.timer.advance(LEAST_SECONDS)
    assert (await passed).applied == (await drawn).applied == 1
    assert kinds(await events_of(tables.client, table))[-2:] == ["call_window_closed", "drew_from_stock"]
    with refused("NO_CALL_OPEN"):
        await tables.client.act(table, "cleo", "call TD m1")


async def test_first_received_silence_of_the_next_seat_is_no_draw(tables: Tables) -> None:
    table = await tables.open_window(priority="first_received")
    async with tables.client.watch(table) as watching:
        await watching.next()
        tables.timer.advance(5)
        events = await watching.until("call_window_closed")
    assert [kind for _, kind, _ in events] == ["call_window_closed"]


async def test_a_false_call_that_costs_points_is_held_back_and_told_then(tables: Tables) -> None:
    table = await tables.open_window(false_call_points=10)
    before = (await tables.client.view(table)).sequence
    false = await tables.begin(table, "ben", "call TD m2")
    assert (await tables.client.view(table)).sequence == before
    tables.timer.advance(LEAST_SECONDS)
    with refused("CALL_NOT_VALID"):
        await false
    told = await events_of(tables.client, table)
    assert (told[-1].sequence, told[-1].variant_part.name) == (before + 1, "false_call")
    with refused("CALL_NOT_VALID"):
        await tables.client.act(table, "ben", "call TD m1")
    assert (await tables.client.act(table, "cleo", "call TD m1")).applied == 1


async def test_a_closed_table_answers_whoever_waits(tables: Tables) -> None:
    table = await tables.open_window()
    answer = await tables.begin(table, "cleo", "call TD m1")
    await tables.client.tables.CloseTable(table_service_pb2.CloseTableRequest(table=table), metadata=bearer(OWNER))
    with refused("GAME_OVER"):
        await answer


async def test_a_false_call_outlives_a_kill(tmp_path: Path) -> None:
    """Journal, fold, record: the one refusal that leaves a trace leaves it everywhere."""
    database = tmp_path / "games.db"
    async with server_process(database) as server, channel_to(server.address) as channel:
        client = Client.on(channel)
        table = await client.at_position(**window_position(false_call_points=10))
        await client.act(table, "anna", "discard TD")
        with refused("CALL_NOT_VALID"):
            await client.act(table, "ben", "call TD m2")
        before = await client.view(table, "ben")
        server.process.kill()
        await server.ended()
    async with running_app(database=str(database)) as app, channel_to(app.address) as channel:
        client = Client.on(channel)
        assert await client.view(table, "ben") == before
        with refused("CALL_NOT_VALID"):
            await client.act(table, "ben", "call TD m1")
        await client.act(table, "cleo", "call TD m1", "discard 3H")
        await client.tables.CloseTable(table_service_pb2.CloseTableRequest(table=table), metadata=bearer(OWNER))
        text = record_of((await app.lobby.table(table)).table)
    (record,) = records_in(text.splitlines())
    refusals = [line for line in record.lines if line.get("refused")]
    assert [(line["seat"], line["refused"]) for line in refusals] == [(1, "CALL_NOT_VALID")]


CALLS = rules_pb2.RulesChoice(variants=["call-rummy"], options=[rules_pb2.Option(name="target", value="100")])


async def add_bots(client: Client, table: str, count: int) -> None:
    for _ in range(count):
        request = table_service_pb2.AddBotRequest(table=table, builtin=table_pb2.BuiltinBot(name="easy"))
        await client.tables.AddBot(request, metadata=bearer(OWNER))


async def test_between_bots_a_window_takes_no_time(tables: Tables) -> None:
    """Three easy bots play to the end, call what they can, and the timer never moves."""
    table = await tables.client.create(3, rules=CALLS, start_when_full=True)
    await add_bots(tables.client, table, 3)
    async with tables.client.watch(table, after_sequence=0) as watching:
        told = [kind for _, kind, _ in await watching.until("game_won")]
    assert told.count("call_window_opened") == told.count("call_window_closed") + told.count("rummy_called")
    assert "rummy_called" in told


async def test_bots_at_a_persons_table_answer_when_it_tells_nothing(tables: Tables) -> None:
    """The same first message, and the window as long, whether a bot would call or not."""
    table = await tables.client.create(3, rules=CALLS_WITH_HAND, start_when_full=True)
    await tables.client.join(table, "anna")
    await add_bots(tables.client, table, 2)
    keeper = await tables.keeper(table)
    await tables.client.act(table, "anna", "draw")
    card = (await tables.client.view(table, "anna")).legal_actions.discards[-1]
    discard = action_pb2.Action(discard=action_pb2.Discard(card=card))
    request = pb.ActRequest(table=table, actions=[discard])
    await tables.client.plays.Act(request, metadata=bearer(secret_of("anna")))
    tables.timer.advance(SHORT_OF_IT)
    assert keeper.table.game.round is not None
    assert keeper.table.game.round.poll is not None
    poll = keeper.table.game.round.poll
    assert not poll.answers
    tables.timer.advance(0.1)
    assert keeper.table.game.round.poll is not poll


CALLS_WITH_HAND = rules_pb2.RulesChoice(
    variants=["call-rummy"], options=[rules_pb2.Option(name="call-rummy.scope", value="with_hand")]
)


async def test_a_bot_on_a_stream_is_asked_for_its_call_once(tables: Tables) -> None:
    table = await tables.open_window()
    async with stream(tables.client, "cleo") as cleo, stream(tables.client, "ben") as ben:
        asked, other = await cleo.request(), await ben.request()
        assert asked.sequence == other.sequence
        assert [call.card for call in asked.view.legal_actions.calls] == [card_pb2.CARD_TD]
        assert asked.view.legal_actions.can_pass
        keeper = await tables.keeper(table)
        await cleo.answer(asked, "call TD m1")
        await until(lambda: bool(keeper.window.held_by(2)))
        await cleo.answer(asked, "pass")
        await cleo.next()
        assert cleo.seen.refusals[-1].refusal.code == "NOT_YOUR_TURN"
        await ben.answer(other, "pass")
        await until(lambda: bool(keeper.window.held_by(1)))
        tables.timer.advance(LEAST_SECONDS)
        turn = await cleo.request()
    assert len(cleo.seen.decision_requests) == 2
    assert "rummy_called" in kinds(turn.events)
    assert turn.view.phase == view_pb2.PHASE_PLAY


async def test_a_bot_on_a_stream_may_draw_meanwhile_and_a_false_call_is_told_it(tables: Tables) -> None:
    table = await tables.open_window(priority="first_received", false_call_points=10)
    async with stream(tables.client, "cleo") as cleo, stream(tables.client, "ben") as ben:
        asked, other = await ben.request(), await cleo.request()
        legal = asked.view.legal_actions
        assert (legal.can_draw, legal.can_pass, len(legal.calls)) == (True, True, 1)
        keeper = await tables.keeper(table)
        await cleo.answer(other, "call TD m2")
        await until(lambda: bool(keeper.window.held_by(2)))
        await ben.answer(asked, "draw")
        await until(lambda: bool(keeper.window.held_by(1)))
        tables.timer.advance(LEAST_SECONDS)
        turn = await ben.request()
        while not cleo.seen.refusals:
            await cleo.next()
    assert cleo.seen.refusals[0].refusal.code == "CALL_NOT_VALID"
    assert kinds(turn.events)[-3:] == ["variant_part", "call_window_closed", "drew_from_stock"]
