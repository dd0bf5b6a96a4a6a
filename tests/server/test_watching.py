"""PlayService.Watch: what each viewer sees, from the start or from where it left off."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.server.at_table import OWNER, Client, position, refused
from tests.server.running import bearer, channel_to, running_app

from rummy500.v1 import card_pb2, event_pb2, table_service_pb2, view_pb2
from rummy500_server.finishing import finishing_action
from rummy500_server.status import Failure, Reason
from rummy500_server.watcher import Watcher


@pytest.fixture(scope="module")
async def client() -> AsyncIterator[Client]:
    async with running_app() as app, channel_to(app.address) as channel:
        yield Client.on(channel)


async def test_a_watcher_begins_with_a_view(client: Client) -> None:
    table = await client.playing("anna", "ben")
    async with client.watch(table, "anna") as watching:
        view = (await watching.next()).snapshot
    assert view.seat == 0
    assert len(view.hand) == 13
    assert list(view.hand) == sorted(view.hand)
    assert list(view.hand_counts) == [13, 13]
    assert view.clock.time_left_ms > 9_000
    assert view.phase == view_pb2.PHASE_DRAW
    assert list(view.waiting) == [0]


async def test_events_follow_with_the_view_after_them(client: Client) -> None:
    table = await client.playing("anna", "ben")
    async with client.watch(table, "ben", with_views=True) as watching:
        seen = (await watching.next()).snapshot.sequence
        drawn = await client.act(table, "anna", "draw")
        news = (await watching.next()).events
    assert [event.sequence for event in news.events] == [seen + 1] == [drawn.sequence]
    assert news.view.sequence == drawn.sequence
    assert list(news.view.hand_counts) == [14, 13]


async def test_a_watcher_goes_on_where_it_left_off(client: Client) -> None:
    table = await client.playing("anna", "ben")
    drawn = await client.act(table, "anna", "draw")
    async with client.watch(table, "anna", after_sequence=drawn.sequence - 1) as watching:
        events = (await watching.next()).events.events
    assert [event.sequence for event in events] == [drawn.sequence]
    assert events[0] == drawn.events[0]
    async with client.watch(table, "anna", after_sequence=drawn.sequence) as watching:
        assert not (await watching.next()).events.events
    async with client.watch(table, "anna", after_sequence=drawn.sequence + 100) as watching:
        assert (await watching.next()).snapshot.sequence == drawn.sequence


async def test_the_events_of_all_viewers_have_the_same_numbers(client: Client) -> None:
    table = await client.playing("anna", "ben")
    drawn = await client.act(table, "anna", "draw")
    seen = {}
    for name in ("anna", "ben", ""):
        async with client.watch(table, name, after_sequence=0) as watching:
            seen[name] = (await watching.next()).events.events
    numbers = {tuple((event.sequence, event.WhichOneof("kind")) for event in events) for events in seen.values()}
    assert len(numbers) == 1
    assert [number for number, _ in numbers.pop()] == list(range(1, drawn.sequence + 1))


async def test_a_card_drawn_is_shown_to_its_seat_only(client: Client) -> None:
    table = await client.playing("anna", "ben")
    drawn = await client.act(table, "anna", "draw")
    assert drawn.events[0].drew_from_stock.card != card_pb2.CARD_UNSPECIFIED
    for name in ("ben", ""):
        async with client.watch(table, name, after_sequence=0) as watching:
            events = (await watching.next()).events.events
        assert events[-1].drew_from_stock.card == card_pb2.CARD_UNSPECIFIED
        deal = next(event.round_dealt for event in events if event.WhichOneof("kind") == "round_dealt")
        assert len(deal.hand) == (13 if name else 0)
        own = (await client.view(table, name)).hand
        assert set(deal.hand) == set(own)


async def test_a_spectator_has_no_hand_and_no_actions(client: Client) -> None:
    table = await client.playing("anna", "ben")
    for name in ("", "stranger"):
        view = await client.view(table, name)
        assert not view.HasField("seat")
        assert not view.hand
        assert not view.HasField("legal_actions")
        assert list(view.hand_counts) == [13, 13]


async def test_the_stream_ends_with_the_game(client: Client) -> None:
    table = await client.playing("anna", "ben")
    async with client.watch(table, "anna") as watching:
        await watching.next()
        close = table_service_pb2.CloseTableRequest(table=table)
        await client.tables.CloseTable(close, metadata=bearer(OWNER))
        events = await watching.until("table_closed")
        over = (await watching.next()).game_over
        with pytest.raises(EOFError, match="OK"):
            await watching.next()
    assert over.table == table
    assert over.sequence == events[-1][0]
    async with client.watch(table, after_sequence=over.sequence) as watching:
        assert not (await watching.next()).events.events
        assert (await watching.next()).game_over == over


async def test_a_table_is_watched_from_before_its_start(client: Client) -> None:
    table = await client.create(2, start_when_full=True)
    async with client.watch(table, "anna") as watching:
        view = (await watching.next()).snapshot
        assert (view.round, view.phase) == (0, view_pb2.PHASE_UNSPECIFIED)
        await client.join(table, "anna")
        await client.join(table, "ben")
        events = await watching.until("round_dealt")
    assert [number for number, _, _ in events] == list(range(view.sequence + 1, view.sequence + 1 + len(events)))
    assert [kind for _, kind, _ in events if kind != "deal_committed"] == ["seat_joined", "seat_joined", "round_dealt"]


async def test_an_unknown_table_cannot_be_watched(client: Client) -> None:
    with refused("NO_SUCH_TABLE"):
        async with client.watch("t-nowhere") as watching:
            await watching.call.read()


async def test_a_reader_that_is_too_slow_is_told_where_to_go_on() -> None:
    """Nothing is kept for who does not take what it was sent: when it is too far behind, its stream ends."""
    async with running_app() as app, channel_to(app.address) as channel:
        table = await Client.on(channel).playing("anna", "ben")
        keeper = await app.lobby.table(table)
        responses = Watcher(keeper, None, after=0, with_views=False, most_behind=16).responses()
        seen = [event.sequence for event in (await anext(responses)).events.events]
        for _ in range(20):
            (seat,) = keeper.table.to_act()
            keeper.act(seat, [finishing_action(keeper.table.game, seat)])
            await keeper.scribe.durable()
        with pytest.raises(Failure) as failed:
            await anext(responses)
        assert app.tally.slow_readers == {"PlayService/Watch": 1}
    assert failed.value.reason is Reason.SLOW_READER
    assert seen == list(range(1, int(failed.value.metadata["resume_after"]) + 1))


async def test_a_reader_that_is_a_little_behind_gets_all_at_once() -> None:
    async with running_app() as app, channel_to(app.address) as channel:
        table = await Client.on(channel).playing("anna", "ben")
        keeper = await app.lobby.table(table)
        responses = Watcher(keeper, None, after=0, with_views=True, most_behind=16).responses()
        begun = (await anext(responses)).events.view.sequence
        for _ in range(10):
            (seat,) = keeper.table.to_act()
            keeper.act(seat, [finishing_action(keeper.table.game, seat)])
            await keeper.scribe.durable()
        news = (await anext(responses)).events
        await responses.aclose()
    assert [event.sequence for event in news.events] == list(range(begun + 1, begun + 11))
    assert news.view.sequence == begun + 10


async def test_a_draining_server_ends_the_stream_and_says_when_to_come_back() -> None:
    async with running_app() as app, channel_to(app.address) as channel:
        client = Client.on(channel)
        table = await client.playing("anna", "ben")
        with refused("DRAINING") as said:
            async with client.watch(table, "anna") as watching:
                await watching.next()
                app.drain.begin(5)
                await watching.call.read()
        assert said.retries
        with refused("DRAINING"):
            await client.create(2)


async def test_events_of_the_contract_are_told_in_full(client: Client) -> None:
    table = await client.at_position(
        **position(hands={"anna": "9H", "ben": "2S"}, stock="5D KC", discards="4S", melds=["TH JH QH by ben"])
    )
    await client.act(table, "anna", "draw")
    await client.act(table, "anna", "layoff 9H m1")
    await client.act(table, "anna", "discard 5D")
    async with client.watch(table, after_sequence=0) as watching:
        events = await watching.until("game_won")
    told = {kind: event for _, kind, event in events}
    laid_off = told["laid_off"]
    assert (laid_off.seat, laid_off.meld, laid_off.card) == (0, 1, card_pb2.CARD_9H)
    assert laid_off.end == card_pb2.RUN_END_LOW
    scored = told["round_scored"]
    assert scored.reason == event_pb2.ROUND_END_WENT_OUT
    assert scored.went_out == 0
    assert [score.round_score for score in scored.scores] == [9, 28]
    assert scored.next_dealer == 0
    assert list(told["game_won"].result.winners) == [1]
