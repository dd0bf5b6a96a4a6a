"""A second opinion on legality: the plain rules of RULES 1, tried out move by move.

It shares nothing with the engine but how cards are numbered. A hand is a sorted tuple; whether a turn can be finished
is found by trying every play.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, product
from typing import NamedTuple

from rummy500_engine.cards import JOKER

Hand = tuple[int, ...]


@dataclass(frozen=True)
class NaiveRules:
    """What the plain rules leave open. `set_largest` None: no limit; `ends` as in `ace-runs`."""

    set_largest: int | None = 4
    set_identical: bool = False
    ends: str = "low_or_high"
    min_natural: int = 1
    going_out: str = "any"
    meld_first: bool = False
    minimum: int = 0
    single: bool = False
    top_too: bool = False
    new_meld: bool = False
    first_play: bool = False
    own_melds: bool = False
    use_all: bool = True
    hearts_last: bool = False


class NaiveMeld(NamedTuple):
    """A set lists its faces; a run its suit with the first and last position (0 ace low, 13 ace high)."""

    faces: Hand = ()
    suit: int = -1
    first: int = 0
    last: int = 0
    mine: bool = True

    @property
    def is_run(self) -> bool:
        return self.suit >= 0


class NaiveTurn(NamedTuple):
    """`opened`: the player had a meld before this turn; `laid`: the points of this turn's melds."""

    hand: Hand
    melds: tuple[NaiveMeld, ...]
    must: Hand = ()
    banned: int | None = None
    target: int | None = None
    opened: bool = False
    laid: tuple[int, ...] = ()
    waiting_for_target: bool = False


class NaivePlay(NamedTuple):
    """What a play does, with the text parts by which it is compared: (verb, cards as said, meld number, end)."""

    name: tuple[object, ...]
    after: NaiveTurn


def less(hand: Hand, cards: Sequence[int]) -> Hand:
    rest = list(hand)
    for card in cards:
        rest.remove(card)
    return tuple(rest)


def less_what_is_there(hand: Hand, cards: Sequence[int]) -> Hand:
    rest = list(hand)
    for card in cards:
        if card in rest:
            rest.remove(card)
    return tuple(rest)


def points(face: int, *, low: bool = False) -> int:
    rank = face % 16
    if rank == 0:
        return 1 if low else 15
    return min(rank + 1, 10)


