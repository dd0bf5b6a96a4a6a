"""docs/run-a-server.md: its commands work, in the order of the page, and its tables are those of the code."""

from __future__ import annotations

import asyncio
import contextlib
import re
import shlex
import shutil
import signal
import socket
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.server.protocol_tables import OPERATORS_PAGE, OPERATORS_TABLES, filled
from tests.server.running import channel_to, environment
from tests.server.test_commands import ONE_ROUND
from tests.server.test_games import Client

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


@dataclass(slots=True)
class Host:
    """Somebody who types what the page says, in an empty directory, on a port that is free here."""

    directory: Path
    variables: dict[str, str]

    async def started(self, line: str) -> asyncio.subprocess.Process:
        words = shlex.split(line)
        if words[0] == "rummy500-server":
            words[:1] = [sys.executable, "-m", "rummy500_server"]
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            *words, cwd=self.directory, env=environment() | self.variables, stdout=pipe, stderr=pipe
        )

    async def run(self, line: str) -> str:
        process = await self.started(line)
        output, errors = await process.communicate()
        assert process.returncode == 0, f"{line}\n{errors.decode()}"
        return output.decode()

    @contextlib.asynccontextmanager
    async def serving(self, line: str) -> AsyncIterator[str]:
        """Until it is told to stop; the address."""
        process = await self.started(line)
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


async def test_every_command_of_the_page_works_in_its_order(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl, with which the page makes a certificate")
    host = Host(tmp_path, {"RUMMY500_PORT": free_port()})
    plain, secured = (line for line in COMMANDS if "server serve" in line and "--print-config" not in line)
    offline = [line for line in COMMANDS if " prune " in line]
    to_secured = [line for line in COMMANDS if "health --ca" in line]
    others = [line for line in COMMANDS if line not in (plain, secured, *offline, *to_secured)]

    async with host.serving(plain) as address, channel_to(address) as channel:
        client = Client(channel)
        table = await client.table("easy", "easy", seats=2, rules=ONE_ROUND)
        await client.played(table)
        said = {line: await host.run(line.replace("TABLE", table)) for line in others}
    async with host.serving(secured):
        for line in to_secured:
            assert await host.run(line) == "SERVING\n"
    for line in offline:
        said[line] = await host.run(line)

    assert table in said["rummy500-server tables"]
    assert said["rummy500-server health"] == "SERVING\n"
    assert said["rummy500-server prune --older-than 90d"].endswith("dropped 0 tables and 0 matches\n")
    assert {"rummy500.db", "rummy500-backup.db", "games.jsonl", "tokens.json", "tls.crt"} <= {
        path.name for path in tmp_path.iterdir()
    }
