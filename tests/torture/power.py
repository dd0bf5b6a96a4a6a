"""Cuts the power of a server's disk: whatever it answered before the cut must be there after it, with `disk`.

One run of a server is traced, every write and every sync of its database; then the disk is rebuilt as it would be had
the power gone at this moment or that, without what was not synced, or with a random part of it, and opened again.
"""

from __future__ import annotations

import argparse
import asyncio
import bisect
import json
import random
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.server.running import running_app
from tests.torture.callers import Caller
from tests.torture.disk import compile_trace, disks_after
from tests.torture.hosts import CLOCK, OWN_BOT, SHORT
from tests.torture.killable import KillableServer
from tests.torture.players import Person, look_on, token_from
from tests.torture.witness import Witness

from rummy500.v1 import rules_pb2
from rummy500.v1 import table_service_pb2 as pb
from rummy500_server.app import App
from rummy500_server.logs import configure_logs
from rummy500_server.status import Failure

BUILD = Path(__file__).parents[2] / "build"
LUCK = (0.0, 0.0, 0.3, 0.9)
"""How much of what was not synced is there nevertheless."""


@dataclass(slots=True)
class Report:
    durability: str
    answers: int = 0
    events_told: int = 0
    cuts: int = 0
    cuts_with_loss: int = 0
    losses: list[str] = field(default_factory=list)
    """The first of each cut."""
    seconds: float = 0.0


@dataclass(slots=True)
class Run:
    """A server that played for so many seconds, and what everybody was told when: `when` is a place in the trace."""

    place: Path
    durability: str
    seconds: float
    tables: int
    dice: random.Random
    witnesses: list[Witness] = field(default_factory=list)
    callers: list[Caller] = field(default_factory=list)

    @property
    def trace(self) -> Path:
        return self.place / "trace"

    @property
    def database(self) -> Path:
        return self.place / "disk" / "games.db"

    async def play(self, library: Path) -> None:
        self.database.parent.mkdir(parents=True)
        more = {"LD_PRELOAD": str(library), "DISK_TRACE": str(self.trace), "DISK_TRACE_OF": str(self.database)}
        server = KillableServer(self.database, self.place / "log", "--durability", self.durability, **more)
        try:
            await server.spawn()
            await server.listens()
            playing = [asyncio.create_task(self._table(server.address)) for _ in range(self.tables)]
            done, _ = await asyncio.wait(playing, timeout=self.seconds, return_when=asyncio.FIRST_EXCEPTION)
            await server.kill()
            for task in playing:
                task.cancel()
            await asyncio.wait(playing)
            for task in done:
                task.result()
        finally:
            await server.kill()
            for caller in self.callers:
                await caller.close()

    def now(self) -> int:
        return self.trace.stat().st_size

    async def _table(self, address: str) -> None:
        """A game between two people, or one and a bot of the server's own; then the next."""
        caller = Caller(address, random.Random(self.dice.getrandbits(64)), clock=self.now)
        self.callers.append(caller)
        while True:
            owner = token_from(caller.dice)
            rules = rules_pb2.RulesChoice(options=SHORT)
            request = pb.CreateTableRequest(
                seats=2, rules=rules, clock=CLOCK, start_when_full=True, request_id=caller.request_id()
            )
            table = (await caller.once("CreateTable", request, owner)).table.name
            witness = Witness(table, clock=self.now)
            self.witnesses.append(witness)
            async with asyncio.TaskGroup() as playing:
                playing.create_task(look_on(caller, witness, None, owner))
                for seat in range(2):
                    if seat and caller.dice.random() < 0.5:
                        add = pb.AddBotRequest(table=table, builtin=OWN_BOT, request_id=caller.request_id())
                        await caller.once("AddBot", add, owner)
                        continue
                    secret = token_from(caller.dice)
                    join = pb.JoinTableRequest(
                        table=table, name=f"p{seat}", seat_secret=secret, request_id=caller.request_id()
                    )
                    await caller.once("JoinTable", join, secret)
                    playing.create_task(Person(caller, witness, seat, secret).go_on())

    async def losses(self, disk: dict[str, bytes], cut: int, place: Path) -> list[str]:
        """What was told before the cut and is not on that disk."""
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for name, content in disk.items():
            (place / name).write_bytes(content)
        async with running_app(database=str(place / "games.db"), durability="process") as app:
            found = [loss for witness in self.witnesses for loss in await _lost_events(app, witness, cut)]
            return found + [loss for caller in self.callers for loss in await _lost_answers(app, caller, cut)]


