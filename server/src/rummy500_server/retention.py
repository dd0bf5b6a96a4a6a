"""How long the server keeps what is over: tables with their entries and records, and matches with all of theirs.

A match goes first and then its games, so that a process that dies in between leaves games of no match, which the next
sweep finds.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import structlog

from rummy500_server.creation import Creation
from rummy500_server.games import GAME, RECORD, FinishedGame, find_game
from rummy500_server.journal import DamagedDocument, Drop, Erase, Journal, Write, readable
from rummy500_server.lobby import BROKEN_TABLE, ENDED_TABLE, OPEN_TABLE, TABLE
from rummy500_server.match_document import MatchDocument
from rummy500_server.matches import MATCH

log = structlog.stdlib.get_logger("rummy500")

STEP = 50
"""Documents that are looked at, and tables that are dropped, at a time."""
BETWEEN_STEPS = 0.05
"""Seconds in which others have the journal."""


@dataclass(slots=True)
class Pruned:
    """What a sweep has dropped, or would drop."""

    tables: int = 0
    matches: int = 0


class Retention:
    """`now` is in seconds since 1970. `when_table_gone` and `when_match_gone` are told what is not in the journal any
    more."""

    def __init__(self, journal: Journal, now: Callable[[], float] = time.time) -> None:
        self._journal, self._now = journal, now
        self.when_table_gone: list[Callable[[Creation], None]] = []
        self.when_match_gone: list[Callable[[str], None]] = []

    async def sweep(self, seconds: float, *, dry_run: bool = False) -> Pruned:
        """Drops what has been over for so long; with `dry_run` it only counts. Raises JournalError."""
        before_ms, pruned = (self._now() - seconds) * 1000, Pruned()
        matches = await self._sweep_matches(before_ms, pruned, dry_run=dry_run)
        await self._sweep_tables(before_ms, pruned, matches, dry_run=dry_run)
        return pruned

    async def _sweep_matches(self, before_ms: float, pruned: Pruned, *, dry_run: bool) -> set[str]:
        """Answers the matches that stay."""
        kept: set[str] = set()
        after = ""
        while page := await self._journal.documents(MATCH, after=after, most=STEP):
            after = page[-1][0]
            found = readable(MATCH, page, MatchDocument.from_json)
            gone = [name for name, match in found.items() if match.is_over and match.finished_ms < before_ms]
            kept.update(name for name, _ in page if name not in gone)
            pruned.matches += len(gone)
            if gone and not dry_run:
                await self._journal.commit(*(Drop(MATCH, name) for name in gone))
                for name in gone:
                    for tell in self.when_match_gone:
                        tell(name)
            await asyncio.sleep(BETWEEN_STEPS)
        return kept

    async def _sweep_tables(self, before_ms: float, pruned: Pruned, matches: set[str], *, dry_run: bool) -> None:
        after = ""
        while page := await self._journal.documents(TABLE, after=after, most=STEP):
            after = page[-1][0]
            found = readable(TABLE, page, Creation.from_json).values()
            old = [each for each in found if each.created_ms < before_ms and each.match not in matches]
            gone = [
                (each, game)
                for each, game in await self._with_games(old)
                if await self._was_over(each, game, before_ms)
            ]
            pruned.tables += len(gone)
            if gone and not dry_run:
                writes: list[Write] = []
                for each, game in gone:
                    writes += _forgotten(each, game)
                await self._journal.commit(*writes)
                for each, _ in gone:
                    for tell in self.when_table_gone:
                        tell(each)
            await asyncio.sleep(BETWEEN_STEPS)

    async def _with_games(self, tables: Iterable[Creation]) -> list[tuple[Creation, FinishedGame | None]]:
        """Without those whose game cannot be read: they stay."""
        found: list[tuple[Creation, FinishedGame | None]] = []
        for each in tables:
            try:
                found.append((each, await find_game(self._journal, each.record or each.name)))
            except DamagedDocument as error:
                log.error("document.damaged", kind=GAME, key=each.record or each.name, sentence=str(error))
        return found

    async def _was_over(self, creation: Creation, game: FinishedGame | None, before_ms: float) -> bool:
        """A table whose game never began is as old as it is."""
        if await self._journal.get(OPEN_TABLE, creation.name) is not None:
            return False
        return game is None or game.finished_ms < before_ms


def _forgotten(creation: Creation, game: FinishedGame | None) -> tuple[Write, ...]:
    """The game is another table's when it was played again after this one was broken off."""
    name, writes = creation.name, list[Write]()
    if game is not None and game.table == name:
        writes += (Drop(GAME, game.key), Drop(RECORD, game.record))
    return (Erase(name), *writes, *(Drop(kind, name) for kind in (ENDED_TABLE, BROKEN_TABLE, TABLE)))
