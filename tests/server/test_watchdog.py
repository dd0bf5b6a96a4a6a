"""A variant that never returns ends the server, which names it; what was accepted is there after the restart."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
import threading
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.server.running import TOKEN, bearer, channel_to, server_process
from tests.variants.test_installed import install

from rummy500.v1 import rules_pb2, table_service_pb2
from rummy500.v1.table_service_pb2_grpc import TableServiceStub
from rummy500_server.journal_sqlite import SqliteJournal
from rummy500_server.watchdog import EXIT_STATUS, waits_for_disk

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


async def test_a_loop_that_waits_for_the_database_is_not_taken_for_one_that_a_variant_holds_up(tmp_path: Path) -> None:
    path, loop_thread, found = tmp_path / "games.db", threading.get_ident(), list[bool]()
    journal = SqliteJournal.open(path, durability="process")
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    is_looking, is_kept = threading.Event(), threading.Event()

    def look() -> None:
        while True not in found and not is_kept.is_set():
            found.append(waits_for_disk(sys._current_frames()[loop_thread]))
            is_looking.set()
        other.execute("ROLLBACK")

    with contextlib.closing(other):
        other.execute("BEGIN IMMEDIATE")
        looking = threading.Thread(target=look)
        looking.start()
        is_looking.wait()
        await journal.append("t1", 1, [b"one"])
        is_kept.set()
        looking.join()
    assert found[0] is False
    assert found[-1] is True
    assert await journal.read("t1") == [(1, b"one")]
    await journal.close()
