"""What clients were told, remembered: nothing of it may ever be told otherwise, or be missing at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import grpc

from rummy500.v1 import event_pb2, view_pb2

OWN_KINDS = ("drew_from_stock", "took_from_pile", "melded", "laid_off", "discarded", "passed")
"""Events that a seat brings about by an action of its own."""
_ABORTED: int = grpc.StatusCode.ABORTED.value[0]


class Contradiction(AssertionError):
    """The server has told two things that cannot both be true, or has lost what it told."""


class Witness:
    """What everybody was told of one table; a viewer is a seat's number, or None for a spectator."""

    def __init__(self, table: str, *, is_polled: bool = False, clock: Callable[[], int] = lambda: 0) -> None:
        """`is_polled`: seats may call, and their answers are no events; `clock` tells when something was told."""
        self.table, self._is_polled = table, is_polled
        self._events: dict[int | None, dict[int, bytes]] = {}
        self._clock, self._when = clock, dict[tuple[int | None, int], int]()
        self._views: dict[tuple[int | None, int], bytes] = {}
        self._acted: dict[int, set[int]] = {}
        self._decided: dict[int, set[int]] = {}
        self.told = 0

    def last(self, viewer: int | None) -> int:
        """The number of the last event that the viewer was told; 0: none."""
        return max(self._events.get(viewer, {}), default=0)

    def hears(self, viewer: int | None, events: Iterable[event_pb2.Event]) -> None:
        known = self._events.setdefault(viewer, {})
        for event in events:
            text = event.SerializeToString(deterministic=True)
            if known.setdefault(event.sequence, text) != text:
                raise Contradiction(f"{self.table}: event {event.sequence} for {viewer} is another one now: {event}")
            self._when.setdefault((viewer, event.sequence), self._clock())
            self.told += 1

    def told_before(self, moment: int) -> dict[int | None, dict[int, bytes]]:
        """By viewer: the events that it was told up to that moment of the clock."""
        return {
            viewer: {number: text for number, text in events.items() if self._when[viewer, number] <= moment}
            for viewer, events in self._events.items()
        }

    def goes_on(self, viewer: int | None, after: int, events: Sequence[event_pb2.Event]) -> int:
        """Hears events that follow event `after` without a gap; answers the number of the last."""
        for number, event in enumerate(events, after + 1):
            if event.sequence != number:
                raise Contradiction(f"{self.table}: {viewer} was told event {event.sequence} in the place of {number}")
        self.hears(viewer, events)
        return after + len(events)

    def sees(self, viewer: int | None, view: view_pb2.View) -> None:
        """A view of the same moment is the same; while a seat is polled its answers change it."""
        seen = view_pb2.View()
        seen.CopyFrom(view)
        seen.ClearField("clock")
        if view.phase == view_pb2.PHASE_CALL:
            seen.ClearField("legal_actions")
        text = seen.SerializeToString(deterministic=True)
        if self._views.setdefault((viewer, view.sequence), text) != text:
            raise Contradiction(f"{self.table}: what {viewer} sees at {view.sequence} has changed: {seen}")
        if view.sequence < self.last(viewer):
            raise Contradiction(f"{self.table}: {viewer} was told {self.last(viewer)}, and it is at {view.sequence}")

    def acts(self, seat: int, events: Iterable[event_pb2.Event]) -> None:
        """The events of an action that was answered."""
        events = list(events)
        self.hears(seat, events)
        self._acted.setdefault(seat, set()).update(event.sequence for event in events)

    def decides(self, seat: int, sequence: int) -> None:
        """A single action was sent for a request about that event."""
        self._decided.setdefault(seat, set()).add(sequence)

    def may_be_late(self, status: int) -> bool:
        """Whether an answer may be refused so: a call of another seat may end a window before it comes."""
        return self._is_polled and status == _ABORTED

    def verify(self, viewer: int | None, events: Sequence[event_pb2.Event]) -> None:
        """`events` are all there are, as the viewer sees them: each that was told is there, no action is there twice,
        and none that nobody made."""
        self.goes_on(viewer, 0, events)
        if self.last(viewer) != len(events):
            raise Contradiction(f"{self.table}: {viewer} was told event {self.last(viewer)} of {len(events)}")
        if viewer is None or self._is_polled:
            return
        own = {event.sequence for event in events if _is_own(event, viewer)}
        made = self._acted.get(viewer, set()) | {sequence + 1 for sequence in self._decided.get(viewer, ())}
        if viewer in self._acted | self._decided and not own <= made:
            raise Contradiction(f"{self.table}: nobody made the actions {sorted(own - made)} of seat {viewer}")


def _is_own(event: event_pb2.Event, seat: int) -> bool:
    kind = event.WhichOneof("kind") or ""
    return kind in OWN_KINDS and bool(getattr(event, kind).seat == seat)
