"""A bot that is dialled: for each seating a stream to it and one to the game server, and what comes at one is passed on
to the other as it is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any

import grpc

from rummy500.v1.play_service_pb2 import PlayRequest
from rummy500_client.backoff import Backoff
from rummy500_client.bot_process import Ended
from rummy500_client.connection import Connection, Stream
from rummy500_client.errors import ServerRefused, read_error
from rummy500_client.match_bots import BotSpec

DIAL = "/rummy500.v1.BotService/Play"
PLAY = "/rummy500.v1.PlayService/Play"
MOST_RELAYED_US = 100_000


class DialledBot:
    """The `start`-th stream of a bot for a seating. `ended` is called in another thread when the bot ends it."""

    def __init__(
        self,
        spec: BotSpec,
        connection: Connection,
        *,
        seating: int,
        start: int,
        name: str,
        token: str,
        seconds: float,
        ended: Callable[[Ended], None],
    ) -> None:
        self.spec, self.seating, self.start, self.name = spec, seating, start, name
        self.stderr_tail = ""
        self._connection, self._token, self._seconds, self._ended = connection, token, seconds, ended
        self._channel = grpc.insecure_channel(spec.what, options=[("grpc.enable_http_proxy", 0)])
        self._is_stopped = threading.Event()
        self._has_greeted = False
        self._calls: list[Any] = []
        self._thread = threading.Thread(target=self._relay, name=name, daemon=True)
        self._thread.start()

    def ask_to_stop(self) -> None:
        self._is_stopped.set()
        for call in self._calls:
            call.cancel()

    def wait_stopped(self) -> None:
        self.ask_to_stop()
        self._thread.join()
        self._channel.close()

    def _relay(self) -> None:
        """Relays until the bot ends its stream; a game server that is lost is dialled again with it."""
        wait = Backoff()
        while not self._is_stopped.is_set():
            try:
                self._relay_once()
                why = "it ended its stream"
            except grpc.RpcError as error:
                why = read_error(error, self.spec.what).sentence
            except ServerRefused as refused:
                if refused.reason == "STREAM_REPLACED":
                    return
                self._is_stopped.wait(wait.next_seconds())
                continue
            if not self._is_stopped.is_set():
                self.stderr_tail = f"dialled at {self.spec.what}: {why}"
                self._ended(Ended(self, None, self.stderr_tail, has_started=self._has_greeted))
            return

    def _relay_once(self) -> None:
        """Raises RpcError when the bot's stream breaks, ServerRefused when the game server's does."""
        to_bot: Passing = Passing()
        dial: Any = self._channel.stream_stream(DIAL)
        bot = dial(iter(to_bot), wait_for_ready=not self._has_greeted)
        self._calls = [bot]
        lost: list[ServerRefused] = []
        try:
            hello = PlayRequest.FromString(self._first(bot))
            self._has_greeted = True
            hello.hello.name = self.name
            to_server = Passing(annotate=to_bot)
            to_server.put(hello.SerializeToString())
            server = self._connection.relayed(PLAY, iter(to_server), token=self._token)
            self._calls = [bot, server]
            back = threading.Thread(target=self._pass_back, args=(server, to_bot, bot, lost), daemon=True)
            back.start()
            try:
                for message in bot:
                    to_server.put(message)
            except grpc.RpcError:
                if not lost:
                    raise
            finally:
                to_server.end()
                server.cancel()
                back.join()
        finally:
            to_bot.end()
            bot.cancel()
        if lost:
            raise lost[0]

    def _first(self, bot: Iterator[bytes]) -> bytes:
        """What the bot says first, for which it has as long as a bot may take to connect."""
        timer = threading.Timer(self._seconds, bot.cancel)  # type: ignore[attr-defined]
        timer.start()
        try:
            return next(bot, b"")
        finally:
            timer.cancel()

    def _pass_back(self, server: Stream[bytes], to_bot: Passing, bot: Any, lost: list[ServerRefused]) -> None:
        try:
            for message in server:
                to_bot.put(message)
        except ServerRefused as refused:
            lost.append(refused)
        to_bot.end()
        bot.cancel()


class Passing:
    """Messages on their way from one stream to the other. `held_us` is how long the last one waited here; with
    `annotate` that of the way back is told with each message, and what it waited itself."""

    def __init__(self, annotate: Passing | None = None) -> None:
        self._queue: SimpleQueue[tuple[float, bytes] | None] = SimpleQueue()
        self._annotate = annotate
        self.held_us = 0

    def put(self, message: bytes) -> None:
        self._queue.put((time.perf_counter(), message))

    def end(self) -> None:
        self._queue.put(None)

    def __iter__(self) -> Iterator[bytes]:
        while (item := self._queue.get()) is not None:
            came, message = item
            self.held_us = round((time.perf_counter() - came) * 1e6)
            if self._annotate is not None:
                held = min(self.held_us + self._annotate.held_us, MOST_RELAYED_US)
                # Messages that follow one another are one message: nothing is read for this.
                message += PlayRequest(relayed_us=held).SerializeToString()
            yield message
