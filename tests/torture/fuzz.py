"""`python -m tests.torture fuzz --inputs 1000000`: bad inputs of all kinds against a real server.

Meanwhile two bots play game after game on it. It holds when no answer is UNKNOWN or INTERNAL, every refusal says why,
the bots' games end as they should and are answered in time, nothing is logged as a mistake of the server's, and its
memory stays as it was after the first half, to a tenth.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from tests.server.running import ServerProcess, channel_to, server_process
from tests.server.test_slow_readers import resident_kib
from tests.torture import fuzz_wire
from tests.torture.fuzz_calls import BadBot, BadCaller, Tally
from tests.torture.grounds import BOTS, Grounds

CALLERS, PEERS = 24, 2
WARM_UP = 0.5
"""The share of the inputs after which memory is measured first: caches, each of which has a bound, fill until then."""
MOST_GROWTH = 0.1
MOST_GROWTH_KIB = 16 << 10
LONGEST_WAIT_MS = 10_000
"""The bystanders' clock: what it takes longer, they would have lost their turn by."""
BETWEEN_LOOKS = 1.0
BETWEEN_LINES = 0.02
"""The share of the inputs after which a line tells how far it is."""
FLAGS = (
    *("--durability", "process", "--log-level", "error", "--tables-per-principal", "200"),
    *("--keepalive-ms", "120000"),  # on a busy machine nobody is dead who is silent
    *("--requests-per-second", "1000000", "--refusals-per-second", "1000000", "--streams-per-principal", "4096"),
)


@dataclass(slots=True)
class Verdict:
    """What was found. `wrong` is empty when all holds."""

    inputs: int
    seconds: float
    answers: dict[str, int]
    memory_kib: tuple[int, int]
    bystanders: dict[str, Any]
    lost: int
    late: int
    wrong: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        seen, (early, late) = self.bystanders, self.memory_kib
        table = [f"  {kind:48} {count:>9,}" for kind, count in sorted(self.answers.items())]
        return [
            *table,
            f"{self.lost:,} more whose answer the client library threw away",
            f"{self.late:,} were answered in time when they were sent again, and not before",
            f"{self.inputs:,} inputs in {self.seconds:,.0f} s",
            f"memory: {early:,} KiB after the warm-up, {late:,} KiB at the end",
            f"bystanders: {seen['games']} games, {seen['decisions']:,} decisions",
            f"an answer to them took {seen['median_ms']:.1f} ms (median), {seen['p99_ms']:.1f} ms (99 %), "
            f"{seen['longest_ms']:.1f} ms (longest)",
            *(f"WRONG: {each[:2_000]}" for each in self.wrong[:50]),
            f"{len(self.wrong)} things are wrong" if self.wrong else "all holds",
        ]


async def fuzz(database: Path, inputs: int, *, seed: int, peer_size: int = 400) -> Verdict:
    tally, dice, began = Tally(inputs), random.Random(seed), time.monotonic()
    async with server_process(database, *FLAGS) as server, channel_to(server.address) as channel:
        errors = asyncio.create_task(_lines_of(server))
        bystanders = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.torture.bystanders", server.address),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            memory = await _mistreat(server, channel, tally, dice, peer_size)
            told, _ = await asyncio.wait_for(bystanders.communicate(b""), 120)
        finally:
            if bystanders.returncode is None:
                bystanders.kill()
                await bystanders.wait()
            is_alive = server.process.returncode is None
            if is_alive:
                server.process.terminate()
            logged = await errors
    seen = json.loads(told)
    answers = {f"{kind}: {status}": count for (kind, status), count in tally.answers.items()}
    verdict = Verdict(tally.inputs, time.monotonic() - began, answers, memory, seen, tally.lost, tally.late)
    verdict.wrong += [*tally.wrong, *seen["wrong"]]
    early, late = memory
    if late - early > max(MOST_GROWTH_KIB, early * MOST_GROWTH):
        verdict.wrong.append(f"memory grew from {early} to {late} KiB")
    if seen["longest_ms"] > LONGEST_WAIT_MS or not seen["games"]:
        verdict.wrong.append("the bystanders were not answered in time")
    if not is_alive:
        verdict.wrong.append("the server has ended")
    verdict.wrong += [f"logged: {line}" for line in logged]
    return verdict


async def _mistreat(
    server: ServerProcess, channel: grpc.aio.Channel, tally: Tally, dice: random.Random, peer_size: int
) -> tuple[int, int]:
    """Sends all inputs; answers the server's memory after the warm-up and at the end, in KiB."""
    grounds = Grounds(channel, dice)
    await grounds.tend()
    callers = [BadCaller(channel, grounds, tally, random.Random(dice.random())) for _ in range(CALLERS)]
    bots = [BadBot(number, channel, grounds, tally, random.Random(dice.random())) for number in range(len(BOTS))]
    tasks = [asyncio.create_task(caller.go_on()) for caller in callers]
    tasks += [asyncio.create_task(bot.go_on()) for bot in bots]
    for _ in range(PEERS):
        own = random.Random(dice.random())
        tasks.append(
            asyncio.create_task(asyncio.to_thread(fuzz_wire.go_on, server.address, tally, own, size=peer_size))
        )
    early = told = shown = 0
    while not tally.is_full:
        await asyncio.sleep(BETWEEN_LOOKS)
        try:
            await grounds.tend()
        except grpc.aio.AioRpcError as error:
            tally.wrong.append(f"a right request: {error.code().name} {error.details()!r}")
        memory = resident_kib(server.process.pid)
        if not early and tally.inputs >= tally.wanted * WARM_UP:
            early = memory
        if tally.inputs >= told + tally.wanted * BETWEEN_LINES:
            told = tally.inputs
            print(f"{told:,} inputs, {memory:,} KiB, {len(tally.wrong)} wrong", file=sys.stderr)
            for each in tally.wrong[shown:][:3]:
                print(f"  {each[:400]}", file=sys.stderr)
            shown = len(tally.wrong)
        for task in tasks:
            if task.done():
                task.result()
    await asyncio.gather(*tasks)
    return early, resident_kib(server.process.pid)


async def _lines_of(server: ServerProcess) -> list[str]:
    """What the server logs as its own mistakes; gRPC's own lines on what it cannot read are no such."""
    assert server.process.stderr is not None
    lines = [line.decode(errors="replace").rstrip() async for line in server.process.stderr]
    return [line for line in lines if not re.match(r"[EWI]\d{4} .*\.cc:\d+\]", line)]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.torture fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000, help="how many (default 1,000,000)")
    parser.add_argument("--seed", type=int, default=1, help="what the inputs are drawn from")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        verdict = asyncio.run(fuzz(Path(folder) / "fuzz.db", given.inputs, seed=given.seed))
    print("\n".join(verdict.lines()))
    return 1 if verdict.wrong else 0
