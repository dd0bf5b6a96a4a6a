"""A server whose clocks go by a timer that stands still until a test moves it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

from tests.server.at_table import SECONDS, Client
from tests.server.running import channel_to, running_app
from tests.server.stepped_timer import SteppedTimer

from rummy500.v1 import view_pb2
from rummy500.v1.table_pb2 import ClockSettings
from rummy500_engine.cards import card_text
from rummy500_server.app import App
from rummy500_server.keeper import Keeper
from rummy500_server.translate.cards import CARDS

TEN = 10_000


class Tables:
    """`timer` is what its clocks go by."""

    def __init__(self, app: App, client: Client, timer: SteppedTimer) -> None:
        self.app, self.client, self.timer = app, client, timer

    async def playing(self, **clock: Any) -> str:
        """A table at which anna is to play, and ben."""
        return await self.client.playing("anna", "ben", clock=ClockSettings(**{"decision_ms": TEN, **clock}))

    async def keeper(self, table: str) -> Keeper:
        return await self.app.lobby.table(table)

    async def clock(self, table: str, name: str = "") -> view_pb2.ClockState:
        async with self.client.watch(table, name) as watching:
            return (await watching.next()).snapshot.clock

    async def later(self, table: str, seconds: float) -> None:
        """So much time goes by, and what the clock does then is durable."""
        keeper = await self.keeper(table)
        self.timer.advance(seconds)
        await keeper.scribe.durable()
        await until(lambda: keeper.scribe.is_durable)

    async def events(self, table: str) -> list[Any]:
        """All events so far, as (kind, event)."""
        async with self.client.watch(table, after_sequence=0) as watching:
            seen = (await watching.next()).events.events
        return [(event.WhichOneof("kind"), getattr(event, event.WhichOneof("kind") or "")) for event in seen]

    async def turn(self, table: str, name: str, *, seconds: float = 0.0) -> None:
        """A turn that draws and throws; each of its two decisions takes so long."""
        self.timer.advance(seconds)
        await self.client.act(table, name, "draw")
        self.timer.advance(seconds)
        await self.discard(table, name)

    async def discard(self, table: str, name: str) -> None:
        hand = (await self.client.view(table, name)).legal_actions.discards
        await self.client.act(table, name, f"discard {card_text(CARDS[hand[0]])}")


async def until(holds: Callable[[], bool]) -> None:
    """Lets the server's loop go on until it is so."""
    async with asyncio.timeout(SECONDS):
        while not holds():
            await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def timed_tables(**settings: Any) -> AsyncIterator[Tables]:
    timer = SteppedTimer()
    async with running_app(timer=timer, **settings) as app, channel_to(app.address) as channel:
        yield Tables(app, Client.on(channel), timer)
