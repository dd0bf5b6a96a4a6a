"""A server under steady load for a long time: people who join, leave and drop out, bots whose streams break, readers
that are too slow. Nothing may go wrong, and its memory may not grow."""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import statistics
import sys
import time
from collections.abc import Coroutine, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import grpc
from tests.torture.callers import Caller
from tests.torture.crowd import Bot, Notes, Person, percentile, pondering, read_slowly
from tests.torture.killable import KillableServer
from tests.torture.players import token_from

from rummy500.v1 import rules_pb2, table_pb2
from rummy500.v1 import table_service_pb2 as pb

BUILD = Path(__file__).parents[2] / "build"
CLOCK = table_pb2.ClockSettings(decision_ms=120_000)
SHORT = (rules_pb2.Option(name="max_rounds", value="1"),)
"""One round a table, so that tables come and go."""
VARIANTS = ((), ("queen-of-spades",))
OWN_BOT = table_pb2.BuiltinBot(name="random")
SHARE_OF_PEOPLE, SHARE_OF_BUILTIN = 0.3, 0.2
SAMPLES = 400
"""How often the server's memory is looked at."""
TABLES_A_CALLER = 25
MEGABYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Load:
    """`rate`: decisions a second of all tables together, about."""

    minutes: float
    tables: int
    rate: float
    bots: int = 16
    slow_readers: int = 20


@dataclass(slots=True)
class Report:
    minutes: float
    tables: int
    games: int = 0
    decisions_a_second: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    milliseconds: dict[str, dict[str, float]] = field(default_factory=dict)
    """Of each kind of call: how many, the median, the 99th percentile, the longest."""
    processor_share: float = 0.0
    """Of one core, by the server."""
    memory_mb: list[float] = field(default_factory=list)
    """What the server holds in each quarter of the time: the median of what it held."""
    growth: float = 0.0
    """Of the last quarter over the third, as a share of that."""
    slope_mb: float = 0.0
    """Of a line through the second half: megabytes in ten minutes."""


