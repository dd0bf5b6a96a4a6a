"""TableService over the wire: making tables, taking seats, leaving, closing."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from tests.server.at_table import OWNER, Client, position, refused, secret_of
from tests.server.running import bearer, channel_to, running_app

from rummy500.v1 import rules_pb2, table_pb2
from rummy500.v1 import table_service_pb2 as pb

STRANGER = "the-token-of-a-stranger"


@pytest.fixture(scope="module")
async def client() -> AsyncIterator[Client]:
    async with running_app(tables_per_principal=2_000) as app, channel_to(app.address) as channel:
        yield Client.on(channel)


async def get(client: Client, table: str) -> table_pb2.Table:
    return (await client.tables.GetTable(pb.GetTableRequest(table=table))).table


async def test_a_table_is_made_with_the_rules_that_were_chosen(client: Client) -> None:
    choice = rules_pb2.RulesChoice(options=[rules_pb2.Option(name="target", value="300")])
    request = pb.CreateTableRequest(seats=3, rules=choice, title="Friday")

    answer = await client.tables.CreateTable(request, metadata=bearer(OWNER))

    assert answer.table.title == "Friday"
    assert answer.table.state == table_pb2.TABLE_STATE_OPEN
    assert [seat.seat for seat in answer.table.seats] == [0, 1, 2]
    assert answer.table.clock.decision_ms == 10_000
    assert answer.table.rules_digest == answer.rules.digest
    assert {option.name: option.value for option in answer.rules.options}["target"] == "300"
    assert await get(client, answer.table.name) == answer.table


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"seats": 1}, "seats"),
        ({"seats": 9}, "seats"),
        ({"seats": 2, "seed": b"short"}, "seed"),
        ({"seats": 2, "title": "x" * 65}, "title"),
        ({"seats": 2, "clock": table_pb2.ClockSettings(decision_ms=49)}, "clock.decision_ms"),
        ({"seats": 2, "request_id": "x" * 65}, "request_id"),
        ({"position_json": "{"}, "position_json"),
        ({"position_json": "[]"}, "position_json"),
        ({"position_json": json.dumps({"players": "anna"})}, "position_json.players"),
        ({"position_json": json.dumps(position(hands={"anna": "XX"}))}, "position_json.hands.anna"),
        ({"seats": 3, "position_json": json.dumps(position())}, "seats"),
        ({"position_json": json.dumps(position()), "rules": rules_pb2.RulesChoice(preset="classic")}, "rules"),
        ({"position_json": json.dumps(position(rules={"preset": 3}))}, "position_json.rules.preset"),
    ],
)
async def test_a_wrong_field_is_named(client: Client, fields: dict[str, Any], field: str) -> None:
    with refused("BAD_REQUEST") as said:
        await client.tables.CreateTable(pb.CreateTableRequest(**fields), metadata=bearer(OWNER))
    assert said.code is grpc.StatusCode.INVALID_ARGUMENT
    assert said.fields == [field]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[" * 30_000, "at most 32"),
        ('{"a":' * 33 + "1" + "}" * 33, "at most 32"),
        ('{"a":' * 32 + "x" + "}" * 32, "this is no JSON"),
        ('["' + '\\"[' * 40, "this is no JSON"),
    ],
)
async def test_a_position_that_no_parser_should_go_into_is_refused(client: Client, text: str, sentence: str) -> None:
    with refused("BAD_REQUEST") as said:
        await client.tables.CreateTable(pb.CreateTableRequest(position_json=text), metadata=bearer(OWNER))
    assert sentence in said.sentence


async def test_a_table_that_the_pack_cannot_serve_is_refused(client: Client) -> None:
    with refused("RULES_REFUSED") as said:
        await client.create(8)
    assert said.code is grpc.StatusCode.INVALID_ARGUMENT
    assert "deal at most 6" in said.sentence


async def test_players_take_the_seats_in_order_or_the_one_they_name(client: Client) -> None:
    table = await client.create(3)

    assert await client.join(table, "anna", seat=1) == 1
    assert await client.join(table, "ben") == 0
    assert await client.join(table, "cleo") == 2
    seats = (await get(client, table)).seats
    assert [seat.name for seat in seats] == ["ben", "anna", "cleo"]
    assert {seat.kind for seat in seats} == {table_pb2.SEAT_KIND_JOINED}


async def test_the_same_secret_gets_the_same_seat_again(client: Client) -> None:
    table = await client.create(2)
    seat = await client.join(table, "anna", seat=1)

    assert await client.join(table, "anna") == seat
    with refused("SEAT_TAKEN"):
        await client.join(table, "anna", seat=0)
    assert [each.name for each in (await get(client, table)).seats] == ["", "anna"]


async def test_an_occupied_seat_and_a_full_table_are_refused(client: Client) -> None:
    table = await client.create(2)
    await client.join(table, "anna", seat=0)

    with refused("SEAT_TAKEN"):
        await client.join(table, "ben", seat=0)
    with refused("BAD_REQUEST") as said:
        await client.join(table, "ben", seat=2)
    assert said.fields == ["seat"]
    await client.join(table, "ben")
    with refused("TABLE_FULL"):
        await client.join(table, "cleo")


@pytest.mark.parametrize("name", ["", "x" * 65, "two\nlines", " blank", "tab\there"])
async def test_a_name_is_printable_and_short(client: Client, name: str) -> None:
    table = await client.create(2)
    request = pb.JoinTableRequest(table=table, name=name, seat_secret=secret_of("anna"))
    with refused("BAD_REQUEST") as said:
        await client.tables.JoinTable(request)
    assert said.fields == ["name"]


@pytest.mark.parametrize("secret", ["short", "x" * 65, "with a blank inside it", "mit-ümlaut-im-geheimnis"])
async def test_a_weak_secret_is_refused(client: Client, secret: str) -> None:
    table = await client.create(2)
    with refused("BAD_REQUEST") as said:
        await client.tables.JoinTable(pb.JoinTableRequest(table=table, name="anna", seat_secret=secret))
    assert said.fields == ["seat_secret"]


async def test_a_table_starts_when_its_owner_says_so(client: Client) -> None:
    table = await client.create(2)
    await client.join(table, "anna")
    start = pb.StartTableRequest(table=table)

    with refused("TABLE_NOT_FULL") as said:
        await client.tables.StartTable(start, metadata=bearer(OWNER))
    assert said.metadata["free"] == "1"
    await client.join(table, "ben")
    assert (await get(client, table)).state == table_pb2.TABLE_STATE_OPEN
    started = await client.tables.StartTable(start, metadata=bearer(OWNER))
    assert started.table.state == table_pb2.TABLE_STATE_PLAYING
    with refused("WRONG_TABLE_STATE"):
        await client.tables.StartTable(start, metadata=bearer(OWNER))
    with refused("WRONG_TABLE_STATE"):
        await client.join(table, "cleo")


async def test_a_table_may_start_when_it_is_full(client: Client) -> None:
    table = await client.playing("anna", "ben")
    assert (await get(client, table)).state == table_pb2.TABLE_STATE_PLAYING


async def test_only_the_owner_adds_bots_starts_and_closes(client: Client) -> None:
    table = await client.create(2)
    bot = table_pb2.BuiltinBot(name="easy")
    for metadata, reason in ((bearer(STRANGER), "NOT_THE_OWNER"), (None, "NO_TOKEN")):
        with refused(reason):
            await client.tables.AddBot(pb.AddBotRequest(table=table, builtin=bot), metadata=metadata)
        with refused(reason):
            await client.tables.StartTable(pb.StartTableRequest(table=table), metadata=metadata)
        with refused(reason):
            await client.tables.CloseTable(pb.CloseTableRequest(table=table), metadata=metadata)
    assert not any(seat.name for seat in (await get(client, table)).seats)


async def test_a_seat_that_is_left_before_the_start_is_free_again(client: Client) -> None:
    table = await client.create(2)
    await client.join(table, "anna")

    left = await client.tables.LeaveTable(pb.LeaveTableRequest(table=table), metadata=bearer(secret_of("anna")))

    assert left.table.seats[0].kind == table_pb2.SEAT_KIND_UNSPECIFIED
    with refused("NOT_SEATED"):
        await client.tables.LeaveTable(pb.LeaveTableRequest(table=table), metadata=bearer(secret_of("anna")))
    assert await client.join(table, "ben") == 0


async def test_who_leaves_a_game_forfeits_it(client: Client) -> None:
    table = await client.playing("anna", "ben")

    left = await client.tables.LeaveTable(pb.LeaveTableRequest(table=table), metadata=bearer(secret_of("anna")))

    assert left.table.state == table_pb2.TABLE_STATE_FINISHED
    assert left.table.seats[0].forfeited
    assert list(left.table.result.winners) == [1]
    assert left.table.result.at_fault == 0


async def test_built_in_bots_play_each_other_to_the_end(client: Client) -> None:
    table = await client.create(2, rules=target("100"), start_when_full=True)
    for name in ("easy", "random"):
        bot = table_pb2.BuiltinBot(name=name)
        await client.tables.AddBot(pb.AddBotRequest(table=table, builtin=bot), metadata=bearer(OWNER))

    async with client.watch(table, after_sequence=0) as watching:
        events = await watching.until("game_won")

    assert [sequence for sequence, _, _ in events] == list(range(1, len(events) + 1))
    result = events[-1][2].result
    assert max(result.totals) >= 100
    assert result.record == table
    assert (await get(client, table)).result == result


def target(points: str) -> rules_pb2.RulesChoice:
    return rules_pb2.RulesChoice(options=[rules_pb2.Option(name="target", value=points)])


async def test_an_unknown_bot_and_an_unknown_setting_are_refused(client: Client) -> None:
    table = await client.create(2)
    with refused("NO_SUCH_BOT") as said:
        bot = table_pb2.BuiltinBot(name="deep-thought")
        await client.tables.AddBot(pb.AddBotRequest(table=table, builtin=bot), metadata=bearer(OWNER))
    assert "easy" in said.sentence
    with refused("BAD_REQUEST") as said:
        bot = table_pb2.BuiltinBot(name="random", settings=[rules_pb2.Option(name="depth", value="3")])
        await client.tables.AddBot(pb.AddBotRequest(table=table, builtin=bot), metadata=bearer(OWNER))
    assert said.fields == ["builtin.settings"]
    with refused("NO_SUCH_BOT"):
        await client.tables.AddBot(pb.AddBotRequest(table=table, connected="nobody"), metadata=bearer(OWNER))
    with refused("BAD_REQUEST") as said:
        await client.tables.AddBot(pb.AddBotRequest(table=table), metadata=bearer(OWNER))
    assert said.fields == ["source"]


async def test_a_closed_table_is_cancelled(client: Client) -> None:
    table = await client.playing("anna", "ben")
    close = pb.CloseTableRequest(table=table)

    closed = (await client.tables.CloseTable(close, metadata=bearer(OWNER))).table

    assert closed.state == table_pb2.TABLE_STATE_CLOSED
    with refused("GAME_OVER"):
        await client.act(table, "anna", "draw")
    with refused("WRONG_TABLE_STATE"):
        await client.tables.CloseTable(close, metadata=bearer(OWNER))


async def test_an_unknown_table_is_not_found(client: Client) -> None:
    with refused("NO_SUCH_TABLE") as said:
        await get(client, "t-nowhere")
    assert said.code is grpc.StatusCode.NOT_FOUND
    with refused("BAD_REQUEST"):
        await get(client, "")


async def test_the_same_request_makes_one_table(client: Client) -> None:
    request = pb.CreateTableRequest(seats=2, request_id="make-one")

    first = await client.tables.CreateTable(request, metadata=bearer(OWNER))
    again = await client.tables.CreateTable(request, metadata=bearer(OWNER))

    assert again == first
    other = await client.tables.CreateTable(request, metadata=bearer(STRANGER))
    assert other.table.name != first.table.name
    with refused("REQUEST_ID_REUSED"):
        changed = pb.CreateTableRequest(seats=3, request_id="make-one")
        await client.tables.CreateTable(changed, metadata=bearer(OWNER))


async def test_tables_are_listed_newest_first_page_by_page(client: Client) -> None:
    made = [await client.create(2) for _ in range(5)]
    listed: list[str] = []
    token = ""
    while len(listed) < 5:
        page = await client.tables.ListTables(pb.ListTablesRequest(page_size=2, page_token=token))
        listed += [table.name for table in page.tables]
        token = page.next_page_token
    assert set(listed[:4]) < set(made)

    only_closed = pb.ListTablesRequest(states=[table_pb2.TABLE_STATE_CLOSED], page_size=100)
    await client.tables.CloseTable(pb.CloseTableRequest(table=made[0]), metadata=bearer(OWNER))
    closed = (await client.tables.ListTables(only_closed)).tables
    assert made[0] in {table.name for table in closed}
    assert {table.state for table in closed} == {table_pb2.TABLE_STATE_CLOSED}


async def test_a_position_names_its_players_and_deals_no_next_round(client: Client) -> None:
    table = await client.create(0, position_json=json.dumps(position(hands={"anna": "3C", "ben": "4D"}, stock="5S")))
    with refused("BAD_REQUEST") as said:
        await client.join(table, "cleo")
    assert said.fields == ["name"]
    assert await client.join(table, "ben") == 1
    assert await client.join(table, "anna") == 0
    started = await client.tables.StartTable(pb.StartTableRequest(table=table), metadata=bearer(OWNER))
    assert started.table.from_position
    await client.act(table, "anna", "draw")
    await client.act(table, "anna", "discard 3C")

    assert (await get(client, table)).state == table_pb2.TABLE_STATE_FINISHED
    with refused("ROUND_OVER"):
        await client.act(table, "ben", "draw")


async def test_so_many_tables_and_no_more() -> None:
    async with running_app(tables_per_principal=2) as app, channel_to(app.address) as channel:
        client = Client.on(channel)
        first, _ = [await client.create(2) for _ in range(2)]
        with refused("TOO_MANY_TABLES") as said:
            await client.create(2)
        assert said.code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert said.retries
        await client.tables.CloseTable(pb.CloseTableRequest(table=first), metadata=bearer(OWNER))
        await client.create(2)
