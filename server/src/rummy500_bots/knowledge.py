"""What a bot may know at a table: the cards that it sees, those it saw go into other hands, and those it has not seen.

All of it follows from the decision request: the view, the rules (which packs there are), and the events since the last
decision, which a History keeps. Nothing here guesses; `guesses` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rummy500_engine.cards import Card, Mask, hand_of, less
from rummy500_engine.events import Discarded, DrewFromStock, Event, RoundDealt, StockRecycled, TookFromPile
from rummy500_engine.rules import Rules
from rummy500_engine.view import View


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Hands are masks (`rummy500_engine.cards`), by seat. `known` is nothing for the viewer's own seat, whose `hand` is
    known whole; `hidden` are the cards of each hand that nobody else saw, counted; `unseen` are all cards that lie in
    the stock or hidden in other hands."""

    seat: int
    hand: Mask
    known: tuple[Mask, ...]
    hidden: tuple[int, ...]
    unseen: Mask
    stock_count: int

    def chance_of(self, seat: int, card: Card) -> float:
        """The chance that the seat holds such a card, if every unseen card is as likely to lie anywhere."""
        if seat == self.seat or self.known[seat] >> card & 1:
            return float((self.hand if seat == self.seat else self.known[seat]) >> card & 1)
        copies, places, unseen = _copies(self.unseen, card), self.hidden[seat], self.unseen.bit_count()
        missing = 1.0
        for one in range(copies):
            missing *= max(0.0, (unseen - places - one) / (unseen - one))
        return 1 - missing


def _copies(cards: Mask, card: Card) -> int:
    return cards.bit_count() - less(cards, hand_of([card] * cards.bit_count())).bit_count()


def knowledge_of(rules: Rules, view: View) -> Knowledge:
    """What the seat that sees this view knows. A spectator knows nothing of the kind."""
    assert view.seat is not None
    hand = hand_of(view.hand)
    known = tuple([0 if seat == view.seat else hand_of(cards) for seat, cards in enumerate(view.known)])
    unseen = less(hand_of(rules.pack), hand)
    for held in known:
        unseen = less(unseen, held)
    unseen = less(unseen, hand_of(view.pile))
    unseen = less(unseen, hand_of([placed.card for meld in view.melds for placed in meld.placed]))
    hidden = tuple(
        [
            0 if seat == view.seat else count - held.bit_count()
            for seat, (count, held) in enumerate(zip(view.hand_counts, known, strict=True))
        ]
    )
    return Knowledge(view.seat, hand, known, hidden, unseen, view.stock_count)


@dataclass(slots=True)
class History:
    """What each seat did in this round with what lay open: `took` the cards it took from the pile, in order, `threw`
    its discards, `left` the piles that it left lying when it drew from the stock, each bottom first.

    It is as long as the events that it was told: a bot that begins in the middle of a round knows the rest.
    """

    round: int = 0
    pile: list[Card] = field(default_factory=list)
    took: dict[int, list[Card]] = field(default_factory=dict)
    threw: dict[int, list[Card]] = field(default_factory=dict)
    left: dict[int, list[tuple[Card, ...]]] = field(default_factory=dict)

    def note(self, events: Iterable[Event]) -> None:
        """Events as the seat sees them, in order."""
        for event in events:
            match event:
                case RoundDealt(number, _, _, _, up_card):
                    self._begin(number, up_card)
                case DrewFromStock(seat):
                    self.left.setdefault(seat, []).append(tuple(self.pile))
                case TookFromPile(seat, cards):
                    self.took.setdefault(seat, []).extend(cards)
                    del self.pile[max(0, len(self.pile) - len(cards)) :]
                case Discarded(seat, card):
                    self.threw.setdefault(seat, []).append(card)
                    self.pile.append(card)
                case StockRecycled():
                    del self.pile[:-1]
                case _:
                    pass

    def _begin(self, number: int, up_card: Card | None) -> None:
        self.round = number
        self.pile = [] if up_card is None else [up_card]
        self.took, self.threw, self.left = {}, {}, {}

    def last_left(self, seat: int) -> Sequence[Card]:
        """The pile that the seat left lying when it last drew from the stock; empty: it has not."""
        piles = self.left.get(seat)
        return piles[-1] if piles else ()
