"""Plays a bot's games over PlayService.Play: many tables on one stream, in batches, resumed when it is lost."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from queue import SimpleQueue

import grpc

from rummy500.v1.play_service_pb2 import (
    Decision,
    DecisionRefused,
    DecisionRequest,
    GameOver,
    GameStarted,
    Hello,
    PlayRequest,
    PlayResponse,
    ResumePoint,
)
from rummy500.v1.rules_pb2 import Rules
from rummy500_client.backoff import Backoff
from rummy500_client.bot import Bot, Request, answer_messages
from rummy500_client.connection import Connection
from rummy500_client.errors import ClientError, ServerRefused

MOST_DECISIONS = 64
"""Decisions that one message carries, so that it stays far below 64 KiB."""
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


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


class BotFailed(ClientError):
    """The bot's own code raised; `__cause__` is what it raised."""

    exit_code = 1


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
    _games: dict[str, GameStarted] = field(default_factory=dict)
    _rules: dict[str, Rules] = field(default_factory=dict)
    _seen: dict[str, int] = field(default_factory=dict)
    _wait: Backoff = field(default_factory=Backoff)
    _over: int = 0
    _is_done: bool = False

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
                return self._over
            time.sleep(self._wait.next_seconds())

    def _play_stream(self) -> None:
        outgoing: SimpleQueue[PlayRequest | None] = SimpleQueue()
        outgoing.put(PlayRequest(hello=self._hello()))
        requests: Iterator[PlayRequest] = iter(outgoing.get, None)
        try:
            with self.connection.converse(self.connection.plays.Play, requests) as responses:
                for response in responses:
                    for answer in self._answers(response):
                        outgoing.put(answer)
                    if self._is_done:
                        return
        finally:
            outgoing.put(None)

    def _hello(self) -> Hello:
        resume = [ResumePoint(table=table, after_sequence=seen) for table, seen in self._seen.items()]
        return Hello(
            name=self.name,
            max_concurrent_games=self.max_concurrent_games,
            resume=resume,
            program="rummy500-client/0.1.0",
        )

    def _answers(self, response: PlayResponse) -> Iterator[PlayRequest]:
        """What to send for one message. Its parts are read in the order of the contract."""
        if response.HasField("welcome"):
            self._wait = Backoff()
            self.report(f"{self.name}: connected to {self.connection.address}")
            self.bot.connected()
        for game in response.games_started:
            self._start(game)
        for refused in response.refusals:
            self._tell_refused(refused)
        unknown = {request.table for request in response.decision_requests if not self._knows(request)}
        decisions = [self._decide(request) for request in response.decision_requests if request.table not in unknown]
        for first in range(0, len(decisions), MOST_DECISIONS):
            yield PlayRequest(decisions=decisions[first : first + MOST_DECISIONS])
        if unknown:
            yield PlayRequest(rules_wanted=sorted(unknown)[:64])
        for over in response.games_over:
            self._end(over)
        if response.HasField("draining"):
            self._wait.at_least(response.draining.retry_after_ms / 1000)
            self.report(f"{self.name}: the server is about to stop; the games go on when it is back")

    def _knows(self, request: DecisionRequest) -> bool:
        return request.table in self._games and request.rules_digest in self._rules

    def _start(self, game: GameStarted) -> None:
        if game.HasField("rules"):
            self._rules[game.rules_digest] = game.rules
        self._games[game.table] = game
        self._seen.setdefault(game.table, 0)
        self.bot.game_started(game)

    def _decide(self, message: DecisionRequest) -> Decision:
        self._seen[message.table] = message.sequence
        request = Request(message, self._games[message.table], self._rules[message.rules_digest])
        try:
            actions = answer_messages(self.bot.act(request), self.bot)
        except Exception as error:
            raise BotFailed(
                f"{type(self.bot).__name__} failed at table {message.table}: {type(error).__name__}: {error}"
            ) from error
        return Decision(table=message.table, sequence=message.sequence, actions=actions)

    def _tell_refused(self, refused: DecisionRefused) -> None:
        self.report(f"{self.name}: refused at {refused.table}: {refused.refusal.code}: {refused.refusal.sentence}")

    def _end(self, over: GameOver) -> None:
        self._seen.pop(over.table, None)
        self._games.pop(over.table, None)
        self._over += 1
        self.bot.game_over(over.table, over.result)
        self._is_done = self._over == self.games
