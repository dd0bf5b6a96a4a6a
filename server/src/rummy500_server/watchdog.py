"""A server that is held up, by a variant that never returns, ends and says who held it up; nothing accepted is lost."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from importlib.metadata import entry_points
from types import FrameType

import structlog

from rummy500_catalog.offers import VARIANTS, brought_by
from rummy500_server.creation import Creation
from rummy500_server.journal_sqlite import SqliteJournal
from rummy500_server.keeper import Keeper
from rummy500_server.match_document import MatchDocument
from rummy500_server.stalled import Stall, Stalls

EXIT_STATUS = 3

log = structlog.stdlib.get_logger("rummy500")


class Watchdog(threading.Thread):
    """Ends the process when its loop has not turned for `seconds`. Made in the loop's thread. `stalls` is told of the
    table, or the match, and of the variant that held it up, so that it does not hold up the next process too."""

    def __init__(self, seconds: float, stalls: Stalls) -> None:
        super().__init__(name="watchdog", daemon=True)
        self._stalls = stalls
        self._seconds, self._step = seconds, seconds / 8
        self._loop, self._watched = asyncio.get_running_loop(), threading.get_ident()
        self._turned = time.monotonic()
        self._timer = self._loop.call_soon(self._turn)
        self._is_ended = threading.Event()

    def end(self) -> None:
        self._is_ended.set()
        self._timer.cancel()

    def _turn(self) -> None:
        self._turned = time.monotonic()
        self._timer = self._loop.call_later(self._step, self._turn)

    def run(self) -> None:
        looked = time.monotonic()
        while not self._is_ended.wait(self._step):
            now = time.monotonic()
            if now - looked > 3 * self._step:
                self._turned = now  # the whole process stood still: that was nobody's fault in here
            looked = now
            if now - self._turned > self._seconds:
                frame = sys._current_frames().get(self._watched)
                if not waits_for_disk(frame):
                    self._bark(frame)

    def _bark(self, frame: FrameType | None) -> None:
        held_up_by, (name, while_folding) = culprit(frame), at_work(frame)
        if name:
            self._stalls.note(Stall(name, held_up_by, while_folding))
        log.critical(
            "server.stalled",
            seconds=self._seconds,
            held_up_by=held_up_by,
            table=name,
            stack="".join(traceback.format_stack(frame)),
        )
        os._exit(EXIT_STATUS)


def waits_for_disk(frame: FrameType | None) -> bool:
    """Whether the innermost function is the journal's: nobody is to blame then, and the next process would wait too."""
    return frame is not None and frame.f_globals.get("__name__") == SqliteJournal.__module__


def culprit(frame: FrameType | None) -> str:
    """The innermost function of an installed variant, with the distribution that brings it."""
    owners = {point.module: brought_by(point) for point in entry_points(group=VARIANTS)}
    for each in _outwards(frame):
        module = str(each.f_globals.get("__name__", ""))
        for variant, distribution in owners.items():
            if f"{module}.".startswith(f"{variant}."):
                return f"{each.f_code.co_qualname} of {module}, distribution {distribution}"
    return "the server itself"


def at_work(frame: FrameType | None) -> tuple[str, bool]:
    """The table, or the match, that was at work, and whether it was a table that was being folded; empty: none."""
    for each in _outwards(frame):
        for name in ("self", "keeper", "creation", "document"):
            match each.f_locals.get(name):
                case Keeper(table=table):
                    return table.name, False
                case Creation(name=table):
                    return table, True
                case MatchDocument(name=found):
                    return found, False
    return "", False


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back
