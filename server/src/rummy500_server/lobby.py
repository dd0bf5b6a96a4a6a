"""All tables: making them, finding them again after a restart, and letting them go when nobody needs them any more."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import structlog

from rummy500_catalog import Catalog
from rummy500_server.clock import Handle, Timer
from rummy500_server.clock_terms import ClockTerms, usual_terms
from rummy500_server.commits import Commits
from rummy500_server.creation import Creation
from rummy500_server.entries import SeatKind
from rummy500_server.folding import CannotFold, fold_lines
from rummy500_server.identity import Principal
from rummy500_server.journal import Drop, Journal, JournalError, Put, Write, read_document
from rummy500_server.keeper import Keeper
from rummy500_server.positions import named_in, verify_position
from rummy500_server.requests import RequestMemory
from rummy500_server.results import Termination
from rummy500_server.rules_wire import Choice
from rummy500_server.settings import Settings
from rummy500_server.stalled import Stall
from rummy500_server.status import Failure, Reason
from rummy500_server.table import Table, TableState
from rummy500_server.tally import Tally
from rummy500_server.thinking import Thinking

log = structlog.stdlib.get_logger("rummy500")

TABLE, OPEN_TABLE, ENDED_TABLE, BROKEN_TABLE = "table", "open_table", "ended_table", "broken_table"
"""Kinds of documents: what a table is made of; the names of tables that are not over; a table as it is listed once it
is over, empty when it could not be folded any more; and why it could not."""
KEPT_WHEN_OVER = 32
"""Tables that are over and stay in memory, about 85 KB each; those that nobody asked for longest go first, and are
folded again when somebody does."""

FOLD_AGAIN_AFTER = 1.0
"""Seconds after a failure of the journal."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A table that somebody asks for. `secret`: what the packs follow from; empty: to be drawn. `clock` None: the
    server's usual one. Names as in `Creation`."""

    owner: str
    players: int
    choice: Choice = field(default_factory=Choice)
    title: str = ""
    clock: ClockTerms | None = None
    secret: bytes = b""
    from_seed: bool = False
    position: Mapping[str, Any] | None = None
    start_when_full: bool = False
    private: bool = False
    single_round: bool = False
    aligned: bool = False
    match: str = ""
    record: str = ""
    deal: int = 0
    seating: int = 0
    ranked: tuple[str, ...] = ()


