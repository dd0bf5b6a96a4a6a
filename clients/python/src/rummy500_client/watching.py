"""Follows a table in a thread of its own and keeps following it when the connection is lost."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from queue import SimpleQueue

from rummy500.v1.play_service_pb2 import WatchRequest, WatchResponse
from rummy500_client.backoff import Backoff
from rummy500_client.connection import Connection, Stream
from rummy500_client.errors import ServerRefused


@dataclass(frozen=True)
class ConnectionLost:
    """Nobody answers; the watcher tries again."""

    sentence: str


@dataclass(frozen=True)
class ConnectionBack:
    """The table is followed again."""


@dataclass(frozen=True)
class WatchEnded:
    """The table cannot be watched any more."""

    refused: ServerRefused


@dataclass(frozen=True)
class TypedLine:
    """A line of the standard input; None at its end."""

    text: str | None


Seen = WatchResponse | ConnectionLost | ConnectionBack | WatchEnded | TypedLine


class Watcher:
    """Puts what a table shows to `token` into `seen`, from the first event on, each event once; to be stopped."""

    def __init__(self, connection: Connection, table: str, seen: SimpleQueue[Seen], *, token: str = "") -> None:
        self._connection = connection
        self._table = table
        self._seen = seen
        self._token = token
        self._after = 0
        self._wait = Backoff()
        self._stopped = threading.Event()
        self._stream: Stream[WatchResponse] | None = None
        self._thread = threading.Thread(target=self._run, name=f"watch {table}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._stream is not None:
            self._stream.cancel()
        self._thread.join(timeout=2.0)

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                if self._follow():
                    return
                self._lose("the server ended the stream")
            except ServerRefused as refused:
                if self._stopped.is_set():
                    return
                if not (refused.is_lost or refused.reason in ("DRAINING", "SLOW_READER", "TOO_MANY_STREAMS")):
                    self._seen.put(WatchEnded(refused))
                    return
                self._lose(refused.sentence)
            self._stopped.wait(self._wait.next_seconds())

    def _lose(self, sentence: str) -> None:
        if self._wait.is_first and not self._stopped.is_set():
            self._seen.put(ConnectionLost(sentence))

    def _follow(self) -> bool:
        """Reads one stream to its end; tells whether the game is over."""
        request = WatchRequest(table=self._table, after_sequence=self._after, with_views=True)
        with self._connection.stream(self._connection.plays.Watch, request, token=self._token) as stream:
            self._stream = stream
            for response in stream:
                if not self._wait.is_first:
                    self._seen.put(ConnectionBack())
                self._wait = Backoff()
                self._note(response)
                self._seen.put(response)
                if response.WhichOneof("kind") == "game_over":
                    return True
        return False

    def _note(self, response: WatchResponse) -> None:
        match response.WhichOneof("kind"):
            case "snapshot":
                self._after = response.snapshot.sequence
            case "events":
                self._after = response.events.events[-1].sequence if response.events.events else self._after
            case _:
                pass
