"""Group commit: what all tables write in one turn of the loop becomes one commit of the journal, and while one is being
written the next gathers. So commits, and the messages that follow them, grow with the load."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextvars import Context
from typing import Protocol

import structlog

from rummy500_server.journal import Append, Journal, JournalError, Write
from rummy500_server.tally import Tally

log = structlog.stdlib.get_logger("rummy500")


class Writer(Protocol):
    """Somebody with something to keep."""

    def take_writes(self) -> Sequence[Write]:
        """What is to be kept since the last time."""
        ...

    def committed(self) -> None:
        """It is durable."""
        ...

    def lost(self, error: JournalError) -> None:
        """It was not kept."""
        ...


class Commits:
    def __init__(self, journal: Journal, tally: Tally | None = None) -> None:
        self._journal = journal
        self.tally = tally or Tally()
        self._loop = asyncio.get_running_loop()
        self._dirty: dict[Writer, None] = {}
        self._last: asyncio.Future[None] | None = None
        """Of the newest batch, which may still gather."""
        self._is_writing = False
        self._answers: list[tuple[float, int]] = []
        """When decisions came that are answered with the next batch, and how many."""

    def touch(self, writer: Writer) -> None:
        """Its writes go into the commit of this turn of the loop; while one is being written, into the next."""
        if not self._dirty:
            self._last = self._loop.create_future()
            if not self._is_writing:
                self._loop.call_soon(self._flush, self._last, context=Context())
        self._dirty[writer] = None

    def answer(self, came: float, decisions: int) -> None:
        """So many decisions came at `came`, by `time.perf_counter`, and have been applied: they are answered when what
        was touched is durable, and counted then."""
        if self._dirty:
            self._answers.append((came, decisions))

    async def durable(self) -> None:
        """Waits until everything that was touched before is durable. Raises JournalError."""
        if self._last is not None:
            await asyncio.shield(self._last)

    def _flush(self, batch: asyncio.Future[None]) -> None:
        self._is_writing = True
        writers, self._dirty = list(self._dirty), {}
        writes: list[Write] = []
        for writer in writers:
            writes += writer.take_writes()
        answers, self._answers, began = self._answers, [], time.perf_counter()
        self.tally.entries.observe(sum(len(write.records) for write in writes if isinstance(write, Append)))
        kept = asyncio.ensure_future(self._journal.commit(*writes))

        def settle(_: object) -> None:
            self._count(began, answers)
            self._settle(kept, batch, writers)

        if kept.done():
            settle(kept)
        else:
            kept.add_done_callback(settle)

    def _count(self, began: float, answers: list[tuple[float, int]]) -> None:
        now = time.perf_counter()
        self.tally.commits.observe(int((now - began) * 1e6))
        for came, decisions in answers:
            self.tally.answered.observe(int((now - came) * 1e6), decisions)

    def _settle(self, kept: asyncio.Future[None], batch: asyncio.Future[None], writers: list[Writer]) -> None:
        error = asyncio.CancelledError() if kept.cancelled() else kept.exception()
        if error is None:
            batch.set_result(None)
            for writer in writers:
                writer.committed()
        else:
            self.tally.lost_commits += 1
            self._tell_lost(error, batch, writers)
        self._is_writing = False
        if self._dirty and self._last is not None:
            self._flush(self._last)

    @staticmethod
    def _tell_lost(error: BaseException, batch: asyncio.Future[None], writers: list[Writer]) -> None:
        log.error("journal.failed", exc_info=error)
        lost = error if isinstance(error, JournalError) else JournalError(str(error))
        batch.set_exception(lost)
        batch.exception()  # whether or not somebody waits for it, it has been told
        for writer in writers:
            writer.lost(lost)
