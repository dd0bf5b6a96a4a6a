"""Broken variants, each with one fault that the kit must find: what is wrong, and the hook that it stands in."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from rummy500_engine.actions import PASS, Action, Discard, VariantAction
from rummy500_engine.cards import JOKER, Card, card_text, cards_of, hand_of
from rummy500_engine.events import DrewFromStock, Event, LaidOff, PollClosed, VariantEvent
from rummy500_engine.hooks import hookimpl
from rummy500_engine.plugins import Plugin
from rummy500_engine.refusals import Refused
from rummy500_engine.round import Round
from rummy500_engine.terms import GoingOut, Option, Points, Poll, Sets, Specificity, Table

NAME = "faulty"
DISTRIBUTION = "rummy500-variant-faulty"
SING = VariantAction(NAME, "sing")


@dataclass(frozen=True)
class Fault:
    """A variant that breaks one promise; `hook` is what the kit must name."""

    what: str
    hook: str
    hooks: Mapping[str, Any] = field(default_factory=dict)

    @property
    def plugin(self) -> Plugin:
        answers = {"sentence": lambda: "A variant with a fault.", **self.hooks}
        marked = {f"rummy500_{hook}": hookimpl(function) for hook, function in answers.items()}
        return Plugin(NAME, SimpleNamespace(**marked), "0.1.0", DISTRIBUTION)


def _raises(card: Card) -> Points | None:
    raise KeyError("no such card")


def _wrong_type() -> Any:
    return 4


def _misspelt() -> GoingOut:
    return GoingOut.DISCARD


def _strange_argument(weather: str) -> Sets:
    return Sets()


async def _asynchronous() -> Sets:
    return Sets()


def _bad_default() -> tuple[Option, ...]:
    return (Option("points", 40, "What it is worth.", low=50, high=100),)


def _text_for_a_number() -> tuple[Option, ...]:
    return (Option("points", "40", "What it is worth.", low=30, high=100),)


def _no_sentence() -> str:
    return ""


def _refuses_everything() -> str:
    return "not today"


def _breaks_at_an_end(table: Table) -> Sets:
    return Sets(largest=12 // table.number("faulty.parts"))


def _parts() -> tuple[Option, ...]:
    return (Option("parts", 3, "Into how many parts.", low=0, high=4),)


def _moody(card: Card) -> Points | None:
    """Worth something else each time it is asked."""
    return Points(random.randint(-1000, 1000), Specificity.NAMED_CARD) if card == 12 else None


def _no_discard_at_all(action: Action) -> Refused | None:
    return Refused("FAULTY_NO", "no card may be thrown") if isinstance(action, Discard) else None


def _looks_into_hands(round: Round, seat: int, action: Action) -> Refused | None:
    """The card that the next player has two more of may not be thrown."""
    if not isinstance(action, Discard):
        return None
    next_hand = cards_of(round.hands[(seat + 1) % len(round.hands)])
    like = sum(card % 16 == action.card % 16 for card in next_hand)
    return Refused("FAULTY_NO", "not that card") if like > 1 and round.hands[seat].bit_count() > 1 else None


def _shows_a_hand(round: Round) -> Mapping[str, Any]:
    return {"first": card_text(cards_of(round.hands[0] or 1)[0])}


def _shows_no_json(round: Round) -> Mapping[str, Any]:
    return {"cards": set(round.pile)}


def _too_few_points(round: Round) -> Mapping[str, Sequence[int]]:
    return {"luck": [5]}


def _half_points(table: Table) -> Mapping[str, Sequence[Any]]:
    return {"luck": [0.5] * table.players}


def _takes_cards_away(round: Round, seat: int, action: VariantAction) -> Sequence[Event]:
    round.stock.pop(0)
    return [VariantEvent(NAME, "sang", seat)]


def _lays_what_it_has_not(seat: int) -> Sequence[Event]:
    return [LaidOff(seat, 1, JOKER, 5, None)]


def _tells_of_a_draw(seat: int) -> Sequence[Event]:
    return [DrewFromStock(seat, None, 0)] * 60


def _strange_event() -> Sequence[Any]:
    return ["sang"]


def _sings_always(round: Round, seat: int) -> Sequence[VariantAction]:
    return [SING]


def _sings_once(round: Round, seat: int) -> Sequence[VariantAction]:
    return [] if seat in round.states.get(NAME, ()) else [SING]


def _sang(seat: int) -> Sequence[Event]:
    return [VariantEvent(NAME, "sang", seat)]


def _noted(state: Any, event: VariantEvent) -> Any:
    return (*(state or ()), event.seat)


def _noted_in_place(state: Any, event: VariantEvent) -> Any:
    """A list that every copy of the round shares."""
    state = [] if state is None else state
    state.append(event.seat)
    return state


_SUNG: list[int] = []


def _noted_elsewhere(event: VariantEvent) -> Any:
    """State beside the round: it cannot be replayed."""
    _SUNG.append(event.seat)
    return len(_SUNG)


def _verbs() -> Sequence[str]:
    return ("sing",)


def _asks(round: Round, seat: int, card: Card, final: bool) -> Poll | None:
    players = round.rules.players
    asked = tuple((seat + step) % players for step in range(1, players))
    return None if final else Poll(NAME, "question", card, seat, asked)


def _asks_twice(seat: int, card: Card, final: bool) -> Poll | None:
    return None if final else Poll(NAME, "question", card, seat, (seat, seat))


def _asks_whoever_could(round: Round, seat: int, card: Card, final: bool) -> Poll | None:
    """Opens only if somebody holds a card of the rank: that tells of hands."""
    holders = [
        other
        for other, hand in enumerate(round.hands)
        if other != seat and any(held % 16 == card % 16 for held in cards_of(hand))
    ]
    return Poll(NAME, "question", card, seat, tuple(holders)) if holders and not final else None


def _answers() -> Sequence[Action]:
    return (SING, PASS)


def _no_answers() -> Sequence[Action]:
    return ()


def _says_nothing(round: Round) -> Sequence[Event] | None:
    return ()


def _closes(round: Round) -> Sequence[Event] | None:
    return None


def _first_counts(round: Round) -> Sequence[Event] | None:
    """Whoever answers first, without saying that the table depends on it."""
    assert round.poll is not None
    if round.poll.waiting:
        return None
    return [PollClosed(NAME, "question", round.poll.answers[0][0])]


SINGING = {"verbs": _verbs, "actions": _sings_once, "perform": _sang, "state": _noted}
POLLING = {"verbs": _verbs, "poll": _asks, "poll_actions": _answers, "poll_result": _closes}

FAULTS = (
    Fault("a hook that raises", "rummy500_held_points", {"held_points": _raises}),
    Fault("an answer of the wrong type", "rummy500_sets", {"sets": _wrong_type}),
    Fault("a misspelt hook", "rummy500_going_outt", {"going_outt": _misspelt}),
    Fault("a hook with an argument that is not asked", "rummy500_sets", {"sets": _strange_argument}),
    Fault("an asynchronous hook", "rummy500_sets", {"sets": _asynchronous}),
    Fault("a default out of range", "rummy500_options", {"options": _bad_default}),
    Fault("a text as the default of a number", "rummy500_options", {"options": _text_for_a_number}),
    Fault("no sentence for people", "rummy500_sentence", {"sentence": _no_sentence}),
    Fault("no table at all", "rummy500_table_refusal", {"table_refusal": _refuses_everything}),
    Fault("an option that breaks at its end", "rummy500_sets", {"options": _parts, "sets": _breaks_at_an_end}),
    Fault("points that differ between calls", "rummy500_held_points", {"held_points": _moody}),
    Fault("a veto that makes a dead end", "rummy500_veto", {"veto": _no_discard_at_all}),
    Fault("a veto that looks into hands", "rummy500_veto", {"veto": _looks_into_hands}),
    Fault("a view field that shows a hand", "rummy500_view", {"view": _shows_a_hand}),
    Fault("a view field that is no JSON", "rummy500_view", {"view": _shows_no_json}),
    Fault("points for too few seats", "rummy500_adjustments", {"adjustments": _too_few_points}),
    Fault("half points", "rummy500_adjustments", {"adjustments": _half_points}),
    Fault("actions that nothing performs", "rummy500_actions", {"verbs": _verbs, "actions": _sings_once}),
    Fault("an act that loses a card", "rummy500_perform", {**SINGING, "perform": _takes_cards_away}),
    Fault("an act with a card that is not there", "rummy500_perform", {**SINGING, "perform": _lays_what_it_has_not}),
    Fault("more draws than cards", "rummy500_perform", {**SINGING, "perform": _tells_of_a_draw}),
    Fault("an act that is no event", "rummy500_perform", {**SINGING, "perform": _strange_event}),
    Fault("an action without end", "rummy500_actions", {**SINGING, "actions": _sings_always}),
    Fault("a state that is changed in place", "rummy500_state", {**SINGING, "state": _noted_in_place}),
    Fault("a state beside the round", "rummy500_state", {**SINGING, "state": _noted_elsewhere}),
    Fault("a verb that is nobody's", "rummy500_actions", {**SINGING, "verbs": lambda: ()}),
    Fault("a poll that asks a seat twice", "rummy500_poll", {**POLLING, "poll": _asks_twice}),
    Fault("a poll that opens by a hand", "rummy500_poll", {**POLLING, "poll": _asks_whoever_could}),
    Fault("a poll without answers", "rummy500_poll_actions", {**POLLING, "poll_actions": _no_answers}),
    Fault("a poll that closes in silence", "rummy500_poll_result", {**POLLING, "poll_result": _says_nothing}),
    Fault("a poll that goes by arrival", "rummy500_poll_result", {**POLLING, "poll_result": _first_counts}),
    Fault("a poll without a result", "rummy500_poll", {"poll": _asks, "poll_actions": _answers}),
)  # fmt: skip

SOUND = (
    Fault("an action", "", SINGING),
    Fault("a poll", "", POLLING),
    Fault("points", "", {"held_points": lambda card: Points(7, Specificity.NAMED_CARD) if card == 12 else None}),
    Fault("a view", "", {"view": lambda round, seat: {"mine": len(cards_of(round.hands[seat or 0] | hand_of(())))}}),
)
"""Without a fault: the kit finds none."""
