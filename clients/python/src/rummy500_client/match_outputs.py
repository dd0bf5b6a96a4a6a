"""What a match leaves behind: its results file, written while it goes on, and its report."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

from rummy500.v1.match_pb2 import Match
from rummy500_client.connection import Connection
from rummy500_client.errors import ClientError
from rummy500_client.files import whole_file
from rummy500_client.match_results import ResultsFile, is_over
from rummy500_client.match_view import MatchView

REPORTS = "rummy500.reports"
"""Entry points of this group are callables `report(lines, *, records) -> str` that make a page of the lines of a
results file; `records` is the way from the page to the file of records. They raise ValueError for anything else."""
RESULTS, REPORT, RECORDS = "results.jsonl", "report.html", "records.jsonl"
WRITE_SECONDS = 5.0
"""How often results are written while a match goes on."""


class FilingView:
    """Shows a match as `view` does, and writes its results file into the match's directory."""

    def __init__(self, view: MatchView, connection: Connection, directory: Path) -> None:
        self._view = view
        self._file = ResultsFile(directory / RESULTS, connection)
        self._next = 0.0
        self._is_told = False

    def show(self, match: Match) -> None:
        self._view.show(match)
        if match.games_finished and (is_over(match) or time.monotonic() >= self._next):
            self._write(match)
            self._next = time.monotonic() + WRITE_SECONDS

    def _write(self, match: Match) -> None:
        """What cannot be written now is written later, or said at the end."""
        try:
            self._file.follow(match)
        except ClientError as error:
            if is_over(match):
                raise
            if not self._is_told:
                self._view.tell(f"{error.sentence}; the match goes on")
                self._is_told = True

    def tell(self, sentence: str) -> None:
        self._view.tell(sentence)

    def close(self) -> None:
        self._view.close()


def write_report(results: Path, out: Path | None = None) -> Path:
    """Makes the page of a results file, beside it if `out` is None. Raises ClientError."""
    found = tuple(entry_points(group=REPORTS, name="html"))
    if not found:
        raise ClientError("no installed distribution makes reports: pip install rummy500")
    report: Callable[..., str] = found[0].load()
    path = out if out is not None else results.with_name(REPORT)
    records = results.resolve().with_name(RECORDS)
    way = os.path.relpath(records, path.resolve().parent) if records.is_file() else ""
    try:
        with results.open(encoding="utf-8") as lines:
            text = report(lines, records=way)
    except OSError as error:
        raise ClientError(f"{results} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ClientError(f"{results}: {error}") from None
    with whole_file(path) as write:
        write(text.encode())
    return path
