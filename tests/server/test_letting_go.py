"""What is over leaves memory: tables, and the rules that were composed for them."""

from __future__ import annotations

import gc
import weakref

from tests.server.at_table import OWNER, Client
from tests.server.running import bearer, channel_to, running_app

from rummy500.v1 import rules_pb2, table_service_pb2
from rummy500_catalog import Catalog
from rummy500_catalog.catalog import REMEMBERED_RULES
from rummy500_server.lobby import KEPT_WHEN_OVER
from rummy500_server.rules_messages import REMEMBERED


async def test_a_table_that_is_over_leaves_memory_and_can_still_be_seen() -> None:
    async with running_app() as app, channel_to(app.address) as channel:
        client = Client.on(channel)
        names = []
        for _ in range(KEPT_WHEN_OVER + 2):
            names.append(await client.create(2))
            close = table_service_pb2.CloseTableRequest(table=names[-1])
            await client.tables.CloseTable(close, metadata=bearer(OWNER))
            if len(names) == 1:
                first = weakref.ref(await app.lobby.table(names[0]))
        gc.collect()

        assert first() is None
        shown = await client.tables.GetTable(table_service_pb2.GetTableRequest(table=names[0]))
        assert shown.table.result.sentence == "its owner closed the table"


async def test_rules_that_were_composed_are_remembered_up_to_a_number() -> None:
    catalog = Catalog()
    async with running_app(catalog=catalog) as app, channel_to(app.address) as channel:
        client = Client.on(channel)
        for target in range(100, 100 + REMEMBERED_RULES + 20):
            rules = rules_pb2.RulesChoice(options=[rules_pb2.Option(name="target", value=str(target))])
            table = await client.create(2, rules=rules)
            close = table_service_pb2.CloseTableRequest(table=table)
            await client.tables.CloseTable(close, metadata=bearer(OWNER))

    assert len(catalog._rules) == REMEMBERED_RULES
    assert len(app.rules_messages._made) == REMEMBERED
