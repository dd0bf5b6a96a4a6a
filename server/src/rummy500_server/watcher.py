"""One Watch stream. Nothing waits for its reader: each message is made, when it can be sent, of what happened since."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from rummy500.v1 import play_service_pb2 as pb
from rummy500_server.keeper import Keeper
from rummy500_server.play_stream import lost
from rummy500_server.sight import view_of
from rummy500_server.status import Failure, Reason
from rummy500_server.translate.events import result_into

MOST_EVENTS = 1_000
"""Events of one message."""


class Watcher:
    """`who` is the digest of the viewer's token, if it has one: a seat's sees what the seat sees. `after` is the last
    event that the viewer was sent; None: it has none and begins with a view. A viewer whose message is not taken while
    the table goes on by more than `most_behind` events is too slow."""

    def __init__(
        self, keeper: Keeper, who: str | None, *, after: int | None, with_views: bool, most_behind: int
    ) -> None:
        self._keeper, self._who, self._seat = keeper, who, keeper.table.seat_of(who)
        self._after = after
        self._with_views, self._most_behind = with_views, most_behind
        self._wake = asyncio.Event()
        self._failure: Failure | None = None
        self._has_begun = self._is_over = self._is_sending = self._is_too_slow = False
        self._was_asked = False

    async def responses(self) -> AsyncGenerator[pb.WatchResponse, None]:
        """What there is to see, until the game is over. Raises the failure that the stream ends with."""
        self._keeper.viewers[self] = None
        if self._seat is not None:
            self._keeper.connect(self._seat)
        try:
            while True:
                response = self._next()
                if response is not None:
                    if self._seat is not None:
                        self._keeper.shown(self._seat, self._keeper.clock.now())
                    self._is_sending = True
                    yield response
                    self._is_sending = False
                    continue
                if self._failure is not None:
                    raise self._failure
                if self._is_over:
                    return
                self._wake.clear()
                await self._wake.wait()
        finally:
            self._keeper.viewers.pop(self, None)
            if self._seat is not None:
                self._keeper.disconnect(self._seat)

    def fail(self, failure: Failure) -> None:
        """The stream ends with this error, after what is durable."""
        self._failure = self._failure or failure
        self._wake.set()

    def published(self) -> None:
        if self._keeper.is_lost:
            self.fail(lost())
        elif self._has_lost_its_seat:
            self.fail(Failure(Reason.TOKEN_ENDED, f"seat {self._seat} is not that of this token any more"))
        elif self._is_sending and not self._is_too_slow and self._is_far_behind:
            self._is_too_slow = True
            self._keeper.tally.slow_readers["PlayService/Watch"] += 1
            sentence = f"more than {self._most_behind} events are waiting; open the stream again and read faster"
            self.fail(Failure(Reason.SLOW_READER, sentence, resume_after=self._after or 0))
        self._wake.set()

    @property
    def _is_far_behind(self) -> bool:
        return self._keeper.table.sequence - (self._after or 0) > self._most_behind

    @property
    def _has_lost_its_seat(self) -> bool:
        """It was left, or taken away, and may be another's now."""
        return self._seat is not None and self._keeper.table.seats[self._seat].who != self._who

    def _next(self) -> pb.WatchResponse | None:
        """What the viewer has not been sent yet; None: nothing, for now or for ever."""
        keeper, table = self._keeper, self._keeper.table
        if self._is_over or self._is_too_slow or keeper.is_lost or not keeper.scribe.is_durable:
            return None
        if self._has_lost_its_seat:
            return None
        is_asked = self._seat is not None and self._seat in table.to_act()
        was_asked, self._was_asked = self._was_asked, is_asked
        if self._after is None or not table.log.reaches_back_to(self._after):
            return self._snapshot()
        if table.sequence > self._after or not self._has_begun:
            return self._events(self._after)
        if was_asked and not is_asked:
            # an answer in a poll is no event, but the seat that gave it has no more to say
            return self._snapshot()
        if table.result is None:
            return None
        self._is_over = True
        over = pb.GameOver(table=table.name, sequence=table.sequence)
        result_into(over.result, table.result)
        return pb.WatchResponse(game_over=over)

    def _snapshot(self) -> pb.WatchResponse:
        response = pb.WatchResponse(snapshot=view_of(self._keeper, self._seat))
        self._after, self._has_begun = response.snapshot.sequence, True
        return response

    def _events(self, after: int) -> pb.WatchResponse:
        response = pb.WatchResponse()
        response.events.events.extend(self._keeper.table.log.messages(after, self._seat)[:MOST_EVENTS])
        response.events.SetInParent()
        self._after, self._has_begun = after + len(response.events.events), True
        if self._with_views and self._after == self._keeper.table.sequence:
            view_of(self._keeper, self._seat, response.events.view)
        return response
