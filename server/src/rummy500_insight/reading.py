"""Messages of the protocol as values of the engine: a decision request becomes what a built-in bot is asked.

What a message does not say is not made up: `target` stands only while it must still be used, a poll has no answers, and
of the events those that tell where cards went are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from rummy500.v1 import card_pb2, event_pb2, meld_pb2, play_service_pb2, rules_pb2, view_pb2
from rummy500_bots import Decision
from rummy500_bots.guesses import plain_guess
from rummy500_bots.knowledge import knowledge_of
from rummy500_catalog import Catalog
from rummy500_engine.actions import End
from rummy500_engine.cards import ACE, FACES, JOKER, Card, rank_of
from rummy500_engine.events import (
    Discarded,
    DrewFromStock,
    Event,
    LaidOff,
    Melded,
    Passed,
    RoundDealt,
    StockRecycled,
    TookFromPile,
)
from rummy500_engine.guess import guessed_round
from rummy500_engine.legal import legal_actions
from rummy500_engine.melds import Kind, Meld, Placed
from rummy500_engine.rules import Rules
from rummy500_engine.terms import Phase
from rummy500_engine.view import PublicPoll, View

CARDS: tuple[Card, ...] = (-1, *FACES, JOKER)
"""The card, by its number on the wire."""
_ENDS = {card_pb2.RUN_END_LOW: End.LOW, card_pb2.RUN_END_HIGH: End.HIGH}
_PHASES = {view_pb2.PHASE_DRAW: Phase.DRAW, view_pb2.PHASE_PLAY: Phase.PLAY, view_pb2.PHASE_CALL: Phase.POLL}
_OVER = (view_pb2.PHASE_ROUND_OVER, view_pb2.PHASE_GAME_OVER)
CALL = "call"


def rules_from(catalog: Catalog, message: rules_pb2.Rules) -> Rules:
    """The rules of a table, composed here. Raises RulesRefused or ChoiceRefused where they cannot be, ValueError when
    they are others than the table's: variants of other versions are installed."""
    options = {option.name: option.value for option in message.choice.options}
    rules = catalog.rules(message.choice.preset, tuple(message.choice.variants), options, players=message.players)
    if rules.digest != message.digest:
        theirs = ", ".join(f"{each.name} {each.version}" for each in message.variants)
        raise ValueError(f"the table plays {theirs}; what is installed here plays by other rules")
    return rules


def decision_from(request: play_service_pb2.DecisionRequest, rules: Rules) -> Decision:
    """The question as a built-in bot is asked it; its legal actions are worked out anew."""
    view = view_from(request.view, rules)
    return Decision(view, rules, tuple(events_from(request.events, rules)), request.time_left_ms or None)


def view_from(message: view_pb2.View, rules: Rules) -> View:
    """What the seat sees, with its legal actions; without what variants show. The round must have been dealt."""
    view = _view(message, rules)
    if view.seat is None or not view.to_act:
        return view
    guess = guessed_round(rules, view, plain_guess(knowledge_of(rules, view)))
    return replace(view, legal=tuple(legal_actions(guess, view.seat)))


def _view(message: view_pb2.View, rules: Rules) -> View:
    poll = _poll(message, rules)
    phase = Phase.POLL if poll is not None else _PHASES.get(message.phase, Phase.OVER)
    seat = message.seat if message.HasField("seat") else None
    known: list[tuple[Card, ...]] = [()] * rules.players
    for each in message.known_cards:
        known[each.seat] = cards_from(each.cards)
    duty = message.duty
    asked = message.waiting if poll is not None else (message.turn,)
    return View(
        seat=seat,
        players=rules.players,
        round=message.round,
        dealer=message.dealer,
        turn=message.turn,
        phase=phase,
        phase_name=poll.name if poll is not None else phase.value,
        hand=cards_from(message.hand),
        hand_counts=tuple(message.hand_counts),
        known=tuple(known),
        melds=tuple([meld_from(meld, rules) for meld in message.melds]),
        pile=cards_from(message.discards),
        stock_count=message.stock_count,
        totals=tuple(message.totals),
        turns_played=message.turns_played,
        must_use=cards_from(duty.must_use),
        target=CARDS[duty.target] if duty.target else None,
        banned=CARDS[duty.banned] if duty.banned else None,
        to_act=() if phase is Phase.OVER else tuple([each for each in asked if poll is None or each == seat]),
        legal=(),
        game_over=message.phase == view_pb2.PHASE_GAME_OVER,
        variant_fields=(),
        laid=tuple(message.melds_this_turn),
        recycled=message.times_recycled,
        poll=poll,
    )


