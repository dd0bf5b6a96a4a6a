"""Measures the engine and the server beside their yardsticks, prints a table and writes build/bench.json.

A thing and its yardstick take turns, a slice each, several times over; a value is the median over the slices, a ratio
the median of the slices' ratios, so that a machine that is busy with something else distorts both alike. Rows of one
process count processor time; rows of the server count time on the wall.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tests.bench.matches import Pace, builtin_bots, connected_bots, match_of
from tests.bench.serving import bots_at_tables, rate_of, trip_of
from tests.bench.workers import ROOT, Worker, worker

OUT = ROOT / "build" / "bench.json"
COMPILED = ROOT / "build" / "compiled"
SLICES = 7
SECONDS = 1.0
TABLES = STREAMS = 64
MATCH_TABLES = (1, 4, 16, 64)
MATCH_SECONDS = 3.0
MATCH_SLICES = 3


@dataclass(frozen=True)
class Row:
    """`ratio` is the value by the yardstick's; `target` says what it should be, empty for what is only told: nothing is
    `met` then."""

    name: str
    value: float
    unit: str
    yardstick: str
    yardstick_value: float
    ratio: float
    target: str = ""
    met: bool | None = None


Measure = Callable[[], float]


def in_turns(*measures: Measure) -> list[list[float]]:
    """Each measured once a slice, in turn; a first slice warms up and does not count."""
    taken = [[measure() for measure in measures] for _ in range(SLICES + 1)][1:]
    return [list(column) for column in zip(*taken, strict=True)]


def ratio_of(values: list[float], yardstick: list[float]) -> float:
    return statistics.median([value / other for value, other in zip(values, yardstick, strict=True)])


def engines() -> dict[str, Mapping[str, str]]:
    """How the engine is run: as source, and compiled where `make compile` has built it."""
    ways: dict[str, Mapping[str, str]] = {"interpreted": {}}
    if COMPILED.is_dir():
        ways["compiled"] = {"PYTHONPATH": str(COMPILED)}
    return ways


@contextlib.contextmanager
def engine_workers() -> Iterator[dict[str, Worker]]:
    with contextlib.ExitStack() as stack:
        workers = {}
        for way, environment in engines().items():
            workers[way] = stack.enter_context(worker("tests.bench.engine", environment=environment))
            is_compiled = not workers[way].ask(do="where")["file"].endswith(".py")
            assert is_compiled is (way == "compiled"), f"the {way} engine is not what was started"
        yield workers


def _plays(worker: Worker) -> Measure:
    return lambda: float(worker.ask(do="play", seconds=SECONDS)["rate"])


def engine_rows() -> Iterator[Row]:
    with engine_workers() as workers:
        ways = list(workers)
        with worker("tests.bench.openspiel") as openspiel:
            yardstick, *rates = in_turns(_plays(openspiel), *[_plays(workers[way]) for way in ways])
        usual = statistics.median(yardstick)
        for way, values in zip(ways, rates, strict=True):
            rate, ratio = statistics.median(values), ratio_of(values, yardstick)
            yield Row(
                name=f"random play, {way} engine",
                value=rate,
                unit="actions/s",
                yardstick="OpenSpiel gin_rummy, random play, decisions/s",
                yardstick_value=usual,
                ratio=ratio,
                target=">= 200,000 and >= 4 x",
                met=rate >= 200_000 and ratio >= 4,
            )
        yield from listing_rows(workers)


CROWDED: tuple[tuple[str, int, float, dict[str, Any]], ...] = (
    ("40 cards in hand", 400, 2.0, {"do": "list", "stock": True, "identical": False}),
    ("empty stock, 40 in hand, pile of 30", 400, 20.0, {"do": "list", "stock": False, "identical": False}),
    *[
        (
            f"three packs, 40 in hand with 4 jokers, {kind}",
            100,
            10.0,
            {"packs": "three packs with jokers", "kind": kind},
        )
        for kind in ("free", "top", "one owed", "five owed", "to draw")
    ],
    *[
        (f"{packs}, 40 in hand, a minimum of 30 to 200", 100, 10.0, {"packs": packs, "kind": "free", "minimum": True})
        for packs in ("two packs", "three packs", "three packs with jokers", "jokers that count as their card")
    ],
)
"""Kinds of crowded positions: how many are looked at, the limit in milliseconds, and how they are asked for."""
LOOKS = 3


def listing_rows(workers: Mapping[str, Worker]) -> Iterator[Row]:
    """The worst of many positions: of each the best of some looks at it, since a look may be disturbed."""
    for name, positions, limit, asked in CROWDED:
        for way, each in workers.items():
            request = {"do": "list jokers", "seed": 5, "positions": positions, **asked}
            if request["do"] == "list jokers":
                request.setdefault("minimum", False)
            looks = [each.ask(**request)["spent"] for _ in range(LOOKS)]
            spent = [min(look) for look in zip(*looks, strict=True)]
            worst, median = max(spent), statistics.median(spent)
            yield Row(
                name=f"legal actions, {name}, worst of {positions}, {way} engine (median {median:.2f} ms)",
                value=worst,
                unit="ms",
                yardstick="the limit, ms",
                yardstick_value=limit,
                ratio=worst / limit,
                target=f"< {limit:g} ms",
                met=worst < limit,
            )


@contextlib.contextmanager
def echo(streams: int) -> Iterator[Worker]:
    with worker("tests.bench.echo", "serve") as listening:
        address = listening.ask()["address"]
        with worker("tests.bench.echo", "ask", address, str(streams)) as asking:
            yield asking


def server_rows() -> Iterator[Row]:
    ways = [
        (f"durability {durability}, {way} engine", {**environment, "RUMMY500_DURABILITY": durability})
        for way, environment in engines().items()
        for durability in ("disk", "process")
    ]
    for how, environment in ways:
        yield rate_row(how, environment)
    yield durability_row()
    for how, environment in ways:
        yield trip_row(how, environment)


def rate_row(how: str, environment: Mapping[str, str]) -> Row:
    with echo(STREAMS) as echoing, bots_at_tables(TABLES, environment) as bots:
        decisions, echoes = in_turns(
            lambda: rate_of(bots, SECONDS), lambda: float(echoing.ask(seconds=SECONDS)["rate"])
        )
    ratio = ratio_of(decisions, echoes)
    return Row(
        name=f"two bots at {TABLES} tables, journal on, {how}",
        value=statistics.median(decisions),
        unit="decisions/s",
        yardstick=f"bare grpc.aio echo, {STREAMS} streams, messages/s",
        yardstick_value=statistics.median(echoes),
        ratio=ratio,
        target=">= 1 x",
        met=ratio >= 1,
    )


def durability_row() -> Row:
    """What it costs that nothing is answered before it is on the disk."""
    with bots_at_tables(TABLES, {}) as bots, bots_at_tables(TABLES, {}, keeps=False) as careless:
        kept, forgotten = in_turns(lambda: rate_of(bots, SECONDS), lambda: rate_of(careless, SECONDS))
    ratio = ratio_of(kept, forgotten)
    return Row(
        name=f"two bots at {TABLES} tables, durability disk",
        value=statistics.median(kept),
        unit="decisions/s",
        yardstick="a server that keeps nothing, decisions/s",
        yardstick_value=statistics.median(forgotten),
        ratio=ratio,
        target=">= 0.75 x",
        met=ratio >= 0.75,
    )


def trip_row(how: str, environment: Mapping[str, str]) -> Row:
    with echo(1) as echoing, bots_at_tables(1, environment) as bots:
        trips, echoed = in_turns(lambda: trip_of(bots, SECONDS), lambda: float(echoing.ask(seconds=SECONDS)["trip_ms"]))
    ratio = ratio_of(trips, echoed)
    return Row(
        name=f"decision round trip, one table, {how}",
        value=statistics.median(trips),
        unit="ms",
        yardstick="bare grpc.aio echo, one stream, ms",
        yardstick_value=statistics.median(echoed),
        ratio=ratio,
        target="<= 2.5 x",
        met=ratio <= 2.5,
    )


def match_rows() -> Iterator[Row]:
    """Each number of tables in turn, and where the processor's time goes with the most of them."""
    for kind, bots in (("built-in", builtin_bots()), ("connected", connected_bots())):
        paces: dict[int, list[Pace]] = {tables: [] for tables in MATCH_TABLES}
        with contextlib.ExitStack() as stack:
            matches = {tables: stack.enter_context(match_of(bots, tables, {})) for tables in MATCH_TABLES}
            for _ in range(MATCH_SLICES):
                for tables, measure in matches.items():
                    paces[tables].append(measure(MATCH_SECONDS))
        rates = {tables: [pace.rounds for pace in taken] for tables, taken in paces.items()}
        for tables in MATCH_TABLES:
            yield _pace_row(kind, tables, rates[tables], rates[MATCH_TABLES[0]])
        yield _processor_row(kind, paces[MATCH_TABLES[-1]])


