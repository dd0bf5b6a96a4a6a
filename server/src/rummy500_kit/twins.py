"""Two games that differ only in cards that a seat may not see must look the same to it (ARCHITECTURE law 5)."""

from __future__ import annotations

import random

from rummy500_engine.actions import Discard, LayMeld, LayOff
from rummy500_engine.cards import add, cards_of, hand_of, without
from rummy500_engine.events import DrewFromStock, Event, VariantEvent
from rummy500_engine.game import Game
from rummy500_engine.legal import refusal
from rummy500_engine.notation import write_action
from rummy500_engine.round import Round
from rummy500_engine.terms import Phase
from rummy500_engine.view import redact, seat_view
from rummy500_kit.laws import round_of


def copy_of(game: Game) -> Game:
    copy = Game(game.rules, dealer=game.dealer, single_round=game.single_round, aligned=game.aligned)
    copy.totals = game.totals.copy()
    copy.rounds_played, copy.outcome = game.rounds_played, game.outcome
    copy.round = round_of(game).clone()
    return copy


def twin_for(game: Game, viewer: int | None, dice: random.Random, *, kept: int = 0) -> Game:
    """The game with every card that the viewer may not see dealt anew among the places where it may lie; the next
    `kept` cards of the stock stay, so that both games go on alike for a while."""
    twin = copy_of(game)
    twin.round = twin_of(round_of(game), viewer, dice, kept=kept)
    return twin


def twin_of(round: Round, viewer: int | None, dice: random.Random, *, kept: int = 0) -> Round:
    """As `twin_for`, of the round alone."""
    twin = round.clone()
    others = [seat for seat in range(round.rules.players) if seat != viewer]
    split = max(0, len(twin.stock) - kept)
    hidden, near = twin.stock[:split], twin.stock[split:]
    for seat in others:
        hidden += cards_of(without(twin.hands[seat], cards_of(twin.known[seat])))
    dice.shuffle(hidden)
    for seat in others:
        size = twin.hands[seat].bit_count() - twin.known[seat].bit_count()
        hand = hand_of(cards_of(twin.known[seat]))
        for _ in range(size):
            hand = add(hand, hidden.pop())
        twin.hands[seat] = hand
    twin.stock = hidden + near
    return twin


def check_twin(game: Game, viewer: int | None, dice: random.Random) -> int:
    """The viewer sees one thing in both games, now and after each action of another seat that is legal in both, until
    they part; says how many actions that were."""
    one, other = copy_of(game), twin_for(game, viewer, dice)
    for step in range(30):
        assert seat_view(one, viewer) == seat_view(other, viewer), f"seat {viewer} sees what it may not, step {step}"
        if round_of(one).phase is Phase.OVER or not _both_play(one, other, viewer, dice):
            return step
    return 30


def _both_play(one: Game, other: Game, viewer: int | None, dice: random.Random) -> bool:
    """Plays an action that both games allow and that shows the same to the viewer; False if there is none."""
    seat = dice.choice(one.to_act())
    twin = round_of(other)
    shared = [
        action for action in one.legal_actions(seat) if seat in twin.to_act() and refusal(twin, seat, action) is None
    ]
    plays = [action for action in shared if isinstance(action, LayMeld | LayOff)]
    throws = [action for action in shared if isinstance(action, Discard)]
    if not shared:
        return False
    action = dice.choice(plays or throws if dice.random() < 0.5 and (plays or throws) else shared)
    told, told_other = one.apply(seat, action), other.apply(seat, action)
    if round_of(one).phase is Phase.OVER or round_of(other).phase is Phase.OVER:
        return False  # the end of a round shows all hands, and may hang on them
    if any(_is_for(event, viewer) for event in (*told, *told_other)):
        return False  # from here on the viewer knows a card that it did not
    seen, seen_other = [redact(event, viewer) for event in told], [redact(event, viewer) for event in told_other]
    assert seen == seen_other, f"after {write_action(action)} seat {viewer} is told what it may not know"
    return True


def _is_for(event: Event, viewer: int | None) -> bool:
    """Whether the event shows the viewer a hidden card of its own."""
    if isinstance(event, VariantEvent):
        return event.private and event.seat == viewer
    return isinstance(event, DrewFromStock) and event.seat == viewer


def check_deal_is_hidden(game: Game, viewer: int | None, order: list[int], dice: random.Random) -> None:
    """Two deals that give the viewer the same cards and turn up the same card are told to it alike."""
    rules = game.rules
    mine = (
        {(viewer - game.dealer - 1) % rules.players + rules.players * k for k in range(rules.hand_size)}
        if (viewer is not None)
        else set()
    )
    dealt = rules.hand_size * rules.players
    free = [place for place in range(len(order)) if place not in mine and place != dealt]
    moved = [order[place] for place in free]
    dice.shuffle(moved)
    other_order = list(order)
    for place, card in zip(free, moved, strict=True):
        other_order[place] = card
    (one,) = Game(rules, dealer=game.dealer).deal(order, seed=bytes(32))
    (other,) = Game(rules, dealer=game.dealer).deal(other_order, seed=bytes(32))
    assert redact(one, viewer) == redact(other, viewer), f"the deal told to seat {viewer} shows hidden cards"
