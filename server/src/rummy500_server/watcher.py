"""One Watch stream: a bounded queue of what a viewer is shown of a table."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from rummy500.v1 import play_service_pb2 as pb
from rummy500_server.keeper import Keeper
from rummy500_server.play_stream import lost
from rummy500_server.sight import view_of
from rummy500_server.status import Failure, Reason
from rummy500_server.translate.events import result_into


class Watcher:
    """`after` is the last event that the viewer has; None: it has none and begins with a view."""

    def __init__(self, keeper: Keeper, seat: int | None, *, after: int | None, with_views: bool, most: int) -> None:
        self._keeper, self._seat = keeper, seat
        self._after = after
        self._with_views, self._most = with_views, most
        self._queue: deque[pb.WatchResponse] = deque()
        self._wake = asyncio.Event()
        self._failure: Failure | None = None
        self._has_begun = self._is_over = False
        self._was_asked = False

    async def responses(self) -> AsyncIterator[pb.WatchResponse]:
        """What there is to see, until the game is over. Raises the failure that the stream ends with."""
        self._keeper.viewers[self] = None
        if self._seat is not None:
            self._keeper.players[self._seat].streams += 1
        try:
            if self._keeper.scribe.is_durable:
                self.published()
            while True:
                while self._queue:
                    yield self._queue.popleft()
                if self._failure is not None:
                    raise self._failure
                if self._is_over:
                    return
                self._wake.clear()
                await self._wake.wait()
        finally:
            self._keeper.viewers.pop(self, None)
            if self._seat is not None:
                self._keeper.players[self._seat].streams -= 1

    def fail(self, failure: Failure) -> None:
        """The stream ends with this error, after what is queued."""
        self._failure = self._failure or failure
        self._wake.set()

    def published(self) -> None:
        if self._keeper.is_lost:
            self.fail(lost())
        if self._failure is not None or self._is_over:
            return
        if len(self._queue) >= self._most:
            sentence = f"{self._most} messages are waiting to be read; open the stream again and read faster"
            self.fail(Failure(Reason.SLOW_READER, sentence, resume_after=self._after or 0))
            return
        self._see()
        self._wake.set()

    def _see(self) -> None:
        table = self._keeper.table
        is_asked = self._seat is not None and self._seat in table.to_act()
        has_news = self._after is not None and table.sequence > self._after
        if self._after is None or not table.log.reaches_back_to(self._after):
            self._queue.append(pb.WatchResponse(snapshot=view_of(self._keeper, self._seat)))
        elif has_news or not self._has_begun:
            self._queue.append(self._events(self._after))
        elif self._was_asked and not is_asked:
            # an answer in a poll is no event, but the seat that gave it has no more to say
            self._queue.append(pb.WatchResponse(snapshot=view_of(self._keeper, self._seat)))
        self._after, self._has_begun, self._was_asked = table.sequence, True, is_asked
        if table.result is not None:
            over = pb.GameOver(table=table.name, sequence=table.sequence)
            result_into(over.result, table.result)
            self._queue.append(pb.WatchResponse(game_over=over))
            self._is_over = True

    def _events(self, after: int) -> pb.WatchResponse:
        response = pb.WatchResponse()
        response.events.events.extend(self._keeper.table.log.messages(after, self._seat))
        response.events.SetInParent()
        if self._with_views:
            view_of(self._keeper, self._seat, response.events.view)
        return response
