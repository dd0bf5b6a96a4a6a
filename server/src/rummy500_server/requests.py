"""Requests that were answered: a retry with the same `request_id` gets the first answer again."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from google.protobuf.message import Message

from rummy500_server.journal import Journal, Put
from rummy500_server.status import Failure, Reason, bad_request

KEPT_SECONDS = 24 * 3600
LONGEST_ID = 64
_KIND = "request"
_PRINT = 32

Answer = TypeVar("Answer", bound=Message)
Keep = Callable[[Message], tuple[Put, ...]]
"""What is to be kept, together with what the request does, so that its answer is found again."""


class RequestMemory:
    def __init__(self, journal: Journal, now: Callable[[], float] = time.time) -> None:
        self._journal = journal
        self._now = now
        self._running: dict[str, asyncio.Future[None]] = {}

    async def once(
        self,
        method: str,
        principal: str,
        request_id: str,
        *,
        request: Message,
        answer: type[Answer],
        do: Callable[[Keep], Awaitable[Answer]],
    ) -> Answer:
        """Does it, unless this principal did it before under this id, also before a restart. `do` commits what `keep`
        makes of its answer together with what it does; a request that fails is not remembered.

        Raises Failure REQUEST_ID_REUSED when the content is another one.
        """
        if not request_id:
            return await do(lambda _: ())
        if len(request_id) > LONGEST_ID:
            raise bad_request("request_id", f"at most {LONGEST_ID} characters")
        key = hashlib.sha256("\0".join((method, principal, request_id)).encode()).hexdigest()
        while key in self._running:
            await asyncio.wait([self._running[key]])
        running = self._running[key] = asyncio.get_running_loop().create_future()
        try:
            content = hashlib.sha256(request.SerializeToString(deterministic=True)).digest()
            known = await self._journal.get(_KIND, key)
            if known is None:
                return await do(lambda first: (self._put(key, content + first.SerializeToString(deterministic=True)),))
            if known[:_PRINT] != content:
                raise Failure(Reason.REQUEST_ID_REUSED, "this request_id was used before with other content")
            return answer.FromString(known[_PRINT:])
        finally:
            del self._running[key]
            running.set_result(None)

    def _put(self, key: str, value: bytes) -> Put:
        return Put(_KIND, key, value, self._now() + KEPT_SECONDS)
