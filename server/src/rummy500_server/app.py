"""A server put together: catalog, journal, rooms and services, from its start to its end.

Each service joins by a function of `SERVICES` and is added to the gRPC server before it starts. Whoever keeps something
open registers with `on_stop`; these are called in reverse order, before the journal closes.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import structlog
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from rummy500.v1 import (
    match_service_pb2,
    match_service_pb2_grpc,
    play_service_pb2,
    play_service_pb2_grpc,
    player_service_pb2,
    player_service_pb2_grpc,
    rules_service_pb2,
    rules_service_pb2_grpc,
    table_service_pb2,
    table_service_pb2_grpc,
)
from rummy500_catalog import Catalog
from rummy500_server.clock import LoopTimer, Timer
from rummy500_server.connected import Connected
from rummy500_server.door import REFRESH_SECONDS, Door
from rummy500_server.drain import Drain
from rummy500_server.games import Games
from rummy500_server.interceptors import AroundEveryMethod
from rummy500_server.journal import Journal, JournalError, MemoryJournal
from rummy500_server.journal_file import open_file
from rummy500_server.journal_sqlite import SqliteJournal
from rummy500_server.limits import Usage
from rummy500_server.listening import address_of, exposed, listen
from rummy500_server.listing import Listing
from rummy500_server.lobby import Lobby
from rummy500_server.matches import Matches
from rummy500_server.players import Players
from rummy500_server.retention import Retention
from rummy500_server.rules_messages import RulesMessages
from rummy500_server.services.match import MatchServicer
from rummy500_server.services.play import PlayServicer
from rummy500_server.services.player import PlayerServicer
from rummy500_server.services.rules import RulesServicer
from rummy500_server.services.table import TableServicer
from rummy500_server.settings import IN_MEMORY, Settings
from rummy500_server.stalled import Stall, Stalls
from rummy500_server.tally import Tally
from rummy500_server.tokens import Tokens
from rummy500_server.tracing import Tracing

log = structlog.stdlib.get_logger("rummy500")

HANDSHAKE_MS = 20_000
"""How long a connection may take to say that it speaks HTTP/2."""
STREAMS_PER_CONNECTION = 4_096
"""Calls that are open at the same time on one connection; further ones wait on the client's side."""
SWEEP_SECONDS = 3_600.0
"""How often expired documents are dropped."""
LAST_MOMENT = 0.5
"""Seconds for calls that are still open when the time to drain is over."""


@dataclass(slots=True)
class App:
    """Everything that a service may need."""

    settings: Settings
    catalog: Catalog
    journal: Journal
    drain: Drain
    usage: Usage
    tally: Tally
    door: Door
    grpc_server: grpc.aio.Server
    health: health.aio.HealthServicer
    service_names: list[str] = field(default_factory=list)
    stoppers: list[Callable[[], Awaitable[None]]] = field(default_factory=list)
    address: str = ""
    lobby: Lobby = field(init=False)
    connected: Connected = field(init=False)
    players: Players = field(init=False)
    matches: Matches = field(init=False)
    rules_messages: RulesMessages = field(init=False)
    retention: Retention = field(init=False)
    openers: list[Callable[[], None]] = field(default_factory=list)
    """Called once the tables are known."""

    stall_enders: list[Callable[[Mapping[str, Stall]], Awaitable[None]]] = field(default_factory=list)
    """Called once the tables are known with what held the server up before; each ends what is its own."""

    def on_stop(self, stop: Callable[[], Awaitable[None]]) -> None:
        self.stoppers.append(stop)

    async def prune(self) -> None:
        """Drops what has been kept long enough."""
        pruned = await self.retention.sweep(self.settings.keep_records_days * 86_400)
        if pruned.tables or pruned.matches:
            log.info("records.pruned", tables=pruned.tables, matches=pruned.matches)

    async def start(self) -> str:
        """Listens; answers the address, with the port that was chosen. Raises CannotListen."""
        port = listen(self.grpc_server, self.settings)
        if exposed(self.settings):
            log.warning("server.exposed", sentence=exposed(self.settings))
        await self.grpc_server.start()
        for name in ("", *self.service_names):
            await self.health.set(name, health_pb2.HealthCheckResponse.SERVING)
        self.address = address_of(self.settings.host, port)
        return self.address

    async def stop(self, *, drain_seconds: float | None = None) -> None:
        """Drains, at most so long and no longer than streams are open, and lets go of everything."""
        seconds = self.settings.drain_ms / 1000 if drain_seconds is None else drain_seconds
        await self.health.enter_graceful_shutdown()
        self.drain.begin(seconds)
        await self.usage.no_streams(seconds)
        await self.grpc_server.stop(LAST_MOMENT if seconds else 0)
        for stop in reversed(self.stoppers):
            await stop()
        await self.journal.close()


