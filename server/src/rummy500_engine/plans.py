"""Which melds leave a turn in which all that is owed can still be used: what is found out about one serves for others.

A listing has hundreds of melds. A plan for the cards owed says yes to every meld of the cards that it leaves over, and
to every meld that does itself what a part of the plan does. Cards without which nothing helps, a core, say no to every
meld that needs them. Only what neither settles is searched, and each search makes one or the other.

It applies at plain tables while cards are owed and none is banned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from rummy500_engine.actions import LayMeld
from rummy500_engine.cards import (
    DISTINCT,
    JOKER,
    LANE_BITS,
    Card,
    Mask,
    cards_of,
    count,
    hand_of,
    less,
    rank_of,
    remove,
    suit_of,
)
from rummy500_engine.finish import Search, TurnState, can_lay_off_on
from rummy500_engine.melds import LANE, LONGEST_RUN
from rummy500_engine.planner import PATIENCE, Planner, can_plan
from rummy500_engine.rules import Rules

Piece = Mask
"""The cards of one meld of a plan, or those that it lays off on one meld of the table."""


class Plans:
    """What is known about the rest of one turn."""

    def __init__(self, rules: Rules, state: TurnState) -> None:
        self.rules, self.state = rules, state
        melds = [meld for meld in state.melds if can_lay_off_on(rules, state.seat, meld)]
        self.planner = Planner(rules, melds) if can_plan(rules, owed=state.must, banned=state.banned) else None
        self.search = Search(rules)
        owed = set(cards_of(state.must))
        self.owed_suits = {suit_of(card) for card in owed}
        self.owed_ranks = {rank_of(card) for card in owed}
        self.plans: list[list[Piece]] = []
        self.spares: dict[Mask, list[Mask]] = {}
        """By the cards owed that a meld has: what plans for the others leave over, those cards among it."""
        self.cores: dict[Mask, list[Mask]] = {}
        """By the same: cards without which the others cannot be used."""

    def allow(self, meld: LayMeld) -> bool:
        """Whether the turn can be finished after this meld of the hand."""
        used = hand_of(meld.cards)
        if self._allow(used):
            return True
        if self.planner is None:
            return self._allow_on_table(meld, used)
        faces = meld.stands_for or meld.cards
        if rank_of(faces[0]) == rank_of(faces[1]):
            grown = self._grown_set(faces, used) if rank_of(faces[0]) in self.owed_ranks else ()
        else:
            grown = self._grown_run(faces, used) if suit_of(faces[0]) in self.owed_suits else ()
        return any([self._allow(more) for more in grown])

    def _allow(self, used: Mask) -> bool:
        """Whether all that is owed can be used, these cards of the hand being used already."""
        settled = used & self.state.must
        if settled == self.state.must:
            return True
        for spare in self._spares_beside(settled):
            if not used & ~spare:
                return True
        cores = self.cores.setdefault(settled, [])
        for core in cores:
            if not core & ~used:
                return False
        if self._decide(used, settled):
            return True
        cores.append(self._core(used, settled))
        return False

    def _allow_on_table(self, meld: LayMeld, used: Mask) -> bool:
        """Whether the search finds a way to go on, where no plan can be made, from the table with this meld on it."""
        laid = self.rules.catalogue.meld(
            len(self.state.melds) + 1, self.rules.catalogue.readings(meld)[0], self.state.seat
        )
        hand, must = less(self.state.hand, used), less(self.state.must, used)
        after = self.state._replace(hand=hand, must=must, melds=(*self.state.melds, laid), laid=True)
        return self.search.finished(after) is not None

    def _grown_set(self, faces: tuple[Card, ...], used: Mask) -> Iterator[Mask]:
        """The used cards and some of those owed that fit the set."""
        sets, rank = self.rules.catalogue.sets, rank_of(faces[0])
        room = self.rules.catalogue.largest_set - len(faces)
        owed = [card for card in cards_of(less(self.state.must, used)) if rank_of(card) == rank]
        if not sets.identical:
            owed = [card for card in set(owed) if card not in faces]
        for size in range(1, min(room, len(owed)) + 1):
            for cards in set(combinations(owed, size)):
                yield hand_of([*cards_of(used), *cards])

    def _grown_run(self, faces: tuple[Card, ...], used: Mask) -> Iterator[Mask]:
        """The used cards and those that lead from an end of the run, or from both, to one that is owed."""
        shift = suit_of(faces[0]) * LANE_BITS
        owed = less(self.state.must, used) >> shift & LANE
        if not owed:
            return
        hand = less(self.state.hand, used)
        start, length = rank_of(faces[0]), len(faces)
        lowest, highest = self.rules.catalogue.free_positions(start, length)
        lane, jokers = hand >> shift & LANE, count(hand, JOKER)
        lows = _chains(lane, jokers, owed, range(start - 1, lowest - 1, -1))
        highs = _chains(lane, jokers, owed, range(start + length, highest + 1))
        if len(lows) == len(highs) == 1:
            return
        for low, low_jokers in lows:
            for high, high_jokers in highs:
                more, filling = low | high, low_jokers + high_jokers
                if more and filling <= jokers and length + more.bit_count() + filling <= LONGEST_RUN:
                    yield hand_of([*cards_of(used), *cards_of(more << shift), *[JOKER] * filling])

    def _spares_beside(self, settled: Mask) -> list[Mask]:
        spares = self.spares.get(settled)
        if spares is None:
            spares = self.spares[settled] = []
            for plan in self.plans:
                self._add_spare(plan, settled, spares)
        return spares

    def _add_spare(self, plan: list[Piece], settled: Mask, spares: list[Mask]) -> None:
        """Adds what the plan leaves over if the settled cards are used elsewhere, if that can be."""
        left, owed = self.state.hand, less(self.state.must, settled)
        unmet = owed
        for piece in plan:
            if piece & owed & DISTINCT:
                left, unmet = less(left, piece), less(unmet, piece)
        if not unmet and not settled & ~left:
            spares.append(left)

    def _decide(self, used: Mask, settled: Mask) -> bool:
        """Whether what is owed beside the settled cards can be used without the used ones; notes the plan."""
        hand, must = less(self.state.hand, used), less(self.state.must, settled)
        if self.planner is None:
            end = self.search.finished(self.state._replace(hand=hand, must=must, laid=True))
            plan = None if end is None else self._pieces(end)
        else:
            plan = self.planner.plan_for(hand, must, patience=PATIENCE)
            if plan is None and self.planner.is_tired:
                return self.planner.can_use_all(hand, must)
        if plan is None:
            return False
        self.plans.append(plan)
        for others, spares in self.spares.items():
            self._add_spare(plan, others, spares)
        return True

    def _pieces(self, end: TurnState) -> list[Piece]:
        """What the plan that ends so did with the cards."""
        already = len(self.state.melds)
        pieces = [hand_of([placed.card for placed in meld.placed]) for meld in (*end.own, *end.melds[already:])]
        for before, after in zip(self.state.melds, end.melds, strict=False):
            if len(after.placed) > len(before.placed):
                pieces.append(hand_of([placed.card for placed in after.placed[len(before.placed) :]]))
        return pieces

    def _core(self, used: Mask, settled: Mask) -> Mask:
        """The used cards without those that change nothing, rather jokers than others."""
        core = used
        for card in cards_of(less(used, settled)):
            fewer = remove(core, card)
            if not self._decide(fewer, settled):
                core = fewer
        return core


def _chains(lane: int, jokers: int, owed: int, positions: Iterable[int]) -> list[tuple[int, int]]:
    """The cards that lead along these positions to each one that is owed, and the jokers in their gaps; first none."""
    found, cards, missing = [(0, 0)], 0, 0
    for position in positions:
        bit = 1 << position % 13
        if lane & bit:
            cards |= bit
            if owed & bit:
                found.append((cards, missing))
        else:
            missing += 1
            if missing > jokers:
                break
    return found
