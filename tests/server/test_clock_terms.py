"""Which clock a table has: what its maker says, what the server has where nothing is said, and what cannot be."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.server.at_table import OWNER, Client, refused
from tests.server.running import bearer, channel_to, running_app

from rummy500.v1 import match_pb2, match_service_pb2, table_service_pb2
from rummy500.v1.match_service_pb2_grpc import MatchServiceStub
from rummy500.v1.table_pb2 import WHEN_LATE_BOT, BuiltinBot, ClockSettings
from rummy500_server.app import App


@pytest.fixture(scope="module")
async def app() -> AsyncIterator[App]:
    async with running_app() as app:
        yield app


@pytest.fixture(scope="module")
async def client(app: App) -> AsyncIterator[Client]:
    async with channel_to(app.address) as channel:
        yield Client.on(channel)


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
    client: Client, clock: dict[str, Any], field: str
) -> None:
    with refused("BAD_REQUEST") as said:
        await client.create(2, clock=ClockSettings(**clock))
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


async def test_a_bot_that_there_is_not_cannot_stand_in(client: Client) -> None:
    with refused("NO_SUCH_BOT"):
        await client.create(2, clock=ClockSettings(when_late=WHEN_LATE_BOT, stand_in=BuiltinBot(name="nobody")))


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
