"""PlayService: acting, watching, and bots with many games on one stream."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack, suppress
from importlib.metadata import version
from typing import Any

import grpc

from rummy500.v1 import play_service_pb2 as pb
from rummy500.v1 import play_service_pb2_grpc
from rummy500_engine.legal import LISTED_AT_MOST
from rummy500_server.acting import Acting, Stop, actions_from
from rummy500_server.admission import known_table, visible_table
from rummy500_server.connected import Connected
from rummy500_server.door import Door
from rummy500_server.drain import Drain
from rummy500_server.identity import caller, unknown_token
from rummy500_server.keeper import Keeper
from rummy500_server.limits import Bucket
from rummy500_server.lobby import Lobby
from rummy500_server.names import LONGEST_NAME, read_name, read_table_name
from rummy500_server.play_stream import PlayStream
from rummy500_server.requests import Keep
from rummy500_server.rules_messages import RulesMessages
from rummy500_server.seating import seat_of
from rummy500_server.services.waiting import durable
from rummy500_server.sight import view_of
from rummy500_server.status import Failure, Reason, bad_request
from rummy500_server.translate.actions import legal_bytes
from rummy500_server.translate.views import refusal_message
from rummy500_server.watcher import Watcher

_Context = grpc.aio.ServicerContext[Any, Any]

FEATURES = ("batches", "notation", "resume", "rules_wanted", "variant_parts")
"""What Hello may ask for; docs/protocol.md says what each means."""
_STOP = {stop: pb.ActStop.Value(f"ACT_STOP_{stop.name}") for stop in Stop}


class PlayServicer(play_service_pb2_grpc.PlayServiceServicer):
    def __init__(self, lobby: Lobby, connected: Connected, rules: RulesMessages, drain: Drain, door: Door) -> None:
        self._lobby, self._connected, self._rules = lobby, connected, rules
        self._drain, self._door = drain, door
        self._watchers: set[Watcher] = set()
        self._version = version("rummy500")
        drain.on_begin(self._tell_draining)

    # --- Act

    async def Act(self, request: pb.ActRequest, context: _Context) -> pb.ActResponse:
        principal = caller()
        keeper = await known_table(self._lobby, request.table, principal)
        seat, reading = seat_of(keeper, principal), ExitStack()

        async def act(keep: Keep) -> pb.ActResponse:
            reading.close()
            actions = actions_from(request.actions, keeper.table.rules)
            if request.HasField("expected_sequence") and request.expected_sequence != keeper.table.sequence:
                raise keeper.stale(seat, request.expected_sequence)
            done: asyncio.Future[tuple[Acting, pb.ActResponse]] = asyncio.get_running_loop().create_future()

            def told(outcome: Acting | Failure) -> None:
                """The answer is made at once: a moment later the table may have gone on."""
                if isinstance(outcome, Failure):
                    if not done.done():
                        done.set_exception(outcome)
                    return
                answer = _act_response(keeper, seat, outcome, with_view=request.with_view)
                if outcome.applied:
                    keeper.scribe.keep(keep(answer))
                if not done.done():
                    done.set_result((outcome, answer))

            came = time.perf_counter()
            keeper.submit(seat, actions, told, read_at=read_at)
            if done.done():  # and not held back until a poll has lasted long enough
                self._lobby.commits.answer(came, 1)
            acting, answer = await done
            await durable(keeper)
            if acting.refused is not None and not acting.applied:
                raise acting.refused
            return answer

        with reading:
            read_at = reading.enter_context(keeper.reading(seat))
            return await self._lobby.memory.once(
                "Act", principal.required(), request.request_id, request=request, answer=pb.ActResponse, do=act
            )

    # --- Watch

    async def Watch(self, request: pb.WatchRequest, context: _Context) -> AsyncIterator[pb.WatchResponse]:
        principal = caller()
        keeper = await visible_table(self._lobby, request.table, principal)
        after = request.after_sequence if request.HasField("after_sequence") else None
        watcher = Watcher(
            keeper,
            principal.digest,
            after=after,
            with_views=request.with_views,
            most_behind=self._lobby.settings.events_behind,
        )
        self._watchers.add(watcher)
        if self._drain.is_on:
            watcher.fail(self._draining())
        try:
            with self._door.standing(principal, watcher.fail, table=keeper.table.name):
                async for response in watcher.responses():
                    yield response
        finally:
            self._watchers.discard(watcher)

    # --- Play

    async def Play(self, request_iterator: AsyncIterator[pb.PlayRequest], context: _Context) -> AsyncIterator[Any]:
        """Answers messages that are serialized already."""
        principal = caller()
        who = principal.required()
        if principal.is_stranger:
            await self._verify_bot(who)
        first = await anext(request_iterator, None)
        if first is None:
            return
        try:
            stream = self._greeted(who, first)
            self._connected.enter(stream)
        except Failure as failure:
            self._connected.turn_away(failure.sentence, name=first.hello.name, who=who)
            raise
        try:
            with self._door.standing(principal, stream.fail):
                await self._resume(stream, first.hello)
                if self._drain.is_on:
                    stream.drain(stops_at=self._drain.stops_at)
                reading = asyncio.create_task(stream.read(request_iterator))
                try:
                    while response := await stream.response():
                        yield response
                finally:
                    reading.cancel()
                    with suppress(asyncio.CancelledError):
                        await reading
        finally:
            self._connected.leave(stream)

    async def _verify_bot(self, who: str) -> None:
        """A token that is not registered is that of a seat or of a match's bot. Raises Failure UNKNOWN_TOKEN."""
        await self._lobby.awake()
        if not self._connected.is_expected(who):
            raise unknown_token()

    def _greeted(self, who: str, first: pb.PlayRequest) -> PlayStream:
        """The stream of the bot that introduces itself. Raises Failure."""
        settings = self._lobby.settings
        if not first.HasField("hello"):
            raise bad_request("hello", "the first message of a stream introduces the bot")
        for field in ("decisions", "rules_wanted"):
            if getattr(first, field):
                raise bad_request(field, "not in the first message: nothing was asked yet")
        hello = first.hello
        _verify_hello(hello, settings.games_per_bot)
        missing = sorted(set(hello.features) - set(FEATURES))
        if missing:
            sentence = f"this server lacks {', '.join(missing)}; it has {', '.join(FEATURES)}"
            raise Failure(Reason.FEATURE_MISSING, sentence, missing=",".join(missing))
        stream = PlayStream(
            who=who,
            name=hello.name,
            most_games=min(hello.max_concurrent_games or settings.games_per_bot, settings.games_per_bot),
            rules=self._rules,
            bucket=Bucket(settings.refusals_per_second),
            commits=self._lobby.commits,
            timer=self._lobby.timer,
            is_relayed=self._connected.is_relayed(hello.name, who),
        )
        stream.welcome(version=self._version, features=FEATURES, keepalive_ms=settings.keepalive_ms)
        return stream

    async def _resume(self, stream: PlayStream, hello: pb.Hello) -> None:
        for point in hello.resume:
            try:
                keeper = await self._lobby.table(read_table_name(point.table, "hello.resume.table"))
            except Failure as failure:
                stream.refuse(point.table, point.after_sequence, failure)
                continue
            seat = keeper.table.seat_of(stream.who)
            if seat is None:
                stream.refuse(point.table, point.after_sequence, stream.not_mine(point.table))
            elif keeper.table.is_over:
                stream.tell_over(keeper, seat, point.after_sequence)
            else:
                stream.resume(point.table, point.after_sequence)

    def _tell_draining(self) -> None:
        for stream in self._connected.all():
            stream.drain(stops_at=self._drain.stops_at)
        for watcher in tuple(self._watchers):
            watcher.fail(self._draining())

    def _draining(self) -> Failure:
        after = self._drain.seconds_left + 1
        return Failure(Reason.DRAINING, "the server is about to stop; the game goes on later", retry_after=after)

    # --- ListLegalActions

    async def ListLegalActions(
        self, request: pb.ListLegalActionsRequest, context: _Context
    ) -> pb.ListLegalActionsResponse:
        keeper = await known_table(self._lobby, request.table, caller())
        seat = seat_of(keeper, caller())
        size = request.page_size or LISTED_AT_MOST
        if size > LISTED_AT_MOST:
            raise bad_request("page_size", f"{request.page_size}: at most {LISTED_AT_MOST}")
        sequence, start = keeper.table.sequence, 0
        if request.page_token:
            told, start = _read_page_token(request.page_token)
            if told != sequence:
                raise keeper.stale(seat, told)
        legal = keeper.legal_actions(seat, limit=start + size + 1)
        answer = pb.ListLegalActionsResponse(sequence=sequence)
        is_last = len(legal) <= start + size
        answer.legal_actions.MergeFromString(legal_bytes(legal[start : start + size], complete=is_last))
        answer.next_page_token = "" if is_last else f"{sequence}-{start + size}"
        await durable(keeper)
        return answer


