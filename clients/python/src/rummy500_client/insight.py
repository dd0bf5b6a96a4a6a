"""What a bot may know, and tools to search with: known and unseen cards, who took what, and the best play of a turn.

    from rummy500_client.insight import Insights

    insights = Insights()                      # one for all games of a bot
    insight = insights.of(request)             # in `act`
    insight.unseen, insight.known(1)           # cards in nobody's sight, cards all saw go into a hand
    insight.best_plays()                       # the melds and lay-offs of most points, as lines to answer with

Everything follows from the decision request, the engine plays by the table's own rules, and nothing here knows more
than the seat does. This is the one module of the SDK that needs the engine's packages; they are installed with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from rummy500.v1.rules_pb2 import Rules as RulesMessage
from rummy500.v1.view_pb2 import View
from rummy500_bots import Decision
from rummy500_bots.effort import Effort
from rummy500_bots.expert import ExpertBot
from rummy500_bots.guesses import plain_guess
from rummy500_bots.judgement import Judge, Prospect
from rummy500_bots.knowledge import History, Knowledge, knowledge_of
from rummy500_bots.meld_phase import MeldPhase, best_meld_phase
from rummy500_bots.policy import policy_of
from rummy500_bots.styles import FAIR
from rummy500_catalog import Catalog, ChoiceRefused
from rummy500_client.bot import LegalAction, Request
from rummy500_client.errors import ClientError
from rummy500_engine.cards import Mask, card_text, cards_of, hand_of, less, read_card, read_cards
from rummy500_engine.guess import guessed_round
from rummy500_engine.legal import legal_actions
from rummy500_engine.notation import read_action, write_action
from rummy500_engine.round import Round
from rummy500_engine.rules import Rules
from rummy500_engine.terms import Phase, RulesRefused
from rummy500_insight import decision_from, rules_from, view_from

HINT_MS = 250
"""Milliseconds that a hint may take."""
REMEMBERED = 1_024
"""Tables whose rounds are remembered; the oldest go first."""


class Insights:
    """Keeps what is the same from one decision to the next: the rules of each table, composed, and what happened in its
    round."""

    def __init__(self) -> None:
        self._catalog = Catalog()
        self._rules: dict[str, Rules] = {}
        self._histories: dict[str, History] = {}

    def of(self, request: Request) -> Insight:
        """What this request tells. Ask once for each request, in order: its events are noted. Raises ValueError when
        the table's variants are not installed here as the server has them."""
        digest = request.rules.digest
        if digest not in self._rules:
            self._rules[digest] = rules_from(self._catalog, request.rules)
        history = self._histories.pop(request.table, None) or History()
        self._histories[request.table] = history
        if len(self._histories) > REMEMBERED:
            del self._histories[next(iter(self._histories))]
        decision = decision_from(request.message, self._rules[digest])
        history.note(decision.events)
        return Insight(decision, history)


