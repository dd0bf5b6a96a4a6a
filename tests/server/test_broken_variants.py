"""A broken variant ends its own tables and is named; whatever else is played on the same server goes on (law 8)."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
from tests.server.at_table import OWNER, Client, refused
from tests.server.running import ServerProcess, bearer, channel_to, server_process
from tests.server.test_matches import builtin, plan, watched
from tests.variants.test_installed import install

from rummy500.v1 import match_pb2, match_service_pb2, result_pb2, rules_pb2, rules_service_pb2, table_pb2
from rummy500.v1 import table_service_pb2 as pb
from rummy500.v1.match_service_pb2_grpc import MatchServiceStub
from rummy500.v1.rules_service_pb2_grpc import RulesServiceStub
from rummy500_server.watchdog import EXIT_STATUS

BROKEN = """
from rummy500_engine.hooks import hookimpl

@hookimpl
def {hook}:
    {does}
"""
VETO = "rummy500_veto(table, round, seat, action)"
VIEW = "rummy500_view(table, round, seat)"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the server finds what a test installs."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])]))
    return site


def install_broken(site: Path, hook: str, does: str) -> None:
    install(site, "broken-rules", "broken = broken_rules", broken_rules=BROKEN.format(hook=hook, does=does))


@contextlib.asynccontextmanager
async def serving(tmp_path: Path, *flags: str) -> AsyncIterator[tuple[ServerProcess, Client]]:
    flags = ("--log-format", "json", *flags)
    async with server_process(tmp_path / "games.db", *flags) as server, channel_to(server.address) as channel:
        yield server, Client.on(channel)


async def result_of(client: Client, table: str) -> result_pb2.GameResult:
    return (await client.tables.GetTable(pb.GetTableRequest(table=table))).table.result


async def broken_table(client: Client) -> str:
    """A table by the broken rules that waits for its players."""
    return await client.create(2, rules=rules_pb2.RulesChoice(variants=["broken"]), start_when_full=True)


async def seat_bots(client: Client, table: str) -> None:
    """Two of the server's own bots begin to play."""
    for _ in range(2):
        request = pb.AddBotRequest(table=table, builtin=table_pb2.BuiltinBot(name="easy"))
        await client.tables.AddBot(request, metadata=bearer(OWNER))


@pytest.mark.parametrize(
    ("hook", "does", "told"),
    [
        (VETO, "raise KeyError('oops')", "KeyError"),
        (VETO, "return 'no'", "which is no Refused"),
        (VIEW, "raise KeyError('oops')", "KeyError"),
        (VIEW, "return 3", "which is no Mapping"),
    ],
)
async def test_one_that_raises_or_answers_the_wrong_type_ends_its_table(
    tmp_path: Path, site: Path, hook: str, does: str, told: str
) -> None:
    install_broken(site, hook, does)
    async with serving(tmp_path) as (_, client):
        other = await client.playing("anna", "ben")
        await client.act(other, "anna", "draw")
        async with client.watch(other, "anna") as watching:
            await watching.next()
            table = await broken_table(client)
            await seat_bots(client, table)
            async with client.watch(table, after_sequence=0) as seen:
                closed = (await seen.until("table_closed"))[-1][2]
            result = await result_of(client, table)
            card = (await client.view(other, "anna")).legal_actions.discards[0]
            await client.act(other, "anna", f"discard {_text(card)}")
            assert (await watching.next()).events.events
    assert closed.termination == result.termination == result_pb2.TERMINATION_SERVER_FAULT
    name = hook.partition("(")[0]
    for words in ("variant 'broken'", "distribution broken-rules", name, told):
        assert words in result.sentence


