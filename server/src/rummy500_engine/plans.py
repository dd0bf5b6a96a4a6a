"""Which melds leave a turn in which all that is owed can still be used: what is found out about one serves for others.

A listing has hundreds of melds. A plan for the cards owed says yes to every meld of the cards that it leaves over, and
to every meld that does itself what a part of the plan does. Cards without which nothing helps, a core, say no to every
meld that needs them. Only what neither settles is searched, and each search makes one or the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from rummy500_engine.cards import (
    COPY_BITS,
    DISTINCT,
    JOKER,
    JOKER_BIT,
    LANE_BITS,
    Card,
    Mask,
    cards_of,
    count,
    hand_of,
    joined,
    less,
    naturals_of,
    rank_of,
    suit_of,
)
from rummy500_engine.melds import LANE, LONGEST_RUN, Kind, Meld
from rummy500_engine.planner import Planner
from rummy500_engine.rules import Rules
from rummy500_engine.terms import GoingOut
from rummy500_engine.turn import TurnState, can_lay_off_on
from rummy500_engine.uses import LONGEST_CHAIN, MOST_NATURALS, Use, uses_of

_FOR_JOKERS: Final = 5
_LOOKED_AT: Final = 4
"""How many plans for other melds are looked at first."""
REPAIR: Final = 12
"""Steps of the search in which a plan should be mended."""


def decides(rules: Rules, state: TurnState) -> bool:
    """Whether plans bear on the end of this turn, but for a minimum."""
    least = rules.jokers.min_natural
    if least > MOST_NATURALS or (least > 1 and (state.target == JOKER or state.must & JOKER_BIT)):
        return False
    return not (state.target == JOKER and (state.first_play or state.new_meld))


def reaches_minimum(rules: Rules, state: TurnState) -> bool:
    """Whether no meld of this turn has to reach a minimum any more."""
    first = rules.first_meld
    reached = state.best if first.single else state.laid_points
    return first.minimum <= 0 or state.melded or (state.laid and reached >= first.minimum)


Spare = tuple[Mask, int, int]
"""What a plan leaves over: a mask of the natural cards that may not be used, the number of jokers that may, and the
places on the table that are taken."""


class Book:
    """What is known about melds that have the same ones of the cards owed: what plans for the others leave over; and
    cores, natural cards and jokers without which the others cannot be used."""

    def __init__(self) -> None:
        self.spares: list[Spare] = []
        self.cores: list[tuple[Mask, int]] = []

    def add(self, spare: Spare) -> None:
        """Adds what a plan leaves over, unless another leaves as much."""
        gone, left, taken = spare
        for others, jokers, places in self.spares:
            if not (others & ~gone or left > jokers or places & ~taken):
                return
        self.spares.append(spare)


class Plans:
    """What is known about the rest of one turn.

    A plan uses what is owed, which no turn can end without. Whatever else the table wants of the end of a turn is
    looked for in the plans found; where none of them will do, the answer is None: only trying out tells.
    """

    def __init__(self, rules: Rules, state: TurnState) -> None:
        self.catalogue, self.state = rules.catalogue, state
        self.uses = uses_of(rules)
        melds = [meld for meld in state.melds if can_lay_off_on(rules, state.seat, meld)]
        self.melded_only = state.target if state.new_meld else None
        self.planner = Planner(rules, melds, hand=state.hand, owed=state.must, melded_only=self.melded_only)
        self.hand, self.jokers = naturals_of(state.hand), count(state.hand, JOKER)
        self.must, self.owed_jokers = naturals_of(state.must), count(state.must, JOKER)
        self.relevant = self.must
        """The natural cards that bear on what is owed."""
        for uses in self.planner.uses.values():
            for cards, _, _ in uses:
                self.relevant |= cards
        for copy in range(1, self.hand.bit_length() // COPY_BITS + 1):
            self.relevant |= (self.relevant & DISTINCT) << copy * COPY_BITS
        self.leaves = must_leave(rules, state)
        self.melds_first = rules.first_meld.required and not (state.melded or state.laid)
        self.room = jokers_fit(melds)
        owed = cards_of(self.must)
        self.owed_suits = {suit_of(card) for card in owed}
        self.owed_ranks = {rank_of(card) for card in owed}
        self.plans: list[list[Use]] = []
        self.books: dict[Mask, Book] = {}
        """By the cards owed that a meld has."""
        self.growth: dict[tuple[Card, int], tuple[tuple[Mask, int], ...]] = {}
        """By the lowest card and the length of a run: what may be laid on it."""
        self.needed: dict[tuple[Mask, int], bool] = {}
        self.known: dict[int, bool | None] = {}

    def can_finish(self) -> bool | None:
        """Whether the turn can be finished as it stands."""
        plan = self._plan(self.hand, self.jokers, self.must)
        if plan is None:
            return None if self.planner.is_partial else False
        return True if self._is_in_order(plan) and self._leaves_enough(plan) else None

    def _is_in_order(self, plan: list[Use]) -> bool:
        """Whether the plan can begin with a meld, or with the target, where the table wants that."""
        target = self.state.target
        if not self.state.first_play or target is None:
            return not self.melds_first or not all([taken for _, _, taken in plan])
        first = [use for use in plan if use[0] >> target & 1 and (not use[2] or use[:2] == (1 << target, 0))]
        return not all([taken for _, _, taken in first]) if self.melds_first else bool(first)

    def _leaves_enough(self, plan: list[Use]) -> bool:
        """Whether jokers owed can go somewhere after the plan, and the hand that is left lets the turn be ended."""
        jokers = sum([missing for _, missing, _ in plan])
        more = max(0, self.owed_jokers - jokers)
        if more > self.room and not any([is_run(use) for use in plan]):
            return False
        left = self.hand.bit_count() - sum([cards.bit_count() for cards, _, _ in plan]) + self.jokers - jokers - more
        return left >= self.leaves

    def allows_each(self, faces: tuple[Card, ...], hands: Sequence[Mask], jokers: int) -> list[bool | None]:
        """Whether the turn can be finished after the meld of these faces, of so many jokers and the natural cards of
        each of these hands."""
        is_run, leaves, target = rank_of(faces[0]) != rank_of(faces[1]), self.leaves, 0
        if self.owed_jokers > jokers:
            more = self.owed_jokers - jokers
            leaves += more
            if more > self.room and (not is_run or more > _room_of(len(faces))):
                return [None] * len(hands)
        if self.state.first_play and self.state.target is not None:
            if self.state.target == JOKER and not jokers:
                return [False] * len(hands)
            target = 0 if self.state.target == JOKER else 1 << self.state.target
        bearing, rest = ~0 if leaves else self.relevant, jokers << _FOR_JOKERS | leaves
        growth: Sequence[tuple[Mask, int]] | None = None
        known = self.known
        found: list[bool | None] = []
        for used in hands:
            if target and not used & target:
                found.append(False)
                continue
            key = (used & bearing) << 2 * _FOR_JOKERS | rest  # as in `_allow`, without the call
            if key not in known:
                known[key] = self._judge(used & bearing, jokers, leaves)
            allowed = known[key]
            if not allowed:
                if growth is None or not is_run:
                    growth = self._run_growth(faces, jokers) if is_run else self._set_growth(faces, used)
                if growth:
                    allowed = self._allow_grown(growth, used, jokers, leaves, allowed)
            found.append(allowed)
        return found

    def _allow_grown(
        self, growth: Sequence[tuple[Mask, int]], used: Mask, jokers: int, leaves: int, allowed: bool | None
    ) -> bool | None:
        """`allowed`, or whether the turn can be finished after more was laid on the meld."""
        for cards, filling in growth:
            if self.melded_only is not None and cards >> self.melded_only & 1:
                allowed = None  # whether a twin of the target may be laid off so, is not weighed
                continue
            after = self._allow(joined(used, cards), jokers + filling, leaves)
            if after:
                return True
            if after is None:
                allowed = None
        return allowed

    def allows_lay_off(self, meld: Meld, card: Card) -> bool | None:
        """Whether the turn can be finished after the card is laid off on this meld of the table, if that is known."""
        used, jokers = (0, 1) if card == JOKER else (1 << card, 0)
        if used & self.must and card == self.melded_only:
            return None
        more, settled = max(0, self.owed_jokers - jokers), used & self.must
        if more > self.room:
            return None
        allowed = self._allow(used, jokers, self.leaves + more)
        if allowed:
            places = self.planner.places[meld.id]
            known = [
                gone
                for gone, left, taken in self._book(settled).spares
                if not (used & gone or taken & places or jokers > left)
                and self._left_by(gone) + left - 1 >= self.leaves + more
            ]
            return True if known else None
        near = self.owed_ranks if meld.kind is Kind.SET else self.owed_suits
        face = meld.placed[0].face
        return None if (rank_of(face) if meld.kind is Kind.SET else suit_of(face)) in near else allowed

    def allows_all(self, used: Mask, jokers: int) -> bool:
        """Whether the turn can surely be finished after any meld of these natural cards and jokers."""
        if used & self.must or self.leaves or self.owed_jokers or self.state.first_play:
            return False
        return bool(self._allow(used, jokers, 0))

    def needs_jokers(self, beside: Mask, jokers: int) -> bool:
        """Whether so many jokers are needed for what is owed, whatever is done with these cards."""
        if self.planner.is_partial or self._allow(0, jokers, 0) is not False:
            return False
        settled = beside & self.must
        key = (settled, jokers)
        if key not in self.needed:
            known = any([jokers <= left for _, left, _ in self._book(settled).spares])
            rest = less(self.must, settled)
            plan = None if known else self._plan(self.hand, self.jokers - jokers, rest)
            self.needed[key] = not (known or plan is not None)
        return self.needed[key]

    def _allow(self, used: Mask, jokers: int, leaves: int) -> bool | None:
        """Whether all that is owed can be used, these cards of the hand being used already, and so many cards left."""
        if not leaves:
            used &= self.relevant
        key = (used << _FOR_JOKERS | jokers) << _FOR_JOKERS | leaves
        if key not in self.known:
            self.known[key] = self._judge(used, jokers, leaves)
        return self.known[key]

    def _judge(self, used: Mask, jokers: int, leaves: int) -> bool | None:
        settled = used & self.must
        book = self._book(settled)
        no = None if self.planner.is_partial else False
        others = ~used
        for core, needed in book.cores:
            if not core & others and needed <= jokers:
                return no
        spares, covered = book.spares, False
        for number, (gone, left, _) in enumerate(spares):
            if not used & gone and jokers <= left:
                if not leaves or self._left_by(gone) + left - used.bit_count() - jokers >= leaves:
                    if number:
                        spares[0], spares[number] = spares[number], spares[0]
                    return True
                covered = True
        if covered:
            return None
        if self._decide(used, jokers, settled):
            gone, left, _ = spares[-1]
            return True if self._left_by(gone) + left - used.bit_count() - jokers >= leaves else None
        book.cores.append(self._core(used, jokers, settled))
        return no

    def _left_by(self, gone: Mask) -> int:
        return (self.hand & ~gone).bit_count()

    def _run_growth(self, faces: tuple[Card, ...], jokers: int) -> Sequence[tuple[Mask, int]]:
        """What more may be laid on a run of these faces so that it uses cards that are owed."""
        if suit_of(faces[0]) not in self.owed_suits:
            return ()
        key = (faces[0], len(faces))
        grown = self.growth.get(key)
        if grown is None:
            grown = self.growth[key] = tuple(self._grown_run(faces))
        return [use for use in grown if use[1] + jokers <= self.jokers] if grown else ()

    def _set_growth(self, faces: tuple[Card, ...], used: Mask) -> Sequence[tuple[Mask, int]]:
        """The same for a set, these natural cards used."""
        return tuple(self._grown_set(faces, used)) if rank_of(faces[0]) in self.owed_ranks else ()

    def _grown_set(self, faces: tuple[Card, ...], used: Mask) -> Iterator[tuple[Mask, int]]:
        """Some of the cards owed that fit the set."""
        sets, rank = self.catalogue.sets, rank_of(faces[0])
        room = self.catalogue.largest_set - len(faces)
        owed = [card for card in cards_of(less(self.must, used)) if rank_of(card) == rank]
        if not sets.identical:
            owed = [card for card in set(owed) if card not in faces]
        for size in range(1, min(room, len(owed)) + 1):
            for cards in set(combinations(owed, size)):
                yield hand_of(cards), 0

    def _grown_run(self, faces: tuple[Card, ...]) -> Iterator[tuple[Mask, int]]:
        """The cards that lead from an end of the run, or from both, to one that is owed. The run has none of them."""
        shift = suit_of(faces[0]) * LANE_BITS
        lane, owed = self.hand >> shift & LANE, self.must >> shift & LANE
        lows, highs = self.uses.on_run(rank_of(faces[0]), len(faces), lane=lane, owed=owed, jokers=self.jokers)
        for low, low_jokers, low_taken in ((0, 0, 0), *lows):
            for high, high_jokers, high_taken in ((0, 0, 0), *highs):
                if (low or high) and not low_taken & high_taken:
                    yield (low | high) << shift, low_jokers + high_jokers

    def _book(self, settled: Mask) -> Book:
        book = self.books.get(settled)
        if book is None:
            book = self.books[settled] = Book()
            if settled == self.must:
                book.add((~self.hand, self.jokers, 0))
            else:
                for plan in self.plans[-_LOOKED_AT:]:
                    self._note(plan, settled, book)
        return book

    def _note(self, plan: list[Use], settled: Mask, book: Book) -> None:
        """Writes down what the plan leaves over if the settled cards are used elsewhere, if that can be."""
        left, jokers, unmet, taken = self.hand, self.jokers, less(self.must, settled), 0
        for cards, missing, places in plan:
            if cards & unmet & DISTINCT:
                if cards & ~left:
                    return
                left, unmet, jokers, taken = less(left, cards), less(unmet, cards), jokers - missing, taken | places
        if not unmet and not settled & ~left:
            book.add((~left, jokers, taken))

    def _decide(self, used: Mask, jokers: int, settled: Mask) -> bool:
        """Whether what is owed beside the settled cards can be used without the used ones; notes the plan."""
        plan = self._plan(less(self.hand, used), self.jokers - jokers, less(self.must, settled))
        if plan is None:
            return False
        self.plans.append(plan)
        self._note(plan, settled, self._book(settled))
        return True

    def _plan(self, hand: Mask, jokers: int, must: Mask) -> list[Use] | None:
        """A plan, rather one that is like the last."""
        if self.plans:
            plan = self.planner.plan_for(hand, jokers, must, patience=REPAIR, begun=self.plans[-1])
            if plan is not None:
                return plan
        return self.planner.plan_for(hand, jokers, must, patience=None)

    def _core(self, used: Mask, jokers: int, settled: Mask) -> tuple[Mask, int]:
        """The used cards without those that change nothing, rather jokers than others."""
        if jokers and not self._may(settled, jokers, settled):
            used = settled
        elif jokers and not self._may(used, 0, settled):
            jokers = 0
        for card in cards_of(less(used, settled)):
            fewer = less(used, 1 << card)
            if not self._may(fewer, jokers, settled):
                used = fewer
        while jokers and not self._may(used, jokers - 1, settled):
            jokers -= 1
        return used, jokers

    def _may(self, used: Mask, jokers: int, settled: Mask) -> bool:
        """As `_decide`, by the plans that are known, if they can tell."""
        known = [True for gone, left, _ in self._book(settled).spares if not used & gone and jokers <= left]
        return bool(known) or self._decide(used, jokers, settled)


def jokers_fit(melds: list[Meld]) -> int:
    """How many jokers some run of the table takes beside the cards of a plan."""
    return max([_room_of(meld.length) for meld in melds if meld.kind is Kind.RUN], default=0)


def must_leave(rules: Rules, state: TurnState) -> int:
    """With how many cards in hand a turn that owes nothing can surely be ended; 0: with none too."""
    banned = 0 if state.banned is None else count(state.hand, state.banned)
    match rules.going_out:
        case GoingOut.DISCARD_UNPLAYABLE:
            return 2 + banned
        case GoingOut.DISCARD:
            return 1 + banned
        case GoingOut.ANY | GoingOut.FLOATING:
            return 1 + banned if banned else 0


def _room_of(length: int) -> int:
    """How many jokers a run so long surely takes beside the cards of a plan."""
    return max(0, LONGEST_RUN - length - 2 * LONGEST_CHAIN)


def is_run(use: Use) -> bool:
    """Whether the use is a new run, or can be one: it takes more jokers than a hand has."""
    cards, _, taken = use
    lane = cards >> (cards & -cards).bit_length() - 1 & LANE
    return not taken and lane == cards >> (cards & -cards).bit_length() - 1