class Naive:
    """Answers for one table. Turns found (un)finishable are remembered by value."""

    def __init__(self, rules: NaiveRules) -> None:
        self.rules = rules
        self.known: dict[NaiveTurn, bool] = {}

    # --- what the player may do

    def takes(
        self, hand: Hand, melds: tuple[NaiveMeld, ...], pile: Sequence[int], *, stock: bool, opened: bool
    ) -> set[int]:
        """The places of the pile, 0 = bottom, from which a take is legal."""
        if not hand and self.rules.going_out == "floating":
            return set()
        return {
            place
            for place in range(len(pile))
            if self.finishes(self.taken(hand, melds, pile, place=place, stock=stock, opened=opened))
        }

    def taken(
        self, hand: Hand, melds: tuple[NaiveMeld, ...], pile: Sequence[int], *, place: int, stock: bool, opened: bool
    ) -> NaiveTurn:
        cards = tuple(pile[place:])
        must: Hand = ()
        if not stock and self.rules.use_all:
            must = cards
        elif len(cards) > 1 or self.rules.top_too:
            must = cards[:1]
        return NaiveTurn(
            hand=tuple(sorted(hand + cards)),
            melds=melds,
            must=tuple(sorted(must)),
            banned=cards[0] if len(cards) == 1 else None,
            target=cards[0],
            opened=opened,
            waiting_for_target=self.rules.first_play and bool(must),
        )

    def legal(self, turn: NaiveTurn) -> set[tuple[object, ...]]:
        """Every legal play and discard of a turn in which cards were drawn."""
        found = {play.name for play in self.plays(turn) if self.finishes(play.after)}
        return found | {("discard", card) for card in self.discards(turn)}

    def finishes(self, turn: NaiveTurn) -> bool:
        known = self.known.get(turn)
        if known is None:
            known = self.known[turn] = self.ended(turn) or any(self.finishes(play.after) for play in self.plays(turn))
        return known

    def ended(self, turn: NaiveTurn) -> bool:
        if turn.hand:
            return bool(self.discards(turn))
        return not turn.must and self.rules.going_out in ("any", "floating") and not self.below_minimum(turn)

    def below_minimum(self, turn: NaiveTurn) -> bool:
        if turn.opened or not turn.laid:
            return False
        return (turn.laid[0] if self.rules.single else sum(turn.laid)) < self.rules.minimum

    def discards(self, turn: NaiveTurn) -> set[int]:
        if turn.must or self.below_minimum(turn):
            return set()
        cards = {card for card in turn.hand if card != turn.banned}
        if self.rules.going_out == "discard_unplayable" and len(turn.hand) == 1:
            cards = {card for card in cards if not any(self.fits(meld, card) for meld in turn.melds)}
        if self.rules.hearts_last and any(card // 16 != 2 for card in turn.hand):
            cards = {card for card in cards if card // 16 != 2}
        return cards

    def fits(self, meld: NaiveMeld, card: int) -> bool:
        faces = [face for face, _ in self.takes_next(meld)]
        return bool(faces) if card == JOKER else card in faces

    # --- plays

    def plays(self, turn: NaiveTurn) -> Iterator[NaivePlay]:
        yield from self.melds(turn)
        if self.rules.meld_first and not turn.opened and not turn.laid:
            return
        for number, meld in enumerate(turn.melds, 1):
            if self.rules.own_melds and not meld.mine:
                continue
            takes = list(self.takes_next(meld))
            for face, end in takes:
                both = sum(other == face for other, _ in takes) > 1
                for card in {face, JOKER} & set(turn.hand):
                    if turn.waiting_for_target and card != turn.target:
                        continue
                    melds = (*turn.melds[: number - 1], self.grown(meld, face, end), *turn.melds[number:])
                    said = face if card == JOKER else None
                    name = ("layoff", card, number, end if both else None, said)
                    yield NaivePlay(name, self.used(turn, (card,), melds=melds))

    def melds(self, turn: NaiveTurn) -> Iterator[NaivePlay]:
        seen = set()
        for shape in self.shapes(turn.hand):
            for cards in self.fillings(turn.hand, shape):
                if turn.waiting_for_target and turn.target not in cards:
                    continue
                worth = self.worth(shape, cards)
                if self.rules.single and not turn.opened and not turn.laid and worth < self.rules.minimum:
                    continue
                said = tuple(sorted(zip(shape.faces, cards, strict=True)))
                name = ("meld", said, self.end_said(shape))
                if name in seen:
                    continue
                seen.add(name)
                melds, laid = (*turn.melds, self.on_table(shape)), (*turn.laid, worth)
                yield NaivePlay(name, self.used(turn, cards, melds=melds, laid=laid))

    def end_said(self, shape: NaiveMeld) -> object:
        if not shape.is_run or len(shape.faces) < 13:
            return None
        if self.rules.ends == "corner":
            return shape.first
        return None if self.rules.ends != "low_or_high" else ("low" if shape.first == 0 else "high")

    def worth(self, shape: NaiveMeld, cards: Hand) -> int:
        total = 0
        for index, (face, card) in enumerate(zip(shape.faces, cards, strict=True)):
            low = shape.is_run and index == 0 and (self.rules.ends == "corner" or shape.first == 0)
            total += 0 if card == JOKER else points(face, low=low)
        return total

    def used(
        self, turn: NaiveTurn, cards: Hand, *, melds: tuple[NaiveMeld, ...], laid: tuple[int, ...] | None = None
    ) -> NaiveTurn:
        """The turn after these cards were laid off, or (`laid`) melded."""
        meeting = [card for card in cards if laid or card != turn.target or not self.rules.new_meld]
        return NaiveTurn(
            hand=less(turn.hand, cards),
            must=less_what_is_there(turn.must, meeting),
            melds=melds,
            banned=turn.banned,
            target=turn.target,
            opened=turn.opened,
            laid=laid or turn.laid,
            waiting_for_target=turn.waiting_for_target and turn.target not in cards,
        )

    # --- melds

    def shapes(self, hand: Hand) -> Iterator[NaiveMeld]:
        """Every set and run for which the hand has cards enough of the rank or suit, jokers counted in."""
        jokers = hand.count(JOKER)
        choose = combinations_with_replacement if self.rules.set_identical else combinations
        for rank in range(13):
            held = [card for card in hand if card != JOKER and card % 16 == rank]
            most = len(held) + jokers
            suits = range(4) if jokers else sorted({card // 16 for card in held})
            for size in range(3, min(most, self.rules.set_largest or most) + 1):
                for chosen in choose(suits, size):
                    yield NaiveMeld(faces=tuple(16 * suit + rank for suit in chosen))
        for suit in range(4):
            ranks = {card % 16 for card in hand if card != JOKER and card // 16 == suit}
            for first, length in product(range(14), range(3, min(13, len(ranks) + jokers) + 1)):
                if (jokers or first % 13 in ranks) and self.is_window(first, first + length - 1):
                    faces = tuple(16 * suit + position % 13 for position in range(first, first + length))
                    yield NaiveMeld(faces=faces, suit=suit, first=first, last=first + length - 1)

    def is_window(self, first: int, last: int) -> bool:
        match self.rules.ends:
            case "low_only":
                return last <= 12
            case "high_only":
                return first >= 1 and last <= 13
            case "corner":
                return first <= 12
            case _:
                return last <= 13 and last - first < 13

    def fillings(self, hand: Hand, shape: NaiveMeld) -> Iterator[Hand]:
        """The cards of the hand with which the shape can be laid: each place natural or a joker."""
        jokers = hand.count(JOKER)
        if not jokers:
            if all(hand.count(face) >= shape.faces.count(face) for face in set(shape.faces)):
                yield shape.faces
            return
        for stand_ins in product((False, True), repeat=len(shape.faces)):
            cards = tuple(JOKER if joker else face for joker, face in zip(stand_ins, shape.faces, strict=True))
            if len(cards) - sum(stand_ins) < self.rules.min_natural:
                continue
            if all(hand.count(card) >= cards.count(card) for card in set(cards)):
                yield cards

    @staticmethod
    def on_table(shape: NaiveMeld) -> NaiveMeld:
        return shape._replace(faces=() if shape.is_run else tuple(sorted(shape.faces)))

    def takes_next(self, meld: NaiveMeld) -> Iterator[tuple[int, str | None]]:
        """Which faces the meld takes, and at which end."""
        if not meld.is_run:
            if self.rules.set_largest is None or len(meld.faces) < self.rules.set_largest:
                for suit in range(4):
                    face = 16 * suit + meld.faces[0] % 16
                    if self.rules.set_identical or face not in meld.faces:
                        yield face, None
            return
        if meld.last - meld.first + 1 >= 13:
            return
        if self.rules.ends == "corner":
            yield 16 * meld.suit + (meld.first - 1) % 13, "low"
            yield 16 * meld.suit + (meld.last + 1) % 13, "high"
            return
        if meld.first > 0 and self.is_window(meld.first - 1, meld.last):
            yield 16 * meld.suit + meld.first - 1, "low"
        if self.is_window(meld.first, meld.last + 1):
            yield 16 * meld.suit + (meld.last + 1) % 13, "high"

    @staticmethod
    def grown(meld: NaiveMeld, face: int, end: str | None) -> NaiveMeld:
        if end is None:
            return meld._replace(faces=tuple(sorted((*meld.faces, face))))
        if end == "high":
            return meld._replace(last=meld.last + 1)
        if meld.first == 0:  # round the corner
            return meld._replace(first=12, last=meld.last + 13)
        return meld._replace(first=meld.first - 1)
