"""A variant that changes under the tables that were made with it: such a table ends and says why, the others go on."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.server.at_table import Client, refused
from tests.server.running import channel_to, serve, server_process
from tests.variants.test_installed import install

from rummy500.v1 import result_pb2, rules_pb2, table_pb2, view_pb2
from rummy500.v1 import table_service_pb2 as pb
from rummy500_engine.cards import card_text
from rummy500_server.translate.cards import CARDS
from rummy500_server.watchdog import EXIT_STATUS

MODULE = """
from rummy500_engine.hooks import hookimpl
from rummy500_engine.refusals import Refused

@hookimpl
def {hook}:
    {does}
"""
VETO = "rummy500_veto(table, round, seat, action)"
SETS = "rummy500_sets(table)"
LONG = bool(os.environ.get("RUMMY500_LONG"))
FLAGS = ("--log-format", "json", "--stall-seconds", "2")


def install_strange(site: Path, *, version: str = "1.0", hook: str = VETO, does: str = "return None") -> None:
    text = MODULE.format(hook=hook, does=does)
    install(site, "strange-rules", "strange = strange_rules", version=version, strange_rules=text)


@dataclass(frozen=True, slots=True)
class Played:
    """A table by the strange rules and another one, which `anna` sees so."""

    strange: str
    other: str
    seen: view_pb2.View


@pytest.fixture(scope="module")
async def before(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Played]:
    """Where a server was killed after a turn at each table, and what was played there."""
    place = tmp_path_factory.mktemp("before")
    (place / "site").mkdir()
    install_strange(place / "site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(place / "site"))
        async with server_process(place / "games.db", *FLAGS) as server, channel_to(server.address) as channel:
            client = Client.on(channel)
            rules = rules_pb2.RulesChoice(variants=["strange"])
            strange, other = await client.playing("cleo", "dora", rules=rules), await client.playing("anna", "ben")
            for table, name in ((strange, "cleo"), (other, "anna")):
                await client.act(table, name, "draw")
                await client.act(table, name, f"discard {await first_discard(client, table, name)}")
            seen = await client.view(other, "anna")
            server.signal(signal.SIGKILL)
            await server.process.wait()
    return place, Played(strange, other, seen)


@pytest.fixture
def played(before: tuple[Path, Played], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Played:
    """A copy of all that in `tmp_path`."""
    place, played = before
    shutil.copytree(place, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    return played


async def first_discard(client: Client, table: str, name: str) -> str:
    return card_text(CARDS[(await client.view(table, name)).legal_actions.discards[0]])


async def ended_with(database: Path, played: Played) -> str:
    """A server on that database has ended the strange table with this sentence; the other one goes on."""
    async with server_process(database, *FLAGS) as server, channel_to(server.address) as channel:
        client = Client.on(channel)
        table = (await client.tables.GetTable(pb.GetTableRequest(table=played.strange))).table
        assert table.state == table_pb2.TABLE_STATE_CLOSED
        assert table.result.termination == result_pb2.TERMINATION_SERVER_FAULT
        with refused("TABLE_BROKEN") as said:
            await client.act(played.strange, "dora", "draw")
        assert said.sentence == table.result.sentence
        assert await client.view(played.other, "anna") == played.seen
        await client.act(played.other, "ben", "draw")
        return said.sentence


async def test_a_table_is_not_played_on_by_another_version_and_stays_ended(tmp_path: Path, played: Played) -> None:
    install_strange(tmp_path / "site", version="2.0")

    sentence = await ended_with(tmp_path / "games.db", played)

    assert sentence.endswith("the rules of this table are others now: strange was 1.0 and is 2.0")
    install_strange(tmp_path / "site")
    async with server_process(tmp_path / "games.db") as server, channel_to(server.address) as channel:
        with refused("TABLE_BROKEN") as said:
            await Client.on(channel).act(played.strange, "dora", "draw")
    assert said.sentence == sentence


async def test_a_table_is_not_played_on_when_its_entries_are_refused_now(tmp_path: Path, played: Played) -> None:
    """The same version, other behaviour: what was played tells."""
    install_strange(tmp_path / "site", does="return Refused('NO_SUCH_CARD', 'not any more')")

    sentence = await ended_with(tmp_path / "games.db", played)

    assert "entry 5 of table" in sentence
    assert sentence.endswith("is refused now: not any more")


@pytest.mark.parametrize(
    "hook", [VETO, pytest.param(SETS, marks=pytest.mark.skipif(not LONG, reason="RUMMY500_LONG=1"))]
)
async def test_one_that_never_returns_any_more_holds_up_one_server_only(
    tmp_path: Path, played: Played, hook: str
) -> None:
    """The watchdog notes the table that was being folded; the next server ends it unfolded."""
    database = tmp_path / "games.db"
    install_strange(tmp_path / "site", hook=hook, does="while True: pass")

    held_up = await serve("--port", "0", "--database", str(database), *FLAGS)
    try:
        assert held_up.stderr is not None
        errors = await asyncio.wait_for(held_up.stderr.read(), 60)
        status = await held_up.wait()
    finally:
        with contextlib.suppress(ProcessLookupError):
            held_up.kill()
        await held_up.communicate()

    stalled = json.loads(errors.splitlines()[-1])
    assert (status, stalled["event"], stalled["table"]) == (EXIT_STATUS, "server.stalled", played.strange)
    sentence = await ended_with(database, played)
    name = hook.partition("(")[0]
    assert f"it held the whole server up: {name} of strange_rules, distribution strange-rules" in sentence
    assert not (tmp_path / "games.db.stalled").exists()
