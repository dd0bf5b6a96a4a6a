"""What melds a hand holds at one table, how cards asked for read as a meld, and what a meld on the table takes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, combinations_with_replacement, product
from typing import Final

from rummy500_engine.actions import End, LayMeld
from rummy500_engine.cards import (
    ACE,
    ACES,
    JOKER,
    LANE_BITS,
    NATURALS,
    Card,
    Mask,
    count,
    rank_of,
    suit_of,
)
from rummy500_engine.joker_melds import joker_melds
from rummy500_engine.melds import LANE, LONGEST_RUN, SHORTEST, Judge, Kind, Meld, Placed, Shape
from rummy500_engine.terms import AceEnds, Jokers, Sets

# Bound once: looking up an enum member on its class costs as much as a call.
_SET: Final = Kind.SET
_RUN: Final = Kind.RUN
_LOW: Final = End.LOW
_HIGH: Final = End.HIGH
REMEMBERED: Final = 1 << 14
"""Readings kept at once: bounded, since anybody may ask for any cards."""


class MeldCatalogue:
    """What melds there are at one table, from the ends of aces, the limits of sets and the jokers in the pack."""

    def __init__(self, *, ace_ends: AceEnds, sets: Sets, jokers: Jokers, pack: tuple[Card, ...]) -> None:
        self.ace_ends, self.sets, self.jokers = ace_ends, sets, jokers
        self.corner = ace_ends is AceEnds.CORNER
        self.low = ace_ends is not AceEnds.HIGH_ONLY
        self.high = ace_ends is AceEnds.LOW_OR_HIGH or ace_ends is AceEnds.HIGH_ONLY
        self.largest_set = sets.largest if sets.largest is not None else len(pack)
        self._faces: dict[tuple[int, int, int], tuple[Card, ...]] = {}
        self._runs: dict[int, tuple[LayMeld, ...]] = {}
        self._readings: dict[LayMeld, list[Shape]] = {}
        self._sets: dict[tuple[int, ...], tuple[LayMeld, ...]] = {}
        self.joker_sets_of: dict[tuple[int, ...], tuple[Mask, list[LayMeld]]] = {}
        self._in_runs: dict[int, int] = {}
        self.windows = tuple(self._every_window())

    # --- runs as windows of positions

    def _every_window(self) -> Iterator[tuple[int, int, int]]:
        """(lane mask, start, length) of every run in a suit."""
        for length in range(SHORTEST, LONGEST_RUN + 1):
            starts = range(13) if self.corner else range(0 if self.low else 1, (14 if self.high else 13) - length + 1)
            for start in starts:
                lane = 0
                for position in range(start, start + length):
                    lane |= 1 << position % 13
                yield lane, start, length

    def run_faces(self, suit: int, start: int, length: int) -> tuple[Card, ...]:
        """The cards of a run, low to high."""
        key = (suit, start, length)
        faces = self._faces.get(key)
        if faces is None:
            faces = tuple([suit * LANE_BITS + position % 13 for position in range(start, start + length)])
            self._faces[key] = faces
        return faces

    def run_end(self, start: int, length: int) -> End | None:
        """Which end must be said: only where all thirteen ranks leave both open (not round the corner)."""
        if length < LONGEST_RUN or not (self.low and self.high):
            return None
        return _LOW if start == 0 else _HIGH

    def suit_runs(self, suit: int, lane: int) -> tuple[LayMeld, ...]:
        """The runs without jokers that the ranks of a lane make in a suit."""
        key = suit << LANE_BITS | lane
        runs = self._runs.get(key)
        if runs is None:
            runs = self._runs[key] = tuple(
                LayMeld(self.run_faces(suit, start, length), (), self.run_end(start, length))
                for window, start, length in self.windows
                if window & lane == window
            )
        return runs

    def _rank_sets(self, rank: int, counts: tuple[int, ...]) -> tuple[LayMeld, ...]:
        key = (rank, *counts)
        sets = self._sets.get(key)
        if sets is None:
            found = []
            for chosen in product(*(range(held + 1) for held in counts)):
                size = sum(chosen)
                if SHORTEST <= size <= self.largest_set:
                    cards = tuple(suit * LANE_BITS + rank for suit in range(4) for _ in range(chosen[suit]))
                    found.append(LayMeld(cards))
            sets = self._sets[key] = tuple(found)
        return sets

    def natural_melds(self, hand: Mask) -> list[LayMeld]:
        """Every meld without jokers that the hand holds."""
        found: list[LayMeld] = []
        if self.corner:
            in_runs = hand & NATURALS
        else:
            spread = hand & NATURALS | (hand & ACES) << 13
            in_runs = spread & spread >> 1 & spread >> 2
        if in_runs:
            for suit in range(4):
                if in_runs >> suit * LANE_BITS & 0xFFFF:
                    found += self.suit_runs(suit, hand >> suit * LANE_BITS & LANE)
        clubs, diamonds, hearts, spades = hand & LANE, hand >> 16 & LANE, hand >> 32 & LANE, hand >> 48 & LANE
        if self.sets.identical:
            ranks = clubs | diamonds | hearts | spades
        else:
            ranks = (clubs & diamonds & (hearts | spades)) | (hearts & spades & (clubs | diamonds))
        while ranks:
            low = ranks & -ranks
            rank = low.bit_length() - 1
            ranks ^= low
            found += self.rank_sets_in(hand, rank)
        return found

    def rank_sets_in(self, hand: Mask, rank: int) -> tuple[LayMeld, ...]:
        """The sets without jokers of one rank that the hand holds."""
        if self.sets.identical:
            return self._rank_sets(rank, tuple([count(hand, suit * LANE_BITS + rank) for suit in range(4)]))
        held = hand >> rank
        return self._rank_sets(rank, (held & 1, held >> 16 & 1, held >> 32 & 1, held >> 48 & 1))

    def meldable(self, hand: Mask) -> Mask:
        """The distinct faces of the hand that stand in some meld without jokers, in a few operations on whole hands."""
        faces = hand & NATURALS
        if self.corner:
            found = 0
            for suit in range(4):
                found |= self._suit_in_runs(faces >> suit * LANE_BITS & LANE) << suit * LANE_BITS
        else:
            spread = faces if self.low else faces & ~ACES
            if self.high:
                spread |= (faces & ACES) << 13
            starts = spread & spread >> 1 & spread >> 2
            found = starts | starts << 1 | starts << 2
            found |= found >> 13 & ACES
        if self.sets.identical:
            return found & faces | self._in_identical_sets(hand)
        clubs, diamonds, hearts, spades = hand & LANE, hand >> 16 & LANE, hand >> 32 & LANE, hand >> 48 & LANE
        ranks = (clubs & diamonds & (hearts | spades)) | (hearts & spades & (clubs | diamonds))
        if ranks:
            found |= ranks | ranks << 16 | ranks << 32 | ranks << 48
        return found & faces

    def _suit_in_runs(self, lane: int) -> int:
        """The ranks of a lane that stand in its runs."""
        found = self._in_runs.get(lane)
        if found is None:
            found = 0
            for window, _, length in self.windows:
                if length == SHORTEST and window & lane == window:
                    found |= window
            self._in_runs[lane] = found
        return found

    def can_meld(self, hand: Mask, card: Card) -> bool:
        """Whether this natural card of the hand stands in some meld without jokers: as `meldable`, for one card."""
        rank = rank_of(card)
        if self._suit_in_runs(hand >> card - rank & LANE) >> rank & 1:
            return True
        same = hand >> rank & ACES
        if not self.sets.identical:
            return same.bit_count() >= SHORTEST
        return sum([count(hand, suit * LANE_BITS + rank) for suit in range(4)]) >= SHORTEST

    def _in_identical_sets(self, hand: Mask) -> Mask:
        found = 0
        for rank in range(13):
            cards = [card for card in (rank, rank + 16, rank + 32, rank + 48) if hand >> card & 1]
            if sum(count(hand, card) for card in cards) >= SHORTEST:
                found |= sum(1 << card for card in cards)
        return found

    def joker_melds(self, hand: Mask, *, beside: Card = JOKER, judge: Judge | None = None) -> Iterator[LayMeld]:
        """Every meld with jokers that the hand holds, each reading once, those with fewer jokers first. With `beside`,
        a natural card: of the runs those in which it has a place, of the sets those of its rank. With a judge: those
        that it wants."""
        return chain.from_iterable(joker_melds(self, hand, beside, judge))

    # --- readings

    def readings(self, asked: LayMeld) -> list[Shape]:
        """Every meld that the cards asked for can be; none: no meld, several: more must be said."""
        known = self._readings.get(asked)
        if known is None:
            if len(self._readings) >= REMEMBERED:
                self._readings.clear()
            known = self._readings[asked] = self._read(asked)
        return known

    def _read(self, asked: LayMeld) -> list[Shape]:
        said = asked.stands_for or asked.cards
        if len(said) != len(asked.cards):
            return []
        if any(card not in (JOKER, face) for card, face in zip(asked.cards, said, strict=True)):
            return []  # only a joker stands for another card
        naturals = sum(card != JOKER for card in asked.cards)
        if len(asked.cards) < SHORTEST or naturals < max(1, self.jokers.min_natural):
            return []
        return [*self._set_readings(asked, said), *self._run_readings(asked, said)]

    def _set_readings(self, asked: LayMeld, said: tuple[Card, ...]) -> list[Shape]:
        known = [face for face in said if face != JOKER]
        open_jokers = len(said) - len(known)
        if asked.end is not None or len(said) > self.largest_set or len({rank_of(face) for face in known}) != 1:
            return []
        rank = rank_of(known[0])
        if not self.sets.identical and len(set(known)) < len(known):
            return []
        suits = [suit for suit in range(4) if self.sets.identical or suit * LANE_BITS + rank not in known]
        choose = combinations_with_replacement if self.sets.identical else combinations
        shapes = []
        for filling in choose(suits, open_jokers):
            fill = iter(filling)
            faces = tuple(next(fill) * LANE_BITS + rank if face == JOKER else face for face in said)
            shapes.append(Shape(_SET, asked.cards, faces))
        return shapes

    def _run_readings(self, asked: LayMeld, said: tuple[Card, ...]) -> list[Shape]:
        known = [face for face in said if face != JOKER]
        if len({suit_of(face) for face in known}) != 1 or len(set(known)) < len(known) or len(said) > LONGEST_RUN:
            return []
        suit = suit_of(known[0])
        lane = sum(1 << rank_of(face) for face in known)
        by_face = {face: card for card, face in zip(asked.cards, said, strict=True) if face != JOKER}
        shapes = []
        for window, start, length in self.windows:
            if length != len(said) or window & lane != lane:
                continue
            if self.corner and length == LONGEST_RUN and said[0] != JOKER and start != rank_of(said[0]):
                continue  # NOTATION: a corner meld of thirteen begins, as written, with its lowest card
            end = self.run_end(start, length)
            if asked.end is not None and end is not asked.end:
                continue
            faces = self.run_faces(suit, start, length)
            shapes.append(Shape(_RUN, tuple(by_face.get(face, JOKER) for face in faces), faces, start))
        return shapes

    def listed(self, shape: Shape) -> LayMeld:
        """The action that lays this shape, as lists of legal actions name it: sets by suit, runs low to high."""
        pairs = list(zip(shape.faces, shape.cards, strict=True))
        if shape.kind is _SET:
            pairs.sort()
        cards = tuple(card for _, card in pairs)
        faces = tuple(face for face, _ in pairs) if JOKER in cards else ()
        end = self.run_end(shape.start, len(cards)) if shape.kind is _RUN else None
        return LayMeld(cards, faces, end)

    # --- melds on the table

    def meld(self, number: int, shape: Shape, seat: int) -> Meld:
        placed = shape.places(seat, self.corner)
        return self.on_table(number, shape.kind, seat, placed=placed, opening=len(placed), start=shape.start)

    def extended(self, meld: Meld, *, card: Card, face: Card, seat: int, end: End | None) -> Meld:
        """The meld with a card laid off on it; the face must fit that end."""
        low = end is _LOW and rank_of(face) == ACE
        start = (meld.start - 1) % 13 if end is _LOW else meld.start
        placed = (*meld.placed, Placed(card, face, seat, low))
        return self.on_table(meld.id, meld.kind, meld.opener, placed=placed, opening=meld.opening, start=start)

    def replaced(self, meld: Meld, *, index: int, placed: Placed) -> Meld:
        """The meld with another card in one place that stands for the same face (an exchange)."""
        cards = (*meld.placed[:index], placed, *meld.placed[index + 1 :])
        return self.on_table(meld.id, meld.kind, meld.opener, placed=cards, opening=meld.opening, start=meld.start)

    def on_table(
        self, number: int, kind: Kind, opener: int, *, placed: tuple[Placed, ...], opening: int, start: int
    ) -> Meld:
        """A meld as it lies: its cards in the order laid, and what it takes next."""
        length = len(placed)
        if kind is _SET:
            return Meld(number, kind, opener, placed, opening, start, length, self._set_fits(placed), None, None)
        lane = suit_of(placed[0].face) * LANE_BITS
        low, high = self._run_ends(start, length)
        low_face = None if low is None else lane + low
        high_face = None if high is None else lane + high
        fits = 0 if low_face is None else 1 << low_face
        if high_face is not None:
            fits |= 1 << high_face
        return Meld(number, kind, opener, placed, opening, start, length, fits, low_face, high_face)

    def _set_fits(self, placed: tuple[Placed, ...]) -> Mask:
        if len(placed) >= self.largest_set:
            return 0
        rank = rank_of(placed[0].face)
        fits = sum(1 << suit * LANE_BITS + rank for suit in range(4))
        if not self.sets.identical:
            for card in placed:
                fits &= ~(1 << card.face)
        return fits

    def free_positions(self, start: int, length: int) -> tuple[int, int]:
        """The first and last position to which a run may grow on one end, the other end staying as it is."""
        if self.corner:
            return start - (LONGEST_RUN - length), start + LONGEST_RUN - 1
        last = start + length - 1
        return (0 if self.low and last < 13 else 1), (13 if self.high and start > 0 else 12)

    def _run_ends(self, start: int, length: int) -> tuple[int | None, int | None]:
        """The ranks that a run takes at its low and at its high end."""
        if length >= LONGEST_RUN:
            return None, None
        if self.corner:
            return (start - 1) % 13, (start + length) % 13
        last = start + length - 1
        holds_low_ace, holds_high_ace = start == 0, last == 13
        low: int | None = None
        if start > 1 or (start == 1 and self.low and not holds_high_ace):
            low = start - 1
        high: int | None = None
        if last < 12:
            high = last + 1
        elif last == 12 and self.high and not holds_low_ace:
            high = ACE
        return low, high
