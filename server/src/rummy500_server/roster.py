"""The bots of one match: which of them are there, which are waited for, and which are out."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Iterable

import structlog

from rummy500_arena.plan import PlannedGame
from rummy500_server import seating
from rummy500_server.connected import Connected
from rummy500_server.entries import SeatKind
from rummy500_server.identity import digest_of
from rummy500_server.keeper import Keeper
from rummy500_server.match_document import MatchDocument
from rummy500_server.results import Termination

log = structlog.stdlib.get_logger("rummy500")

STRIKES = frozenset({Termination.TIMEOUT, Termination.DISCONNECT, Termination.ILLEGAL_ACTION})
"""Ends of a game that are a strike for the bot that is to blame; a crash is one when it is reported."""


class Roster:
    """`look` is called when a bot is there for which games waited, or is not waited for any more."""

    def __init__(self, document: MatchDocument, connected: Connected, *, look: Callable[[], None]) -> None:
        self._document, self._bots, self._connected, self._look = document, document.spec.bots, connected, look
        self._gone: dict[str, Termination] = {}
        """Streams that are not waited for any more, and why their bots forfeit."""
        self._waiting_for: dict[str, asyncio.Task[None]] = {}
        self._arrival: asyncio.Task[None] | None = None

    # --- who plays

    def _all_streams(self) -> list[str]:
        """Of all bots that are not out."""
        players = [bot for bot in self._bots if bot.name not in self._document.out]
        return [name for bot in players for name in dict.fromkeys(bot.connected)]

    def is_ready_for(self, game: PlannedGame) -> bool:
        """Whether every bot of the game is there, or not waited for any more; otherwise they are waited for."""
        for name in self._streams(game):
            if self._connected.named(name) is not None:
                self._gone.pop(name, None)
            elif name not in self._gone:
                self._wait_for_missing()
                return False
        return True

    def is_full_for(self, game: PlannedGame) -> bool:
        """Whether a bot of the game plays as many as it can."""
        streams = map(self._connected.named, self._streams(game))
        return any(stream.is_full for stream in streams if stream is not None)

    def _streams(self, game: PlannedGame) -> list[str]:
        players = [bot for bot in game.seats if self._bots[bot].name not in self._document.out]
        return [name for bot in players if (name := self._document.spec.connection(bot, game.seating))]

    def seat(self, keeper: Keeper, game: PlannedGame, seat: int) -> Termination | None:
        """Seats a bot. When it is not there, its seat is kept in its name only; answers what it forfeits for."""
        bot = self._bots[game.seats[seat]]
        if bot.builtin is not None:
            seating.seat_builtin(keeper, bot.builtin, name=bot.name, wanted=seat)
            return None
        out = self._document.out.get(bot.name)
        name = self._document.spec.connection(game.seats[seat], game.seating)
        stream = self._connected.named(name) if out is None else None
        who = stream.who if stream is not None else digest_of(f"nobody {keeper.table.name} {seat}")
        seating.sit(keeper, name=bot.name, who=who, kind=SeatKind.CONNECTED_BOT, wanted=seat)
        self._connected.seated(keeper, seat)
        return None if stream is not None else out or self._gone.get(name, Termination.DISCONNECT)

    # --- who comes

    def wait_for_all(self, then: Callable[[str], None]) -> None:
        """Tells `then` when all are there, with an empty text, or which are missing when the time is over."""
        if self._arrival is None:
            self._arrival = asyncio.create_task(self._wait_for_all(then), context=contextvars.Context())

    async def _wait_for_all(self, then: Callable[[str], None]) -> None:
        names, seconds = self._all_streams(), self._document.spec.arrival_ms / 1000
        arrived = await asyncio.gather(*(self._connected.wait_for(name, seconds) for name in names))
        self._arrival = None
        missing = [name for name, stream in zip(names, arrived, strict=True) if stream is None]
        shown = ", ".join(missing[:8]) + (", …" if len(missing) > 8 else "")
        turned_away = dict.fromkeys(self._connected.why_away((*missing, *self._document.bots)))
        why = "".join(f"; turned away: {each}" for each in list(turned_away)[:2])
        then(f"not connected within {seconds:g} seconds: {shown}{why}" if missing else "")

    def _wait_for_missing(self) -> None:
        """Waits for all bots that are gone at once, so that the match is held up once and not for each of them."""
        for name in self._all_streams():
            if self._connected.named(name) is None and name not in self._gone and name not in self._waiting_for:
                self._waiting_for[name] = asyncio.create_task(self._wait_for_return(name))

    async def _wait_for_return(self, name: str) -> None:
        if await self._connected.wait_for(name, self._document.spec.arrival_ms / 1000) is None:
            log.info("match.bot_gone", match=self._document.name, bot=name)
            self._gone.setdefault(name, Termination.DISCONNECT)
        self._waiting_for.pop(name, None)
        self._look()

    def stop_waiting(self) -> None:
        for task in (self._arrival, *self._waiting_for.values()):
            if task is not None:
                task.cancel()
        self._arrival = None
        self._waiting_for.clear()

    # --- who goes

    def begin_anew(self) -> None:
        """All programs are started again: streams of those before are none of the match's."""
        self.stop_waiting()
        self._gone.clear()
        for name in self._all_streams():
            self._connected.dismiss(name, self._document.bots)

    def lose(self, bot: int, seatings: Iterable[int], why: Termination, *, is_restarted: bool) -> str:
        """The programs that play those seatings have ended; unless they are started again, nobody waits for them.
        Answers the last that one of them sent."""
        streams = sorted({name for number in seatings if (name := self._document.spec.connection(bot, number))})
        last_sent = next(filter(None, map(self._connected.last_sent, streams)), "")
        for name in streams:
            self._connected.dismiss(name, self._document.bots)
            if not is_restarted:
                self._gone[name] = why
        return last_sent

    def strike(self, bot: int, why: Termination) -> None:
        """Counts a fault; too many, and the bot is out."""
        document, name = self._document, self._bots[bot].name
        strikes = document.strikes[name] = document.strikes.get(name, 0) + 1
        if 0 < document.spec.strikes <= strikes and name not in document.out:
            document.out[name] = why
            log.info("match.bot_out", match=document.name, bot=name, reason=why.name)
