"""What a server tells Prometheus: its tally and how things stand, put into metrics only when somebody asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, InfoMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from rummy500_server.app import App
from rummy500_server.match_document import MatchState
from rummy500_server.settings import IN_MEMORY
from rummy500_server.table import TableState
from rummy500_server.tally import Spread

MILLISECONDS, MICROSECONDS = range(1, 25), range(6, 25)
"""The powers of two that are told apart: 1 ms to 2.3 hours, and 64 µs to 16 s."""
ENTRIES = range(1, 15)
_OPEN_STATES = (TableState.OPEN, TableState.PLAYING)


class ServerMetrics(Collector):
    """`collect` is called in the loop's thread. Labels name methods, reasons and distributions, never a person."""

    def __init__(self, app: App, version: str) -> None:
        self._app, self._version = app, version

    def collect(self) -> Iterator[Metric]:
        yield InfoMetricFamily("rummy500_server", "The running server.", {"version": self._version})
        draining = float(self._app.drain.is_on)
        yield GaugeMetricFamily("rummy500_draining", "1 from the signal to stop on, else 0.", draining)
        yield from self._standing()
        yield from self._decisions()
        yield from self._calls()
        yield from self._journal()

    def _standing(self) -> Iterator[Metric]:
        app, tally = self._app, self._app.tally
        tables = Counter(app.lobby.unfinished_states())
        states = {state.value: tables[state] for state in _OPEN_STATES}
        yield _gauges("rummy500_tables", "state", states, "Tables that are not over, by state.")
        over = "Tables that came to their end, by termination."
        yield _counters("rummy500_tables_over", "termination", tally.tables_over, over)
        matches = Counter(match.document.state for match in app.matches.all())
        states = {state.value: matches[state] for state in MatchState}
        yield _gauges("rummy500_matches", "state", states, "Matches that are kept, by state.")
        connected = len(tuple(app.connected.all()))
        yield GaugeMetricFamily("rummy500_connected_bots", "Bots that are connected over Play.", connected)
        yield _gauges("rummy500_streams", "method", tally.streams, "Streams that are open, by method.")

    def _decisions(self) -> Iterator[Metric]:
        tally = self._app.tally
        made = {"client": tally.thinking.times, "builtin": tally.own_bots.times}
        yield _counters("rummy500_decisions", "by", made, "Decisions that were taken in, by `client` or `builtin`.")
        yield _histogram(
            "rummy500_thinking_seconds",
            tally.thinking,
            MILLISECONDS,
            1e-3,
            "Time that a decision is charged with, of seats that clients play.",
        )
        yield _histogram(
            "rummy500_decision_latency_seconds",
            tally.answered,
            MICROSECONDS,
            1e-6,
            "The server's own part of a decision: from its arrival to its being durable and so answered.",
        )
        refused = "Actions that the rules refused, by reason."
        yield _counters("rummy500_refused_actions", "reason", tally.refused_actions, refused)
        rejected = "Decisions on Play streams that were not played, by reason: late, malformed, or of no seat."
        yield _counters("rummy500_rejected_decisions", "reason", tally.rejected_decisions, rejected)
        finished = "Turns that the clock played to their end for a seat, by reason."
        yield _counters("rummy500_clock_finished_turns", "reason", tally.finished_turns, finished)
        forfeits = "Seats that forfeited their game, by termination."
        yield _counters("rummy500_forfeits", "termination", tally.forfeits, forfeits)

    def _calls(self) -> Iterator[Metric]:
        tally = self._app.tally
        yield _counters("rummy500_calls", "method", tally.calls, "Calls that came, streams too, by method.")
        rejected = "Calls and streams that ended with an error, by method, code and reason."
        yield _counters("rummy500_rejected_calls", "method code reason", tally.rejected_calls, rejected)
        cut_off = "Streams that were cut off because they were read too slowly, by method."
        yield _counters("rummy500_slow_readers", "method", tally.slow_readers, cut_off)
        broken = "Hooks of variants that raised or answered nonsense, by distribution."
        yield _counters("rummy500_variant_errors", "distribution", tally.variant_errors, broken)

    def _journal(self) -> Iterator[Metric]:
        tally = self._app.tally
        commits = "Time until a group commit of tables is durable."
        yield _histogram("rummy500_commit_duration_seconds", tally.commits, MICROSECONDS, 1e-6, commits)
        entries = "Entries of tables in one group commit."
        yield _histogram("rummy500_commit_entries", tally.entries, ENTRIES, 1, entries)
        lost = CounterMetricFamily("rummy500_lost_commits", "Group commits that the journal could not keep.")
        lost.add_metric([], tally.lost_commits)
        yield lost
        if self._app.settings.database != IN_MEMORY:
            sizes = _sizes(Path(self._app.settings.database))
            yield _gauges("rummy500_journal_bytes", "file", sizes, "Size of the database's files, by file.")


def registry_of(metrics: Iterable[Metric]) -> CollectorRegistry:
    """The metrics of the server and those of its process."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collected(list(metrics)))
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    GCCollector(registry=registry)
    return registry


class _Collected(Collector):
    def __init__(self, metrics: list[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> list[Metric]:
        return self._metrics


def _sizes(database: Path) -> dict[str, int]:
    files = {"database": database, "wal": Path(f"{database}-wal")}
    return {name: path.stat().st_size for name, path in files.items() if path.exists()}


def _gauges(name: str, label: str, values: Mapping[str, float], sentence: str) -> Metric:
    family = GaugeMetricFamily(name, sentence, labels=[label])
    for value, number in values.items():
        family.add_metric([value], number)
    return family


def _counters(
    name: str, labels: str, values: Mapping[str, int] | Mapping[tuple[str, str, str], int], sentence: str
) -> Metric:
    """`labels` are parted by spaces."""
    family = CounterMetricFamily(name, sentence, labels=labels.split())
    for value, number in values.items():
        family.add_metric([value] if isinstance(value, str) else value, number)
    return family


def _histogram(name: str, spread: Spread, powers: range, unit: float, sentence: str) -> Metric:
    """Buckets up to 2**power, in units of `unit`."""
    buckets = [(repr(float(2**power * unit)), float(sum(spread.counts[: power + 1]))) for power in powers]
    buckets.append(("+Inf", float(spread.times)))
    return HistogramMetricFamily(name, sentence, buckets=buckets, sum_value=spread.sum * unit)
