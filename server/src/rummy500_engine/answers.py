"""What hooks of play may answer: whatever a variant says is verified before anything is done with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args, overload

from rummy500_engine.actions import Action, VariantAction
from rummy500_engine.events import (
    DrewFromStock,
    Exchanged,
    LaidOff,
    Melded,
    PollClosed,
    TookFromPile,
    TurnPassed,
    VariantEvent,
)
from rummy500_engine.refusals import Refused
from rummy500_engine.terms import Poll, Table

BROUGHT_ABOUT = (DrewFromStock, TookFromPile, Melded, LaidOff, TurnPassed, Exchanged, PollClosed, VariantEvent)
"""The events that a variant may bring about; the engine applies them."""

_ACTIONS = get_args(Action)

Verifier = Callable[[str, Table, Any], str]
"""(variant, table, answer) -> what is wrong with the answer, or nothing."""


class Listing(Sequence[Action]):
    """Actions that the engine makes one by one when they are asked for, because there may be very many. Whoever makes
    one says how to go through them, and whether an action is among them."""

    def __bool__(self) -> bool:
        return next(iter(self), None) is not None

    def __len__(self) -> int:
        return sum([1 for _ in self])

    @overload
    def __getitem__(self, at: int) -> Action: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Action]: ...

    def __getitem__(self, at: int | slice) -> Action | Sequence[Action]:
        return tuple(iter(self))[at]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(iter(self)) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(iter(self)))

    def __repr__(self) -> str:
        return repr(tuple(iter(self)))


def problem_of(hook: str, *, variant: str, table: Table, answer: Any) -> str:
    """What is wrong with the answer to a hook of play, in words that go on from "answered"; empty: nothing."""
    verifier = _VERIFIERS.get(hook)
    if answer is None:
        return "None: it must say what happens" if hook == "rummy500_perform" else ""
    return verifier(variant, table, answer) if verifier is not None else ""


def _veto(variant: str, table: Table, answer: Any) -> str:
    return "" if isinstance(answer, Refused) else f"{answer!r}, which is no Refused"


def _adjustments(variant: str, table: Table, answer: Any) -> str:
    if not isinstance(answer, Mapping):
        return f"{answer!r}, which is no Mapping"
    for name, points in answer.items():
        if not isinstance(name, str) or not _is_listing(points) or len(points) != table.players:
            return f"{name!r}: {points!r}, which is not points for each of {table.players} seats"
        if not all(type(point) is int for point in points):
            return f"{name!r}: {points!r}; points are whole numbers"
    return ""


def _view(variant: str, table: Table, answer: Any) -> str:
    if not isinstance(answer, Mapping):
        return f"{answer!r}, which is no Mapping"
    named = all(isinstance(name, str) for name in answer)
    return "" if named else f"{answer!r}; names of fields are texts"


def _poll(variant: str, table: Table, answer: Any) -> str:
    if not isinstance(answer, Poll):
        return f"{answer!r}, which is no Poll"
    if answer.variant != variant:
        return f"a poll of variant {answer.variant!r}, not of its own"
    if len(set(answer.asked)) != len(answer.asked):
        return f"a poll that asks a seat twice: {answer.asked!r}"
    if not all(type(seat) is int and 0 <= seat < table.players for seat in answer.asked):
        return f"a poll that asks seats which are not there: {answer.asked!r}"
    return "a poll that is answered before it opens" if answer.answers else ""


def _own_actions(variant: str, table: Table, answer: Any) -> str:
    problem = _listing_of((VariantAction,), answer)
    if problem:
        return problem
    strange = [action for action in answer if action.variant != variant]
    return f"{strange[0]!r}, an action that is not its own" if strange else ""


def _poll_actions(variant: str, table: Table, answer: Any) -> str:
    return "" if isinstance(answer, Listing) else _listing_of(_ACTIONS, answer)


def _events(variant: str, table: Table, answer: Any) -> str:
    problem = _listing_of(BROUGHT_ABOUT, answer)
    if problem:
        return problem
    strange = [event for event in answer if isinstance(event, VariantEvent) and event.variant != variant]
    return f"{strange[0]!r}, an event that is not its own" if strange else ""


def _own_events(variant: str, table: Table, answer: Any) -> str:
    return _listing_of((VariantEvent,), answer) or _events(variant, table, answer)


def _listing_of(kinds: tuple[type, ...], answer: Any) -> str:
    if not _is_listing(answer):
        return f"{answer!r}, which is no Sequence"
    strange = [part for part in answer if not isinstance(part, kinds)]
    if not strange:
        return ""
    wanted = " or ".join(kind.__name__ for kind in kinds)
    return f"{strange[0]!r} in a sequence, which is no {wanted}"


def _is_listing(answer: Any) -> bool:
    return isinstance(answer, Sequence) and not isinstance(answer, str | bytes)


_VERIFIERS: dict[str, Verifier] = {
    "rummy500_veto": _veto,
    "rummy500_adjustments": _adjustments,
    "rummy500_actions": _own_actions,
    "rummy500_perform": _events,
    "rummy500_view": _view,
    "rummy500_poll": _poll,
    "rummy500_poll_actions": _poll_actions,
    "rummy500_false_answer": _own_events,
    "rummy500_poll_result": _events,
}
