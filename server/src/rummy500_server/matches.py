"""All matches: making them, going on with them after a restart, and telling of them."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Iterable, Mapping

import structlog

from rummy500_catalog import Catalog
from rummy500_engine.rules import Rules
from rummy500_engine.terms import RulesRefused, VariantError
from rummy500_server.connected import Connected
from rummy500_server.drain import Drain
from rummy500_server.games import FinishedGame, Games
from rummy500_server.journal import Journal, JournalError, Put, newest_first, read_documents
from rummy500_server.keeper import Keeper
from rummy500_server.lobby import Lobby
from rummy500_server.match import Match
from rummy500_server.match_document import MatchDocument
from rummy500_server.match_plan import MatchSpec
from rummy500_server.settings import Settings
from rummy500_server.stalled import Stall
from rummy500_server.status import Failure, Reason

log = structlog.stdlib.get_logger("rummy500")

MATCH = "match"
"""Kind of document: a match."""
_NO_RACE = (
    "by these rules the outcome depends on which message arrives first, and no match is played so: "
    "choose an order of seats instead, as the priority of calls does by default, or play at a table"
)


class Matches:
    """Matches by name."""

    def __init__(
        self,
        *,
        settings: Settings,
        catalog: Catalog,
        journal: Journal,
        lobby: Lobby,
        connected: Connected,
        games: Games,
        drain: Drain,
    ) -> None:
        self._settings, self._catalog, self._journal = settings, catalog, journal
        self._lobby, self._connected, self._drain = lobby, connected, drain
        self._games = games
        self._matches: dict[str, Match] = {}
        self._resuming: asyncio.Task[None] | None = None
        self._keeping: set[asyncio.Task[None]] = set()
        games.after_finished.append(self._finished)
        lobby.after_opened.append(self._opened)
        lobby.after_gone.append(self._gone)

    # --- from the start to the end

    async def open(self) -> None:
        """Learns which matches there are, before tables are folded."""
        for document in (await read_documents(self._journal, MATCH, MatchDocument.from_json)).values():
            match = self._match(document)
            async for game in self._games.of_match(match.name):
                match.count(game, is_new=False)

    async def end_stalled(self, stalls: Mapping[str, Stall]) -> None:
        """Fails the matches that held a server up when their rules were composed."""
        for name, match in self._matches.items():
            if name in stalls and not match.is_over:
                match.fail(stalls[name].sentence)
                await self.keep(match)

    def resume(self) -> None:
        """Goes on with those that are not over, when their tables are in memory again."""
        self._resuming = asyncio.create_task(self._resume())

    async def _resume(self) -> None:
        await self._lobby.awake()
        for match in list(self._matches.values()):
            if match.is_over:
                continue
            change = self._change_of_rules(match.document)
            if change:
                match.fail(change)
            else:
                match.begin()

    def _change_of_rules(self, document: MatchDocument) -> str:
        """Why the rules are not those with which the match began; empty: they are."""
        try:
            rules = document.spec.choice.rules(self._catalog, document.spec.players)
        except (RulesRefused, VariantError) as error:
            return f"its rules cannot be composed any more: {error}"
        return "" if rules.digest == document.digest else "its rules are others now: a variant has changed its version"

    async def close(self) -> None:
        """Nothing more begins; what is to be kept is kept."""
        if self._resuming is not None:
            self._resuming.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._resuming
        for match in self._matches.values():
            match.stop()
        if self._keeping:
            await asyncio.wait(self._keeping)

    # --- finding and making

    def named(self, name: str) -> Match:
        """Raises Failure NO_SUCH_MATCH."""
        match = self._matches.get(name)
        if match is None:
            raise Failure(Reason.NO_SUCH_MATCH, f"there is no match {name!r}")
        return match

    def find(self, name: str) -> Match | None:
        return self._matches.get(name)

    def all(self) -> list[Match]:
        return list(self._matches.values())

    def newest(self, *, before: str, most: int) -> list[tuple[str, Match]]:
        """At most so many, the newest first, with where each stands in the list: those before that, empty: from the
        first."""
        listed = ((newest_first(each.document.created_ms, each.name), each) for each in self.all())
        return sorted(((at, each) for at, each in listed if not before or at < before), reverse=True)[:most]

    def rules_of(self, spec: MatchSpec) -> Rules:
        """Raises RulesRefused or VariantError."""
        rules = spec.choice.rules(self._catalog, spec.players)
        if rules.depends_on_arrival:
            raise RulesRefused(_NO_RACE, field="plan.rules")
        return rules

    def make(self, spec: MatchSpec, *, owner: str, bots: Iterable[str] = ()) -> Match:
        """A match that has not begun. `bots` are the digests of its connected bots' own tokens.

        Raises Failure, RulesRefused or VariantError.
        """
        self._drain.verify_off()
        mine = sum(match.document.owner == owner and not match.is_over for match in self._matches.values())
        limit = self._settings.matches_per_principal
        if mine >= limit:
            raise Failure(Reason.TOO_MANY_MATCHES, f"{limit} matches are open already, which is the limit", limit=limit)
        rules = self.rules_of(spec)
        return self._match(
            MatchDocument(
                name=f"m-{secrets.token_hex(6)}",
                owner=owner,
                spec=spec,
                digest=rules.digest,
                created_ms=round(time.time() * 1000),
                bots=tuple(bots),
            )
        )

    def forget(self, name: str) -> None:
        """A match that is not in the journal: it could not be kept, or was kept long enough."""
        self._matches.pop(name, None)
        self._connected.expect_no_more(name)

    async def keep(self, match: Match, *writes: Put) -> None:
        """Returns when the match as it stands is durable. Raises JournalError."""
        is_over = match.is_over
        try:
            await self._journal.commit(Put(MATCH, match.name, match.document.to_json()), *writes)
        except JournalError:
            if is_over and not match.is_settled:
                match.end_kept(is_durable=False)
            raise
        if is_over and not match.is_revealed:
            match.end_kept(is_durable=True)

    def _match(self, document: MatchDocument) -> Match:
        match = self._matches[document.name] = Match(
            document,
            lobby=self._lobby,
            connected=self._connected,
            may_begin_games=lambda: not self._drain.is_on,
            keep=self._keep_later,
        )
        if not document.is_over:
            relayed = [name for bot in document.spec.bots if bot.is_relayed for name in bot.connected]
            self._connected.expect(document.name, document.bots, relayed=relayed)
        return match

    def _keep_later(self, match: Match) -> None:
        """A change that nobody waits for; after a crash it is found again from the games."""
        task = asyncio.create_task(self._keep_quietly(match))
        self._keeping.add(task)
        task.add_done_callback(self._keeping.discard)

    async def _keep_quietly(self, match: Match) -> None:
        try:
            await self.keep(match)
        except JournalError as error:
            log.error("match.not_kept", match=match.name, sentence=str(error))

    # --- what happens at tables

    def _opened(self, keeper: Keeper) -> None:
        match = self._matches.get(keeper.table.creation.match)
        if match is not None and not keeper.table.is_over:
            match.adopt(keeper)

    def _gone(self, keeper: Keeper) -> None:
        match = self._matches.get(keeper.table.creation.match)
        if match is not None:
            match.begin_again(keeper)

    def _finished(self, game: FinishedGame) -> None:
        match = self._matches.get(game.match)
        if match is not None:
            match.count(game)
