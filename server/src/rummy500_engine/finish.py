"""Whether a turn can still be finished by the rules of its table (RULES 1.10), decided exactly.

A turn is finished by a legal discard or by an empty hand, after every card that must be used has been. The search picks
the card of the duty with the fewest uses and tries each use: a meld of it, or a chain of lay-offs that reaches it.
Since a plan's melds are disjoint, some order of plays carries out every plan found, and no plan is missed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rummy500_engine.cards import DISTINCT, JOKER, LANE_BITS, NATURALS, Card, Mask, cards_of, remove, suit_of, without
from rummy500_engine.first_melds import FirstMelds
from rummy500_engine.meld_catalogue import MeldCatalogue
from rummy500_engine.melds import Kind, Meld
from rummy500_engine.minimum import Reach, reach_of
from rummy500_engine.pieces import pieces_of
from rummy500_engine.plans import Plans, decides, reaches_minimum
from rummy500_engine.rules import Rules
from rummy500_engine.terms import GoingOut
from rummy500_engine.turn import TurnState, can_lay_off_on, fits_some_meld


def reachable(rules: Rules, seat: int, hand: Mask, melds: Iterable[Meld]) -> Mask:
    """The natural faces of the hand that can be laid off, directly or after others of the hand on the same end."""
    found = 0
    for meld in melds:
        hits = hand & meld.fits & NATURALS
        if hits and can_lay_off_on(rules, seat, meld):
            found |= hits
            if meld.kind is Kind.RUN:
                found |= _chain(rules.catalogue, hand, meld)
    return found


def can_reach(rules: Rules, seat: int, *, hand: Mask, card: Card, melds: Iterable[Meld]) -> bool:
    """Whether this natural card of the hand can be laid off: as `reachable`, for one card."""
    for meld in melds:
        if not hand & meld.fits or not can_lay_off_on(rules, seat, meld):
            continue
        if meld.fits >> card & 1:
            return True
        near = meld.kind is Kind.RUN and suit_of(meld.placed[0].face) == suit_of(card)
        if near and _chain(rules.catalogue, hand, meld) >> card & 1:
            return True
    return False


def _chain(catalogue: MeldCatalogue, hand: Mask, meld: Meld) -> Mask:
    """The faces that lead away from the ends of a run without a gap in the hand."""
    shift = suit_of(meld.placed[0].face) * LANE_BITS
    lane = hand >> shift
    lowest, highest = catalogue.free_positions(meld.start, meld.length)
    chain = 0
    position = meld.start - 1
    while position >= lowest and lane >> position % 13 & 1:
        chain |= 1 << position % 13
        position -= 1
    position = meld.start + meld.length
    while position <= highest and lane >> position % 13 & 1:
        chain |= 1 << position % 13
        position += 1
    return chain << shift


def can_finish(rules: Rules, state: TurnState) -> bool:
    if state.must and decides(rules, state):
        plans = Plans(rules, state)
        finishes, reached = plans.can_finish(), reaches_minimum(rules, state)
        if finishes is False or (finishes and reached):
            return finishes
        if finishes and not state.first_play and FirstMelds(rules, state, plans).can_finish():
            return True
    return Search(rules).finished(state) is not None


class Search:
    """One depth-first search; positions already found dead are remembered."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.catalogue = rules.catalogue
        self.pieces = pieces_of(rules)
        self.reach = reach_of(rules) if rules.first_meld.minimum > 0 else None
        self.dead: set[object] = set()

    def finished(self, state: TurnState) -> TurnState | None:
        """The turn after plays that meet its duties, so that it may end; None if there are none."""
        if state.must & ~state.hand:
            return None
        if not state.must and self.can_stop(state):
            return state
        if self.reach is not None and self._misses_minimum(state, self.reach):
            return None
        key = self._key(state)
        if key in self.dead:
            return None
        for after in self._continuations(state):
            end = self.finished(after)
            if end is not None:
                return end
        self.dead.add(key)
        return None

    def _key(self, state: TurnState) -> object:
        """What the rest of the turn depends on. Melds of one's own laid in the plan count by what they take."""
        takes = tuple(sorted([(meld.fits, meld.start, meld.length, meld.opener) for meld in state.melds]))
        return (*state[1:5], takes, *state[7:12])

    def can_stop(self, state: TurnState) -> bool:
        """Whether the turn may end here: by a discard, or because the hand is empty."""
        rules = self.rules
        if rules.first_meld.required and state.lays_off and not (state.melded or state.laid):
            return False
        if not state.melded and state.laid and self._below_minimum(state):
            return False
        if not state.hand:
            return rules.going_out in (GoingOut.ANY, GoingOut.FLOATING)
        distinct = state.hand & DISTINCT
        if state.banned is not None:
            distinct &= ~(1 << state.banned)
        if not distinct:
            return False
        if rules.going_out is GoingOut.DISCARD_UNPLAYABLE and state.hand.bit_count() == 1:
            return not fits_some_meld(state.melds, cards_of(state.hand)[0])
        return True

    def _below_minimum(self, state: TurnState) -> bool:
        first = self.rules.first_meld
        return bool(first.minimum) and (state.best if first.single else state.laid_points) < first.minimum

    def _misses_minimum(self, state: TurnState, reach: Reach) -> bool:
        """Whether the first melds of this turn, if there have to be any, stay below the minimum whatever is laid."""
        first = self.rules.first_meld
        if state.melded or not (state.laid or (state.must and first.required)) or not self._below_minimum(state):
            return False
        return not reach.can_reach(state.hand, first.minimum - (0 if first.single else state.laid_points))

    def _continuations(self, state: TurnState) -> Iterator[TurnState]:
        must = state.must
        if not must and state.banned is not None and not (state.hand & DISTINCT & ~(1 << state.banned)):
            must = state.hand
        if state.first_play and state.target is not None:
            yield from self.uses(state, state.target, chains=False)
        elif must:
            card = self._hardest(state, must)
            if card is not None:
                yield from self.uses(state, card, chains=True)
        elif state.laid and not state.melded and self._below_minimum(state):
            for card in sorted(set(cards_of(state.hand)), key=lambda card: -self.rules.placed_points[card]):
                yield from self._melds_with(state, card)  # lay-offs count nothing, and can wait
        else:
            for card in set(cards_of(state.hand)):
                yield from self.uses(state, card, chains=False)

    def _hardest(self, state: TurnState, must: Mask) -> Card | None:
        """The card owed with the fewest uses, jokers last; None: some card has none."""
        open_melds = [meld for meld in state.melds if can_lay_off_on(self.rules, state.seat, meld)]
        hardest, fewest = None, 0
        for card in cards_of(must & NATURALS):
            uses = self.pieces.count_uses(state.hand, card, open_melds)
            if not uses:
                return None
            if hardest is None or uses < fewest:
                hardest, fewest = card, uses
        return JOKER if hardest is None else hardest

    def uses(self, state: TurnState, card: Card, *, chains: bool) -> Iterator[TurnState]:
        """The turn after each play that uses the card; with `chains`, after lay-offs that lead up to it too."""
        if card == JOKER:
            yield from self._lay_offs_with(state, card, chains=chains)
            yield from self._melds_with(state, card)
        else:
            yield from self._melds_with(state, card)
            yield from self._lay_offs_with(state, card, chains=chains)

    def _lay_offs_with(self, state: TurnState, card: Card, *, chains: bool) -> Iterator[TurnState]:
        if state.new_meld and card == state.target and state.must >> card & 1:
            return
        if state.first_play and self.rules.first_meld.required and not (state.melded or state.laid):
            return
        for index, meld in enumerate(state.melds):
            if not can_lay_off_on(self.rules, state.seat, meld):
                continue
            for grown in self.pieces.lay_offs_with(state.hand, meld, card, chains=chains):
                used = [placed.card for placed in grown.placed[len(meld.placed) :]]
                melds = (*state.melds[:index], grown, *state.melds[index + 1 :])
                yield self._without(state, used, new_meld=False)._replace(melds=melds, lays_off=True)

    def _melds_with(self, state: TurnState, card: Card) -> Iterator[TurnState]:
        first = self.rules.first_meld
        for meld in self.pieces.melds_with(state.hand, card):
            shape = self.catalogue.readings(meld)[0]
            laid = self.catalogue.meld(len(state.melds) + 1, shape, state.seat)
            after = self._without(state, meld.cards, new_meld=True)
            if self.pieces.lean and not state.must >> JOKER & 1:
                yield after._replace(own=(*state.own, laid), laid=True)
                continue
            points = sum(self.rules.card_points(placed.card, placed.face, placed.low) for placed in laid.placed)
            if first.single and state.first_play and not state.melded and not state.laid and points < first.minimum:
                continue
            yield after._replace(
                melds=(*state.melds, laid),
                laid=True,
                laid_points=min(state.laid_points + points, max(first.minimum, 0)),
                best=min(max(state.best, points), max(first.minimum, 0)),
            )

    def _without(self, state: TurnState, used: Sequence[Card], *, new_meld: bool) -> TurnState:
        must = state.must
        if must:
            for card in used:
                meets = new_meld or card != state.target or not state.new_meld
                if meets and must >> card & 1:
                    must = remove(must, card)
        hit = state.target is not None and state.target in used
        return state._replace(hand=without(state.hand, used), must=must, first_play=state.first_play and not hit)
