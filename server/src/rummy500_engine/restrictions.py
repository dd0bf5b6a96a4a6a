"""What the rules of a table forbid although the cards fit: duties, minimums, ways of going out, vetoes, dead ends.

Each `*_refusal` answers None or why the play is refused. The quick answers for plain tables come first; the exact
search (`finish`) is asked only where they do not settle the matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rummy500_engine.actions import Action, End, LayMeld, LayOff
from rummy500_engine.cards import (
    DISTINCT,
    JOKER,
    JOKER_BIT,
    Card,
    Mask,
    card_text,
    cards_of,
    cards_text,
    count,
    hand_of,
    less,
    remove,
)
from rummy500_engine.endings import dead_end_on_copy, turn_state, veto
from rummy500_engine.finish import can_finish
from rummy500_engine.first_melds import FirstMelds
from rummy500_engine.melds import Meld, Shape
from rummy500_engine.plans import Plans, decides, reaches_minimum
from rummy500_engine.refusals import Refusal, Refused
from rummy500_engine.takes import is_usable
from rummy500_engine.terms import GoingOut
from rummy500_engine.turn import Fit, Move, can_lay_off_on

if TYPE_CHECKING:
    from rummy500_engine.round import Round


def meld_refusal(round: Round, seat: int, meld: LayMeld, *, shape: Shape | None = None) -> Refused | None:
    """Why a meld whose cards the hand holds is refused; `shape` is its reading, if it is known already."""
    rules = round.rules
    if round.first_play and round.target is not None and round.target not in meld.cards:
        return Refused(Refusal.MUST_USE_TAKEN_CARD, f"the first play must contain {card_text(round.target)}")
    used = hand_of(meld.cards)
    hand = less(round.hands[seat], used)
    must = less(round.must_use, used) if round.must_use else 0
    if rules.plain and _finishes_plainly(round, seat, hand=hand, must=must, melds=round.melds):
        return None
    shape = shape or rules.catalogue.readings(meld)[0]
    laid = rules.catalogue.meld(len(round.melds) + 1, shape, seat)
    melds = (*round.melds, laid)
    if rules.plain:
        finishes = _finishes_plainly(round, seat, hand=hand, must=must, melds=melds)
        if finishes is not None:
            return None if finishes else _strands(round, must)
    first = rules.first_meld
    points = round.points_of(laid)
    if first.minimum and first.single and not round.opened[seat] and points < first.minimum:
        return Refused(Refusal.BELOW_MINIMUM, f"the first meld must reach {first.minimum} points, this is {points}")
    refused = veto(round, seat, meld)
    if refused is not None:
        return refused
    return _stranding(round, seat, hand=hand, must=must, melds=melds, points=points, action=meld, move=shape)


def is_lone_duty(round: Round, seat: int) -> bool:
    """Whether one natural card is owed and no joker could help: a look at what is left tells about each meld."""
    return round.must_use.bit_count() == 1 and not (round.hands[seat] & JOKER_BIT)


def sure_size(round: Round, seat: int) -> int:
    """How large a meld may be that surely leaves a discard to end the turn with; 0 where the search has to say."""
    rules = round.rules
    if round.must_use or rules.vetoes:
        return 0
    if rules.first_meld.minimum > 0 and round.opened[seat] == len(round.laid):
        return 0
    hand = round.hands[seat]
    loose = hand.bit_count() if round.banned is None else hand.bit_count() - count(hand, round.banned)
    return loose - (2 if rules.going_out is GoingOut.DISCARD_UNPLAYABLE else 1)


def plans_for(round: Round, seat: int) -> Plans | FirstMelds | None:
    """What tells of many melds at once whether the turn can be finished after them, where it applies."""
    rules, must = round.rules, round.must_use
    first = rules.first_meld
    if rules.vetoes or (rules.plain and round.banned is None and is_lone_duty(round, seat)):
        return None
    if not must and (first.minimum <= 0 or round.opened[seat] > len(round.laid)):
        return None
    state = turn_state(round, seat, hand=round.hands[seat], must=must, melds=tuple(round.melds), points=None)
    if reaches_minimum(rules, state):
        return Plans(rules, state) if must and decides(rules, state) else None
    if must and not decides(rules, state):
        return None
    return FirstMelds(rules, state, Plans(rules, state) if must else None)


def lay_off_refusal(
    round: Round,
    seat: int,
    meld: Meld,
    card: Card,
    *,
    face: Card,
    end: End | None,
    plans: Plans | FirstMelds | None = None,
) -> Refused | None:
    """Why a lay-off that fits is refused; `plans` for the turn may tell at once."""
    rules = round.rules
    if not can_lay_off_on(rules, seat, meld):
        return Refused(Refusal.OWN_MELDS_ONLY, f"m{meld.id} is another side's: lay off on your own melds")
    if rules.first_meld.required and not round.opened[seat]:
        return Refused(Refusal.MUST_MELD_FIRST, "lay a meld of your own in this round before you lay off")
    if round.first_play and round.target is not None and card != round.target:
        return Refused(Refusal.MUST_USE_TAKEN_CARD, f"the first play must contain {card_text(round.target)}")
    must = round.must_use
    if plans is not None:
        allowed = plans.allows_lay_off(meld, card)
        if allowed:
            return None
        if allowed is False and not rules.actions:
            return _strands(round, must)
    hand = remove(round.hands[seat], card)
    if not (rules.take_duty.new_meld and card == round.target):
        must = less(must, 1 << card) if must else 0
    before, behind = round.melds[: meld.id - 1], round.melds[meld.id :]
    if rules.plain and _finishes_plainly(round, seat, hand=hand, must=must, melds=before + behind):
        return None
    grown = rules.catalogue.extended(meld, card=card, face=face, seat=seat, end=end)
    melds = (*before, grown, *behind)
    if rules.plain:
        finishes = _finishes_plainly(round, seat, hand=hand, must=must, melds=melds)
        if finishes is not None:
            return None if finishes else _strands(round, must)
    action = LayOff(card, meld.id, end, face if card == JOKER else None)
    refused = veto(round, seat, action)
    if refused is not None:
        return refused
    return _stranding(round, seat, hand=hand, must=must, melds=melds, points=None, action=action, move=Fit(face, end))


def _finishes_plainly(round: Round, seat: int, *, hand: Mask, must: Mask, melds: Sequence[Meld]) -> bool | None:
    """Whether the turn can be finished, at a plain table, where that is plain to see; None: the search has to say."""
    banned = round.banned
    if not must:
        if not hand or banned is None or hand & DISTINCT & ~(1 << banned):
            return True
        must = hand  # with nothing to discard, all of it has to go
    if must.bit_count() > 1 or (banned is not None and (round.rules.twins or not must >> banned & 1)):
        return None
    owed = must.bit_length() - 1
    return bool(hand >> owed & 1) and is_usable(round, seat, hand=hand, card=owed, melds=melds)


def _stranding(
    round: Round,
    seat: int,
    *,
    hand: Mask,
    must: Mask,
    melds: tuple[Meld, ...],
    points: int | None,
    action: Action,
    move: Move,
) -> Refused | None:
    """The refusal if the turn could not be finished after this play; it says which rule could not be kept."""
    rules = round.rules
    if rules.vetoes:
        if dead_end_on_copy(round, seat, action, move):
            return Refused(Refusal.TAKEN_CARD_WOULD_STRAND, "after this play the turn could not be ended at this table")
        return None
    state = turn_state(round, seat, hand=hand, must=must, melds=melds, points=points)
    if can_finish(rules, state) or (rules.actions and not dead_end_on_copy(round, seat, action, move)):
        return None
    if rules.plain or not can_finish(rules.unlimited, state):
        return _strands(round, must)
    least = rules.first_meld.minimum
    if least and not can_finish(rules.free_going_out, state):
        return Refused(Refusal.BELOW_MINIMUM, f"the first melds could not reach {least} points in this turn")
    return Refused(Refusal.MUST_KEEP_A_DISCARD, "after this play no legal discard could be left to go out with")


def _strands(round: Round, must: Mask) -> Refused:
    banned = round.banned
    what = cards_text(cards_of(must)) if must else card_text(banned) if banned is not None else "the hand"
    return Refused(Refusal.TAKEN_CARD_WOULD_STRAND, f"after this play {what} could not be used as it must")
