"""Somebody who calls a server that may die at any moment, and calls again."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

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
_REPEATED = 0.1
"""How often an answered request is sent once more."""

Answer = TypeVar("Answer", bound=Message)


class Caller:
    """One connection. `dice` decide whatever is left to chance."""

    def __init__(self, address: str, dice: random.Random) -> None:
        self.dice = dice
        self.channel = grpc.aio.insecure_channel(address, options=_CHANNEL)
        self.tables: Any = TableServiceStub(self.channel)
        self.plays: Any = PlayServiceStub(self.channel)
        self.matches: Any = MatchServiceStub(self.channel)
        self.answered = self.repeated = self.failed = 0
        self._known: list[tuple[Callable[[], Awaitable[Message]], Message]] = []

    async def close(self) -> None:
        await self.channel.close()

    def request_id(self) -> str:
        return f"{self.dice.getrandbits(128):032x}"

    async def call(self, method: Callable[..., Awaitable[Answer]], request: Message, token: str) -> Answer:
        """The answer, however often it takes; the request carries a `request_id`, or changes nothing."""
        while True:
            try:
                answer = await method(request, metadata=bearer(token))
            except grpc.aio.AioRpcError as error:
                await self.pause(error)
                continue
            self.answered += 1
            return answer

    async def once(self, method: Callable[..., Awaitable[Answer]], request: Message, token: str) -> Answer:
        """`call`, and now and then an older request is sent again: it must get its first answer."""
        answer = await self.call(method, request, token)
        self._known.append((lambda: self.call(method, request, token), answer))
        if self.dice.random() < _REPEATED:
            ask, first = self.dice.choice(self._known)
            again = await ask()
            self.repeated += 1
            if again != first:
                raise Contradiction(f"a retry was answered {again}, and the first answer was {first}")
        return answer

    async def pause(self, error: grpc.aio.AioRpcError) -> None:
        """Before another try. Raises the error when the server's death is no reason for it."""
        if error.code() is not grpc.StatusCode.UNAVAILABLE:
            raise error
        self.failed += 1
        await asyncio.sleep(PAUSE)
