"""One stream of a bot, as the examination heard it: what the bot said, what it was told, and when."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Condition

from google.protobuf.message import DecodeError

from rummy500.v1.play_service_pb2 import (
    Decision,
    DecisionRefused,
    DecisionRequest,
    GameOver,
    GameStarted,
    Hello,
    PlayRequest,
    PlayResponse,
    Welcome,
)


@dataclass(frozen=True, slots=True)
class Turn:
    """A request and the bot's answer to it, `seconds` after it was handed over."""

    request: DecisionRequest
    decision: Decision
    seconds: float
    answered_at: float


@dataclass
class Conversation:
    """`token` is what the bot called with, `is_scripted` whether no real server was behind it. `news` tells of every
    change. Times are those of `time.monotonic`."""

    token: str
    news: Condition
    is_scripted: bool = False
    opened_at: float = field(default_factory=time.monotonic)
    ended_at: float | None = None
    inbox: SimpleQueue[bytes | None] = field(default_factory=SimpleQueue)
    """What the bot says, for whoever answers it; None: it has no more to say."""
    outbox: SimpleQueue[bytes | None] = field(default_factory=SimpleQueue)
    """What a script tells the bot; None: the stream ends as if the line were cut."""
    hello: Hello | None = None
    first_is_hello: bool = False
    welcome: Welcome | None = None
    started: dict[str, GameStarted] = field(default_factory=dict)
    asked: dict[tuple[str, int], tuple[DecisionRequest, float]] = field(default_factory=dict)
    """By table and sequence: the requests that are not answered, and when they were handed over."""
    turns: list[Turn] = field(default_factory=list)
    unasked: list[Decision] = field(default_factory=list)
    """Decisions that answer no request, or one that was answered."""
    refusals: list[DecisionRefused] = field(default_factory=list)
    over: dict[str, GameOver] = field(default_factory=dict)
    rules_wanted: list[str] = field(default_factory=list)
    garbled: list[bytes] = field(default_factory=list)
    messages: int = 0
    is_cut: bool = False
    refused_as: str = ""
    """Why the server ended the stream. Empty: it did not."""

    def hear(self, message: bytes) -> None:
        """The bot said this."""
        now = time.monotonic()
        with self.news:
            self.messages += 1
            try:
                request = PlayRequest.FromString(message)
            except DecodeError:
                self.garbled.append(message)
            else:
                self._hear(request, now)
            self.news.notify_all()
        self.inbox.put(message)

    def _hear(self, request: PlayRequest, now: float) -> None:
        if request.HasField("hello"):
            self.first_is_hello = self.messages == 1
            self.hello = request.hello
        self.rules_wanted.extend(request.rules_wanted)
        for decision in request.decisions:
            asked = self.asked.pop((decision.table, decision.sequence), None)
            if asked is None:
                self.unasked.append(decision)
                continue
            self.turns.append(Turn(asked[0], decision, now - asked[1], now))

    def tell(self, message: bytes) -> None:
        """The bot is told this: to be called as it is handed over."""
        response = PlayResponse.FromString(message)
        now = time.monotonic()
        with self.news:
            if response.HasField("welcome"):
                self.welcome = response.welcome
            for game in response.games_started:
                self.started[game.table] = game
            self.refusals.extend(response.refusals)
            for request in response.decision_requests:
                self.asked[request.table, request.sequence] = (request, now)
            for over in response.games_over:
                self.over[over.table] = over
            self.news.notify_all()

    def end(self) -> None:
        """The stream has ended."""
        with self.news:
            self.ended_at = time.monotonic()
            self.news.notify_all()
        self.inbox.put(None)

    def turns_at(self, table: str) -> list[Turn]:
        return [turn for turn in self.turns if turn.request.table == table]
