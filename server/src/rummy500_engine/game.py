"""One game: rounds until somebody wins (RULES 1.11, 1.13, 1.14). The order of each pack comes in from outside."""

from __future__ import annotations

from collections.abc import Sequence

from rummy500_engine.actions import Action
from rummy500_engine.cards import Card, cards_of
from rummy500_engine.events import Event, GameWon, RoundScored
from rummy500_engine.refusals import Refusal, Refused
from rummy500_engine.round import Round
from rummy500_engine.rules import Rules


class Game:
    """Totals are by seat; at a table of sides each partner carries the side's total.

    `single_round`: the game stops when its round has been scored, as a position does (NOTATION). `aligned`: each seat
    draws from a share of its own of every stock (`rummy500_engine.aligned`).
    """

    __slots__ = ("aligned", "dealer", "outcome", "round", "rounds_played", "rules", "single_round", "totals")

    def __init__(
        self, rules: Rules, *, dealer: int | None = None, single_round: bool = False, aligned: bool = False
    ) -> None:
        self.rules = rules
        self.dealer = rules.players - 1 if dealer is None else dealer
        self.totals = [0] * rules.players
        self.rounds_played = 0
        self.round: Round | None = None
        self.outcome: GameWon | None = None
        self.single_round = single_round
        self.aligned = aligned

    @property
    def over(self) -> bool:
        return self.outcome is not None

    @property
    def needs_deal(self) -> bool:
        """Whether the next thing to happen is a deal."""
        if self.over or (self.single_round and self.rounds_played):
            return False
        return self.round is None or self.round.over

    def deal(self, order: Sequence[Card], *, seed: bytes) -> list[Event]:
        """Deals the next round. `order` is the table's pack, first card first; `seed` orders a recycled stock."""
        assert self.needs_deal
        self.round, events = Round.deal(
            self.rules,
            number=self.rounds_played + 1,
            dealer=self.dealer,
            order=order,
            seed=seed,
            aligned=self.aligned,
        )
        return events

    def to_act(self) -> tuple[int, ...]:
        return self.round.to_act() if self.round is not None and not self.over else ()

    def legal_actions(self, seat: int) -> list[Action]:
        return self.round.legal_actions(seat) if self.round is not None and not self.over else []

    def apply(self, seat: int, action: Action) -> list[Event]:
        """Plays the action; the events go on to the score and the end of the game. Raises Refused."""
        if self.over:
            raise Refused(Refusal.GAME_OVER, "the game has ended")
        if self.round is None:
            raise Refused(Refusal.ROUND_OVER, "no round has been dealt yet")
        try:
            events = self.round.apply(seat, action)
        except Refused as refused:
            if refused.events and self.round.over:
                traces = list(refused.events)
                self.score(traces)
                refused.events = tuple(traces)
            raise
        if self.round.over:
            self.score(events)
        return events

    def score(self, events: list[Event]) -> None:
        """Counts the round that has just ended and judges the game."""
        ended = self.round
        assert ended is not None
        assert ended.end is not None
        scores = ended.scores()
        sides = self.rules.sides
        for seat in range(self.rules.players):
            self.totals[seat] += sum(
                scores[other].points for other in range(self.rules.players) if sides[other] == sides[seat]
            )
        self.rounds_played += 1
        hands = tuple(tuple(cards_of(hand)) for hand in ended.hands)
        events.append(RoundScored(ended.number, ended.end, ended.out, scores, tuple(self.totals), hands))
        self.dealer = self._next_dealer([score.points for score in scores])
        outcome = self._judge()
        if outcome is not None:
            self.outcome = outcome
            events.append(outcome)

    def _next_dealer(self, points: list[int]) -> int:
        best = [seat for seat, score in enumerate(points) if score == max(points)]
        if self.rules.deal.winner_deals and len(best) == 1:
            return best[0]
        return (self.dealer + 1) % self.rules.players

    def _judge(self) -> GameWon | None:
        top = max(self.totals)
        leaders = tuple(seat for seat, total in enumerate(self.totals) if total == top)
        shared = len({self.rules.sides[seat] for seat in leaders}) > 1
        limit = self.rounds_played >= self.rules.max_rounds
        if top >= self.rules.target and not shared:
            return GameWon(leaders, tuple(self.totals), False, self._settlement(leaders))
        if limit:
            winners = () if shared else leaders
            return GameWon(winners, tuple(self.totals), True, self._settlement(winners))
        return None

    def _settlement(self, winners: tuple[int, ...]) -> tuple[int, ...]:
        """What each seat receives when the winner collects every difference; a side counts as one player."""
        if not self.rules.settles or not winners:
            return ()
        won = self.totals[winners[0]]
        by_side = dict(zip(self.rules.sides, self.totals, strict=True))
        collected = sum(won - total for total in by_side.values())
        return tuple(collected if seat in winners else total - won for seat, total in enumerate(self.totals))