def _poll(message: view_pb2.View, rules: Rules) -> PublicPoll | None:
    """The open poll. Which variant asks is not said; there is one, or they are asked in order."""
    if message.phase in (*_OVER, view_pb2.PHASE_DRAW, view_pb2.PHASE_PLAY) or not rules.polls:
        return None
    variant = rules.polls[0][0]
    if message.phase == view_pb2.PHASE_CALL:
        window = message.call_window
        by, card, name = window.discarded_by, CARDS[window.card], CALL
    else:
        by, card, name = (message.turn - 1) % rules.players, CARDS[message.discards[-1]], message.phase_name
    asked = [(by + step) % rules.players for step in range(1, rules.players)]
    return PublicPoll(variant, name, card, by, tuple([seat for seat in asked if seat in message.waiting]))


def cards_from(numbers: Iterable[int]) -> tuple[Card, ...]:
    return tuple([CARDS[number] for number in numbers])


def meld_from(message: meld_pb2.Meld, rules: Rules) -> Meld:
    """A meld on the table, its cards in the order in which they were laid."""
    cards = cards_from(message.cards)
    faces = cards_from(message.stands_for) or cards
    kind = Kind.RUN if message.kind == meld_pb2.MELD_KIND_RUN else Kind.SET
    low_ace = kind is Kind.RUN and message.ace == card_pb2.RUN_END_LOW
    placed = [
        Placed(card, face, seat, low_ace and rank_of(face) == ACE)
        for card, face, seat in zip(cards, faces, message.placed_by, strict=True)
    ]
    later = list(message.laid_off)
    opening = [each for index, each in enumerate(placed) if index not in later]
    start = rank_of(faces[0]) if kind is Kind.RUN else 0
    return rules.catalogue.on_table(
        message.id,
        kind,
        message.laid_by,
        placed=(*opening, *[placed[index] for index in later]),
        opening=len(opening),
        start=start,
    )


def events_from(messages: Iterable[event_pb2.Event], rules: Rules) -> Iterator[Event]:
    """The events that tell where cards went, in order, as the seat sees them."""
    for message in messages:
        event = _event(message, rules)
        if event is not None:
            yield event


def _event(message: event_pb2.Event, rules: Rules) -> Event | None:
    match message.WhichOneof("kind"):
        case "round_dealt":
            return _round_dealt(message.round_dealt, rules)
        case "drew_from_stock":
            drew = message.drew_from_stock
            return DrewFromStock(drew.seat, CARDS[drew.card] if drew.card else None, drew.stock_count)
        case "took_from_pile":
            took = message.took_from_pile
            return TookFromPile(took.seat, cards_from(took.cards), cards_from(took.must_use))
        case "melded":
            meld = message.melded.meld
            cards = cards_from(meld.cards)
            return Melded(message.melded.seat, meld.id, cards, cards_from(meld.stands_for) or cards, None)
        case "laid_off":
            laid = message.laid_off
            return LaidOff(laid.seat, laid.meld, CARDS[laid.card], CARDS[laid.stands_for], _ENDS.get(laid.end))
        case "discarded":
            return Discarded(message.discarded.seat, CARDS[message.discarded.card])
        case "passed":
            return Passed(message.passed.seat)
        case "stock_recycled":
            return StockRecycled(message.stock_recycled.stock_count, message.stock_recycled.shuffled)
        case _:
            return None


def _round_dealt(dealt: event_pb2.RoundDealt, rules: Rules) -> RoundDealt:
    """Whose hand it is the message does not say: the viewer's, which the view shows."""
    up_card = CARDS[dealt.up_card] if dealt.up_card else None
    hidden = (None,) * rules.players
    return RoundDealt(dealt.round, dealt.dealer, hidden, tuple(dealt.hand_counts), up_card, dealt.stock_count)
