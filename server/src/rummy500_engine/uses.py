"""In which ways a card that is owed can be used: the least that does it, in cards of the hand and jokers.

Little is needed, because plays can be trimmed (RULES 1.10 asks only whether some plan exists):

- A run of six cards or more falls apart into two. Of one with four or five, an end that is not owed can stay in the
  hand. So runs have three cards, or four or five of which both ends are owed; sets have three, or only owed ones.
- The last three cards of a chain of lay-offs on a run are a run of their own. So chains have one card or two.
- A joker may stand for any card but the one that the use is for, also for one that the hand holds, since another use
  may need that one.

Where a meld needs two natural cards, pieces of one do not do: then runs and chains with jokers between two natural
cards are uses, however long.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, combinations_with_replacement
from typing import Final

from rummy500_engine.cards import ACES, LANE_BITS, Card, Mask, cards_of, count, hand_of, rank_of, suit_of
from rummy500_engine.melds import LANE, SHORTEST, Kind, Meld
from rummy500_engine.rules import Rules

Use = tuple[Mask, int, int]
"""Natural cards of the hand, how many jokers with them, and the places on the table that are taken, as bits."""
Chain = tuple[int, int, int]
"""Lay-offs on one end of a run: the natural cards in their lane, the number of jokers, the ranks that are taken."""
MOST_NATURALS: Final = 2
"""The most natural cards that a meld may want at a table where uses decide."""
LONGEST_CHAIN: Final = 2
"""The most lay-offs in a row that a plan needs on one end of a run, where melds may have one natural card."""
_PIECE: Final = 5


@lru_cache(maxsize=256)
def uses_of(rules: Rules) -> Uses:
    return Uses(rules)


class Uses:
    """The uses of cards at one table."""

    def __init__(self, rules: Rules) -> None:
        self.catalogue = rules.catalogue
        self.identical = rules.sets.identical
        self.least = max(1, rules.jokers.min_natural)
        self.threes: list[list[int]] = [[] for _ in range(13)]
        """For each rank the runs of three that hold it: their other two ranks."""
        self.longer: list[list[tuple[int, int]]] = [[] for _ in range(13)]
        """For each rank the longer runs that hold it: all ranks, and the two at the ends."""
        for window, start, length in self.catalogue.windows:
            ends = 1 << start % 13 | 1 << (start + length - 1) % 13
            for rank in range(13):
                if window >> rank & 1 and length == SHORTEST:
                    self.threes[rank].append(window ^ 1 << rank)
                elif window >> rank & 1:
                    self.longer[rank].append((window, ends))

    def in_hand(self, hand: Mask, jokers: int, owed: Mask, card: Card) -> Iterator[Use]:
        """New melds of the hand with this card."""
        shift, rank = card - rank_of(card), rank_of(card)
        for cards, missing in self._runs(hand >> shift & LANE, owed >> shift & LANE, rank, jokers):
            yield cards << shift, missing, 0
        for cards, missing in self._sets(hand >> rank, owed >> rank, suit_of(card), jokers):
            yield cards << rank, missing, 0

    def _runs(self, lane: int, owed: int, rank: int, jokers: int) -> set[tuple[int, int]]:
        bit = 1 << rank
        found: set[tuple[int, int]] = set()
        for others in self.threes[rank]:
            held = others & lane
            if held == others:
                found.add((others | bit, 0))
            if jokers and held:
                low = held & -held
                found.add((low | bit, 1))
                if low != held:
                    found.add((held ^ low | bit, 1))
        if jokers >= SHORTEST - 1 and self.least == 1:
            found.add((bit, SHORTEST - 1))
        for window, ends in self.longer[rank]:
            if ends & ~lane:
                continue
            length = window.bit_count()
            if length <= _PIECE and not ends & ~owed:
                found.update(_filled(bit | ends, window & ~(bit | ends), lane, jokers))
            elif self.least > 1:
                found.update(self._sparse(bit, window, ends, lane, owed, jokers))
        return found

    def _sparse(self, bit: int, window: int, ends: int, lane: int, owed: int, jokers: int) -> Iterator[tuple[int, int]]:
        """Runs that cannot fall apart because a part would have too few natural cards."""
        needed, length = bit | ends, window.bit_count()
        all_owed = not ends & ~owed
        if length - jokers > 2 * MOST_NATURALS or (needed != ends and not all_owed):
            return
        for cards, missing in _filled(needed, window & ~needed, lane if all_owed else 0, jokers):
            if length - missing <= 2 * MOST_NATURALS:
                yield cards, missing

    def _sets(self, hand: Mask, owed: Mask, suit: int, jokers: int) -> set[tuple[Mask, int]]:
        """Cards shifted down to aces."""
        own = 1 << suit * LANE_BITS
        held = hand & ACES
        found: set[tuple[Mask, int]] = set()
        if self.identical:
            found.update(self._identical_sets(hand, owed, suit * LANE_BITS, jokers))
            return found
        others = [1 << each * LANE_BITS for each in range(4) if each != suit and held >> each * LANE_BITS & 1]
        if jokers:
            for other in others:
                found.add((own | other, 1))
        for one, two in combinations(others, 2):
            found.add((own | one | two, 0))
        if jokers >= SHORTEST - 1 and self.least == 1:
            found.add((own, SHORTEST - 1))
        if len(others) == SHORTEST and self.catalogue.largest_set > SHORTEST and owed & ACES == ACES:
            found.add((ACES, 0))
        return found

    def _identical_sets(self, hand: Mask, owed: Mask, ace: Card, jokers: int) -> Iterator[tuple[Mask, int]]:
        held = {each: count(hand, each) - (each == ace) for each in range(0, 4 * LANE_BITS, LANE_BITS)}
        for size in range(SHORTEST):
            missing = SHORTEST - 1 - size
            if missing <= jokers and size + 1 >= self.least:
                for others in combinations_with_replacement(held, size):
                    if all([held[each] >= others.count(each) for each in others]):
                        yield hand_of([ace, *others]), missing
        aces = [each for each in held for _ in range(count(owed, each) - (each == ace))]
        for size in range(SHORTEST, min(_PIECE, self.catalogue.largest_set)):
            for some in set(combinations(aces, size)):
                yield hand_of([ace, *some]), 0

    def on_meld(self, meld: Meld, hand: Mask, jokers: int, owed: Mask) -> list[Use]:
        """Lay-offs on a meld of the table that use cards owed."""
        face = meld.placed[0].face
        if meld.kind is Kind.RUN:
            shift = face - rank_of(face)
            lane, owing = hand >> shift & LANE, owed >> shift & LANE
            if not owing:
                return []
            lows, highs = self.on_run(meld.start, meld.length, lane=lane, owed=owing, jokers=jokers)
            return [(cards << shift, missing, taken) for cards, missing, taken in lows + highs]
        wanted = cards_of(owed & meld.fits)
        if not self.identical:
            return [(1 << card, 0, 1 << place) for place, card in enumerate(wanted)]
        owing = sum([count(owed, suit * LANE_BITS + rank_of(face)) for suit in range(4)])
        places = min(self.catalogue.largest_set - meld.length, owing)
        return [(1 << card, 0, 1 << place) for card in wanted for place in range(places)]

    def on_run(self, start: int, length: int, *, lane: int, owed: int, jokers: int) -> tuple[list[Chain], list[Chain]]:
        """The chains of lay-offs at the low and at the high end of a run that lead up to a card owed."""
        if not owed:
            return [], []
        lowest, highest = self.catalogue.free_positions(start, length)
        lows = self._chains([position % 13 for position in range(start - 1, lowest - 1, -1)], lane, owed, jokers)
        highs = self._chains([position % 13 for position in range(start + length, highest + 1)], lane, owed, jokers)
        return lows, highs

    def _chains(self, ranks: list[int], lane: int, owed: int, jokers: int) -> list[Chain]:
        """Chains along these ranks."""
        found: list[Chain] = []
        ways: list[tuple[int, int]] = [(0, 0)]
        taken = 0
        for reached, rank in enumerate(ranks):
            bit = 1 << rank
            taken |= bit
            if owed & bit:
                for cards, missing in ways:
                    if reached < LONGEST_CHAIN or self._hangs_on(cards, ranks[reached - 2 : reached]):
                        found.append((cards | bit, missing, taken))
            after = [(cards | bit, missing) for cards, missing in ways] if lane & bit else []
            after += [(cards, missing + 1) for cards, missing in ways if missing < jokers]
            ways = after
            if not ways or (self.least == 1 and reached + 1 == LONGEST_CHAIN):
                break
        return found

    def _hangs_on(self, cards: int, before: list[int]) -> bool:
        """Whether the chain's last three cards, before the last of which these come, are no meld of their own."""
        return 1 + sum([cards >> rank & 1 for rank in before]) < self.least


def _filled(needed: int, gaps: int, lane: int, jokers: int) -> Iterator[tuple[int, int]]:
    """The needed cards, and for each gap its card or a joker."""
    ways = [(needed, 0)]
    while gaps:
        low = gaps & -gaps
        gaps ^= low
        after = [(cards | low, missing) for cards, missing in ways] if lane & low else []
        ways = after + [(cards, missing + 1) for cards, missing in ways if missing < jokers]
    yield from ways
