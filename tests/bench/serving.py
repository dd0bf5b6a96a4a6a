"""A server for the bench, as a user would start it, with tables at which two connected bots sit."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from tests.bench.workers import Worker, worker

from rummy500.v1.rules_pb2 import Option, RulesChoice
from rummy500.v1.table_pb2 import ClockSettings
from rummy500.v1.table_service_pb2 import AddBotRequest, CloseTableRequest, CreateTableRequest
from rummy500.v1.table_service_pb2_grpc import TableServiceStub
from rummy500_server.settings import IN_MEMORY

NAMES = ("north", "south")
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


@dataclass(frozen=True, slots=True)
class SeatedBots:
    """Two bots, each a process with one stream, at tables for two of a server of their own."""

    bots: tuple[Worker, Worker]
    _stub: TableServiceStub
    _tables: list[str]

    def seat_anew(self) -> None:
        """At fresh tables: a game between such bots lasts some 8,700 decisions and no longer."""
        tables = len(self._tables)
        for table in self._tables:
            self._stub.CloseTable(CloseTableRequest(table=table), metadata=OWNER)
        self._tables[:] = [_seat(self._stub) for _ in range(tables)]


@contextlib.contextmanager
def bots_at_tables(tables: int, environment: Mapping[str, str], *, keeps: bool = True) -> Iterator[SeatedBots]:
    with contextlib.ExitStack() as stack:
        address, _ = stack.enter_context(server(environment, keeps=keeps))
        bots = [
            stack.enter_context(worker("tests.bench.bot", address, name, f"the-token-of-the-bot-{name}", str(number)))
            for number, name in enumerate(NAMES, 1)
        ]
        for bot in bots:
            bot.ask(do="connect")
        stub = TableServiceStub(stack.enter_context(grpc.insecure_channel(address)))
        yield SeatedBots((bots[0], bots[1]), stub, [_seat(stub) for _ in range(tables)])


def _seat(stub: TableServiceStub) -> str:
    """The name of a table whose game is as long as can be."""
    options = [Option(name="target", value="10000"), Option(name="max_rounds", value="1000")]
    request = CreateTableRequest(
        seats=len(NAMES),
        rules=RulesChoice(preset="classic", options=options),
        clock=ClockSettings(decision_ms=A_DAY_MS),
        start_when_full=True,
    )
    table = stub.CreateTable(request, metadata=OWNER).table.name
    for seat, name in enumerate(NAMES):
        stub.AddBot(AddBotRequest(table=table, seat=seat, connected=name), metadata=OWNER)
    return table


def rate_of(seated: SeatedBots, seconds: float) -> float:
    """Decisions a second of both bots together."""
    first, second = _play(seated.bots, seconds)
    return float(first["rate"] + second["rate"])


def trip_of(seated: SeatedBots, seconds: float) -> float:
    """The mean of the bots' median round trips at fresh tables, in milliseconds."""
    seated.seat_anew()
    trips: list[float] = [answer["trip_ms"] for answer in _play(seated.bots, seconds)]
    return sum(trips) / len(trips)


def _play(bots: tuple[Worker, Worker], seconds: float) -> list[dict[str, Any]]:
    for bot in bots:
        bot.tell(do="play", seconds=seconds)
    return [bot.answer() for bot in bots]
