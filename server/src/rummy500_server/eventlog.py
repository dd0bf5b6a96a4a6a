"""The events of one table, numbered from 1 without gaps, and what each viewer is shown of them."""

from __future__ import annotations

from collections.abc import Sequence

from rummy500.v1 import event_pb2
from rummy500_engine.events import Event
from rummy500_engine.view import redact
from rummy500_server.table_events import RoundCounted, TableEvent
from rummy500_server.translate.events import event_bytes, is_of_the_game, is_same_for_all

KEPT = 2_000
"""Events that stay in memory at least; who is farther behind is sent a full view."""


class EventLog:
    def __init__(self) -> None:
        self.sequence = 0
        """The number of the last event; 0: none yet."""
        self._first = 1
        self._events: list[TableEvent] = []
        self._pieces: list[bytes | None] = []
        """Each event as all viewers see it, serialized; None: not asked for yet, or each sees another."""

    def extend(self, events: Sequence[TableEvent]) -> None:
        self.sequence += len(events)
        self._events += events
        self._pieces += [None] * len(events)
        surplus = len(self._events) - KEPT
        if surplus > KEPT:
            del self._events[:surplus], self._pieces[:surplus]
            self._first += surplus

    def reaches_back_to(self, after: int) -> bool:
        """Whether all events after that number are still here (a number to come is not)."""
        return self._first - 1 <= after <= self.sequence

    def pieces(self, after: int, seat: int | None, *, most: int | None = None) -> list[bytes]:
        """The events after that number as `seat` sees them, each serialized; with `most`, the last ones."""
        begin = max(after + 1 - self._first, 0)
        if most is not None and len(self._events) - begin > most:
            begin = len(self._events) - most
        pieces: list[bytes] = []
        for index in range(begin, len(self._events)):
            piece = self._pieces[index]
            pieces.append(self._piece(index, seat) if piece is None else piece)
        return pieces

    def _piece(self, index: int, seat: int | None) -> bytes:
        event = self._events[index]
        piece = event_bytes(event, self._first + index, seat)
        if is_same_for_all(event):
            self._pieces[index] = piece
        return piece

    def messages(self, after: int, seat: int | None, *, most: int | None = None) -> list[event_pb2.Event]:
        """The same as messages."""
        return list(map(event_pb2.Event.FromString, self.pieces(after, seat, most=most)))

    def of_the_game(self, after: int, seat: int) -> tuple[Event, ...]:
        """The engine's events after that number as `seat` sees them."""
        begin = max(after + 1 - self._first, 0)
        events = [event.scored if isinstance(event, RoundCounted) else event for event in self._events[begin:]]
        return tuple(redact(event, seat) for event in events if is_of_the_game(event))
