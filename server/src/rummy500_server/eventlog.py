"""The events of one table, numbered from 1 without gaps, and what each viewer is shown of them."""

from __future__ import annotations

from collections.abc import Iterable

from rummy500.v1 import event_pb2
from rummy500_engine.events import Event
from rummy500_engine.view import redact
from rummy500_server.table_events import RoundCounted, TableEvent
from rummy500_server.translate.events import event_message, is_of_the_game, is_same_for_all

KEPT = 2_000
"""Events that stay in memory at least; who is farther behind is sent a full view."""


class EventLog:
    def __init__(self) -> None:
        self._first = 1
        self._events: list[TableEvent] = []
        self._messages: list[event_pb2.Event | None] = []

    @property
    def sequence(self) -> int:
        """The number of the last event; 0: none yet."""
        return self._first + len(self._events) - 1

    def extend(self, events: Iterable[TableEvent]) -> None:
        self._events.extend(events)
        self._messages += [None] * (len(self._events) - len(self._messages))
        surplus = len(self._events) - KEPT
        if surplus > KEPT:
            del self._events[:surplus], self._messages[:surplus]
            self._first += surplus

    def reaches_back_to(self, after: int) -> bool:
        """Whether all events after that number are still here (a number to come is not)."""
        return self._first - 1 <= after <= self.sequence

    def messages(self, after: int, seat: int | None, *, most: int | None = None) -> list[event_pb2.Event]:
        """The events after that number as `seat` sees them; with `most`, the last ones."""
        begin = max(after + 1 - self._first, 0)
        if most is not None:
            begin = max(begin, len(self._events) - most)
        return [self._message(index, seat) for index in range(begin, len(self._events))]

    def _message(self, index: int, seat: int | None) -> event_pb2.Event:
        event = self._events[index]
        if not is_same_for_all(event):
            return event_message(event, self._first + index, seat)
        message = self._messages[index]
        if message is None:
            message = self._messages[index] = event_message(event, self._first + index, None)
        return message

    def of_the_game(self, after: int, seat: int) -> tuple[Event, ...]:
        """The engine's events after that number as `seat` sees them."""
        begin = max(after + 1 - self._first, 0)
        events = [event.scored if isinstance(event, RoundCounted) else event for event in self._events[begin:]]
        return tuple(redact(event, seat) for event in events if is_of_the_game(event))
