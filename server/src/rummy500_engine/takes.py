"""Which takes from the pile leave a turn that can be finished (RULES 1.5, 1.6, 1.9, 1.10)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rummy500_engine.actions import Take
from rummy500_engine.cards import DISTINCT, JOKER_BIT, Card, Mask, add, hand_of
from rummy500_engine.endings import dead_end_on_copy
from rummy500_engine.finish import can_finish, can_reach, reachable
from rummy500_engine.melds import Meld
from rummy500_engine.pieces import pieces_of
from rummy500_engine.take_plans import TakePlans
from rummy500_engine.turn import TurnState, can_lay_off_on

if TYPE_CHECKING:
    from rummy500_engine.round import Round


def duty_of(round: Round, index: int) -> Mask:
    """What must be used this turn of the cards from this place of the pile up (RULES 1.6, 1.9)."""
    if not round.stock and round.rules.owes_all:
        must = 0
        for card in round.pile[index:]:
            must = add(must, card)
        return must
    if index < len(round.pile) - 1 or round.rules.take_duty.top_too:
        return 1 << round.pile[index]
    return 0


def usable_takes(round: Round, seat: int) -> list[int]:
    """The places of the pile, top first, from which a take leaves a turn that can be finished."""
    hand, pile, rules = round.hands[seat], round.pile, round.rules
    if not pile or (not hand and rules.floating):
        return []
    top = len(pile) - 1
    if not rules.plain or rules.take_duty.top_too:
        return [index for index in range(top, -1, -1) if can_take(round, seat, index)]
    if not round.stock and rules.owes_all:
        return list(_takes_that_owe_all(round, seat))
    card = pile[top]
    hand = add(hand, card)
    usable = [top] if hand & DISTINCT & ~(1 << card) or can_take(round, seat, top) else []
    if not top:
        return usable
    below = 0
    for card in pile[:top]:
        below |= 1 << card
    with_pile = hand | below
    if rules.twins:
        with_pile = hand
        for card in pile[:top]:
            with_pile = add(with_pile, card)
    candidates = _usable(round, seat, with_pile)
    if candidates & below:
        for index in range(top - 1, -1, -1):
            card = pile[index]
            hand = add(hand, card) if rules.twins else hand | 1 << card
            if candidates >> card & 1 and is_usable(round, seat, hand=hand, card=card, melds=round.melds):
                usable.append(index)
    return usable


def has_usable_take(round: Round, seat: int) -> bool:
    rules = round.rules
    if rules.plain and not rules.take_duty.top_too and not rules.floating and not round.stock and rules.owes_all:
        return any(True for _ in _takes_that_owe_all(round, seat))
    return bool(usable_takes(round, seat))


def _usable(round: Round, seat: int, hand: Mask) -> Mask:
    """The faces of the hand of which one can be melded or laid off now, other cards helping; with jokers, at least
    those."""
    if hand & JOKER_BIT:
        return DISTINCT
    usable = round.rules.catalogue.meldable(hand)
    if hand & round.fits:
        usable |= reachable(round.rules, seat, hand, round.melds)
    return usable


def is_usable(round: Round, seat: int, *, hand: Mask, card: Card, melds: Sequence[Meld]) -> bool:
    """Whether this card of the hand can be melded or laid off, other cards helping; exact at a plain table."""
    rules = round.rules
    if not hand & JOKER_BIT:
        return rules.catalogue.can_meld(hand, card) or can_reach(rules, seat, hand=hand, card=card, melds=melds)
    return pieces_of(rules).can_use(hand, card, [meld for meld in melds if can_lay_off_on(rules, seat, meld)])


def _takes_that_owe_all(round: Round, seat: int) -> Iterator[int]:
    """As `usable_takes` at a plain table where every card taken must be used."""
    rules, top = round.rules, len(round.pile) - 1
    hand, owed = round.hands[seat], 0
    plans: TakePlans | None = None
    for index in range(top, -1, -1):
        card = round.pile[index]
        hand = add(hand, card)
        owed = add(owed, card)
        if owed & DISTINCT & ~_usable(round, seat, hand) and not rules.actions:
            continue
        if index == top:
            if can_take(round, seat, index):
                yield index
            continue
        if plans is None:  # most piles are told apart before it is needed
            melds = [meld for meld in round.melds if can_lay_off_on(rules, seat, meld)]
            plans = TakePlans(rules, melds, hand=_hand_after(round, seat, 0), pile=hand_of(round.pile))
        allowed = plans.allow(hand, owed)
        if allowed or ((allowed is None or rules.actions) and can_take(round, seat, index)):
            yield index


def can_take(round: Round, seat: int, index: int) -> bool:
    """Whether the turn could be finished after taking from this place of the pile up."""
    rules = round.rules
    if not rules.vetoes:
        usable = _is_plainly_usable(round, seat, index, hand=_hand_after(round, seat, index))
        if usable or (usable is None and _can_finish_take(round, seat, index)):
            return True
        if not rules.actions:
            return False
    return not dead_end_on_copy(round, seat, Take(round.pile[index], index + 1), index)


def _hand_after(round: Round, seat: int, index: int) -> Mask:
    hand = round.hands[seat]
    for card in round.pile[index:]:
        hand = add(hand, card)
    return hand


def _is_plainly_usable(round: Round, seat: int, index: int, *, hand: Mask) -> bool | None:
    """Whether the take that leads to this hand is usable, where that is plain to see; None: the search has to say."""
    if not round.rules.plain:
        return None
    target, must = round.pile[index], duty_of(round, index)
    if not must and hand & DISTINCT & ~(1 << target):
        return True
    if must.bit_count() == 1 and (index < len(round.pile) - 1 or not round.rules.twins):
        return is_usable(round, seat, hand=hand, card=target, melds=round.melds)
    return False if must & DISTINCT & ~_usable(round, seat, hand) else None


def _can_finish_take(round: Round, seat: int, index: int) -> bool:
    """Whether a turn that begins with this take can be finished."""
    hand = _hand_after(round, seat, index)
    if _is_plainly_usable(round, seat, index, hand=hand) is False:
        return False
    must = duty_of(round, index)
    duty = round.rules.take_duty
    state = TurnState(
        seat=seat,
        hand=hand,
        must=must,
        target=round.pile[index],
        banned=round.pile[index] if index == len(round.pile) - 1 else None,
        melds=tuple(round.melds),
        melded=bool(round.opened[seat]),
        first_play=duty.first_play and bool(must),
        new_meld=duty.new_meld,
    )
    return can_finish(round.rules, state)
