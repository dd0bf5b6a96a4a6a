"""Plays a bot's games over PlayService.Play: many tables on one stream, in batches, resumed when it is lost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from queue import SimpleQueue

import grpc

from rummy500.v1.play_service_pb2 import PlayRequest
from rummy500_client.backoff import Backoff
from rummy500_client.bot import Bot
from rummy500_client.bot_games import BotGames, say
from rummy500_client.connection import Connection
from rummy500_client.errors import ServerRefused

_FINAL = frozenset(
    {
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.ALREADY_EXISTS,
        grpc.StatusCode.UNIMPLEMENTED,
        grpc.StatusCode.NOT_FOUND,
    }
)


@dataclass
class BotPlayer:
    """Plays `bot` under `name` until `games` games are over (0: until it is stopped).

    `patience` is how many seconds it looks for a server that is gone before it gives up.
    """

    bot: Bot
    connection: Connection
    name: str
    games: int = 0
    patience: float = 60.0
    max_concurrent_games: int = 0
    report: Callable[[str], None] = say
    _wait: Backoff = field(default_factory=Backoff)

    def __post_init__(self) -> None:
        self._games = BotGames(self.bot, self.name, self.max_concurrent_games, self.report)

    def play(self) -> int:
        """Returns the number of games that it played to their end. Raises ClientError."""
        while True:
            try:
                self._play_stream()
            except ServerRefused as refused:
                if refused.code in _FINAL or refused.reason == "STREAM_REPLACED" or self._wait.lasted >= self.patience:
                    raise
                if self._wait.is_first:
                    self.report(f"{self.name}: {refused.sentence}; trying again")
                self._wait.at_least(refused.details.retry_after or 0.0)
            if self._is_done:
                return self._games.over
            time.sleep(self._wait.next_seconds())

    @property
    def _is_done(self) -> bool:
        return bool(self.games) and self._games.over >= self.games

    def _play_stream(self) -> None:
        outgoing: SimpleQueue[PlayRequest | None] = SimpleQueue()
        outgoing.put(PlayRequest(hello=self._games.hello()))
        requests: Iterator[PlayRequest] = iter(outgoing.get, None)
        try:
            with self.connection.converse(self.connection.plays.Play, requests) as responses:
                for response in responses:
                    if response.HasField("welcome"):
                        self._wait = Backoff()
                        self.report(f"{self.name}: connected to {self.connection.address}")
                    for answer in self._games.answers(response):
                        outgoing.put(answer)
                    if response.HasField("draining"):
                        self._wait.at_least(response.draining.retry_after_ms / 1000)
                    if self._is_done:
                        return
        finally:
            outgoing.put(None)
