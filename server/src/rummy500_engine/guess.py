"""A round as a view shows it, with a guess of what the viewer may not see: what a bot that looks ahead plays on.

The round is complete, so the engine plays on from it as from any other. What its seat may do in it is what the view
lists, but where a variant keeps a state that it does not show.
"""

from __future__ import annotations

from dataclasses import dataclass

from rummy500_engine.aligned import lay_in_shares
from rummy500_engine.cards import Card, Mask, hand_of
from rummy500_engine.events import RoundEnd
from rummy500_engine.melds import Meld
from rummy500_engine.round import Round
from rummy500_engine.rules import Rules
from rummy500_engine.terms import Poll, StockRule
from rummy500_engine.view import View

SEED = bytes(32)
"""Orders a stock that is made of the pile in a guessed round: the true order is nobody's to know."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """A guess: the `hands` by seat, the viewer's own as it is, and the `stock`, its top card first."""

    hands: tuple[Mask, ...]
    stock: tuple[Card, ...]


def guessed_round(rules: Rules, view: View, hidden: Hidden) -> Round:
    """The round as the view has it, hands and stock as guessed. Each seat draws from a share of its own, so that two
    ways to play on from one guess differ by what they do, and not by who draws which card."""
    assert tuple([hand.bit_count() for hand in hidden.hands]) == view.hand_counts
    guess = Round(rules, number=view.round, dealer=view.dealer, seed=SEED)
    guess.hands = list(hidden.hands)
    guess.known = [hand_of(cards) for cards in view.known]
    guess.stock, guess.shares = lay_in_shares(hidden.stock, rules.players)
    guess.pile = list(view.pile)
    guess.melds = list(view.melds)
    guess.refit()
    for meld in view.melds:
        guess.opened[meld.opener] += 1
    guess.phase, guess.turn, guess.next_seat = view.phase, view.turn, view.turn
    guess.turns_played, guess.recycled = view.turns_played, view.recycled
    guess.must_use, guess.target, guess.banned = hand_of(view.must_use), view.target, view.banned
    guess.first_play = rules.take_duty.first_play and view.target is not None and view.target in view.must_use
    guess.laid = view.laid
    guess.laid_points = tuple([_points_when_laid(rules, view.melds[number - 1]) for number in view.laid])
    if view.poll is not None:
        poll = view.poll
        guess.poll = Poll(poll.variant, poll.name, poll.card, poll.by, poll.asked)
        guess.ending = _ending(rules, view, poll.by)
        guess.out = poll.by if guess.ending is RoundEnd.OUT else None
    return guess


def _points_when_laid(rules: Rules, meld: Meld) -> int:
    opening = meld.placed[: meld.opening]
    return sum([rules.card_points(placed.card, placed.face, placed.low) for placed in opening])


def _ending(rules: Rules, view: View, discarder: int) -> RoundEnd | None:
    """Why the round ends when the poll over the last discard is over; None: it goes on."""
    if not view.hand_counts[discarder]:
        return RoundEnd.OUT
    if view.turns_played >= rules.max_turns:
        return RoundEnd.TURN_LIMIT
    if not view.stock_count and rules.stock_out.rule is StockRule.END_NOW:
        return RoundEnd.STOCK
    return None
