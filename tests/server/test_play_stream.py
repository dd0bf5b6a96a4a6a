"""PlayService.Play: many games of one bot on one stream."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest
from tests.server.at_table import OWNER, SECONDS, Client, position, refused, secret_of
from tests.server.running import bearer, channel_to, running_app
from tests.server.stream_bot import plain

from rummy500.v1 import action_pb2, card_pb2, refusal_pb2, result_pb2, rules_pb2, table_pb2, table_service_pb2
from rummy500.v1 import play_service_pb2 as pb
from rummy500_server.app import App
from rummy500_server.status import Failure, Reason


@pytest.fixture(scope="module")
async def app() -> AsyncIterator[App]:
    async with running_app() as app:
        yield app


@pytest.fixture(scope="module")
async def channel(app: App) -> AsyncIterator[grpc.aio.Channel]:
    async with channel_to(app.address) as channel:
        yield channel


@pytest.fixture(scope="module")
def client(channel: grpc.aio.Channel) -> Client:
    return Client.on(channel)


@dataclass(slots=True)
class Stream:
    """A Play stream, driven by hand. `seen` holds everything that came."""

    call: Any
    seen: pb.PlayResponse = field(default_factory=pb.PlayResponse)
    taken: int = 0

    async def send(self, **fields: Any) -> None:
        await self.call.write(pb.PlayRequest(**fields))

    async def next(self) -> pb.PlayResponse:
        response = await asyncio.wait_for(self.call.read(), SECONDS)
        if response is grpc.aio.EOF:
            await self.call  # raises the error that the stream ended with
            raise EOFError("the stream ended well")
        self.seen.MergeFrom(response)
        assert isinstance(response, pb.PlayResponse)
        return response

    async def request(self) -> pb.DecisionRequest:
        """The next decision request; what comes before it is seen."""
        while len(self.seen.decision_requests) <= self.taken:
            await self.next()
        self.taken += 1
        return self.seen.decision_requests[self.taken - 1]

    async def answer(self, request: pb.DecisionRequest, *lines: str) -> None:
        actions = [action_pb2.Action(text=line) for line in lines]
        await self.send(decisions=[pb.Decision(table=request.table, sequence=request.sequence, actions=actions)])


@contextlib.asynccontextmanager
async def stream(client: Client, name: str, **hello: Any) -> AsyncIterator[Stream]:
    """The stream of the bot, which has been welcomed."""
    call = client.plays.Play(metadata=bearer(secret_of(name)))
    opened = Stream(call)
    try:
        await opened.send(hello=pb.Hello(**{"name": name, **hello}))
        await opened.next()
        yield opened
    finally:
        call.cancel()


async def seat(client: Client, table: str, *bots: str) -> None:
    for bot in bots:
        request = table_service_pb2.AddBotRequest(table=table, connected=bot)
        await client.tables.AddBot(request, metadata=bearer(OWNER))


async def test_hello_is_welcomed(client: Client) -> None:
    async with stream(client, "hugo", features=["resume", "batches"], max_concurrent_games=3) as bot:
        welcome = bot.seen.welcome
    assert welcome.server_version
    assert set(welcome.features) >= {"resume", "batches"}
    assert welcome.max_concurrent_games == 3
    assert welcome.keepalive_ms == 10_000


@pytest.mark.parametrize(
    ("first", "reason", "fields"),
    [
        (pb.PlayRequest(), "BAD_REQUEST", ["hello"]),
        (pb.PlayRequest(hello=pb.Hello()), "BAD_REQUEST", ["hello.name"]),
        (pb.PlayRequest(hello=pb.Hello(name="x" * 65)), "BAD_REQUEST", ["hello.name"]),
        (
            pb.PlayRequest(hello=pb.Hello(name="x", max_concurrent_games=1_025)),
            "BAD_REQUEST",
            ["hello.max_concurrent_games"],
        ),
        (pb.PlayRequest(hello=pb.Hello(name="x"), rules_wanted=["t"]), "BAD_REQUEST", ["rules_wanted"]),
        (pb.PlayRequest(hello=pb.Hello(name="x", features=["telepathy", "resume"])), "FEATURE_MISSING", []),
    ],
)
async def test_a_wrong_hello_ends_the_stream(
    client: Client, first: pb.PlayRequest, reason: str, fields: list[str]
) -> None:
    opened = Stream(client.plays.Play(metadata=bearer(secret_of("wrong"))))
    with refused(reason) as said:
        await opened.call.write(first)
        await opened.next()
    assert said.fields == fields
    if reason == "FEATURE_MISSING":
        assert said.metadata["missing"] == "telepathy"


async def test_a_bot_needs_a_token(client: Client) -> None:
    opened = Stream(client.plays.Play())
    with refused("NO_TOKEN"):
        await opened.send(hello=pb.Hello(name="x"))
        await opened.next()


async def test_a_request_is_complete(client: Client) -> None:
    async with stream(client, "carl") as carl, stream(client, "dora") as dora:
        table = await client.create(2, start_when_full=True)
        await seat(client, table, "carl", "dora")
        request = await carl.request()
        (started,) = carl.seen.games_started
        await dora.next()
    assert (started.table, started.seat, list(started.players)) == (table, 0, ["carl", "dora"])
    assert started.rules.digest == started.rules_digest == request.rules_digest
    assert started.clock.decision_ms == 10_000
    assert (request.table, request.seat, request.sequence) == (table, 0, 6)
    assert request.view.sequence == 6
    assert len(request.view.hand) == 13
    assert request.view.legal_actions.can_draw
    told = [event.WhichOneof("kind") for event in request.events]
    committed = "deal_committed"
    assert told == [committed, committed, "seat_joined", "seat_joined", committed, "round_dealt"]
    assert 9_000 < request.time_left_ms <= 10_000
    assert request.deadline_unix_ms > 0
    assert request.refusals_left == 5
    assert not dora.seen.decision_requests


async def test_full_rules_come_once_a_stream_and_again_when_wanted(client: Client) -> None:
    async with stream(client, "emil") as emil, stream(client, "fay"):
        tables = [await client.create(2, start_when_full=True) for _ in range(2)]
        for table in tables:
            await seat(client, table, "emil", "fay")
            await emil.request()
        assert [game.HasField("rules") for game in emil.seen.games_started] == [True, False]
        await emil.send(rules_wanted=[tables[1], "t-nowhere"])
        request = await emil.request()
        assert emil.seen.games_started[2].HasField("rules")
        assert (request.table, request.sequence) == (tables[1], 6)
        assert [refusal.table for refusal in emil.seen.refusals] == ["t-nowhere"]


async def test_events_since_the_last_decision_come_with_the_request(client: Client) -> None:
    async with stream(client, "gina") as gina, stream(client, "hans") as hans:
        table = await client.create(2, start_when_full=True)
        await seat(client, table, "gina", "hans")
        first = await gina.request()
        await gina.answer(first, "draw")
        second = await gina.request()
        await gina.answer(second, f"discard {_text(second)}")
        third = await hans.request()
    assert [event.sequence for event in second.events] == [first.sequence + 1]
    assert second.events[0].drew_from_stock.card
    assert [event.WhichOneof("kind") for event in third.events][-2:] == ["drew_from_stock", "discarded"]
    assert third.events[-2].drew_from_stock.card == card_pb2.CARD_UNSPECIFIED


def _text(request: pb.DecisionRequest) -> str:
    """The last card that may be thrown, as text."""
    return card_pb2.Card.Name(request.view.legal_actions.discards[-1]).removeprefix("CARD_")


async def test_one_message_carries_decisions_for_many_tables(client: Client) -> None:
    async with stream(client, "ida") as ida, stream(client, "jan"):
        tables = [await client.create(2, start_when_full=True) for _ in range(8)]
        for table in tables:
            await seat(client, table, "ida", "jan")
        while len(ida.seen.decision_requests) < 8:
            await ida.next()
        draw = action_pb2.Action(draw=action_pb2.Draw())
        decisions = [
            pb.Decision(table=request.table, sequence=request.sequence, actions=[draw])
            for request in ida.seen.decision_requests
        ]
        await ida.send(decisions=decisions)
        response = await ida.next()
    assert {request.table for request in response.decision_requests} == set(tables)


async def test_a_refused_decision_says_why_and_is_asked_again(client: Client) -> None:
    async with stream(client, "kurt") as kurt, stream(client, "lena"):
        table = await client.create(2, start_when_full=True)
        await seat(client, table, "kurt", "lena")
        request = await kurt.request()
        await kurt.answer(request, "discard KS")
        again = await kurt.request()
        (refusal,) = kurt.seen.refusals
        await kurt.send(decisions=[pb.Decision(table=table, sequence=again.sequence)])
        third = await kurt.request()
    assert (refusal.table, refusal.sequence, refusal.applied, refusal.status) == (table, request.sequence, 0, 9)
    assert refusal.refusal.reason == refusal_pb2.REFUSAL_REASON_WRONG_PHASE
    assert (again.sequence, again.refusals_left, again.refusal.code) == (request.sequence, 4, "WRONG_PHASE")
    assert (third.refusals_left, third.refusal.code) == (3, "BAD_REQUEST")


async def test_a_decision_that_goes_wrong_later_tells_how_far_it_came(client: Client) -> None:
    async with stream(client, "mona") as mona, stream(client, "nils"):
        table = await client.create(2, start_when_full=True)
        await seat(client, table, "mona", "nils")
        request = await mona.request()
        top = card_pb2.Card.Name(request.view.discards[-1]).removeprefix("CARD_")
        await mona.answer(request, f"take {top}", f"discard {top}")
        again = await mona.request()
    (refusal,) = mona.seen.refusals
    assert (refusal.applied, refusal.refusal.code) == (1, "CANNOT_DISCARD_TAKEN_CARD")
    assert again.sequence == request.sequence + 1
    assert again.refusal.code == "CANNOT_DISCARD_TAKEN_CARD"


async def test_a_stale_decision_and_a_table_of_others_are_refused(client: Client) -> None:
    other = await client.playing("anna", "ben")
    async with stream(client, "olga") as olga, stream(client, "paul"):
        table = await client.create(2, start_when_full=True)
        await seat(client, table, "olga", "paul")
        request = await olga.request()
        draw = action_pb2.Action(draw=action_pb2.Draw())
        decisions = [
            pb.Decision(table=table, sequence=request.sequence - 1, actions=[draw]),
            pb.Decision(table=other, sequence=6, actions=[draw]),
        ]
        await olga.send(decisions=decisions)
        while len(olga.seen.refusals) < 2:
            await olga.next()
    told = {refusal.table: (refusal.status, refusal.refusal.code) for refusal in olga.seen.refusals}
    assert told == {table: (10, "STALE_SEQUENCE"), other: (7, "NOT_SEATED")}
    assert (await client.view(other)).stock_count == 25


async def test_a_message_that_is_none_ends_the_stream_with_the_field(client: Client) -> None:
    async with stream(client, "quin") as quin:
        with refused("BAD_REQUEST") as said:
            await quin.send(hello=pb.Hello(name="quin"))
            await quin.next()
    assert said.fields == ["hello"]


async def test_a_game_is_played_to_its_end(client: Client) -> None:
    async with stream(client, "rosa") as rosa:
        choice = rules_pb2.RulesChoice(options=[rules_pb2.Option(name="target", value="60")])
        table = await client.create(2, start_when_full=True, rules=choice)
        await seat(client, table, "rosa")
        bot = table_service_pb2.AddBotRequest(table=table, builtin=table_pb2.BuiltinBot(name="easy"))
        await client.tables.AddBot(bot, metadata=bearer(OWNER))
        while not rosa.seen.games_over:
            response = await rosa.next()
            decisions = [
                pb.Decision(table=request.table, sequence=request.sequence, actions=plain(request))
                for request in response.decision_requests
            ]
            if decisions:
                await rosa.send(decisions=decisions)
    (over,) = rosa.seen.games_over
    assert over.table == table
    assert over.result.termination == result_pb2.TERMINATION_NORMAL
    assert max(over.result.totals) >= 60
    assert over.events[-1].game_won.result == over.result
    assert over.sequence == over.events[-1].sequence


async def test_a_dropped_bot_is_sent_what_is_due(client: Client) -> None:
    async with stream(client, "sven") as sven, stream(client, "tina"):
        table = await client.create(2, start_when_full=True)
        await seat(client, table, "sven", "tina")
        first = await sven.request()
        await sven.answer(first, "draw")
        second = await sven.request()
    async with stream(client, "sven", resume=[pb.ResumePoint(table=table, after_sequence=first.sequence)]) as again:
        while not again.seen.decision_requests:
            await again.next()
    (resumed,) = again.seen.resumed
    assert [event.sequence for event in resumed.events.events] == [second.sequence]
    assert resumed.events.events[0] == second.events[0]
    (started,) = again.seen.games_started
    assert started.HasField("rules")
    assert again.seen.decision_requests[0].view.hand == second.view.hand


async def test_a_bot_that_comes_back_late_is_told_how_its_game_ended(client: Client) -> None:
    async with stream(client, "uwe"), stream(client, "vera"):
        table = await client.create(2, start_when_full=True)
        await seat(client, table, "uwe", "vera")
    await client.tables.CloseTable(table_service_pb2.CloseTableRequest(table=table), metadata=bearer(OWNER))
    resume = [pb.ResumePoint(table=table, after_sequence=6), pb.ResumePoint(table="t-nowhere")]
    async with stream(client, "uwe", resume=resume) as uwe:
        while not (uwe.seen.games_over and uwe.seen.refusals):
            await uwe.next()
    assert uwe.seen.games_over[0].result.termination == result_pb2.TERMINATION_CANCELLED
    assert [event.WhichOneof("kind") for event in uwe.seen.games_over[0].events][-1] == "table_closed"
    assert uwe.seen.refusals[0].refusal.code == "NO_SUCH_TABLE"


async def test_a_newer_stream_of_the_same_bot_takes_over(client: Client) -> None:
    async with stream(client, "wanda") as older, stream(client, "wanda"):
        with refused("STREAM_REPLACED"):
            await older.next()


async def test_a_name_belongs_to_who_is_connected_with_it(client: Client) -> None:
    async with stream(client, "xaver"):
        opened = Stream(client.plays.Play(metadata=bearer(secret_of("somebody-else"))))
        with refused("BOT_NAME_TAKEN") as said:
            await opened.send(hello=pb.Hello(name="xaver"))
            await opened.next()
    assert said.code is grpc.StatusCode.ALREADY_EXISTS


async def test_a_bot_gets_no_more_games_than_it_wants(client: Client) -> None:
    async with stream(client, "yves", max_concurrent_games=1):
        await seat(client, await client.create(2), "yves")
        with refused("TOO_MANY_TABLES") as said:
            await seat(client, await client.create(2), "yves")
    assert said.metadata["limit"] == "1"


async def test_a_bot_whose_stream_is_about_to_end_is_given_no_game(app: App, client: Client) -> None:
    """It stays until what it is due is sent, which a slow reader may put off."""
    async with stream(client, "yannick"):
        ending = app.connected.named("yannick")
        assert ending is not None
        table = await client.create(2)
        ending.fail(Failure(Reason.BAD_REQUEST, "what it sent cannot be read"))
        assert app.connected.named("yannick") is None
        with refused("NO_SUCH_BOT"):
            await seat(client, table, "yannick")
        coming = asyncio.create_task(app.connected.wait_for("yannick", SECONDS))
        async with stream(client, "yannick"):
            assert await coming is app.connected.named("yannick")
            assert await coming is not ending
            await seat(client, table, "yannick")


async def test_a_seat_is_played_over_act_and_play_alike(client: Client) -> None:
    """Who joined with a secret may open a Play stream with it, and act beside it."""
    table = await client.at_position(
        **position(
            players=["zara", "zeno"],
            dealer="zeno",
            turn="zara",
            hands={"zara": "7S 7H 7D 2C", "zeno": "2S 3S"},
            stock="5D KC",
        )
    )
    async with stream(client, "zara") as zara:
        first = await zara.request()
        await client.act(table, "zara", "draw")
        second = await zara.request()
        await zara.answer(second, "meld 7S 7H 7D", "discard 2C")
        async with client.watch(table, after_sequence=0) as watching:
            await watching.until("discarded")
        await client.act(table, "zeno", "draw")
    assert second.sequence == first.sequence + 1
    assert [event.WhichOneof("kind") for event in second.events] == ["drew_from_stock"]


async def test_a_draining_server_says_so_before_it_ends_the_stream() -> None:
    async with running_app() as app, channel_to(app.address) as channel, stream(Client.on(channel), "zoe") as zoe:
        app.drain.begin(5)
        response = await zoe.next()
        assert response.draining.stops_at_unix_ms > 0
        assert response.draining.retry_after_ms >= 5_000
        with refused("DRAINING"):
            await zoe.next()