class Lobby:
    """Tables by name. `after_over` is told of every table whose end is durable; `when_over` is asked what to keep
    together with the end."""

    def __init__(
        self, *, settings: Settings, catalog: Catalog, journal: Journal, timer: Timer, tally: Tally | None = None
    ) -> None:
        self.settings, self.catalog, self.timer = settings, catalog, timer
        self.usual_clock = usual_terms(settings)
        self._ceiling_ms = settings.ceiling_minutes * 60_000
        self.commits = Commits(journal, tally)
        self.memory = RequestMemory(journal)
        self._thinking = Thinking(settings.bot_processes)
        self.when_over: list[Callable[[Keeper], Sequence[Write]]] = []
        self.after_over: list[Callable[[Keeper], None]] = []
        self.after_opened: list[Callable[[Keeper], None]] = []
        """Told of every table that comes to be kept in memory, new or folded."""
        self.after_lost: list[Callable[[Keeper], None]] = []
        """Told when the journal did not keep what was played at a table: it is soon folded again."""
        self.after_gone: list[Callable[[Keeper], None]] = []
        """Told of a lost table when the journal has nothing of it."""
        self._journal = journal
        self._keepers: dict[str, Keeper] = {}
        self._folding: dict[str, asyncio.Task[Keeper]] = {}
        self._over: dict[str, None] = {}
        """The tables in memory that are over, the one that was asked for last at the end."""
        self._unfinished: dict[str, Creation] = {}
        """The tables that are not over, folded or not."""
        self._closings: dict[str, Handle] = {}
        """When each of them is closed if it has not started."""
        self._clocks_stand = False
        self._waking: asyncio.Task[None] | None = None
        self._stalled: dict[str, Stall] = {}

    # --- from the start to the end

    async def open(self) -> None:
        """Learns which tables are not over. They are folded one after the other, meanwhile others are served; a table
        that somebody speaks to is folded at once."""
        for name, _ in await self._journal.documents(OPEN_TABLE):
            document = await self._journal.get(TABLE, name)
            if document is not None:
                self._unfinished[name] = read_document(TABLE, name, document, Creation.from_json)
        self._waking = asyncio.create_task(self._wake(list(self._unfinished)))

    async def end_stalled(self, stalls: Mapping[str, Stall]) -> None:
        """Ends the tables that held a server up, before anything is played at them again."""
        self._stalled = dict(stalls)
        for name in self._stalled:
            with suppress(Failure):
                await (await self.table(name)).scribe.durable()
        self._stalled = {}

    async def _wake(self, names: Iterable[str]) -> None:
        for name in names:
            try:
                await self.table(name)
            except Failure as failure:
                log.error("table.broken", table=name, sentence=failure.sentence)
            except JournalError as error:
                log.error("journal.failed", table=name, sentence=str(error))
                self._fold_soon(name)
            except Exception:
                log.exception("table.not_folded", table=name)

    async def awake(self) -> None:
        """Waits until every table that is not over has been folded, or found broken."""
        if self._waking is not None:
            await asyncio.shield(self._waking)

    def stop_clocks(self) -> None:
        """From now on no clock acts: the server is about to stop, and players cannot answer as they would."""
        self._clocks_stand = True
        for keeper in self._keepers.values():
            keeper.clock.pause()

    async def close(self) -> None:
        """Nothing is played any more; what was played is in the journal."""
        for task in (self._waking, *self._folding.values()):
            if task is not None:
                task.cancel()
        for keeper in self._keepers.values():
            keeper.halt()
        self.timer.stop()
        self._thinking.close()
        with suppress(JournalError):  # the log has it, and nobody was told of what was not kept
            await self.commits.durable()

    # --- finding

    async def table(self, name: str) -> Keeper:
        """Raises Failure NO_SUCH_TABLE, or TABLE_BROKEN when it cannot be folded any more."""
        keeper = self._keepers.get(name)
        if keeper is not None and not keeper.is_lost:
            if name in self._over:
                self._over[name] = self._over.pop(name)
            return keeper
        task = self._folding.get(name)
        if task is None:
            task = self._folding[name] = asyncio.create_task(self._fold(name))
            task.add_done_callback(lambda _: self._folding.pop(name, None))
        return await asyncio.shield(task)

    def in_memory(self, name: str) -> Keeper | None:
        """The table, if it does not have to be folded first."""
        keeper = self._keepers.get(name)
        return None if keeper is None or keeper.is_lost else keeper

    def unfinished(self, principal: Principal) -> list[Creation]:
        """The tables outside of matches that are not over and listed for this caller."""
        return [each for each in self._unfinished.values() if each.is_listed and _may_know(each, principal)]

    async def is_listed(self, name: str, principal: Principal) -> bool:
        """Whether a table that is there may be named to this caller; those of matches may."""
        try:
            return _may_know(self._unfinished.get(name) or await self.creation(name), principal)
        except Failure:
            return True  # there is none, or nothing of it can be told

    def is_unfinished(self, name: str) -> bool:
        return name in self._unfinished

    def unfinished_states(self) -> Iterator[TableState]:
        """The state of each table that is not over and in memory."""
        return (self._keepers[name].table.state for name in self._unfinished if name in self._keepers)

    async def creation(self, name: str) -> Creation:
        """Raises Failure NO_SUCH_TABLE."""
        document = await self._journal.get(TABLE, name)
        if document is None:
            raise Failure(Reason.NO_SUCH_TABLE, f"there is no table {name!r}")
        return read_document(TABLE, name, document, Creation.from_json)

    async def _fold(self, name: str) -> Keeper:
        try:
            creation = await self.creation(name)
        except Failure:
            self._never_kept(name)
            raise
        await self._verify_not_broken(creation)
        lines = [line for _, line in await self._journal.read(name)]
        try:
            table = fold_lines(creation, lines, self.catalog)
        except Exception as error:
            if not isinstance(error, CannotFold):
                log.exception("table.not_folded", table=name)
            sentence = _broken_sentence(name, str(error))
            if name in self._unfinished:
                await self._give_up(creation, sentence)
            raise Failure(Reason.TABLE_BROKEN, sentence) from error
        keeper = self._keeper(table, written=len(lines))
        self._adopt(keeper)
        if name in self._stalled:
            keeper.close(Termination.SERVER_FAULT, self._stalled[name].sentence)
        else:
            keeper.resume()
        return keeper

    async def _verify_not_broken(self, creation: Creation) -> None:
        """Raises Failure TABLE_BROKEN when it was given up before, or held the server up while it was folded."""
        broken = await self._journal.get(BROKEN_TABLE, creation.name)
        if broken is not None:
            raise Failure(Reason.TABLE_BROKEN, broken.decode())
        stall = self._stalled.get(creation.name)
        if stall is not None and stall.while_folding:
            sentence = _broken_sentence(creation.name, stall.sentence)
            await self._give_up(creation, sentence)
            raise Failure(Reason.TABLE_BROKEN, sentence)

    def _keeper(self, table: Table, *, written: int = 0) -> Keeper:
        return Keeper(
            table,
            self.commits,
            timer=self.timer,
            ceiling_ms=self._ceiling_ms,
            thinking=self._thinking,
            written=written,
        )

    async def _give_up(self, creation: Creation, sentence: str) -> None:
        """A table that cannot be folded has ended, for good: also when what broke it is mended later."""
        name, writes = creation.name, list[Write]()
        if creation.is_listed:
            writes.append(Put(ENDED_TABLE, name, b"", listed_at=creation.listed_at, listed_for=creation.listed_for))
        await self._journal.commit(Put(BROKEN_TABLE, name, sentence.encode()), Drop(OPEN_TABLE, name), *writes)
        self._unfinished.pop(name, None)

    def _never_kept(self, name: str) -> None:
        lost = self._keepers.pop(name, None)
        if lost is not None:
            self._unfinished.pop(name, None)
            self._stop_closing(name)
            for tell in self.after_gone:
                tell(lost)

    def _adopt(self, keeper: Keeper) -> None:
        name = keeper.table.name
        self._keepers[name] = keeper
        if self._clocks_stand:
            keeper.clock.pause()
        if keeper.table.is_over:
            self._let_go(keeper)
        else:
            keeper.when_over = [self._end_of, *self.when_over]
            keeper.after_over = [self._let_go, *self.after_over]
            keeper.after_lost = [self._lost]
            self._close_unless_started(keeper)
        for tell in self.after_opened:
            tell(keeper)

    def _lost(self, keeper: Keeper) -> None:
        """The journal did not keep what was played: the table goes back to what it kept."""
        for tell in self.after_lost:
            tell(keeper)
        self._fold_soon(keeper.table.name)

    def _fold_soon(self, name: str) -> None:
        asyncio.get_running_loop().call_later(FOLD_AGAIN_AFTER, self._wake_one, name)

    def _wake_one(self, name: str) -> None:
        self._waking = asyncio.create_task(self._wake([name]))

    def _end_of(self, keeper: Keeper) -> Sequence[Write]:
        return (Drop(OPEN_TABLE, keeper.table.name),)

    def _let_go(self, keeper: Keeper) -> None:
        self._unfinished.pop(keeper.table.name, None)
        self._stop_closing(keeper.table.name)
        self._over[keeper.table.name] = None
        while len(self._over) > KEPT_WHEN_OVER:
            oldest = next(iter(self._over))
            del self._over[oldest]
            self._keepers.pop(oldest, None)

    def _close_unless_started(self, keeper: Keeper) -> None:
        """No table waits for ever."""
        if keeper.table.state is not TableState.OPEN:
            return
        name, age = keeper.table.name, time.time() - keeper.table.creation.created_ms / 1000
        left = max(0.0, self.settings.open_table_minutes * 60 - age)
        self._closings[name] = self.timer.call_at(self.timer.time() + left, partial(self._close_if_open, name))

    def _stop_closing(self, name: str) -> None:
        closing = self._closings.pop(name, None)
        if closing is not None:
            closing.cancel()

    def _close_if_open(self, name: str) -> None:
        keeper = self._keepers.get(name)
        if keeper is not None and keeper.table.state is TableState.OPEN:
            minutes = self.settings.open_table_minutes
            keeper.close(Termination.CANCELLED, f"the table did not start within {minutes} minutes")

    def forget(self, creation: Creation) -> None:
        """A table that is over is not in the journal any more."""
        self._keepers.pop(creation.name, None)
        self._over.pop(creation.name, None)

    # --- making

    def make(self, wish: Wish, *, keep: Callable[[Keeper], Sequence[Write]] = lambda _: ()) -> Keeper:
        """A table, durable after `keeper.scribe.durable()`; what `keep` answers is kept together with it.

        Raises Failure, RulesRefused or VariantError.
        """
        mine = sum(each.owner == wish.owner and not each.match for each in self._unfinished.values())
        if not wish.match and mine >= self.settings.tables_per_principal:
            limit = self.settings.tables_per_principal
            raise Failure(Reason.TOO_MANY_TABLES, f"{limit} tables are open already, which is the limit", limit=limit)
        if wish.position is not None:
            players, choice = named_in(wish.position, players=wish.players)
            wish = replace(wish, players=players, choice=choice)
        rules = wish.choice.rules(self.catalog, wish.players)
        if wish.position is not None:
            verify_position(wish.position, rules)
        name = f"t-{secrets.token_hex(6)}"
        creation = Creation(
            name=name,
            owner=wish.owner,
            players=wish.players,
            secret=wish.secret or secrets.token_bytes(32),
            clock=wish.clock or self.usual_clock,
            created_ms=round(time.time() * 1000),
            choice=wish.choice,
            title=wish.title,
            from_seed=wish.from_seed,
            position=wish.position,
            start_when_full=wish.start_when_full,
            private=wish.private,
            single_round=wish.single_round,
            aligned=wish.aligned,
            match=wish.match,
            record=wish.record,
            deal=wish.deal,
            seating=wish.seating,
            ranked=wish.ranked,
            digest=rules.digest,
            variants=rules.variants,
        )
        keeper = self._keeper(Table(creation, rules))
        self._unfinished[name] = creation
        self._adopt(keeper)
        keeper.scribe.keep((Put(TABLE, name, creation.to_json()), Put(OPEN_TABLE, name, b""), *keep(keeper)))
        return keeper

    def verify_another_bot(self, owner: str) -> None:
        """Raises Failure TOO_MANY_BOTS when the owner has as many built-in bots as it may, matches not counted."""
        mine = [
            self._keepers[name].table
            for name, creation in self._unfinished.items()
            if creation.owner == owner and not creation.match and name in self._keepers
        ]
        seats = [seat for table in mine for seat in table.seats]
        limit = self.settings.builtin_bots_per_principal
        if sum(seat.kind is SeatKind.BUILTIN_BOT for seat in seats) >= limit:
            sentence = f"{limit} built-in bots sit at this owner's tables already, which is the limit"
            raise Failure(Reason.TOO_MANY_BOTS, sentence, limit=limit)


def _broken_sentence(name: str, why: str) -> str:
    return f"table {name} ended by a fault of the server: {why}"


def _may_know(creation: Creation, principal: Principal) -> bool:
    return not creation.private or principal.owns(creation.owner)
