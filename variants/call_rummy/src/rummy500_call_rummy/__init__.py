"""Calling "Rummy!" out of turn: who is asked after a discard, whose call counts, what a false call costs (RULES 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rummy500_engine.actions import Action, Call
from rummy500_engine.calls import CallScope, CallTerms, LegalCalls, call_events, is_anything_callable
from rummy500_engine.cards import Card
from rummy500_engine.events import Event, VariantEvent
from rummy500_engine.hooks import hookimpl
from rummy500_engine.round import Round
from rummy500_engine.terms import Option, Poll, Table

NAME = "call-rummy"


@hookimpl
def rummy500_options() -> tuple[Option, ...]:
    return (
        Option("scope", "pile", "What can be called.", choices=("pile", "top", "with_hand")),
        Option("take", "with_above", "What a caller takes.", choices=("with_above", "card_only")),
        Option("turn", "caller_finishes", "Whether a caller takes a turn.", choices=("caller_finishes", "none")),
        Option("priority", "seat_order", "Which of several calls counts.", choices=("seat_order", "first_received")),
        Option("window_seconds", 5, "How long a call may take; silence is a pass.", low=1, high=600),
        Option("on_final_discard", False, "Whether the discard that ends the round may be called."),
        Option("false_call_points", 0, "What a call that is not valid costs.", low=0, high=1000),
        Option("discarder_draws", 0, "Cards that the discarder of a called card draws.", low=0, high=20),
    )


@hookimpl
def rummy500_sentence() -> str:
    return 'A card of the pile that can be melded or laid off may be called, with "Rummy!", out of turn.'


@hookimpl
def rummy500_table_refusal(table: Table) -> str | None:
    if table.text("call-rummy.take") == "with_above" and table.text("call-rummy.turn") == "none":
        return "call-rummy: a caller who takes cards needs a turn: set take to card_only, or turn to caller_finishes"
    return None


@hookimpl
def rummy500_depends_on_arrival(table: Table) -> bool:
    return _first_received(table)


def _first_received(table: Table) -> bool:
    return table.text("call-rummy.priority") == "first_received"


def _terms(table: Table) -> CallTerms:
    return CallTerms(
        scope=CallScope(table.text("call-rummy.scope")),
        card_only=table.text("call-rummy.take") == "card_only",
        takes_turn=table.text("call-rummy.turn") == "caller_finishes",
        discarder_draws=table.number("call-rummy.discarder_draws"),
    )


@hookimpl
def rummy500_poll(table: Table, round: Round, seat: int, card: Card, final: bool) -> Poll | None:
    if (final and not table.flag("call-rummy.on_final_discard")) or not is_anything_callable(round, _terms(table)):
        return None
    return Poll(
        variant=NAME,
        name="call",
        card=card,
        by=seat,
        asked=tuple((seat + step) % table.players for step in range(1, table.players)),
        seconds=table.number("call-rummy.window_seconds"),
        draw_closes=_first_received(table) and not final,
    )


@hookimpl
def rummy500_poll_actions(table: Table, round: Round, seat: int) -> Sequence[Action]:
    return LegalCalls(round, seat, _terms(table))


@hookimpl
def rummy500_poll_result(table: Table, round: Round) -> Sequence[Event] | None:
    """The call that counts: the first to arrive, or the first in seat order once every seat before it has passed."""
    assert round.poll is not None
    answers = dict(round.poll.answers)
    ranked = answers if _first_received(table) else round.poll.asked
    for seat in ranked:
        if seat not in answers:
            return None
        call = answers[seat]
        if isinstance(call, Call):
            return call_events(round, seat, call, _terms(table))
    return None


@hookimpl
def rummy500_false_answer(table: Table, seat: int) -> Sequence[VariantEvent] | None:
    points = table.number("call-rummy.false_call_points")
    return (VariantEvent(NAME, "false_call", seat, (("points", points),)),) if points else None


@hookimpl
def rummy500_state(state: tuple[int, ...] | None, event: VariantEvent) -> tuple[int, ...]:
    """The seats that called falsely, once for each time."""
    return (*(state or ()), event.seat)


@hookimpl
def rummy500_adjustments(table: Table, round: Round) -> Mapping[str, Sequence[int]] | None:
    false_calls: tuple[int, ...] | None = round.states.get(NAME)
    if not false_calls:
        return None
    points = table.number("call-rummy.false_call_points")
    return {"false calls": [-points * false_calls.count(seat) for seat in range(table.players)]}
