"""A round as its events tell it: hands, stock, pile, table and points, folded from the stream alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import assert_never

from rummy500_engine.actions import End
from rummy500_engine.cards import ACE, JOKER, Card, rank_of
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
)
from rummy500_engine.melds import Placed
from rummy500_engine.rules import Rules


@dataclass(slots=True)
class Ledger:
    """Whoever reads the events with all cards in them knows the state: this reader shares no code with `Round`."""

    rules: Rules
    hands: list[list[Card]] = field(default_factory=list)
    known: list[list[Card]] = field(default_factory=list)
    pile: list[Card] = field(default_factory=list)
    melds: list[list[Placed]] = field(default_factory=list)
    stock_count: int = 0
    scored: RoundScored | None = None
    won: GameWon | None = None

    def read(self, events: Iterable[Event]) -> None:
        for event in events:
            self._read(event)

    def _read(self, event: Event) -> None:
        match event:
            case RoundDealt(hands=hands, up_card=up_card, stock_count=stock_count):
                self.hands = [list(hand or ()) for hand in hands]
                self.known = [[] for _ in hands]
                self.pile = [] if up_card is None else [up_card]
                self.melds, self.stock_count, self.scored = [], stock_count, None
            case DrewFromStock(seat, card, stock_count):
                assert card is not None
                self.hands[seat].append(card)
                self.stock_count = stock_count
            case TookFromPile(seat, cards):
                assert tuple(self.pile[len(self.pile) - len(cards) :]) == cards, (
                    "the cards taken are not the top of the pile"
                )
                del self.pile[len(self.pile) - len(cards) :]
                self.hands[seat] += cards
                self.known[seat] += cards
            case Melded(seat, number, cards, faces):
                assert number == len(self.melds) + 1, f"meld m{number} follows m{len(self.melds)}"
                self._give(seat, cards)
                run = rank_of(faces[0]) != rank_of(faces[1])
                low = run and rank_of(faces[0]) == ACE
                self.melds.append(
                    [
                        Placed(card, face, seat, low and index == 0)
                        for index, (card, face) in enumerate(zip(cards, faces, strict=True))
                    ]
                )
            case LaidOff(seat, number, card, face, end):
                self._give(seat, (card,))
                self.melds[number - 1].append(Placed(card, face, seat, end is End.LOW and rank_of(face) == ACE))
            case Exchanged(seat, number, card):
                self._give(seat, (card,))
                self.hands[seat].append(JOKER)
                self.known[seat].append(JOKER)
                meld = self.melds[number - 1]
                index = next(i for i, placed in enumerate(meld) if (placed.card, placed.face) == (JOKER, card))
                meld[index] = Placed(card, card, seat, meld[index].low)
            case Discarded(seat, card):
                self._give(seat, (card,))
                self.pile.append(card)
            case StockRecycled(stock_count):
                assert stock_count == len(self.pile) - 1, "all but the top discard become the stock"
                del self.pile[:-1]
                self.stock_count = stock_count
            case RoundScored():
                self.scored = event
            case GameWon():
                self.won = event
            case Passed() | PollOpened() | PollClosed() | TurnPassed() | VariantEvent():
                pass
            case _:
                assert_never(event)

    def _give(self, seat: int, cards: Iterable[Card]) -> None:
        for card in cards:
            self.hands[seat].remove(card)
            if card in self.known[seat]:
                self.known[seat].remove(card)

    # --- points

    def placed_points(self, seat: int) -> int:
        return sum(
            self.rules.card_points(placed.card, placed.face, placed.low)
            for meld in self.melds
            for placed in meld
            if placed.seat == seat
        )

    def held_points(self, seat: int) -> int:
        return sum(self.rules.held_points[card] for card in self.hands[seat])