def _read_page_token(token: str) -> tuple[int, int]:
    """The sequence of the listing and where its page begins. Raises Failure BAD_REQUEST."""
    told, _, start = token.partition("-")
    if not (token.isascii() and told.isdecimal() and start.isdecimal() and len(token) <= LONGEST_NAME):
        raise bad_request("page_token", "this is no token of a page: leave it empty for the first page")
    return int(told), int(start)


def _verify_hello(hello: pb.Hello, most_games: int) -> None:
    read_name(hello.name, "hello.name")
    if hello.max_concurrent_games > most_games:
        raise bad_request("hello.max_concurrent_games", f"{hello.max_concurrent_games}: at most {most_games}")
    if len(hello.features) > 32:
        raise bad_request("hello.features", "at most 32")
    if len(hello.resume) > 1_024:
        raise bad_request("hello.resume", "at most 1,024")
    if len(hello.program) > LONGEST_NAME:
        raise bad_request("hello.program", f"at most {LONGEST_NAME} characters")


def _act_response(keeper: Keeper, seat: int, acting: Acting, *, with_view: bool) -> pb.ActResponse:
    answer = pb.ActResponse(applied=acting.applied, sequence=acting.after, stop=_STOP[acting.stop])
    answer.charged_ms = keeper.players[seat].charged_ms if acting.applied else 0
    if acting.refused is not None:
        answer.refusal.CopyFrom(refusal_message(acting.refused.code, acting.refused.sentence))
    answer.events.extend(keeper.table.log.messages(acting.before, seat))
    if with_view:
        view_of(keeper, seat, answer.view)
    return answer
