"""The melds with jokers that a hand holds: those with fewer jokers first, each reading once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, combinations_with_replacement, compress, product
from typing import TYPE_CHECKING, Final, NamedTuple

from rummy500_engine.actions import End, LayMeld
from rummy500_engine.cards import ACES, COPY_BITS, JOKER, LANE_BITS, Card, Mask, count, hand_of, rank_of, suit_of
from rummy500_engine.melds import LANE, SHORTEST, Judge

if TYPE_CHECKING:
    from rummy500_engine.meld_catalogue import MeldCatalogue

_RANK: Final[Mask] = sum(ACES << copy * COPY_BITS for copy in range(64))
"""The aces of all suits and packs."""
REMEMBERED_SETS: Final = 1 << 14
"""Kinds of sets kept at once: bounded, since anybody may ask for any cards."""


class Gapped(NamedTuple):
    """A run in which cards are missing, or may be kept: it needs so many jokers and takes at most so many. `cards` are
    its faces with jokers for what is missing, `held` the places of the others and `used` their cards, as bits."""

    missing: int
    most: int
    faces: tuple[Card, ...]
    cards: list[Card]
    held: list[int]
    used: list[Mask]
    end: End | None


def joker_melds(catalogue: MeldCatalogue, hand: Mask, beside: Card, judge: Judge | None) -> Iterator[list[LayMeld]]:
    """As `MeldCatalogue.joker_melds`, those of one run or rank at a time."""
    held = count(hand, JOKER)
    suits = range(4) if beside == JOKER else (suit_of(beside),)
    ranks = range(13) if beside == JOKER else (rank_of(beside),)
    bit = 0 if beside == JOKER else 1 << rank_of(beside)
    gapped: dict[int, list[Gapped]] = {}
    for jokers in range(1, held + 1):
        for suit in suits:
            if judge is not None and judge.wants_none(hand & LANE << suit * LANE_BITS, jokers):
                continue
            runs = gapped.get(suit)
            if runs is None:
                runs = gapped[suit] = _gapped_runs(catalogue, suit, hand >> suit * LANE_BITS & LANE, held, bit)
            for run in runs:
                if run[0] <= jokers <= run[1]:
                    yield _joker_runs(run, jokers, judge)
        for rank in ranks:
            if judge is not None and judge.wants_none(hand & _RANK << rank, jokers):
                continue
            yield _joker_sets(catalogue, hand, rank, jokers, judge)


def _gapped_runs(catalogue: MeldCatalogue, suit: int, lane: int, jokers: int, bit: int) -> list[Gapped]:
    """The runs that the cards of one suit make with so many jokers or fewer, in which the cards of `bit` stand."""
    found: list[Gapped] = []
    first = suit * LANE_BITS
    own = [first + rank if lane >> rank & 1 else JOKER for rank in range(13)]
    own += own  # an ace may stand high, and runs may go round the corner
    for window, start, length in catalogue.windows:
        missing = (window & ~lane).bit_count()
        most = length - catalogue.jokers.min_natural
        if missing > jokers or missing > most or window & bit != bit:
            continue
        end = start + length
        cards = own[start:end]
        held = [index for index, card in enumerate(cards) if card != JOKER]
        used = [1 << cards[index] for index in held]
        faces = catalogue.run_faces(suit, start, length)
        found.append(Gapped(missing, most, faces, cards, held, used, catalogue.run_end(start, length)))
    return found


def _joker_sets(catalogue: MeldCatalogue, hand: Mask, rank: int, jokers: int, judge: Judge | None) -> list[LayMeld]:
    held = [count(hand, suit * LANE_BITS + rank) for suit in range(4)]
    most = held if catalogue.sets.identical else [min(1, copies) for copies in held]
    found: list[LayMeld] = []
    for chosen in product(*[range(copies + 1) for copies in most]):
        if not catalogue.jokers.min_natural <= sum(chosen) <= catalogue.largest_set - jokers:
            continue
        if sum(chosen) + jokers < SHORTEST:
            continue
        used, melds = _sets_of(catalogue, rank, chosen, jokers)
        if judge is None or judge.wants_all(used, jokers):
            found += melds
        else:
            found += [meld for meld in melds if judge.wants_each(meld.stands_for, (used,), jokers)[0]]
    return found


def _sets_of(catalogue: MeldCatalogue, rank: int, chosen: tuple[int, ...], jokers: int) -> tuple[Mask, list[LayMeld]]:
    """The sets of so many cards of each suit and jokers, and those cards."""
    key = (rank, jokers, *chosen)
    known = catalogue.joker_sets_of.get(key)
    if known is None:
        if len(catalogue.joker_sets_of) >= REMEMBERED_SETS:
            catalogue.joker_sets_of.clear()
        naturals = [suit * LANE_BITS + rank for suit in range(4) for _ in range(chosen[suit])]
        melds = []
        for suits in _joker_suits(catalogue, chosen, jokers):
            pairs = sorted([(face, face) for face in naturals] + [(suit * LANE_BITS + rank, JOKER) for suit in suits])
            melds.append(LayMeld(tuple([card for _, card in pairs]), tuple([face for face, _ in pairs])))
        known = catalogue.joker_sets_of[key] = (hand_of(naturals), melds)
    return known


def _joker_suits(catalogue: MeldCatalogue, chosen: tuple[int, ...], jokers: int) -> Iterator[tuple[int, ...]]:
    if catalogue.sets.identical:
        return combinations_with_replacement(range(4), jokers)
    return combinations([suit for suit in range(4) if not chosen[suit]], jokers)


def _joker_runs(run: Gapped, jokers: int, judge: Judge | None) -> list[LayMeld]:
    """The run with so many jokers, those that are not needed in every place where a card is held."""
    missing, _, faces, bare, held, bits, end = run
    kept = jokers - missing
    places: Iterable[tuple[int, ...]] = combinations(held, kept)
    if judge is not None:
        used = sum(bits)
        if not judge.wants_all(used, jokers):
            hands = [used - sum(gone) for gone in combinations(bits, kept)]
            places = compress(places, judge.wants_each(faces, hands, jokers))
    found: list[LayMeld] = []
    for more in places:
        cards = bare.copy()
        for index in more:
            cards[index] = JOKER
        found.append(LayMeld(tuple(cards), faces, end))
    return found
