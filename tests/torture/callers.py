"""Somebody who calls a server that may die at any moment, and calls again."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.message import Message
from tests.server.running import bearer
from tests.torture.witness import Contradiction

from rummy500.v1.match_service_pb2_grpc import MatchServiceStub
from rummy500.v1.play_service_pb2_grpc import PlayServiceStub
from rummy500.v1.table_service_pb2_grpc import TableServiceStub

PAUSE = 0.1
"""Seconds before the next try."""
_CHANNEL = [
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 200),
    ("grpc.use_local_subchannel_pool", 1),
]
_OWN_FAULT = "Internal error from Core"
"""What gRPC says on the caller's side, as INTERNAL, when it writes at the moment at which the connection breaks."""
_REPEATED = 0.1
"""How often an answered request is sent once more."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A request with its first answer, and when that came, by the caller's clock."""

    method: str
    request: Message
    token: str
    answer: Message
    when: int


class Caller:
    """One connection. `dice` decide whatever is left to chance."""

    def __init__(self, address: str, dice: random.Random, *, clock: Callable[[], int] = lambda: 0) -> None:
        self.dice, self._clock = dice, clock
        self.channel = grpc.aio.insecure_channel(address, options=_CHANNEL)
        self.tables: Any = TableServiceStub(self.channel)
        self.plays: Any = PlayServiceStub(self.channel)
        self.matches: Any = MatchServiceStub(self.channel)
        self._methods = {
            **{name: getattr(self.tables, name) for name in ("CreateTable", "JoinTable", "AddBot")},
            **{name: getattr(self.matches, name) for name in ("CreateMatch", "GetMatch", "ListGames")},
            "Act": self.plays.Act,
        }
        self.answered = self.repeated = self.failed = 0
        self.known: list[Answered] = []

    async def close(self) -> None:
        await self.channel.close()

    def request_id(self) -> str:
        return f"{self.dice.getrandbits(128):032x}"

    async def call(self, method: str, request: Message, token: str) -> Any:
        """The answer, however often it takes; the request carries a `request_id`, or changes nothing."""
        while True:
            try:
                answer = await self._methods[method](request, metadata=bearer(token))
            except grpc.aio.AioRpcError as error:
                await self.pause(error)
                continue
            self.answered += 1
            return answer

    async def once(self, method: str, request: Message, token: str) -> Any:
        """`call`, and now and then an older request is sent again: it must get its first answer."""
        answer = await self.call(method, request, token)
        self.known.append(Answered(method, request, token, answer, self._clock()))
        if self.dice.random() < _REPEATED:
            older = self.dice.choice(self.known)
            self.repeated += 1
            if await self.call(older.method, older.request, older.token) != older.answer:
                raise Contradiction(f"a retry was not answered as at first, {older.answer}")
        return answer

    async def difference(self, known: Answered) -> str:
        """What a retry is answered instead of the first answer; empty: the first answer."""
        try:
            answer = await self.call(known.method, known.request, known.token)
        except grpc.aio.AioRpcError as error:
            return f"{known.method}: {error.code().name}: {error.details()}"
        return "" if answer == known.answer else f"{known.method}: {answer}, not {known.answer}"

    async def pause(self, error: grpc.aio.AioRpcError) -> None:
        """Before another try. Raises the error when the server's death is no reason for it."""
        if error.code() is not grpc.StatusCode.UNAVAILABLE and error.details() != _OWN_FAULT:
            raise error
        self.failed += 1
        await asyncio.sleep(PAUSE)