async def open_app(
    settings: Settings,
    *,
    catalog: Catalog | None = None,
    timer: Timer | None = None,
    tracing: Tracing | None = None,
) -> App:
    """Builds a server that does not listen yet; `timer` is what its tables' clocks go by. Raises JournalUnusable
    or BadTokenFile."""
    tokens = Tokens(Path(settings.tokens)) if settings.tokens else None
    door = Door(tokens, is_token_required=settings.require_token)
    journal: Journal = MemoryJournal()
    if settings.database != IN_MEMORY:
        file = await asyncio.to_thread(open_file, Path(settings.database), settings.durability)
        journal = SqliteJournal(*file)
    usage = Usage(requests_per_second=settings.requests_per_second, streams=settings.streams_per_principal)
    tally, connected = Tally(), Connected()
    interceptors: list[grpc.aio.ServerInterceptor] = [
        AroundEveryMethod(usage, tally, door, turn_away=connected.turn_away)
    ]
    if tracing is not None:
        interceptors.insert(0, tracing.interceptor)
    app = App(
        settings=settings,
        catalog=catalog or Catalog(),
        journal=journal,
        drain=Drain(),
        usage=usage,
        tally=tally,
        door=door,
        grpc_server=grpc.aio.server(interceptors=interceptors, options=_options(settings)),
        health=health.aio.HealthServicer(),
    )
    app.on_stop(_every(SWEEP_SECONDS, journal.forget_expired))
    app.on_stop(_every(REFRESH_SECONDS, door.refresh))
    try:
        app.rules_messages, app.connected = RulesMessages(app.catalog), connected
        app.retention = Retention(journal)
        timer = timer or LoopTimer()
        app.lobby = Lobby(settings=settings, catalog=app.catalog, journal=journal, timer=timer, tally=tally)
        app.drain.on_begin(app.lobby.stop_clocks)
        app.lobby.after_opened.append(app.connected.opened)
        app.lobby.after_lost.append(app.connected.lost)
        app.stall_enders.append(app.lobby.end_stalled)
        app.on_stop(app.lobby.close)
        app.retention.when_table_gone.append(app.lobby.forget)
        for add in SERVICES:
            app.service_names.append(await add(app))
        await app.lobby.open()
        stalls = Stalls(settings)
        for end in app.stall_enders:
            await end(stalls.read())
        stalls.forget()
        for begin in app.openers:
            begin()
        if settings.keep_records_days:
            app.on_stop(_every(SWEEP_SECONDS, app.prune))
    except BaseException:
        await app.stop(drain_seconds=0)
        raise
    health_pb2_grpc.add_HealthServicer_to_server(app.health, app.grpc_server)
    names = (*app.service_names, health.SERVICE_NAME, reflection.SERVICE_NAME)
    reflection.enable_server_reflection(names, app.grpc_server)
    return app


async def _rules(app: App) -> str:
    rules_service_pb2_grpc.add_RulesServiceServicer_to_server(RulesServicer(app.catalog), app.grpc_server)
    return rules_service_pb2.DESCRIPTOR.services_by_name["RulesService"].full_name


async def _players(app: App) -> str:
    app.players = Players(app.lobby, app.journal)
    await app.players.open()
    servicer = PlayerServicer(app.players, app.drain)
    player_service_pb2_grpc.add_PlayerServiceServicer_to_server(servicer, app.grpc_server)
    return player_service_pb2.DESCRIPTOR.services_by_name["PlayerService"].full_name


async def _tables(app: App) -> str:
    listing = Listing(app.lobby, app.journal)
    servicer = TableServicer(
        lobby=app.lobby,
        players=app.players,
        listing=listing,
        connected=app.connected,
        rules=app.rules_messages,
        drain=app.drain,
        door=app.door,
    )
    table_service_pb2_grpc.add_TableServiceServicer_to_server(servicer, app.grpc_server)
    return table_service_pb2.DESCRIPTOR.services_by_name["TableService"].full_name


async def _plays(app: App) -> str:
    servicer = PlayServicer(app.lobby, app.connected, app.rules_messages, app.drain, app.door)
    play_service_pb2_grpc.add_PlayServiceServicer_to_server(servicer, app.grpc_server)
    return play_service_pb2.DESCRIPTOR.services_by_name["PlayService"].full_name


async def _matches(app: App) -> str:
    games = Games(app.lobby, app.journal)
    matches = app.matches = Matches(
        settings=app.settings,
        catalog=app.catalog,
        journal=app.journal,
        lobby=app.lobby,
        connected=app.connected,
        games=games,
        drain=app.drain,
    )
    await matches.open()
    app.retention.when_match_gone.append(matches.forget)
    app.openers.append(matches.resume)
    app.stall_enders.append(matches.end_stalled)
    app.on_stop(matches.close)
    servicer = MatchServicer(matches, games, app.lobby, app.drain, app.door)
    match_service_pb2_grpc.add_MatchServiceServicer_to_server(servicer, app.grpc_server)
    return match_service_pb2.DESCRIPTOR.services_by_name["MatchService"].full_name


SERVICES: tuple[Callable[[App], Awaitable[str]], ...] = (_rules, _players, _tables, _plays, _matches)
"""Each adds one service to the server, with the rooms behind it, and answers its full name."""


def _every(seconds: float, do: Callable[[], Awaitable[None] | None]) -> Callable[[], Awaitable[None]]:
    """Does it now and again and again; answers how to end that. A journal that fails is tried the next time."""

    async def repeat() -> None:
        while True:
            try:
                done = do()
                if done is not None:
                    await done
            except JournalError as error:
                log.error("journal.failed", sentence=str(error))
            await asyncio.sleep(seconds)

    task = asyncio.create_task(repeat())

    async def end() -> None:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    return end


def _options(settings: Settings) -> list[tuple[str, int]]:
    return [
        ("grpc.so_reuseport", 0),  # a second server on the same port must be an error
        ("grpc.max_receive_message_length", settings.receive_bytes),
        ("grpc.max_send_message_length", settings.send_bytes),
        ("grpc.keepalive_time_ms", settings.keepalive_ms),
        ("grpc.http2.ping_timeout_ms", settings.keepalive_ms // 2),  # keepalive_timeout_ms alone does not cut
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", settings.keepalive_ms // 2),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.server_handshake_timeout_ms", HANDSHAKE_MS),
        ("grpc.max_concurrent_streams", STREAMS_PER_CONNECTION),
        ("grpc.max_connection_idle_ms", settings.idle_connection_minutes * 60_000),
    ]
