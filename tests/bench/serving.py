"""A server for the bench, as a user would start it, with tables at which two connected bots sit."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import grpc
from tests.bench.workers import Worker, worker

from rummy500.v1.rules_pb2 import Option, RulesChoice
from rummy500.v1.table_pb2 import ClockSettings
from rummy500.v1.table_service_pb2 import AddBotRequest, CreateTableRequest
from rummy500.v1.table_service_pb2_grpc import TableServiceStub
from rummy500_server.settings import IN_MEMORY

OWNER = (("authorization", "Bearer the-owner-of-the-tables-of-the-bench"),)
A_DAY_MS = 86_400_000
START_SECONDS = 30.0


@contextlib.contextmanager
def server(environment: Mapping[str, str], *, keeps: bool = True) -> Iterator[tuple[str, int]]:
    """The address and the process of a server on its defaults (journal on, synced to the disk), or of one that keeps
    nothing after its end."""
    with tempfile.TemporaryDirectory(prefix="rummy500-bench-") as directory:
        ready = Path(directory, "ready")
        command = [sys.executable, "-m", "rummy500_server", "serve", "--port", "0", "--log-level", "warning"]
        database = str(Path(directory, "games.db")) if keeps else IN_MEMORY
        command += ["--database", database, "--ready-file", str(ready), "--exit-with-stdin"]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env={**os.environ, **environment}
        )
        try:
            yield _address(process, ready), process.pid
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _address(process: subprocess.Popen[bytes], ready: Path) -> str:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        with contextlib.suppress(FileNotFoundError):
            if text := ready.read_text(encoding="ascii").strip():
                return text
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}")
        time.sleep(0.05)
    raise RuntimeError("the server did not start")


@contextlib.contextmanager
def bots_at_tables(
    tables: int, environment: Mapping[str, str], *, keeps: bool = True
) -> Iterator[tuple[Worker, Worker]]:
    """Two bots, each a process with one stream, at so many tables for two of a server of their own."""
    with contextlib.ExitStack() as stack:
        address, _ = stack.enter_context(server(environment, keeps=keeps))
        names = ("north", "south")
        bots = [
            stack.enter_context(worker("tests.bench.bot", address, name, f"the-token-of-the-bot-{name}", str(number)))
            for number, name in enumerate(names, 1)
        ]
        for bot in bots:
            bot.ask(do="connect")
        with grpc.insecure_channel(address) as channel:
            stub = TableServiceStub(channel)
            for _ in range(tables):
                _seat(stub, names)
        yield bots[0], bots[1]


def _seat(stub: TableServiceStub, names: tuple[str, str]) -> None:
    """A table whose game outlasts the bench."""
    options = [Option(name="target", value="10000"), Option(name="max_rounds", value="1000")]
    request = CreateTableRequest(
        seats=2,
        rules=RulesChoice(preset="classic", options=options),
        clock=ClockSettings(decision_ms=A_DAY_MS),
        start_when_full=True,
    )
    table = stub.CreateTable(request, metadata=OWNER).table.name
    for seat, name in enumerate(names):
        stub.AddBot(AddBotRequest(table=table, seat=seat, connected=name), metadata=OWNER)


def rate_of(bots: tuple[Worker, Worker], seconds: float) -> float:
    """Decisions a second of both bots together."""
    first, second = _play(bots, seconds)
    return float(first["rate"] + second["rate"])


def trip_of(bots: tuple[Worker, Worker], seconds: float) -> float:
    """The mean of the bots' median round trips, in milliseconds."""
    trips: list[float] = [answer["trip_ms"] for answer in _play(bots, seconds) if answer["trip_ms"] is not None]
    return sum(trips) / len(trips)


def _play(bots: tuple[Worker, Worker], seconds: float) -> list[dict[str, Any]]:
    for bot in bots:
        bot.tell(do="play", seconds=seconds)
    return [bot.answer() for bot in bots]
