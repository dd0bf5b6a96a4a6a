"""docs/run-a-server.md: its commands work, in the order of the page, and its tables are those of the code."""

from __future__ import annotations

import asyncio
import contextlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.server.protocol_tables import OPERATORS_PAGE, OPERATORS_TABLES, filled
from tests.server.running import channel_to
from tests.server.test_commands import ONE_ROUND
from tests.server.test_games import Client

from rummy500_server.__main__ import main

TEXT = OPERATORS_PAGE.read_text()
COMMANDS = re.findall(r"^    ((?:rummy500-server|openssl) .+)$", TEXT, re.MULTILINE)


async def test_the_tables_are_those_of_the_code() -> None:
    page = await asyncio.to_thread(filled, TEXT, OPERATORS_TABLES)
    assert page == TEXT, "run `python -m tests.server.protocol_tables`"


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", TEXT))
def test_a_link_leads_somewhere(link: str) -> None:
    assert (OPERATORS_PAGE.parent / link).exists()


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory, in which the page is followed, and a port that is free here in the place of the usual one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RUMMY500_PORT", free_port())
    return tmp_path


@contextlib.asynccontextmanager
async def serving(line: str) -> AsyncIterator[str]:
    """The server of that line, until it is told to stop; its address."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "rummy500_server", *shlex.split(line)[1:]), stdout=pipe, stderr=pipe
    )
    assert process.stdout is not None
    said = (await process.stdout.readline()).decode()
    try:
        assert said.startswith("listening on "), (await process.communicate())[1].decode()
        yield said.split()[-1]
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await process.communicate()
    assert process.returncode == 0


async def test_every_command_of_the_page_works_in_its_order(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl, with which the page makes a certificate")

    async def run(line: str) -> str:
        words = shlex.split(line)
        if words[0] != "rummy500-server":
            await asyncio.to_thread(subprocess.run, words, check=True, capture_output=True)
            return ""
        assert await asyncio.to_thread(main, words[1:]) == 0, line
        return capsys.readouterr().out

    plain, secured = (line for line in COMMANDS if "server serve" in line and "--print-config" not in line)
    offline = [line for line in COMMANDS if " prune " in line]
    to_secured = [line for line in COMMANDS if "health --ca" in line]
    others = [line for line in COMMANDS if line not in (plain, secured, *offline, *to_secured)]

    async with serving(plain) as address, channel_to(address) as channel:
        client = Client(channel)
        table = await client.table("easy", "easy", seats=2, rules=ONE_ROUND)
        await client.played(table)
        said = {line: await run(line.replace("TABLE", table)) for line in others}
    async with serving(secured):
        for line in to_secured:
            assert await run(line) == "SERVING\n"
    for line in offline:
        said[line] = await run(line)

    assert table in said["rummy500-server tables"]
    assert said["rummy500-server health"] == "SERVING\n"
    assert said["rummy500-server prune --older-than 90d"].endswith("dropped 0 tables and 0 matches\n")
    made = {"rummy500.db", "rummy500-backup.db", "games.jsonl", "tokens.json", "tls.crt"}
    assert made <= {path.name for path in here.iterdir()}
