"""Servers for tests: a real process on a free port, and one in this process."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from rummy500_catalog import Catalog
from rummy500_server.app import App, open_app
from rummy500_server.clock import Timer
from rummy500_server.settings import Settings

TOKEN = "an-owner-token-for-tests"


@dataclass(slots=True)
class ServerProcess:
    """`rummy500-server serve` as a child process that listens at `address`."""

    process: asyncio.subprocess.Process
    address: str

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    async def ended(self) -> tuple[int, str]:
        """The exit status and what it wrote to standard error."""
        assert self.process.stderr is not None
        errors = await self.process.stderr.read()
        return await self.process.wait(), errors.decode()


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("RUMMY500_")}


async def serve(*flags: str, **more: str) -> asyncio.subprocess.Process:
    """Starts the command; `more` are environment variables."""
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "rummy500_server", "serve", *flags),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment() | more,
    )


@contextlib.asynccontextmanager
async def server_process(database: Path, *flags: str) -> AsyncIterator[ServerProcess]:
    process = await serve("--port", "0", "--database", str(database), "--exit-with-stdin", *flags)
    try:
        assert process.stdout is not None
        line = (await process.stdout.readline()).decode()
        assert line.startswith("listening on "), line
        yield ServerProcess(process, line.split()[-1])
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@contextlib.asynccontextmanager
async def running_app(
    *, catalog: Catalog | None = None, timer: Timer | None = None, **settings: Any
) -> AsyncIterator[App]:
    """A server in this process, on a free port, with a journal in memory unless `database` names a file."""
    app = await open_app(Settings(**{"port": 0, "database": ":memory:", **settings}), catalog=catalog, timer=timer)
    await app.start()
    try:
        yield app
    finally:
        await app.stop(drain_seconds=0)


@contextlib.asynccontextmanager
async def channel_to(address: str) -> AsyncIterator[grpc.aio.Channel]:
    async with grpc.aio.insecure_channel(address) as channel:
        yield channel


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    """The metadata of a caller with this token."""
    return (("authorization", f"Bearer {token}"),)
