"""A variant that never returns ends the server, which names it; what was accepted is there after the restart."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.server.running import TOKEN, bearer, channel_to, server_process
from tests.variants.test_installed import install

from rummy500.v1 import rules_pb2, table_service_pb2
from rummy500.v1.table_service_pb2_grpc import TableServiceStub
from rummy500_server.watchdog import EXIT_STATUS

ENDLESS = """
from rummy500_engine.hooks import hookimpl

@hookimpl
def rummy500_sets(table):
    while True:
        pass
"""


async def test_a_variant_that_never_returns_is_named_and_the_other_tables_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, database = tmp_path / "site", tmp_path / "games.db"
    site.mkdir()
    install(site, "endless-rules", "endless = endless_rules", endless_rules=ENDLESS)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])]))
    flags = ("--stall-seconds", "2", "--log-format", "json")

    async with server_process(database, *flags) as server, channel_to(server.address) as channel:
        tables: Any = TableServiceStub(channel)
        made = await tables.CreateTable(table_service_pb2.CreateTableRequest(seats=2), metadata=bearer(TOKEN))
        endless = rules_pb2.RulesChoice(variants=["endless"])
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await tables.CreateTable(
                table_service_pb2.CreateTableRequest(seats=2, rules=endless), metadata=bearer(TOKEN)
            )
        status, errors = await server.ended()
    last = json.loads(errors.splitlines()[-1])
    assert failed.value.code() is grpc.StatusCode.UNAVAILABLE
    assert (status, last["event"]) == (EXIT_STATUS, "server.stalled")
    assert last["held_up_by"] == "rummy500_sets of endless_rules, distribution endless-rules"

    async with server_process(database, *flags) as server, channel_to(server.address) as channel:
        again: Any = TableServiceStub(channel)
        found = await again.GetTable(table_service_pb2.GetTableRequest(table=made.table.name))
        assert found.table.name == made.table.name