def _pace_row(kind: str, tables: int, rates: list[float], singles: list[float]) -> Row:
    ratio, least = ratio_of(rates, singles), 0.8 if kind == "built-in" else 1.0
    is_yardstick = tables == MATCH_TABLES[0]
    return Row(
        name=f"match of two {kind} bots, {tables} tables",
        value=statistics.median(rates),
        unit="rounds/s",
        yardstick="the same with one table, rounds/s",
        yardstick_value=statistics.median(singles),
        ratio=ratio,
        target="" if is_yardstick else f">= {least:g} x",
        met=None if is_yardstick else ratio >= least,
    )


def _processor_row(kind: str, paces: list[Pace]) -> Row:
    server = statistics.median(pace.server_ms for pace in paces)
    bots = statistics.median(pace.bots_ms for pace in paces)
    return Row(
        name=f"match of two {kind} bots, {MATCH_TABLES[-1]} tables, processor time of the server",
        value=server,
        unit="ms a round",
        yardstick="together with the bots' processes, ms a round",
        yardstick_value=server + bots,
        ratio=server / (server + bots),
    )


def disk_sync_ms() -> float:
    """What one synced write costs here: no round trip of a durable decision is shorter."""
    spent: list[float] = []
    with tempfile.TemporaryFile(buffering=0) as file:
        for _ in range(50):
            file.write(bytes(300))
            begin = time.perf_counter()
            os.fsync(file.fileno())
            spent.append(time.perf_counter() - begin)
    return statistics.median(spent) * 1000


