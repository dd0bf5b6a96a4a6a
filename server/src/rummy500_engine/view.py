"""What one seat sees. Every message for a viewer is made from here; no full state is ever shown (law 5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, assert_never

from rummy500_engine.actions import Action
from rummy500_engine.cards import Card, cards_of
from rummy500_engine.events import (
    Discarded,
    DrewFromStock,
    Event,
    Exchanged,
    GameWon,
    LaidOff,
    Melded,
    Passed,
    PollClosed,
    PollOpened,
    RoundDealt,
    RoundScored,
    StockRecycled,
    TookFromPile,
    TurnPassed,
    VariantEvent,
    drew_from_stock,
)
from rummy500_engine.game import Game
from rummy500_engine.melds import Meld
from rummy500_engine.round import Round
from rummy500_engine.terms import Phase, Poll


@dataclass(frozen=True, slots=True)
class PublicPoll:
    """What all know of an open poll: who was asked, not who has answered. `variant` opened it."""

    variant: str
    name: str
    card: Card | None
    by: int
    asked: tuple[int, ...]


@dataclass(slots=True)
class View:
    """A value, to be read only; it is not frozen because a frozen one takes five times as long to make.

    `seat` None: a spectator. `known` are cards that all saw go into each hand, the viewer's own included; `to_act`
    are the seats that the viewer may know to be asked: in a poll only itself, for who has answered is not shown.
    `must_use`, `target` and `banned` are the duty of the turn, `laid` the melds laid in it. `legal` is empty unless the
    viewer is to act."""

    seat: int | None
    players: int
    round: int
    dealer: int
    turn: int
    phase: Phase
    phase_name: str
    hand: tuple[Card, ...]
    hand_counts: tuple[int, ...]
    known: tuple[tuple[Card, ...], ...]
    melds: tuple[Meld, ...]
    pile: tuple[Card, ...]
    stock_count: int
    totals: tuple[int, ...]
    turns_played: int
    must_use: tuple[Card, ...]
    target: Card | None
    banned: Card | None
    to_act: tuple[int, ...]
    legal: tuple[Action, ...]
    game_over: bool
    variant_fields: tuple[tuple[str, dict[str, Any]], ...]
    laid: tuple[int, ...]
    recycled: int
    poll: PublicPoll | None


def seat_view(game: Game, seat: int | None, *, with_legal: bool = True, with_variants: bool = True) -> View:
    """The game's current round as `seat` sees it. Needs a round that has been dealt. Without the legal actions and the
    fields of variants no hook is asked."""
    round = game.round
    assert round is not None
    return View(
        seat=seat,
        players=game.rules.players,
        round=round.number,
        dealer=round.dealer,
        turn=round.turn,
        phase=round.phase,
        phase_name=round.poll.name if round.poll is not None else round.phase.value,
        hand=() if seat is None else tuple(cards_of(round.hands[seat])),
        hand_counts=tuple([hand.bit_count() for hand in round.hands]),
        known=tuple([tuple(cards_of(known)) if known else () for known in round.known]),
        melds=tuple(round.melds),
        pile=tuple(round.pile),
        stock_count=len(round.stock),
        totals=tuple(game.totals),
        turns_played=round.turns_played,
        must_use=tuple(cards_of(round.must_use)) if round.must_use else (),
        target=round.target,
        banned=round.banned,
        to_act=_visibly_to_act(round, seat),
        legal=() if seat is None or not with_legal else tuple(game.legal_actions(seat)),
        game_over=game.over,
        variant_fields=_variant_fields(round, seat) if with_variants else (),
        laid=round.laid,
        recycled=round.recycled,
        poll=None if round.poll is None else _public(round.poll),
    )


def _public(poll: Poll) -> PublicPoll:
    return PublicPoll(poll.variant, poll.name, poll.card, poll.by, poll.asked)


def _visibly_to_act(round: Round, seat: int | None) -> tuple[int, ...]:
    acting = round.to_act()
    if round.poll is None:
        return acting
    return (seat,) if seat is not None and seat in acting else ()


def _variant_fields(round: Round, seat: int | None) -> tuple[tuple[str, dict[str, Any]], ...]:
    found = []
    for variant, ask in round.rules.views:
        fields = ask(round=round, seat=seat)
        if fields:
            found.append((variant, dict(fields)))
    return tuple(found)


HIDING: Final = (RoundDealt, DrewFromStock, VariantEvent)
"""The events of which not everybody may see everything; the others are the same for all."""


def redact(event: Event, seat: int | None) -> Event:
    """The event as `seat` may see it."""
    match event:
        case RoundDealt(hands=hands):
            return replace(event, hands=tuple(hand if s == seat else None for s, hand in enumerate(hands)))
        case DrewFromStock(drawer, _, stock_count):
            return event if drawer == seat else drew_from_stock(drawer, None, stock_count)
        case VariantEvent(private=True):
            return event if event.seat == seat else replace(event, fields=(), cards=())
        case (
            TookFromPile()
            | Melded()
            | LaidOff()
            | Discarded()
            | Passed()
            | Exchanged()
            | PollOpened()
            | PollClosed()
            | TurnPassed()
            | StockRecycled()
            | RoundScored()
            | GameWon()
            | VariantEvent()
        ):
            return event
        case _:
            assert_never(event)
