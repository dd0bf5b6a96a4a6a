"""The clock: no table waits for ever."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.server.at_table import OWNER, Client, refused
from tests.server.running import bearer, channel_to, running_app
from tests.server.stepped_timer import SteppedTimer

from rummy500.v1 import event_pb2, result_pb2, table_pb2, table_service_pb2
from rummy500_engine.cards import card_text
from rummy500_server.app import App
from rummy500_server.table import TableState
from rummy500_server.translate.cards import CARDS

SHORT = table_pb2.ClockSettings(decision_ms=50)


@pytest.fixture(scope="module")
async def app() -> AsyncIterator[App]:
    async with running_app() as app:
        yield app


@pytest.fixture(scope="module")
async def client(app: App) -> AsyncIterator[Client]:
    async with channel_to(app.address) as channel:
        yield Client.on(channel)


async def test_a_late_seat_has_its_turn_finished_for_it(client: Client) -> None:
    table = await client.playing("anna", "ben", clock=SHORT)
    async with client.watch(table, "anna", after_sequence=0) as anna, client.watch(table, "ben") as ben:
        await ben.next()
        events = await anna.until("discarded")
    kinds = [kind for _, kind, _ in events[-3:]]
    assert kinds == ["clock_acted", "drew_from_stock", "discarded"]
    acted = events[-3][2]
    assert (acted.seat, acted.reason, acted.finished_turns) == (0, event_pb2.CLOCK_REASON_TIMEOUT, 1)


async def test_three_such_turns_forfeit_the_game(client: Client) -> None:
    table = await client.playing("anna", "ben", clock=SHORT)
    async with client.watch(table, "anna", after_sequence=0) as watching:
        events = await watching.until("game_won")
        over = (await watching.next()).game_over
    turns = [event.finished_turns for _, kind, event in events if kind == "clock_acted" and event.seat == 0]
    assert turns == [1, 2, 3]
    forfeited = next(event for _, kind, event in events if kind == "seat_forfeited")
    assert (forfeited.seat, forfeited.termination) == (0, result_pb2.TERMINATION_TIMEOUT)
    assert over.result.termination == result_pb2.TERMINATION_TIMEOUT
    assert (over.result.at_fault, list(over.result.winners)) == (0, [1])
    assert over.result.overrun_ms > 0


async def test_a_player_who_is_gone_is_told_so(client: Client) -> None:
    table = await client.playing("anna", "ben", clock=SHORT)
    async with client.watch(table, after_sequence=0) as watching:
        events = await watching.until("game_won")
    assert {event.reason for _, kind, event in events if kind == "clock_acted"} == {event_pb2.CLOCK_REASON_DISCONNECT}
    assert events[-1][2].result.termination == result_pb2.TERMINATION_DISCONNECT


async def test_five_refusals_in_one_turn_finish_it(client: Client) -> None:
    table = await client.playing("anna", "ben")
    for _ in range(4):
        with refused("WRONG_PHASE"):
            await client.act(table, "anna", "discard KS")
    assert (await client.view(table)).turn == 0
    with refused("WRONG_PHASE"):
        await client.act(table, "anna", "discard KS")
    assert (await client.view(table)).turn == 1
    async with client.watch(table, after_sequence=0) as watching:
        events = await watching.until("discarded")
    acted = next(event for _, kind, event in events if kind == "clock_acted")
    assert acted.reason == event_pb2.CLOCK_REASON_REFUSALS


async def test_refusals_count_in_one_turn_only(client: Client) -> None:
    table = await client.playing("anna", "ben")
    for _ in range(2):
        for name in ("anna", "ben"):
            for _ in range(4):
                with refused("WRONG_PHASE"):
                    await client.act(table, name, "discard KS")
            await client.act(table, name, "draw")
            hand = (await client.view(table, name)).legal_actions.discards
            await client.act(table, name, f"discard {_card(hand[0])}")
    async with client.watch(table, after_sequence=0) as watching:
        events = (await watching.next()).events.events
    assert not any(event.HasField("clock_acted") for event in events)


def _card(number: int) -> str:
    return card_text(CARDS[number])


async def test_too_many_refusals_forfeit_as_illegal_actions(client: Client) -> None:
    table = await client.playing("anna", "ben")
    for round in range(3):
        for _ in range(5):
            with refused("WRONG_PHASE"):
                await client.act(table, "anna", "discard KS")
        if round < 2:
            await client.act(table, "ben", "draw")
            hand = (await client.view(table, "ben")).legal_actions.discards
            await client.act(table, "ben", f"discard {_card(hand[0])}")
    async with client.watch(table, after_sequence=0) as watching:
        events = await watching.until("game_won")
    result = events[-1][2].result
    assert (result.termination, result.at_fault) == (result_pb2.TERMINATION_ILLEGAL_ACTION, 0)


async def test_the_others_play_on_when_one_of_three_forfeits(app: App, client: Client) -> None:
    """A seat that has forfeited is finished at once; the game ends by the rules, and the seat cannot win it."""
    table = await client.create(3, start_when_full=True)
    await client.join(table, "anna")
    for bot in ("easy", "easy"):
        request = table_service_pb2.AddBotRequest(table=table, builtin=table_pb2.BuiltinBot(name=bot))
        await client.tables.AddBot(request, metadata=bearer(OWNER))
    async with client.watch(table, after_sequence=0) as watching:
        for _ in range(3):
            await _my_turn(client, table)
            for _ in range(5):
                with refused("WRONG_PHASE"):
                    await client.act(table, "anna", "discard KS")
        events = await watching.until("game_won")
    result = events[-1][2].result
    assert (result.termination, result.at_fault) == (result_pb2.TERMINATION_ILLEGAL_ACTION, 0)
    assert 0 not in result.winners
    assert max(result.totals[1:]) == result.totals[result.winners[0]]
    clocked = [sequence for sequence, kind, _ in events if kind == "clock_acted"]
    assert len(clocked) == 3
    with refused("GAME_OVER"):
        await client.act(table, "anna", "draw")


async def _my_turn(client: Client, table: str) -> None:
    """Waits until anna is to draw."""
    async with client.watch(table, "anna", with_views=True) as watching:
        response = await watching.next()
        view = response.snapshot
        while not (view.turn == 0 and view.legal_actions.can_draw):
            view = (await watching.next()).events.view


async def test_a_table_that_does_not_start_is_closed() -> None:
    timer = SteppedTimer()
    async with running_app(timer=timer, open_table_minutes=60) as app, channel_to(app.address) as channel:
        client = Client.on(channel)
        table = await client.create(2)
        async with client.watch(table) as watching:
            await watching.next()
            timer.advance(3_540)
            assert (await app.lobby.table(table)).table.state is TableState.OPEN
            timer.advance(61)
            (closed,) = await watching.until("table_closed")
    assert "did not start within 60 minutes" in closed[2].sentence