async def _lost_events(app: App, witness: Witness, cut: int) -> list[str]:
    told = witness.told_before(cut)
    if not any(told.values()):
        return []
    try:
        table = (await app.lobby.table(witness.table)).table
    except Failure as failure:
        return [failure.sentence]
    lost: list[str] = []
    for viewer, events in told.items():
        kept = dict(enumerate(table.log.messages(0, viewer), 1))
        lost += [
            f"{witness.table}: event {number} for {viewer}"
            for number, text in events.items()
            if number not in kept or kept[number].SerializeToString(deterministic=True) != text
        ]
    return lost


async def _lost_answers(app: App, caller: Caller, cut: int) -> list[str]:
    """Requests whose answers a retry does not get any more: a few of them, the last ones before the cut too."""
    known = [each for each in caller.known if each.when <= cut]
    again = Caller(app.address, caller.dice)
    lost: list[str] = []
    try:
        for each in [*known[-3:], *caller.dice.sample(known, min(2, len(known)))]:
            if difference := await again.difference(each):
                lost.append(difference)
    finally:
        await again.close()
    return lost


async def _torture(run: Run, library: Path, cuts: int) -> Report:
    begin, report = time.monotonic(), Report(run.durability)
    await run.play(library)
    trace = run.trace.read_bytes()
    whens = sorted(each.when for caller in run.callers for each in caller.known)
    report.answers, report.events_told = len(whens), sum(witness.told for witness in run.witnesses)
    for luck in LUCK:
        share = max(1, cuts // len(LUCK))
        places = [run.dice.choice(whens) for _ in range(share)] + [run.dice.randrange(len(trace)) for _ in range(share)]
        for cut, disk in disks_after(trace, run.database.parent, places, run.dice, luck):
            report.cuts += 1
            lost = await run.losses(disk, cut, run.place / "after")
            if lost:
                report.cuts_with_loss += 1
                answers = bisect.bisect_right(whens, cut)
                report.losses.append(f"power cut after {answers} answers, luck {luck}: {len(lost)} lost: {lost[0]}")
    report.seconds = round(time.monotonic() - begin, 1)
    return report


def run(place: Path, *, durability: str, seconds: float, tables: int, cuts: int, seed: int) -> Report:
    """Raises when a file cannot be opened after a cut."""
    place.mkdir(parents=True)
    compiler = shutil.which("cc")
    assert compiler is not None, "a C compiler is needed"
    made = Run(place, durability, seconds, tables, random.Random(f"{seed} {durability}"))
    return asyncio.run(_torture(made, compile_trace(compiler, place), cuts))


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.torture power", description=__doc__)
    parser.add_argument("--cuts", type=int, default=400, help="how often the power is cut, of each kind (default 400)")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long the server plays (default 20)")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    configure_logs("console", "error")
    place = BUILD / "torture" / "power"
    shutil.rmtree(place, ignore_errors=True)
    reports = []
    for durability in ("disk", "process"):
        report = run(
            place / durability,
            durability=durability,
            seconds=given.seconds,
            tables=6,
            cuts=given.cuts // 2,
            seed=given.seed,
        )
        reports.append(asdict(report) | {"losses": report.losses[:5]})
        print(json.dumps(reports[-1], indent=2), flush=True)
    (BUILD / "torture-power.json").write_text(json.dumps(reports, indent=2) + "\n", encoding="utf-8")
    disk, process = (report["cuts_with_loss"] for report in reports)
    assert not disk, "durability disk has lost what it had answered"
    assert process, "durability process lost nothing: this proof proves nothing"
    print("disk lost nothing; what process lost shows that a loss would be seen; in build/torture-power.json")
    return 0