@dataclass(slots=True)
class Soak:
    place: Path
    load: Load
    dice: random.Random
    notes: Notes = field(default_factory=Notes)
    _games: int = 0
    _tables: dict[str, None] = field(default_factory=dict)
    _memory: list[int] = field(default_factory=list)

    async def run(self, *flags: str) -> Report:
        """Raises whatever the server made a client say."""
        log = self.place / "server.log"
        server = KillableServer(self.place / "games.db", log, *flags)
        callers: list[Caller] = []
        try:
            await server.spawn()
            await server.listens()
            begin, spent = time.monotonic(), _processor_seconds(server.pid)
            await self._crowd(server, callers)
            seconds, spent = time.monotonic() - begin, _processor_seconds(server.pid) - spent
        finally:
            await server.kill()
            for caller in callers:
                await caller.close()
        assert not server.errors(), f"the server logged errors: {server.errors()[:3]}; all are in {log}"
        return self._report(seconds, spent)

    async def _crowd(self, server: KillableServer, callers: list[Caller]) -> None:
        """Everybody at once, until the time is over or somebody meets an error."""

        def caller() -> Caller:
            callers.append(Caller(server.address, random.Random(self.dice.getrandbits(64))))
            return callers[-1]

        think = pondering(self.dice, self.load.tables / self.load.rate)
        bots = [Bot(caller(), self.notes, f"bot-{number}", think) for number in range(self.load.bots)]
        hosts = [caller() for _ in range(1 + self.load.tables // TABLES_A_CALLER)]
        work: list[Coroutine[Any, Any, None]] = [bot.play() for bot in bots]
        work += [self._host(hosts[number % len(hosts)], bots, think) for number in range(self.load.tables)]
        work += [self._read_slowly(caller()) for _ in range(self.load.slow_readers)]
        tasks = [asyncio.create_task(each) for each in work]
        measuring = asyncio.create_task(self._measure(server.pid))
        try:
            done, _ = await asyncio.wait((measuring, *tasks), return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in (measuring, *tasks):
                task.cancel()
            await asyncio.gather(measuring, *tasks, return_exceptions=True)

    async def _measure(self, pid: int) -> None:
        """Returns when the time is over."""
        for _ in range(SAMPLES):
            await asyncio.sleep(self.load.minutes * 60 / SAMPLES)
            self._memory.append(_resident_bytes(pid))

    # --- tables

    async def _host(self, caller: Caller, bots: Sequence[Bot], think: Any) -> None:
        """One table after the other."""
        await asyncio.sleep(caller.dice.uniform(0, 5))
        while True:
            await self._play_one(caller, bots, think)
            self._games += 1

    async def _play_one(self, caller: Caller, bots: Sequence[Bot], think: Any) -> None:
        dice, owner = caller.dice, token_from(caller.dice)
        seats = dice.choice((2, 2, 2, 3, 4))
        request = pb.CreateTableRequest(
            seats=seats,
            rules=rules_pb2.RulesChoice(options=SHORT, variants=dice.choice(VARIANTS)),
            clock=CLOCK,
            start_when_full=True,
        )
        table = (await self.notes.timed("CreateTable", caller.tables.CreateTable, request, owner)).table.name
        people: list[Person] = []
        for seat, bot in enumerate(dice.sample(bots, seats)):
            chance = dice.random()
            if chance < SHARE_OF_PEOPLE:
                token = token_from(dice)
                joining = pb.JoinTableRequest(table=table, seat=seat, name=f"person {seat}", seat_secret=token)
                await self.notes.timed("JoinTable", caller.tables.JoinTable, joining, token)
                people.append(Person(caller, self.notes, table, token, think))
            elif chance < SHARE_OF_PEOPLE + SHARE_OF_BUILTIN:
                added = pb.AddBotRequest(table=table, seat=seat, builtin=OWN_BOT)
                await self.notes.timed("AddBot", caller.tables.AddBot, added, owner)
            else:
                await self._seat_connected(caller, table, seat, bot, owner)
        self._tables[table] = None
        try:
            async with asyncio.TaskGroup() as playing:
                for person in people:
                    playing.create_task(person.play())
                playing.create_task(Person(caller, self.notes, table, token_from(dice), think).play())
        finally:
            del self._tables[table]

    async def _seat_connected(self, caller: Caller, table: str, seat: int, bot: Bot, owner: str) -> None:
        """A bot whose stream was just lost is waited for."""
        added = pb.AddBotRequest(table=table, seat=seat, connected=bot.name)
        while True:
            await bot.is_connected.wait()
            try:
                await self.notes.timed("AddBot", caller.tables.AddBot, added, owner)
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.NOT_FOUND:
                    raise
            else:
                return

    async def _read_slowly(self, caller: Caller) -> None:
        while True:
            await asyncio.sleep(caller.dice.uniform(0, 5))
            if self._tables:
                table = caller.dice.choice(list(self._tables))
                await read_slowly(caller, self.notes, table, caller.dice.uniform(30, 180))

    # --- what came of it

    def _report(self, seconds: float, spent: float) -> Report:
        memory, half = self._memory, len(self._memory) // 2
        quarters = [statistics.median(memory[at * half // 2 : (at + 1) * half // 2]) for at in range(4)]
        slope = statistics.linear_regression(range(half), memory[half : 2 * half]).slope
        return Report(
            minutes=round(seconds / 60, 1),
            tables=self.load.tables,
            games=self._games,
            decisions_a_second=round(self.notes.counts["decisions"] / seconds, 1),
            counts=dict(self.notes.counts),
            milliseconds={kind: _figures(values) for kind, values in sorted(self.notes.seconds.items())},
            processor_share=round(spent / seconds, 2),
            memory_mb=[round(held / MEGABYTE, 1) for held in quarters],
            growth=round(quarters[3] / quarters[2] - 1, 4),
            slope_mb=round(slope * SAMPLES / seconds * 600 / MEGABYTE, 2),
        )


def _figures(seconds: Sequence[float]) -> dict[str, float]:
    figures = {"median": percentile(seconds, 0.5), "p99": percentile(seconds, 0.99), "longest": max(seconds)}
    return {"calls": len(seconds), **{name: round(value * 1000, 1) for name, value in figures.items()}}


def _resident_bytes(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def run(place: Path, load: Load, *flags: str, seed: int) -> Report:
    place.mkdir(parents=True)
    return asyncio.run(Soak(place, load, random.Random(seed)).run(*flags))


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.torture soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--tables", type=int, default=500, help="open at the same time (default 500)")
    parser.add_argument("--rate", type=float, default=400.0, help="decisions a second, about (default 400)")
    parser.add_argument(
        "--most-growth", type=float, default=0.03, help="of memory, from the third quarter to the last (default 0.03)"
    )
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    place = BUILD / "torture" / "soak"
    shutil.rmtree(place, ignore_errors=True)
    load = Load(given.minutes, given.tables, given.rate)
    report = run(place, load, "--events-behind", "16", seed=given.seed)
    text = json.dumps(asdict(report), indent=2)
    (BUILD / "torture-soak.json").write_text(text + "\n", encoding="utf-8")
    print(f"{text}\nwritten to {BUILD.name}/torture-soak.json")
    if report.growth > given.most_growth:
        print(f"the server's memory grew by {report.growth:.1%} from the third quarter to the last", file=sys.stderr)
        return 1
    return 0
