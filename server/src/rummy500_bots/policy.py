"""How a fair player chooses among the legal actions of a round: quickly, for rollouts play so too.

It reads nothing of the round that its seat does not see, so it may be asked on a guess.
"""

from __future__ import annotations

from collections.abc import Sequence

from rummy500_bots.covers import meld_points
from rummy500_bots.judgement import Judge, Prospect, Style
from rummy500_engine.actions import DISCARDS, DRAW, PASS, Action, Call, Discard, LayMeld, LayOff, Take, VariantAction
from rummy500_engine.cards import Card, add, without
from rummy500_engine.round import Round
from rummy500_engine.rules import Rules
from rummy500_engine.terms import Phase

WEIGHED = 40
"""Plays that are weighed with what follows them, those of most points first."""


class Policy:
    """Chooses among legal actions, looking at nothing that the seat does not see."""

    def __init__(self, rules: Rules, style: Style) -> None:
        self.rules, self.style = rules, style
        self.judge = Judge(rules, style)

    def choose(self, round: Round, seat: int, legal: Sequence[Action]) -> Action:
        if len(legal) == 1:
            return legal[0]
        if round.phase is Phase.DRAW:
            return self.draw(round, seat, legal)
        if round.phase is Phase.PLAY:
            return self.play(round, seat, legal)
        return self.answer(round, seat, legal)

    # --- draw or take

    def draw(self, round: Round, seat: int, legal: Sequence[Action]) -> Action:
        prospect = self.judge.prospect(round, seat)
        best, most = legal[0], None
        for action in legal:
            value = self.draw_value(round, seat, action, prospect)
            if most is None or value > most:
                best, most = action, value
        return best

    def draw_value(self, round: Round, seat: int, action: Action, prospect: Prospect) -> float:
        hand = round.hands[seat]
        if isinstance(action, Take):
            cards = taken_cards(round.pile, action)
            return self.take_value(round, seat, cards, prospect)
        points, left = self.judge.laid(round, seat, hand)
        value = points + self.judge.worth(left, prospect)
        return value + (self.style.draw if action == DRAW else 0)

    def take_value(self, round: Round, seat: int, cards: Sequence[Card], prospect: Prospect) -> float:
        hand = round.hands[seat]
        placed = self.rules.placed_points
        denial = 0
        for card in cards:
            hand = add(hand, card)
            denial += placed[card]
        points, left = self.judge.laid(round, seat, hand)
        after = prospect._replace(pile=prospect.pile & ~hand)
        return points + self.judge.worth(left, after) + self.style.denial * denial

    # --- meld, lay off, discard

    def play(self, round: Round, seat: int, legal: Sequence[Action]) -> Action:
        plays = [action for action in legal if not isinstance(action, Discard)]
        if plays:
            return self.best_play(round, seat, plays)
        return self.discard(round, seat, legal)

    def best_play(self, round: Round, seat: int, plays: Sequence[Action]) -> Action:
        if len(plays) == 1:
            return plays[0]
        hand = round.hands[seat]
        priced = sorted([(self.points(action), index) for index, action in enumerate(plays)], reverse=True)
        best, most = plays[priced[0][1]], -1.0
        for points, index in priced[:WEIGHED]:
            action = plays[index]
            left = without(hand, used_cards(action))
            value = float(points + self.judge.laid(round, seat, left)[0])
            if value > most:
                best, most = action, value
        return best

    def points(self, action: Action) -> int:
        match action:
            case LayMeld():
                return meld_points(self.rules, action)
            case LayOff(card, _, _, stands):
                return self.rules.card_points(card, card if stands is None else stands, False)
            case VariantAction(_, _, cards):
                return sum(self.rules.placed_points[card] for card in cards)
            case _:
                return 0

    def discard(self, round: Round, seat: int, legal: Sequence[Action]) -> Action:
        prospect = self.judge.prospect(round, seat)
        cards = [action.card for action in legal if isinstance(action, Discard)]
        worth = self.judge.worth_without(round.hands[seat], cards, prospect)
        values = [
            kept - self.style.danger * self.judge.danger(round, card, prospect)
            for card, kept in zip(cards, worth, strict=True)
        ]
        return DISCARDS[cards[values.index(max(values))]]

    # --- calls

    def answer(self, round: Round, seat: int, legal: Sequence[Action]) -> Action:
        calls = [action for action in legal if isinstance(action, Call)]
        if not calls:
            return PASS if PASS in legal else legal[0]
        prospect = self.judge.prospect(round, seat)

        def value(call: Call) -> float:
            cards = taken_cards(round.pile, Take(call.card, call.place))
            return self.take_value(round, seat, cards, prospect)

        return max(calls[:WEIGHED], key=value)


def taken_cards(pile: Sequence[Card], take: Take) -> Sequence[Card]:
    """The cards that come with the take, the target first."""
    index = take.place - 1 if take.place else len(pile) - 1 - pile[::-1].index(take.card)
    return pile[index:]


def used_cards(action: Action) -> tuple[Card, ...]:
    match action:
        case LayMeld(cards):
            return cards
        case LayOff(card):
            return (card,)
        case VariantAction(cards=cards):
            return cards
        case _:
            return ()
