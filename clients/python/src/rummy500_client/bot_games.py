"""The games of one bot: what comes for them, and what the bot answers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

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
from rummy500_client.bot import Bot, Request, answer_messages
from rummy500_client.errors import ClientError

MOST_DECISIONS = 64
"""Decisions that one message carries, so that it stays far below 64 KiB."""


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


class BotFailed(ClientError):
    """The bot's own code raised; `__cause__` is what it raised."""

    exit_code = 1


@dataclass
class BotGames:
    """`over` counts the games that came to their end."""

    bot: Bot
    name: str
    max_concurrent_games: int = 0
    report: Callable[[str], None] = say
    over: int = 0
    _games: dict[str, GameStarted] = field(default_factory=dict)
    _rules: dict[str, Rules] = field(default_factory=dict)
    _seen: dict[str, int] = field(default_factory=dict)

    def hello(self) -> Hello:
        resume = [ResumePoint(table=table, after_sequence=seen) for table, seen in self._seen.items()]
        return Hello(
            name=self.name,
            max_concurrent_games=self.max_concurrent_games,
            resume=resume,
            program="rummy500-client/0.1.0",
        )

    def answers(self, response: PlayResponse) -> Iterator[PlayRequest]:
        """What to send for one message. Its parts are read in the order of the contract."""
        if response.HasField("welcome"):
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
        self.over += 1
        self.bot.game_over(over.table, over.result)