def machine() -> dict[str, str]:
    model = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return {
        "processor": f"{model}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.release()}",
        "load": f"{load:.1f}",
        "synced_write_ms": f"{disk_sync_ms():.2f}",
    }


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("rummy500", "open-spiel", "grpcio", "protobuf", "mypy"):
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def table_line(row: Row) -> str:
    value = f"{row.value:,.0f}" if row.value >= 100 else f"{row.value:.2f}"
    other = f"{row.yardstick_value:,.0f}" if row.yardstick_value >= 100 else f"{row.yardstick_value:.2f}"
    verdict = f" ({row.target}: {'met' if row.met else 'missed'})" if row.target else ""
    return f"{row.name}\n    {value} {row.unit}; {row.yardstick}: {other}; ratio {row.ratio:.2f}{verdict}"


def main() -> None:
    parts = {"engine": engine_rows, "server": server_rows, "matches": match_rows}
    chosen = sys.argv[1:] or list(parts)
    if unknown := set(chosen) - set(parts):
        sys.exit(f"there is no part {min(unknown)}; there are: {', '.join(parts)}")
    rows: list[Row] = []
    for part in chosen:
        for row in parts[part]():
            rows.append(row)
            print(table_line(row), flush=True)
    OUT.parent.mkdir(exist_ok=True)
    where = machine()
    report = {"machine": where, "versions": versions(), "rows": [asdict(row) for row in rows]}
    OUT.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(
        f"\n{where['processor']}, Python {platform.python_version()}; load {where['load']}, a synced write takes "
        f"{where['synced_write_ms']} ms; written to {OUT.relative_to(ROOT)}"
    )


if __name__ == "__main__":
    main()