class Insight:
    """What one seat may know at one decision. Cards are texts as in notation; points are points of the round."""

    def __init__(self, decision: Decision, history: History) -> None:
        assert decision.view.seat is not None
        self.decision, self.history, self.seat = decision, history, decision.view.seat

    # --- cards

    @cached_property
    def knowledge(self) -> Knowledge:
        return knowledge_of(self.decision.rules, self.decision.view)

    @cached_property
    def unseen(self) -> list[str]:
        """The cards that lie in the stock or, unknown, in other hands; equal cards as often as they are missing."""
        return _texts(self.knowledge.unseen)

    def known(self, seat: int) -> list[str]:
        """The cards of a hand that all saw go there and not leave it."""
        return _texts(self.knowledge.known[seat])

    def chance(self, seat: int, card: str) -> float:
        """The chance that the seat holds such a card, if all that is unseen is as likely anywhere."""
        return self.knowledge.chance_of(seat, read_card(card))

    def took(self, seat: int) -> list[str]:
        """What the seat took from the pile in this round, in order, since this bot is in it."""
        return list(map(card_text, self.history.took.get(seat, ())))

    def threw(self, seat: int) -> list[str]:
        """What the seat discarded in this round, in order."""
        return list(map(card_text, self.history.threw.get(seat, ())))

    def left_lying(self, seat: int) -> list[str]:
        """The pile that the seat left lying when it last drew from the stock: it could not use, or did not want it."""
        return list(map(card_text, self.history.last_left(seat)))

    # --- plays

    @cached_property
    def round(self) -> Round:
        """The round as the seat sees it, on the engine, hidden cards dealt somehow: look at nothing that is hidden."""
        return guessed_round(self.decision.rules, self.decision.view, plain_guess(self.knowledge))

    @cached_property
    def _phase(self) -> MeldPhase:
        return best_meld_phase(self.round, self.seat)

    def best_plays(self) -> list[str]:
        """The melds and lay-offs that earn most in this turn, in order: nothing else earns more. Empty: to lay nothing
        is best. In phase play only."""
        return list(map(write_action, self._phase.plays))

    def points_now(self) -> int:
        """What the seat's score would be, if the round ended after the best plays that its hand allows."""
        after = self.round.clone()
        after.phase = Phase.PLAY
        return best_meld_phase(after, self.seat).points

    def points_after(self, take: str | LegalAction) -> int:
        """The same after this take. In phase draw only."""
        after = self.round.clone()
        after.apply(self.seat, read_action(str(take), self.decision.rules))
        return best_meld_phase(after, self.seat).points

    def discards_after(self, plays: Sequence[str]) -> list[str]:
        """The cards that may be discarded after these plays; empty when they end the turn."""
        after = self._after(plays)
        if after.over or after.turn != self.seat or after.phase is not Phase.PLAY:
            return []
        texts = [write_action(action) for action in legal_actions(after, self.seat)]
        return [text.removeprefix("discard ") for text in texts if text.startswith("discard ")]

    # --- judgement

    def worth(self, cards: Sequence[str]) -> float:
        """What cards kept in hand are worth: the points that they may still bring, less what they cost if caught."""
        return self._judge.worth(hand_of(read_cards(" ".join(cards))), self._prospect)

    def worth_without(self, card: str, plays: Sequence[str] = ()) -> float:
        """What the hand is worth, after these plays, without the card."""
        hand: Mask = self._after(plays).hands[self.seat]
        return self._judge.worth(less(hand, 1 << read_card(card)), self._prospect)

    def danger(self, card: str, plays: Sequence[str] = ()) -> float:
        """The points that others would make of the card if it were thrown after these plays."""
        return self._judge.danger(self._after(plays), read_card(card), self._prospect)

    def _after(self, plays: Sequence[str]) -> Round:
        if not plays:
            return self.round
        after = self.round.clone()
        for play in plays:
            after.apply(self.seat, read_action(play, self.decision.rules))
        return after

    @cached_property
    def _judge(self) -> Judge:
        return policy_of(self.decision.rules, FAIR).judge

    @cached_property
    def _prospect(self) -> Prospect:
        return self._judge.prospect(self.round, self.seat)


class Hints:
    """What a good bot would do at a table, for the person who plays there: from the seat's own view, made here."""

    def __init__(self, rules: RulesMessage) -> None:
        """Raises ClientError when the table's variants are not installed here as the server has them."""
        try:
            self._rules = rules_from(Catalog(), rules)
        except (ChoiceRefused, RulesRefused, ValueError) as error:
            raise ClientError(f"no hints for this table: {error}") from error
        self._bot = ExpertBot(0, Effort(time_ms=HINT_MS))

    def of(self, view: View) -> str:
        """One line: the actions, and why."""
        advice = self._bot.advise(Decision(view_from(view, self._rules), self._rules))
        return f"hint: {'; '.join(map(write_action, advice.actions))}. {advice.sentence}"


def _texts(cards: Mask) -> list[str]:
    return [card_text(card) for card in cards_of(cards)]
