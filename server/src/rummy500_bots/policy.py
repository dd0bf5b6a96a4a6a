"""How a fair player chooses among the legal actions of a round: quickly, for rollouts play so too.

It reads nothing of the round that its seat does not see, so it may be asked on a guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from rummy500_bots.covers import meld_points
from rummy500_bots.judgement import Judge, Prospect
from rummy500_bots.styles import Style
from rummy500_bots.throws import throw_values
from rummy500_engine.actions import DRAW, PASS, Action, Call, Discard, End, LayMeld, LayOff, Take, VariantAction
from rummy500_engine.cards import Card, add, rank_of, without
from rummy500_engine.round import Round
from rummy500_engine.rules import Rules
from rummy500_engine.terms import Phase

WEIGHED = 40
"""Plays or calls that are weighed with what follows them, those of most points first."""


@lru_cache(maxsize=64)
def policy_of(rules: Rules, style: Style) -> Policy:
    return Policy(rules, style)


class Policy:
    """Chooses at one table in one style."""

    def __init__(self, rules: Rules, style: Style) -> None:
        self.rules, self.style = rules, style
        self.judge = Judge(rules, style)

    def choose(self, round: Round, seat: int, legal: Sequence[Action]) -> Action:
        if len(legal) == 1:
            return legal[0]
        if round.phase is Phase.PLAY:
            plays = [action for action in legal if not isinstance(action, Discard)]
            if plays:
                return self.best_play(round, seat, plays)
            values = self.discard_values(round, seat, legal)
        elif round.phase is Phase.DRAW:
            values = self.draw_values(round, seat, legal)
        else:
            legal = answers(legal)
            values = self.answer_values(round, seat, legal)
        return legal[values.index(max(values))]

    # --- draw or take

    def draw_values(self, round: Round, seat: int, legal: Sequence[Action]) -> list[float]:
        """By action what the hand is worth after it, in points."""
        prospect = self.judge.prospect(round, seat)
        return [self._draw_value(round, seat, action, prospect) for action in legal]

    def _draw_value(self, round: Round, seat: int, action: Action, prospect: Prospect) -> float:
        if isinstance(action, Take):
            return self.take_value(round, seat, taken_cards(round.pile, action), prospect)
        points, left = self.judge.laid(round, seat, round.hands[seat])
        value = points + self.judge.worth(left, prospect)
        return value + self.style.draw if action == DRAW else value

    def take_value(self, round: Round, seat: int, cards: Sequence[Card], prospect: Prospect) -> float:
        """What the hand is worth with these cards of the pile."""
        hand = round.hands[seat]
        placed = self.rules.placed_points
        denied = 0
        for card in cards:
            hand = add(hand, card)
            denied += placed[card]
        points, left = self.judge.laid(round, seat, hand)
        after = prospect._replace(pile=prospect.pile & ~hand)
        return points + self.judge.worth(left, after) + self.style.denial * denied

    # --- meld, lay off

    def best_play(self, round: Round, seat: int, plays: Sequence[Action]) -> Action:
        """The play that earns most together with what can be laid after it."""
        if len(plays) == 1:
            return plays[0]
        hand = round.hands[seat]
        priced = sorted([(self.points(action), -index) for index, action in enumerate(plays)], reverse=True)
        best, most = plays[-priced[0][1]], -1
        for points, index in priced[:WEIGHED]:
            action = plays[-index]
            value = points + self.judge.laid(round, seat, without(hand, used_cards(action)))[0]
            if value > most:
                best, most = action, value
        return best

    def points(self, action: Action) -> int:
        """What the play earns at once."""
        match action:
            case LayMeld():
                return meld_points(self.rules, action)
            case LayOff(card, _, end, stands):
                face = card if stands is None else stands
                return self.rules.card_points(card, face, end is End.LOW and rank_of(face) == 0)
            case VariantAction(cards=cards):
                return sum([self.rules.placed_points[card] for card in cards])
            case _:
                return 0

    # --- discard

    def discard_values(self, round: Round, seat: int, legal: Sequence[Action]) -> list[float]:
        """By discard what the hand is worth without it, less what it gives away, in points."""
        prospect = self.judge.prospect(round, seat)
        cards = [action.card for action in legal if isinstance(action, Discard)]
        if self.style.throw is not None:
            return throw_values(self.judge, self.style.throw, round, seat, cards, prospect)
        worth = self.judge.worth_without(round.hands[seat], cards, prospect)
        danger, style = self.judge.danger, self.style
        return [
            style.keep * kept - style.danger * danger(round, card, prospect)
            for card, kept in zip(cards, worth, strict=True)
        ]

    # --- calls

    def answer_values(self, round: Round, seat: int, legal: Sequence[Action]) -> list[float]:
        """By answer what the hand is worth after it. A call is worth a turn more than to pass."""
        prospect = self.judge.prospect(round, seat)
        points, left = self.judge.laid(round, seat, round.hands[seat])
        stays = points + self.judge.worth(left, prospect)
        return [
            self.take_value(round, seat, taken_cards(round.pile, Take(action.card, action.place)), prospect)
            if isinstance(action, Call)
            else stays
            for action in legal
        ]


def answers(legal: Sequence[Action]) -> list[Action]:
    """The calls to be weighed, and to pass. A draw that closes the window can wait until it is closed."""
    weighed: list[Action] = [action for action in legal[:WEIGHED] if isinstance(action, Call)]
    if PASS in legal:
        weighed.append(PASS)
    return weighed or list(legal[:1])


def taken_cards(pile: Sequence[Card], take: Take) -> Sequence[Card]:
    """The cards that come with the take, the target first."""
    index = take.place - 1 if take.place else len(pile) - 1 - pile[::-1].index(take.card)
    return pile[index:]


def used_cards(action: Action) -> tuple[Card, ...]:
    """The cards that a play takes from the hand."""
    match action:
        case LayMeld(cards) | VariantAction(cards=cards):
            return cards
        case LayOff(card):
            return (card,)
        case _:
            return ()
