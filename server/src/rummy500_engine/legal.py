"""The single source of legality: `legal_actions` lists exactly what `verify` accepts (ARCHITECTURE law 2).

Checks come in the order of NOTATION: round, unknown action, seat, phase, cards, fit, then the rules of the table
(`restrictions`), and last whether the turn could still be finished (RULES 1.10).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

from rummy500_engine.actions import (
    DISCARDS,
    DRAW,
    PASS,
    TAKES,
    Action,
    Call,
    Discard,
    Draw,
    LayMeld,
    LayOff,
    Pass,
    Take,
    VariantAction,
    lay_off,
)
from rummy500_engine.cards import (
    DISTINCT,
    JOKER,
    JOKER_BIT,
    LANE_BITS,
    NATURALS,
    Card,
    Mask,
    card_text,
    cards_of,
    cards_text,
    hand_of,
    holds,
    less,
)
from rummy500_engine.endings import below_minimum, dead_end_on_copy, discard_refusal
from rummy500_engine.first_melds import FirstMelds
from rummy500_engine.melds import Shape
from rummy500_engine.plans import Plans
from rummy500_engine.readings import canonical, lay_off_readings, one_reading
from rummy500_engine.refusals import Refusal, Refused
from rummy500_engine.restrictions import lay_off_refusal, meld_refusal, plans_for, sure_size
from rummy500_engine.takes import can_take, duty_of, usable_takes
from rummy500_engine.terms import GoingOut, Phase
from rummy500_engine.turn import Fit, Move, can_lay_off_on

if TYPE_CHECKING:
    from rummy500_engine.round import Round

# Bound once: looking up an enum member on its class costs as much as a call.
_DRAW: Final = Phase.DRAW
_PLAY: Final = Phase.PLAY
_OVER: Final = Phase.OVER

LISTED_AT_MOST: Final = 2_000
"""A listing stops here (API law 6) unless more is asked for."""


def legal_actions(round: Round, seat: int, *, limit: int = LISTED_AT_MOST) -> list[Action]:
    """What the seat may do now, each action once, in canonical form; at most `limit` of them."""
    if round.poll is not None:
        answers = list(islice(_poll_actions(round, seat), limit))
        if _may_draw_meanwhile(round, seat):
            answers += _draws(round, seat)
        return answers[:limit]
    if seat != round.turn or round.phase is _OVER:
        return []
    if round.phase is _DRAW:
        return _draws(round, seat)
    free = round.rules.plain and not round.must_use and round.banned is None
    plans = None if free else plans_for(round, seat)
    actions = _plays(round, seat, free=free, plans=plans)
    if round.hands[seat] & JOKER_BIT:
        actions += islice(_joker_plays(round, seat, free=free, plans=plans), max(0, limit - len(actions)))
    return actions


def _draws(round: Round, seat: int) -> list[Action]:
    stock = bool(round.stock)
    actions: list[Action] = [DRAW] if stock else []
    pile = round.pile
    usable = usable_takes(round, seat)
    if not round.rules.twins:
        actions += [TAKES[pile[index]] for index in usable]
    else:
        for index in usable:
            card = pile[index]
            actions.append(Take(card, index + 1) if card in pile[index + 1 :] else TAKES[card])
    if not stock:
        actions.append(PASS)
    return actions


def _plays(round: Round, seat: int, *, free: bool, plans: Plans | FirstMelds | None) -> list[Action]:
    """Plays without jokers, and discards."""
    rules, hand = round.rules, round.hands[seat]
    actions: list[Action] = []
    melds = rules.catalogue.natural_melds(hand)
    sure = 0
    if free:
        actions += melds
    elif plans is not None:
        planned = PlannedMelds(round, seat, plans)
        actions += [meld for meld in melds if planned.wants_each(meld.cards, (hand_of(meld.cards),), 0)[0]]
    else:
        sure = sure_size(round, seat)
        actions += [meld for meld in melds if len(meld.cards) <= sure or meld_refusal(round, seat, meld) is None]
    if hand & round.fits & NATURALS:
        actions += _lay_offs(round, seat, free=free or (rules.plain and sure > 0), plans=plans)
    if rules.actions:
        actions += _variant_actions(round, seat)
    actions += _discards(round, seat)
    return actions


class PlannedMelds:
    """Which melds of the hand may be laid, by the plans for the turn; what they cannot tell is tried out."""

    def __init__(self, round: Round, seat: int, plans: Plans | FirstMelds) -> None:
        self.round, self.seat, self.plans = round, seat, plans

    def wants_none(self, owed: Mask, jokers: int) -> bool:
        return not self.round.rules.actions and self.plans.needs_jokers(owed, jokers)

    def wants_all(self, used: Mask, jokers: int) -> bool:
        return self.plans.allows_all(used, jokers)

    def wants_each(self, faces: tuple[Card, ...], hands: Sequence[Mask], jokers: int) -> list[bool | None]:
        allowed = self.plans.allows_each(faces, hands, jokers)
        more = bool(self.round.rules.actions)
        if more or None in allowed:
            for number, each in enumerate(allowed):
                if each is None or (more and not each):
                    allowed[number] = self._is_legal(faces, hands[number], jokers)
        return allowed

    def _is_legal(self, faces: tuple[Card, ...], used: Mask, jokers: int) -> bool:
        cards, left = [], used
        for face in faces:
            cards.append(face if left >> face & 1 else JOKER)
            left = less(left, 1 << face)
        return meld_refusal(self.round, self.seat, LayMeld(tuple(cards), faces if jokers else ())) is None


def _lay_offs(round: Round, seat: int, *, free: bool, plans: Plans | FirstMelds | None) -> list[LayOff]:
    hand = round.hands[seat]
    found: list[LayOff] = []
    for meld in round.melds:
        hits = hand & meld.fits & NATURALS
        if not hits or not can_lay_off_on(round.rules, seat, meld):
            continue
        for card in cards_of(hits):
            ends = meld.ends_taking(card)
            for end in ends:
                if free or lay_off_refusal(round, seat, meld, card, face=card, end=end, plans=plans) is None:
                    found.append(lay_off(card, meld.id, end if len(ends) > 1 else None))
    return found


def _joker_plays(round: Round, seat: int, *, free: bool, plans: Plans | FirstMelds | None) -> Iterator[Action]:
    """Plays with jokers, the few lay-offs before the many melds."""
    for laid in round.melds:
        if not can_lay_off_on(round.rules, seat, laid):
            continue
        for face in cards_of(laid.fits):
            ends = laid.ends_taking(face)
            for end in ends:
                if free or lay_off_refusal(round, seat, laid, JOKER, face=face, end=end, plans=plans) is None:
                    yield LayOff(JOKER, laid.id, end if len(ends) > 1 else None, face)
    catalogue, hand = round.rules.catalogue, round.hands[seat]
    if free:
        yield from catalogue.joker_melds(hand)
        return
    if plans is not None:
        yield from catalogue.joker_melds(hand, judge=PlannedMelds(round, seat, plans))
        return
    sure = sure_size(round, seat)
    for meld in catalogue.joker_melds(hand):
        if len(meld.cards) <= sure or meld_refusal(round, seat, meld) is None:
            yield meld


_SUIT_DISCARDS: Final[list[list[tuple[Discard, ...] | None]]] = [[None] * (1 << 14) for _ in range(4)]
"""By suit and by the lane of its cards, filled in when asked for. The joker is the fourteenth of spades."""


def _discards(round: Round, seat: int) -> list[Discard]:
    if round.must_use:
        return []
    hand = round.hands[seat] & DISTINCT
    if round.banned is not None:
        hand &= ~(1 << round.banned)
    rules = round.rules
    if not rules.plain:
        if below_minimum(round, seat):
            return []
        if rules.vetoes or rules.going_out is GoingOut.DISCARD_UNPLAYABLE:
            return [DISCARDS[card] for card in cards_of(hand) if discard_refusal(round, seat, card) is None]
    found: list[Discard] = []
    for suit in range(4):
        lane = hand & 0x3FFF
        if lane:
            discards = _SUIT_DISCARDS[suit][lane]
            if discards is None:
                discards = tuple([DISCARDS[card] for card in cards_of(lane << LANE_BITS * suit)])
                _SUIT_DISCARDS[suit][lane] = discards
            found += discards
        hand >>= LANE_BITS
    return found


def _variant_actions(round: Round, seat: int) -> list[VariantAction]:
    offered: list[VariantAction] = []
    for _, ask in round.rules.actions:
        offered += ask(round=round, seat=seat) or ()
    return [action for action in offered if not dead_end_on_copy(round, seat, action, None)]


def _poll_actions(round: Round, seat: int) -> Iterable[Action]:
    poll = round.poll
    if poll is None or seat not in poll.waiting:
        return ()
    answers: Iterable[Action] = round.rules.poll_actions[poll.variant](round=round, seat=seat) or ()
    return answers


def _may_draw_meanwhile(round: Round, seat: int) -> bool:
    """Whether the seat may close the open poll by drawing (RULES 3.4, first_received)."""
    return round.poll is not None and round.poll.draw_closes and seat == round.turn and bool(round.stock)


# --- one action

_PHASE_OF: Final[dict[type, Phase]] = {
    Draw: _DRAW,
    Take: _DRAW,
    Pass: _DRAW,
    LayMeld: _PLAY,
    LayOff: _PLAY,
    Discard: _PLAY,
    VariantAction: _PLAY,
}


def verify(round: Round, seat: int, action: Action) -> Move:
    """What the action means here. Raises Refused if it is not legal."""
    kind = type(action)
    if seat != round.turn or _PHASE_OF.get(kind) is not round.phase or kind is VariantAction:
        _verify_moment(round, seat, action)
        if round.poll is not None and not isinstance(action, Draw | Take):
            return None
    match action:
        case Discard():
            _verify_discard(round, seat, action.card)
        case Draw():
            if not round.stock:
                raise Refused(Refusal.STOCK_EMPTY, "the stock is empty: take from the pile, or pass")
        case Take():
            return _verify_take(round, seat, action)
        case LayMeld():
            return _verify_meld(round, seat, action)
        case LayOff():
            return _verify_lay_off(round, seat, action)
        case Pass():
            if round.stock:
                raise Refused(Refusal.WRONG_PHASE, "there is nothing to decline: draw, or take from the pile")
        case VariantAction():
            _verify_variant_action(round, seat, action)
    return None


def _verify_moment(round: Round, seat: int, action: Action) -> None:
    """Whether an action of this kind may come from this seat now."""
    if round.phase is _OVER:
        raise Refused(Refusal.ROUND_OVER, "the round has ended; wait for the next deal")
    if isinstance(action, VariantAction) and round.rules.verbs.get(action.verb) != action.variant:
        raise Refused(Refusal.UNKNOWN_ACTION, f"there is no action {action.verb!r} at this table")
    if round.poll is not None:
        if not (isinstance(action, Draw | Take) and _may_draw_meanwhile(round, seat)):
            _verify_answer(round, seat, action)
        return
    if isinstance(action, Call):
        raise Refused(Refusal.NO_CALL_OPEN, "no call window is open")
    if seat != round.turn:
        raise Refused(Refusal.NOT_YOUR_TURN, f"seat {round.turn} is to act, not seat {seat}")
    if _PHASE_OF[type(action)] is not round.phase:
        wanted = "draw from the stock or take from the pile" if round.phase is _DRAW else "play, or discard"
        raise Refused(Refusal.WRONG_PHASE, f"this is the moment to {wanted}")


def refusal(round: Round, seat: int, action: Action) -> Refused | None:
    try:
        verify(round, seat, action)
    except Refused as refused:
        return refused
    return None


def _not_in_hand(cards: Iterable[Card]) -> Refused:
    return Refused(Refusal.CARD_NOT_IN_HAND, f"not all of {cards_text(cards)} are in the hand")


def _verify_answer(round: Round, seat: int, action: Action) -> None:
    poll = round.poll
    assert poll is not None
    if not isinstance(action, Call | Pass | VariantAction):
        raise Refused(Refusal.WRONG_PHASE, f"{poll.name}: first every seat that is asked answers")
    if seat in poll.waiting:
        if canonical(round, action) in _poll_actions(round, seat):
            return
    elif not isinstance(action, Call):
        raise Refused(Refusal.NOT_YOUR_TURN, f"{poll.name}: this seat is not asked, or has answered")
    code = Refusal.CALL_NOT_VALID if isinstance(action, Call) else Refusal.WRONG_PHASE
    raise Refused(code, f"{poll.name}: this is none of the answers that the seat may give")


def _verify_discard(round: Round, seat: int, card: Card) -> None:
    if not round.hands[seat] >> card & 1:
        raise _not_in_hand((card,))
    refused = discard_refusal(round, seat, card)
    if refused is not None:
        raise refused


def _verify_take(round: Round, seat: int, take: Take) -> int:
    pile = round.pile
    if take.place:
        index = take.place - 1
        if not (0 <= index < len(pile) and pile[index] == take.card):
            raise Refused(Refusal.CARD_NOT_IN_PILE, f"{card_text(take.card)} is not card {take.place} of the pile")
    elif pile and pile[-1] == take.card:
        index = len(pile) - 1
    elif take.card in pile:
        index = len(pile) - 1 - pile[::-1].index(take.card)
    else:
        raise Refused(Refusal.CARD_NOT_IN_PILE, f"{card_text(take.card)} is not in the discard pile")
    if not round.hands[seat] and round.rules.floating:
        raise Refused(Refusal.FLOATING_STOCK_ONLY, "a floating player draws from the stock only")
    if not can_take(round, seat, index):
        duty = duty_of(round, index)
        why = (
            f"{cards_text(cards_of(duty))} must be used this turn, and cannot all be"
            if duty
            else f"{card_text(take.card)} may not be thrown back this turn, and nothing else could end the turn"
        )
        raise Refused(Refusal.TAKE_NOT_USABLE, why)
    return index


def _verify_meld(round: Round, seat: int, meld: LayMeld) -> Shape:
    if not holds(round.hands[seat], meld.cards):
        raise _not_in_hand(meld.cards)
    shape = one_reading(round.rules, meld)
    refused = meld_refusal(round, seat, meld, shape=shape)
    if refused is not None:
        raise refused
    return shape


def _verify_lay_off(round: Round, seat: int, action: LayOff) -> Fit:
    card = action.card
    if not round.hands[seat] >> card & 1:
        raise _not_in_hand((card,))
    if not action.meld:
        raise Refused(Refusal.AMBIGUOUS, "name the meld, as m1")
    if not 1 <= action.meld <= len(round.melds):
        raise Refused(Refusal.NO_SUCH_MELD, f"there is no meld m{action.meld} on the table")
    meld = round.melds[action.meld - 1]
    readings = lay_off_readings(meld, action)
    if not readings:
        raise Refused(Refusal.DOES_NOT_FIT, f"{card_text(card)} does not fit m{action.meld}")
    if len(readings) > 1:
        raise Refused(
            Refusal.AMBIGUOUS, f"{card_text(card)} fits m{action.meld} in several ways: say which end or card"
        )
    fit = readings[0]
    refused = lay_off_refusal(round, seat, meld, card, face=fit.face, end=fit.end)
    if refused is not None:
        raise refused
    return fit


def _verify_variant_action(round: Round, seat: int, action: VariantAction) -> None:
    if not holds(round.hands[seat], action.cards):
        raise _not_in_hand(action.cards)
    if action not in _variant_actions(round, seat):
        raise Refused(Refusal.DOES_NOT_FIT, f"{action.verb} is not possible so now")
