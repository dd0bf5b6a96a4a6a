"""Kills a server with SIGKILL at random moments, again and again, while bots and people play, and looks whether
anything that it ever told was lost, doubled or told otherwise."""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.torture.callers import Caller
from tests.torture.hosts import Host, MatchHost, Played, TableHost
from tests.torture.killable import KillableServer
from tests.torture.players import Bot, token_from

BUILD = Path(__file__).parents[2] / "build"
FINISH_SECONDS = 300.0
"""All games end within this time after the last kill."""
WHILE_STARTING, AT_ONCE, LATE = 0.15, 0.1, 0.1
"""How often a server is killed before it listens, as soon as it does, and only after some time."""


@dataclass(slots=True)
class Report:
    durability: str
    kills: int
    kills_while_starting: int = 0
    seconds: float = 0.0
    games: int = 0
    events_told: int = 0
    answers: int = 0
    answers_asked_again: int = 0
    calls_that_failed: int = 0
    bot_decisions: int = 0
    streams: int = 0
    records_that_hold: int = 0


@dataclass(frozen=True, slots=True)
class Load:
    """How much is played at the same time."""

    tables: int = 24
    matches: int = 2
    bots: int = 8


@dataclass(slots=True)
class Run:
    """One server's life, with all its deaths, in a directory of its own."""

    place: Path
    durability: str
    kills: int
    load: Load
    dice: random.Random
    report: Report = field(init=False)
    _is_last: bool = False
    _played: list[Played] = field(default_factory=list)

    async def torture(self) -> Report:
        """Raises Contradiction, or whatever else the server made a client say."""
        self.report, begin = Report(self.durability, self.kills), time.monotonic()
        log = self.place / "server.log"
        server = KillableServer(self.place / "games.db", log, "--durability", self.durability)
        callers: list[Caller] = []
        try:
            await server.spawn()
            await server.listens()
            await self._play(server, callers)
        finally:
            await server.kill()
            for caller in callers:
                await caller.close()
        self.report.seconds = round(time.monotonic() - begin, 1)
        assert not server.errors(), f"the server logged errors: {server.errors()[:3]}; all are in {log}"
        self._verify_records()
        return self.report

    async def _play(self, server: KillableServer, callers: list[Caller]) -> None:
        def caller() -> Caller:
            callers.append(Caller(server.address, random.Random(self.dice.getrandbits(64))))
            return callers[-1]

        bots = [Bot(caller(), f"bot-{number}", token_from(self.dice)) for number in range(self.load.bots)]
        kinds: list[type[Host]] = [TableHost] * self.load.tables + [MatchHost] * self.load.matches
        hosts = [
            kind(caller(), bots, may_go_on=lambda: not self._is_last, played=self._played.append) for kind in kinds
        ]
        streams = [asyncio.create_task(bot.play()) for bot in bots]
        hosting = [asyncio.create_task(host.run()) for host in hosts]
        killing = asyncio.create_task(self._kill_and_kill(server))
        try:
            await _all_or_first_error(killing, hosting=hosting, streams=streams)
            assert not (open_games := [table for bot in bots for table in bot.open_games()]), f"not over: {open_games}"
        finally:
            for task in (killing, *hosting, *streams):
                task.cancel()
            await asyncio.gather(killing, *hosting, *streams, return_exceptions=True)
        self._count(callers, bots)

    async def _kill_and_kill(self, server: KillableServer) -> None:
        for _ in range(self.kills):
            await asyncio.sleep(self._moment())
            await server.kill()
            await server.spawn()
            while self.report.kills_while_starting < self.kills and self.dice.random() < WHILE_STARTING:
                await asyncio.sleep(self.dice.uniform(0.0, 1.5))
                await server.kill()
                self.report.kills_while_starting += 1
                await server.spawn()
            await server.listens()
        self._is_last = True

    def _moment(self) -> float:
        """Seconds until the next kill."""
        chance = self.dice.random()
        if chance < AT_ONCE:
            return self.dice.uniform(0.0, 0.05)
        return self.dice.uniform(0.0, 4.0 if chance > 1 - LATE else 1.0)

    def _count(self, callers: Sequence[Caller], bots: Sequence[Bot]) -> None:
        report = self.report
        report.games = sum(each.games for each in self._played)
        report.events_told = sum(each.told for each in self._played)
        report.answers = sum(caller.answered for caller in callers)
        report.answers_asked_again = sum(caller.repeated for caller in callers)
        report.calls_that_failed = sum(caller.failed for caller in callers)
        report.bot_decisions = sum(bot.decided for bot in bots)
        report.streams = sum(bot.connections for bot in bots)

    def _verify_records(self) -> None:
        """As a user would: `rummy500 verify FILE`."""
        path = self.place / "records.jsonl"
        path.write_text("".join(each.records for each in self._played), encoding="utf-8")
        command = [sys.executable, "-m", "rummy500_client", "verify", str(path)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        assert run.returncode == 0, f"a record does not hold: {run.stdout}{run.stderr}"
        held = re.search(r": (\d+) records? holds?", run.stdout)
        self.report.records_that_hold = int(held[1]) if held else 0
        assert self.report.records_that_hold == self.report.games, f"{run.stdout}, but {self.report.games} games"


async def _all_or_first_error(
    killing: asyncio.Task[None], *, hosting: Sequence[asyncio.Task[None]], streams: Sequence[asyncio.Task[None]]
) -> None:
    """Waits until all kills are done and all hosts have finished. Raises what the first of them, or a bot, raises."""
    waiting: set[asyncio.Task[None]] = {killing, *hosting, *streams}
    timeout: float | None = None
    while not waiting <= set(streams):
        done, waiting = await asyncio.wait(waiting, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        assert done, f"{len(waiting) - len(streams)} games did not end within {FINISH_SECONDS} seconds"
        for task in done:
            task.result()
        timeout = FINISH_SECONDS if killing.done() else None


def run(place: Path, *, durability: str, kills: int, load: Load, seed: int) -> Report:
    """Raises AssertionError (a Contradiction is one) when the server broke a promise."""
    place.mkdir(parents=True)
    return asyncio.run(Run(place, durability, kills, load, random.Random(f"{seed} {durability}")).torture())


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.torture kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=300, help="how often the server is killed (default 300)")
    parser.add_argument("--durability", choices=("disk", "process", "both"), default="both", help="both: half of each")
    parser.add_argument("--seed", type=int, default=1, help="the same chances again, as far as time allows")
    given = parser.parse_args(arguments)
    ways = ("disk", "process") if given.durability == "both" else (given.durability,)
    place, reports = BUILD / "torture" / "kills", []
    shutil.rmtree(place, ignore_errors=True)
    for durability in ways:
        kills = max(1, given.kills // len(ways))
        report = run(place / durability, durability=durability, kills=kills, load=Load(), seed=given.seed)
        reports.append(asdict(report))
        print(json.dumps(asdict(report), indent=2), flush=True)
    (BUILD / "torture-kills.json").write_text(json.dumps(reports, indent=2) + "\n", encoding="utf-8")
    print(f"nothing lost, nothing doubled; written to {BUILD.name}/torture-kills.json")
    return 0
