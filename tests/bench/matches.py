"""Whole matches for the bench: rounds a second against the number of tables, and who needs the processor for them."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import grpc
from tests.bench.serving import A_DAY_MS, OWNER, server
from tests.bench.workers import Worker, worker

from rummy500.v1.match_pb2 import ConnectedBot, MatchBot, MatchPlan
from rummy500.v1.match_service_pb2 import CancelMatchRequest, CreateMatchRequest, GetMatchRequest
from rummy500.v1.match_service_pb2_grpc import MatchServiceStub
from rummy500.v1.table_pb2 import BuiltinBot, ClockSettings

NAMES = ("north", "south")
WARM_SECONDS, WARM_SECONDS_A_TABLE = 1.0, 0.06
"""Until rounds end as often as they begin: all tables begin at once."""
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Pace:
    """Rounds a second on the wall, and processor milliseconds a round of the server and of all bots' processes."""

    rounds: float
    server_ms: float
    bots_ms: float


def builtin_bots() -> list[MatchBot]:
    return [MatchBot(name=name, builtin=BuiltinBot(name="random")) for name in NAMES]


def connected_bots() -> list[MatchBot]:
    return [MatchBot(name=name, connected=ConnectedBot(names=[name])) for name in NAMES]


@contextlib.contextmanager
def match_of(bots: list[MatchBot], tables: int, environment: Mapping[str, str]) -> Iterator[Callable[[float], Pace]]:
    """A server of its own for matches at so many tables; gives how to measure one for some seconds. In between it and
    the bots rest."""
    warm = WARM_SECONDS + WARM_SECONDS_A_TABLE * tables
    with contextlib.ExitStack() as stack:
        address, pid = stack.enter_context(server(environment))
        workers: list[Worker] = []
        if any(bot.HasField("connected") for bot in bots):
            for number, name in enumerate(NAMES, 1):
                arguments = (address, name, f"the-token-of-the-bot-{name}", str(number))
                workers.append(stack.enter_context(worker("tests.bench.bot", *arguments)))
                workers[-1].ask(do="connect")
        matches = MatchServiceStub(stack.enter_context(grpc.insecure_channel(address)))
        clock = ClockSettings(decision_ms=A_DAY_MS)
        plan = MatchPlan(bots=bots, deals=1_000_000, concurrency=tables, clock=clock)

        def measure(seconds: float) -> Pace:
            name = matches.CreateMatch(CreateMatchRequest(plan=plan), metadata=OWNER).match.name
            for each in workers:
                each.tell(do="play", seconds=seconds + warm + 1)
            time.sleep(warm)
            before = _rounds(matches, name), _spent(pid), sum(_spent(each.pid) for each in workers)
            began = time.perf_counter()
            time.sleep(seconds)
            after = _rounds(matches, name), _spent(pid), sum(_spent(each.pid) for each in workers)
            spent = time.perf_counter() - began
            for each in workers:
                each.answer()
            matches.CancelMatch(CancelMatchRequest(match=name), metadata=OWNER)
            rounds = max(1, after[0] - before[0])
            return Pace(rounds / spent, (after[1] - before[1]) / rounds * 1000, (after[2] - before[2]) / rounds * 1000)

        yield measure


def _rounds(matches: MatchServiceStub, name: str) -> int:
    """Rounds that are over: a game of this match is one."""
    return matches.GetMatch(GetMatchRequest(match=name)).match.games_finished


def _spent(pid: int) -> float:
    """Processor seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