def _text(card: int) -> str:
    return "A23456789TJQK"[(card - 1) % 13] + "CDHS"[(card - 1) // 13]


async def test_people_at_a_table_that_breaks_are_told_why(tmp_path: Path, site: Path) -> None:
    install_broken(site, VETO, "raise KeyError('oops')")
    async with serving(tmp_path) as (_, client):
        table = await client.playing("cleo", "dora", rules=rules_pb2.RulesChoice(variants=["broken"]))
        async with client.watch(table, "cleo") as watching:
            view = (await watching.next()).snapshot
            with refused("TABLE_BROKEN") as said:
                await client.act(table, "cleo", "draw")
                await client.act(table, "cleo", f"discard {_text(view.hand[0])}")
        assert "rummy500_veto" in said.sentence
        assert not (await client.view(table, "cleo")).legal_actions.discards


@pytest.mark.parametrize("hook", [VETO, VIEW])
async def test_one_that_never_returns_is_named_and_does_not_hold_up_the_next_server(
    tmp_path: Path, site: Path, hook: str
) -> None:
    install_broken(site, hook, "while True: pass")
    async with serving(tmp_path, "--stall-seconds", "2") as (server, client):
        other = await client.playing("anna", "ben")
        await client.act(other, "anna", "draw")
        before = await client.view(other, "anna")
        table = await broken_table(client)
        with contextlib.suppress(grpc.aio.AioRpcError):  # the call that starts the game may be the last one answered
            await seat_bots(client, table)
        status, errors = await server.ended()
    stalled = json.loads(errors.splitlines()[-1])
    assert (status, stalled["event"], stalled["table"]) == (EXIT_STATUS, "server.stalled", table)
    async with serving(tmp_path, "--stall-seconds", "2") as (_, client):
        result = await result_of(client, table)
        assert await client.view(other, "anna") == before
        await client.act(other, "anna", f"discard {_text(before.legal_actions.discards[0])}")
    assert result.termination == result_pb2.TERMINATION_SERVER_FAULT
    assert f"{hook.partition('(')[0]} of broken_rules, distribution broken-rules" in result.sentence
    assert not list(tmp_path.glob("*.stalled"))


async def test_one_that_is_half_uninstalled_is_named_and_its_tables_end(tmp_path: Path, site: Path) -> None:
    install_broken(site, VETO, "return None")
    async with serving(tmp_path) as (_, client):
        rules = rules_pb2.RulesChoice(variants=["broken"])
        table, other = await client.playing("cleo", "dora", rules=rules), await client.playing("anna", "ben")
        await client.act(table, "cleo", "draw")
        await client.act(other, "anna", "draw")
        before = await client.view(other, "anna")
    (site / "broken_rules.py").unlink()
    async with serving(tmp_path) as (server, client):
        assert await client.view(other, "anna") == before
        with refused("TABLE_BROKEN") as said:
            await client.act(table, "cleo", f"discard {_text(before.hand[0])}")
        assert "distribution broken-rules" in said.sentence
        with refused("RULES_REFUSED"):
            await client.create(2, rules=rules)
        async with channel_to(server.address) as channel:
            listed = await RulesServiceStub(channel).ListVariants(rules_service_pb2.ListVariantsRequest(page_size=100))
    (problem,) = [variant.problem for variant in listed.variants if variant.name == "broken"]
    assert "cannot be loaded" in problem


FLAKY = """with open({file!r}, "a") as file:
        file.write("x")
        if file.tell() in {times}:
            raise KeyError("oops")"""


async def play_match(channel: grpc.aio.Channel) -> match_pb2.Match:
    matches = MatchServiceStub(channel)
    wanted = plan(builtin("easy"), builtin("random"), deals=2, rules=rules_pb2.RulesChoice(variants=["broken"]))
    made = await matches.CreateMatch(match_service_pb2.CreateMatchRequest(plan=wanted), metadata=bearer(OWNER))
    return await watched(matches, made.match.name)


async def test_a_match_plays_games_again_in_which_one_was_at_fault(tmp_path: Path, site: Path) -> None:
    install_broken(site, VETO, "return None")
    async with serving(tmp_path) as (server, _), channel_to(server.address) as channel:
        expected = await play_match(channel)
    install_broken(site, VETO, FLAKY.format(file=str(tmp_path / "calls"), times="(30, 400)"))
    async with server_process(tmp_path / "flaky.db") as server, channel_to(server.address) as channel:
        match = await play_match(channel)
    assert (match.state, match.games_again) == (match_pb2.MATCH_STATE_FINISHED, 2)
    for found, other in zip(match.results, expected.results, strict=True):
        for times in ("charged_ms", "thinking"):
            found.ClearField(times)
            other.ClearField(times)
        assert found == other


async def test_a_match_that_one_breaks_again_and_again_fails_and_says_why(tmp_path: Path, site: Path) -> None:
    install_broken(site, VETO, "raise KeyError('oops')")
    async with serving(tmp_path) as (server, _), channel_to(server.address) as channel:
        match = await play_match(channel)
    assert match.state == match_pb2.MATCH_STATE_FAILED
    assert re.match(r"the server was at fault 3 times in game m-[0-9a-f]+\.[0-9a-f]+: ", match.sentence)
    assert "rummy500_veto" in match.sentence
    assert match.results[0].rounds == 0
