"""The plays of a hand that use one given card: what the search of `finish` branches on.

Not every play is needed to decide whether a turn can be finished. Runs fall apart into pieces of three to five cards.
And where a plan puts a joker in the place of a card that the hand still holds, the two may be swapped, or the joker
kept: so jokers stand only for cards that are missing. Neither holds where the rules of the table weigh whole melds,
look at the last card, or want more natural cards than one: there every play is tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from rummy500_engine.actions import End, LayMeld
from rummy500_engine.cards import JOKER, LANE_BITS, Card, Mask, cards_of, count, rank_of, remove, suit_of
from rummy500_engine.melds import LANE, Kind, Meld
from rummy500_engine.rules import Rules
from rummy500_engine.terms import GoingOut

LONGEST_PIECE = 5
_ENDS = (End.LOW, End.HIGH)


@lru_cache(maxsize=256)
def pieces_of(rules: Rules) -> Pieces:
    return Pieces(rules)


class Pieces:
    """The plays with one card at one table."""

    def __init__(self, rules: Rules) -> None:
        self.catalogue = rules.catalogue
        weighs_melds = rules.first_meld.minimum > 0 or rules.going_out is GoingOut.DISCARD_UNPLAYABLE
        self.lean = not weighs_melds and rules.jokers.min_natural == 1
        self.longest = LONGEST_PIECE if self.lean else len(rules.pack)
        self.windows = tuple(
            tuple(window for window in self.catalogue.windows if window[0] >> rank & 1 and window[2] <= self.longest)
            for rank in range(13)
        )
        """For each rank the runs that hold it, as `MeldCatalogue.windows`."""
        self.identical = rules.sets.identical
        self._runs_with: dict[int, int] = {}

    def melds_with(self, hand: Mask, card: Card) -> Iterator[LayMeld]:
        """Melds of the hand that hold the card."""
        jokers = count(hand, JOKER)
        if card != JOKER:
            for meld in self._natural_melds(hand, card):
                if len(meld.cards) <= self.longest:
                    yield meld
        if not jokers:
            return
        if card != JOKER:
            least = self.catalogue.jokers.min_natural
            for meld in (*self._runs_with_jokers(hand, card, jokers), *self._sets_with_jokers(hand, card, jokers)):
                if len(meld.cards) - meld.cards.count(JOKER) >= least:
                    yield meld
            if self.lean:
                return
        for meld in self.catalogue.joker_melds(hand):
            if card in meld.cards:
                yield meld

    def _natural_melds(self, hand: Mask, card: Card) -> Iterator[LayMeld]:
        suit, rank = suit_of(card), rank_of(card)
        for meld in self.catalogue.suit_runs(suit, hand >> suit * LANE_BITS & LANE):
            if card in meld.cards:
                yield meld
        for meld in self.catalogue.rank_sets_in(hand, rank):
            if card in meld.cards:
                yield meld

    def _runs_with_jokers(self, hand: Mask, card: Card, jokers: int) -> Iterator[LayMeld]:
        suit, rank = suit_of(card), rank_of(card)
        lane = hand >> suit * LANE_BITS & LANE
        for window, start, length in self.windows[rank]:
            if 0 < (window & ~lane).bit_count() <= jokers:
                faces = self.catalogue.run_faces(suit, start, length)
                yield LayMeld(tuple([face if hand >> face & 1 else JOKER for face in faces]), faces)

    def _sets_with_jokers(self, hand: Mask, card: Card, jokers: int) -> Iterator[LayMeld]:
        """The card alone, or with one other of its rank, and as many jokers as make three."""
        identical = self.catalogue.sets.identical
        rank = rank_of(card)
        rest = remove(hand, card)
        others = [suit * LANE_BITS + rank for suit in range(4)]
        naturals = [(card,)] + [(card, other) for other in others if rest >> other & 1 and (identical or other != card)]
        for held in naturals:
            missing = 3 - len(held)
            free = [face for face in others if identical or face not in held]
            if missing <= jokers and missing <= len(free):
                cards = (*held, *[JOKER] * missing)
                yield LayMeld(cards, (*held, *free[:missing]))

    def lay_offs_with(self, hand: Mask, meld: Meld, card: Card, *, chains: bool) -> Iterator[Meld]:
        """The meld after the card was laid off on it; with `chains`, after others that lead up to it on its end too."""
        if not self.lean and count(hand, JOKER):
            yield from self._any_chains(hand, meld, card, chains=chains)
        elif card == JOKER:
            for face in cards_of(meld.fits):
                for end in meld.ends_taking(face):
                    yield self.catalogue.extended(meld, card=JOKER, face=face, seat=-1, end=end)
        elif meld.kind is Kind.SET or not chains:
            for end in meld.ends_taking(card):
                yield self.catalogue.extended(meld, card=card, face=card, seat=-1, end=end)
        elif suit_of(meld.placed[0].face) == suit_of(card):
            for side in _ENDS:
                grown = self._chain(hand, meld, card, side)
                if grown is not None:
                    yield grown

    def _chain(self, hand: Mask, meld: Meld, card: Card, end: End) -> Meld | None:
        """The run after lay-offs on one end up to the natural card, jokers in the gaps."""
        while True:
            face = meld.low_face if end is End.LOW else meld.high_face
            if face is None:
                return None
            used = face if hand >> face & 1 else JOKER
            if not hand >> used & 1:
                return None
            hand = remove(hand, used)
            meld = self.catalogue.extended(meld, card=used, face=face, seat=-1, end=end)
            if used == card:
                return meld

    def _any_chains(self, hand: Mask, meld: Meld, card: Card, *, chains: bool) -> Iterator[Meld]:
        """As `_chain`, any link a joker of the hand; for a set, jokers may come before the card too."""
        grown = [(meld, hand)]
        while grown:
            before, left = grown.pop()
            for face in cards_of(before.fits):
                for used in {face, JOKER}:
                    if not left >> used & 1:
                        continue
                    for end in before.ends_taking(face):
                        after = self.catalogue.extended(before, card=used, face=face, seat=-1, end=end)
                        if used == card:
                            yield after
                        elif chains:
                            grown.append((after, remove(left, used)))

    def count_uses(self, hand: Mask, card: Card, melds: Iterable[Meld]) -> int:
        """About how many plays use the natural card, cards of the hand helping; 0 exactly when there is none."""
        suit, rank = suit_of(card), rank_of(card)
        jokers = count(hand, JOKER)
        lane = hand >> suit * LANE_BITS & LANE
        least = self.catalogue.jokers.min_natural
        uses = self._count_runs(lane, rank) if not jokers else 0
        for window, _, length in self.windows[rank] if jokers else ():
            missing = (window & ~lane).bit_count()
            if missing <= jokers and length - missing >= least:
                uses += 1
        if self.catalogue.sets.identical:
            others = sum([count(hand, other * LANE_BITS + rank) for other in range(4)]) - 1
        else:
            held = hand >> rank
            others = (held & 1) + (held >> 16 & 1) + (held >> 32 & 1) + (held >> 48 & 1) - 1
        if others + jokers >= 2 and others + 1 >= least:
            uses += 1 + others * others
        for meld in melds:
            if meld.fits >> card & 1 or (meld.kind is Kind.RUN and suit_of(meld.placed[0].face) == suit):
                uses += self._count_lay_offs(hand, meld, card)
        return uses

    def _count_runs(self, lane: int, rank: int) -> int:
        key = lane << 4 | rank
        runs = self._runs_with.get(key)
        if runs is None:
            runs = self._runs_with[key] = sum([1 for window, _, _ in self.windows[rank] if window & lane == window])
        return runs

    def _count_lay_offs(self, hand: Mask, meld: Meld, card: Card) -> int:
        """At how many ends of the meld the card can be laid off, others of the hand leading up to it."""
        if meld.kind is Kind.SET:
            return len(meld.ends_taking(card))
        if hand >> JOKER & 1:
            return sum([1 for side in _ENDS if self._chain(hand, meld, card, side) is not None])
        if suit_of(meld.placed[0].face) != suit_of(card):
            return 0
        lane, rank, uses = hand >> suit_of(card) * LANE_BITS, rank_of(card), 0
        lowest, highest = self.catalogue.free_positions(meld.start, meld.length)
        position = meld.start - 1
        while position >= lowest and lane >> position % 13 & 1:
            if position % 13 == rank:
                uses += 1
                break
            position -= 1
        position = meld.start + meld.length
        while position <= highest and lane >> position % 13 & 1:
            if position % 13 == rank:
                uses += 1
                break
            position += 1
        return uses

    def can_use(self, hand: Mask, card: Card, melds: Sequence[Meld]) -> bool:
        """Whether the card can be melded or laid off on one of these melds at all, other cards of the hand helping."""
        if card != JOKER:
            return self.count_uses(hand, card, melds) > 0
        return any(meld.fits for meld in melds) or next(self.melds_with(hand, card), None) is not None
