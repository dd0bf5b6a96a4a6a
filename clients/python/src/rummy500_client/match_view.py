"""What is seen of a match while it runs: a table that is redrawn where there is a terminal and rich is installed, one
line on a terminal without it, and a line now and then elsewhere."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TextIO

from rummy500.v1.match_pb2 import Match
from rummy500_client.match_report import HEADS, pair_lines, progress_text, result_row
from rummy500_client.screen import ProgressLine

if TYPE_CHECKING:
    from rich.console import Group

RATE_SECONDS = 30.0
"""Over how long the rate is measured, so that it follows the match and does not jump."""
LINE_SECONDS = 30.0
"""How often a line is written where nothing can be redrawn."""

Monotonic = Callable[[], float]


class Pace:
    """How fast the games of a match come to their ends."""

    def __init__(self, now: Monotonic = time.monotonic) -> None:
        self._now = now
        self._seen: deque[tuple[float, int]] = deque()

    def see(self, match: Match) -> None:
        now = self._now()
        self._seen.append((now, match.games_finished))
        while len(self._seen) > 2 and self._seen[1][0] <= now - RATE_SECONDS:
            self._seen.popleft()

    @property
    def games_a_second(self) -> float:
        """0.0: not known yet."""
        (began, first), (ended, last) = self._seen[0], self._seen[-1]
        return (last - first) / (ended - began) if ended > began else 0.0

    def text(self, match: Match) -> str:
        """`12.3 games/s, 4 min left`; empty as long as nothing is known."""
        rate = self.games_a_second
        if not rate:
            return ""
        left = max(0, match.games_planned - match.games_finished) / rate
        at_most = "at most " if match.HasField("stopping") else ""
        return f"{rate:.3g} games/s, {at_most}{duration_text(left)} left"


def duration_text(seconds: float) -> str:
    """`8 s`, `4 min`, `2 h 05 min`, `3 d 4 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02} min"
    return f"{hours // 24} d {hours % 24} h"


class MatchView(Protocol):
    """Where a running match is shown."""

    def show(self, match: Match) -> None: ...

    def tell(self, sentence: str) -> None:
        """A sentence that stays."""

    def close(self) -> None:
        """Nothing more is shown, and what was drawn is gone."""


def open_view(stream: TextIO | None = None) -> MatchView:
    """The best view that the stream, else the standard error, allows."""
    stream = stream or sys.stderr
    if not stream.isatty() or os.environ.get("TERM") == "dumb":
        return LinesView(stream)
    try:
        return TableView(stream)
    except ImportError:
        return LineView(stream)


class LinesView:
    """A line now and then, for a file or a program that reads."""

    def __init__(self, stream: TextIO, now: Monotonic = time.monotonic) -> None:
        self._stream, self._now = stream, now
        self._pace = Pace(now)
        self._told = now()

    def show(self, match: Match) -> None:
        self._pace.see(match)
        if self._now() - self._told >= LINE_SECONDS:
            self._told = self._now()
            self.tell(with_pace(progress_text(match), self._pace.text(match)))

    def tell(self, sentence: str) -> None:
        print(f"rummy500: {sentence}", file=self._stream, flush=True)

    def close(self) -> None:
        pass


class LineView:
    """One line that is written over and over."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._line = ProgressLine(stream)
        self._pace = Pace()

    def show(self, match: Match) -> None:
        self._pace.see(match)
        self._line.show(with_pace(progress_text(match), self._pace.text(match)))

    def tell(self, sentence: str) -> None:
        self._line.clear()
        print(f"rummy500: {sentence}", file=self._stream, flush=True)

    def close(self) -> None:
        self._line.clear()


class TableView:
    """The standings, redrawn in place. Raises ImportError when rich is not installed."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.live import Live

        self._console = Console(file=stream, highlight=False)
        self._live = Live(console=self._console, transient=True, auto_refresh=False, vertical_overflow="ellipsis")
        self._pace = Pace()

    def show(self, match: Match) -> None:
        self._pace.see(match)
        if not self._live.is_started:
            self._live.start()
        self._live.update(self._standings(match), refresh=True)

    def _standings(self, match: Match) -> Group:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        head = Text(with_pace(progress_text(match, with_means=False), self._pace.text(match)), style="bold")
        bar = ProgressBar(total=match.games_planned or 1, completed=match.games_finished, width=60)
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for column, title in enumerate(HEADS):
            table.add_column(title, justify="right" if column else "left", no_wrap=not column)
        for result in sorted(match.results, key=lambda result: -result.points_per_round):
            table.add_row(*(Text(cell) for cell in result_row(result, is_one_deal=match.plan.deals == 1)))
        return Group(head, bar, table, *map(Text, pair_lines(match)))

    def tell(self, sentence: str) -> None:
        self._console.print(f"rummy500: {sentence}", markup=False)

    def close(self) -> None:
        if self._live.is_started:
            self._live.stop()


def with_pace(progress: str, pace: str) -> str:
    return f"{progress} · {pace}" if pace else progress
