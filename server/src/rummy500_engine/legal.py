"""The single source of legality: `legal_actions` lists exactly what `verify` accepts (ARCHITECTURE law 2).

Checks come in the order of NOTATION: round, unknown action, seat, phase, cards, fit, then the rules of the table, and
last whether the turn could still be finished (RULES 1.10).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, assert_never

from rummy500_engine.actions import (
    DISCARDS,
    DRAW,
    PASS,
    TAKES,
    Action,
    Call,
    Discard,
    Draw,
    End,
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
    NATURALS,
    Card,
    Mask,
    add,
    card_text,
    cards_of,
    cards_text,
    holds,
    remove,
    without,
)
from rummy500_engine.finish import TurnState, can_finish, can_lay_off_on, can_use, fits_some_meld
from rummy500_engine.melds import LANE, Meld, Shape
from rummy500_engine.refusals import Refusal, Refused
from rummy500_engine.rules import Rules
from rummy500_engine.terms import GoingOut, StockRule

if TYPE_CHECKING:
    from rummy500_engine.round import Round

LISTED_AT_MOST = 2_000
"""A listing stops here (API law 6); `all_legal_actions` goes on."""

Move = int | Shape | tuple[Card, End | None] | None
"""What an action means here: a Take's index in the pile, a LayMeld's shape, a LayOff's face and end."""


def legal_actions(round: Round, seat: int, *, limit: int = LISTED_AT_MOST) -> list[Action]:
    """What the seat may do now, each action once, in canonical form."""
    from rummy500_engine.round import Phase

    if round.poll is not None:
        return list(_poll_actions(round, seat))[:limit]
    if seat != round.turn or round.phase is Phase.OVER:
        return []
    if round.phase is Phase.DRAW:
        return _draws(round, seat)
    actions = _plays(round, seat)
    if round.hands[seat] & JOKER_BIT:
        return [*actions, *islice(_joker_plays(round, seat), max(0, limit - len(actions)))]
    return actions


# --- drawing


def _draws(round: Round, seat: int) -> list[Action]:
    actions: list[Action] = []
    if round.stock:
        actions.append(DRAW)
    actions += _takes(round, seat)
    if not round.stock:
        actions.append(PASS)
    return actions


def has_legal_take(round: Round, seat: int) -> bool:
    return next(iter(_takes(round, seat)), None) is not None


def _takes(round: Round, seat: int) -> Iterator[Take]:
    if not round.hands[seat] and round.rules.going_out is GoingOut.FLOATING:
        return
    seen: set[Card] = set()
    for index in range(len(round.pile) - 1, -1, -1):
        card = round.pile[index]
        if can_take(round, seat, index):
            yield Take(card, index + 1) if card in seen else TAKES[card]
        seen.add(card)


def duty_of(round: Round, index: int) -> Mask:
    """What must be used this turn of the cards from this place of the pile up (RULES 1.6, 1.9)."""
    if not round.stock and round.rules.stock_out.rule is StockRule.USE_ALL:
        must = 0
        for card in round.pile[index:]:
            must = add(must, card)
        return must
    if index < len(round.pile) - 1 or round.rules.take_duty.top_too:
        return 1 << round.pile[index]
    return 0


def can_take(round: Round, seat: int, index: int) -> bool:
    """Whether the turn could be finished after taking from this place of the pile up."""
    rules = round.rules
    hand = round.hands[seat]
    for card in round.pile[index:]:
        hand = add(hand, card)
    must = duty_of(round, index)
    target = round.pile[index]
    alone = index == len(round.pile) - 1
    if rules.plain:
        if not must and hand & DISTINCT & ~(1 << target):
            return True
        if must and not hand & JOKER_BIT:
            if not all(can_use(rules, seat=seat, hand=hand, card=card, melds=round.melds) for card in cards_of(must)):
                return False
            if must.bit_count() == 1 and not alone:
                return True
    return _can_finish_as(
        round,
        seat,
        hand=hand,
        must=must,
        target=target,
        banned=target if alone else None,
        first_play=rules.take_duty.first_play and bool(must),
        action=Take(target, index + 1),
        move=index,
    )


# --- plays


def _plays(round: Round, seat: int) -> list[Action]:
    """Plays without jokers, and discards."""
    rules, hand = round.rules, round.hands[seat]
    free = rules.plain and not round.must_use and round.banned is None
    actions: list[Action] = []
    for used, meld in rules.catalogue.natural_melds(hand):
        if free or _meld_refusal(round, seat, meld, used=used) is None:
            actions.append(meld)
    for table_meld in round.melds:
        hits = hand & table_meld.fits & NATURALS
        if not hits or not can_lay_off_on(rules, seat, table_meld):
            continue
        for card in cards_of(hits):
            ends = table_meld.ends_taking(card)
            for end in ends:
                if free or _lay_off_refusal(round, seat, table_meld, card, face=card, end=end) is None:
                    actions.append(lay_off(card, table_meld.id, end if len(ends) > 1 else None))
    if rules.actions:
        actions += _variant_actions(round, seat)
    actions += _discards(round, seat)
    return actions


def _joker_plays(round: Round, seat: int) -> Iterator[Action]:
    for meld in round.rules.catalogue.joker_melds(round.hands[seat]):
        if _meld_refusal(round, seat, meld) is None:
            yield meld
    for table_meld in round.melds:
        if not can_lay_off_on(round.rules, seat, table_meld):
            continue
        for face in cards_of(table_meld.fits):
            ends = table_meld.ends_taking(face)
            for end in ends:
                if _lay_off_refusal(round, seat, table_meld, JOKER, face=face, end=end) is None:
                    yield LayOff(JOKER, table_meld.id, end if len(ends) > 1 else None, face)


_SUIT_DISCARDS: dict[int, tuple[Discard, ...]] = {}


def _discards(round: Round, seat: int) -> list[Discard]:
    if round.must_use or _below_minimum(round, seat):
        return []
    hand = round.hands[seat] & DISTINCT
    if round.banned is not None:
        hand &= ~(1 << round.banned)
    if round.rules.vetoes or (
        round.rules.going_out is GoingOut.DISCARD_UNPLAYABLE and round.hands[seat].bit_count() == 1
    ):
        return [DISCARDS[card] for card in cards_of(hand) if _discard_refusal(round, seat, card) is None]
    found: list[Discard] = []
    for suit in range(4):
        lane = hand >> 16 * suit & LANE
        if lane:
            key = suit << 16 | lane
            discards = _SUIT_DISCARDS.get(key)
            if discards is None:
                discards = _SUIT_DISCARDS[key] = tuple(DISCARDS[card] for card in cards_of(lane << 16 * suit))
            found += discards
    if hand & JOKER_BIT:
        found.append(DISCARDS[JOKER])
    return found


def _variant_actions(round: Round, seat: int) -> Iterator[VariantAction]:
    for _, ask in round.rules.actions:
        for action in ask(round=round, seat=seat) or ():
            if not _dead_end_on_clone(round, seat, action, None):
                yield action


def _poll_actions(round: Round, seat: int) -> Iterable[Action]:
    assert round.poll is not None
    if seat not in round.poll.waiting:
        return ()
    answers: Iterable[Action] = round.rules.poll_actions[round.poll.variant](round=round, seat=seat) or ()
    return answers


# --- one action


def verify(round: Round, seat: int, action: Action) -> Move:
    """What the action means here. Raises Refused if it is not legal."""
    from rummy500_engine.round import Phase

    if round.phase is Phase.OVER:
        raise Refused(Refusal.ROUND_OVER, "the round has ended; wait for the next deal")
    if isinstance(action, VariantAction) and action.variant not in round.rules.perform:
        raise Refused(Refusal.UNKNOWN_ACTION, f"there is no action {action.verb!r} at this table")
    if round.poll is not None:
        return _verify_answer(round, seat, action)
    if isinstance(action, Call):
        raise Refused(Refusal.NO_CALL_OPEN, "no call window is open")
    if seat != round.turn:
        raise Refused(Refusal.NOT_YOUR_TURN, f"seat {round.turn} is to act, not seat {seat}")
    drawing = isinstance(action, Draw | Take | Pass)
    if drawing is not (round.phase is Phase.DRAW):
        wanted = "draw from the stock or take from the pile" if round.phase is Phase.DRAW else "play, or discard"
        raise Refused(Refusal.WRONG_PHASE, f"this is the moment to {wanted}")
    match action:
        case Draw():
            if not round.stock:
                raise Refused(Refusal.STOCK_EMPTY, "the stock is empty: take from the pile, or pass")
            return None
        case Pass():
            if round.stock:
                raise Refused(Refusal.WRONG_PHASE, "there is nothing to decline: draw, or take from the pile")
            return None
        case Take():
            return _verify_take(round, seat, action)
        case LayMeld():
            return _verify_meld(round, seat, action)
        case LayOff():
            return _verify_lay_off(round, seat, action)
        case Discard(card):
            if not round.hands[seat] >> card & 1:
                raise _not_in_hand((card,))
            refused = _discard_refusal(round, seat, card)
            if refused is not None:
                raise refused
            return None
        case VariantAction():
            return _verify_variant_action(round, seat, action)
        case _:
            assert_never(action)


def refusal(round: Round, seat: int, action: Action) -> Refused | None:
    try:
        verify(round, seat, action)
    except Refused as refused:
        return refused
    return None


def _not_in_hand(cards: Iterable[Card]) -> Refused:
    return Refused(Refusal.CARD_NOT_IN_HAND, f"not all of {cards_text(cards)} are in the hand")


def _verify_answer(round: Round, seat: int, action: Action) -> Move:
    poll = round.poll
    assert poll is not None
    if not isinstance(action, Call | Pass | VariantAction):
        raise Refused(Refusal.WRONG_PHASE, f"{poll.name}: first every seat that is asked answers")
    if seat in poll.waiting:
        wanted = canonical(round, action)
        if wanted in _poll_actions(round, seat):
            return None
    elif not isinstance(action, Call):
        raise Refused(Refusal.NOT_YOUR_TURN, f"{poll.name}: this seat is not asked, or has answered")
    code = Refusal.CALL_NOT_VALID if isinstance(action, Call) else Refusal.WRONG_PHASE
    raise Refused(code, f"{poll.name}: this is none of the answers that the seat may give")


def _verify_take(round: Round, seat: int, take: Take) -> int:
    pile = round.pile
    if take.place:
        index = take.place - 1
        if not (0 <= index < len(pile) and pile[index] == take.card):
            raise Refused(Refusal.CARD_NOT_IN_PILE, f"{card_text(take.card)} is not card {take.place} of the pile")
    elif take.card in pile:
        index = len(pile) - 1 - pile[::-1].index(take.card)
    else:
        raise Refused(Refusal.CARD_NOT_IN_PILE, f"{card_text(take.card)} is not in the discard pile")
    if not round.hands[seat] and round.rules.going_out is GoingOut.FLOATING:
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


def one_reading(rules: Rules, meld: LayMeld) -> Shape:
    shapes = rules.catalogue.readings(meld)
    if not shapes:
        raise Refused(Refusal.NOT_A_MELD, f"{cards_text(meld.cards)} is neither a set nor a run of this table")
    if len(shapes) > 1:
        readings = "; ".join(cards_text(shape.faces) for shape in shapes[:4])
        raise Refused(Refusal.AMBIGUOUS, f"{cards_text(meld.cards)} can be read as {readings}: say which")
    return shapes[0]


def _verify_meld(round: Round, seat: int, meld: LayMeld) -> Shape:
    if not holds(round.hands[seat], meld.cards):
        raise _not_in_hand(meld.cards)
    shape = one_reading(round.rules, meld)
    refused = _meld_refusal(round, seat, meld, shape=shape)
    if refused is not None:
        raise refused
    return shape


def _verify_lay_off(round: Round, seat: int, action: LayOff) -> tuple[Card, End | None]:
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
    face, end = readings[0]
    refused = _lay_off_refusal(round, seat, meld, card, face=face, end=end)
    if refused is not None:
        raise refused
    return face, end


def lay_off_readings(meld: Meld, action: LayOff) -> list[tuple[Card, End | None]]:
    """The faces and ends that a lay-off on this meld can mean."""
    if action.card != JOKER:
        faces = [action.card]
    elif action.stands_for is not None:
        faces = [action.stands_for]
    else:
        faces = cards_of(meld.fits)
    readings = [(face, end) for face in faces for end in meld.ends_taking(face)]
    if action.end is None:
        return readings
    return [(face, end) for face, end in readings if end is action.end]


def _verify_variant_action(round: Round, seat: int, action: VariantAction) -> None:
    if not holds(round.hands[seat], action.cards):
        raise _not_in_hand(action.cards)
    if action not in _variant_actions(round, seat):
        raise Refused(Refusal.DOES_NOT_FIT, f"{action.verb} is not possible so now")


# --- rules of the table, and dead ends


def _below_minimum(round: Round, seat: int) -> bool:
    first = round.rules.first_meld
    if not first.minimum or not round.laid or round.opened[seat] > len(round.laid):
        return False
    return (round.laid_points[0] if first.single else sum(round.laid_points)) < first.minimum


def _discard_refusal(round: Round, seat: int, card: Card) -> Refused | None:
    if round.must_use:
        cards = cards_text(cards_of(round.must_use))
        return Refused(Refusal.MUST_USE_TAKEN_CARD, f"{cards} must be melded or laid off before the discard")
    if card == round.banned:
        return Refused(Refusal.CANNOT_DISCARD_TAKEN_CARD, f"{card_text(card)} was taken this turn: throw another card")
    if _below_minimum(round, seat):
        least = round.rules.first_meld.minimum
        return Refused(Refusal.BELOW_MINIMUM, f"the first melds must reach {least} points before the turn ends")
    if round.rules.going_out is GoingOut.DISCARD_UNPLAYABLE and round.hands[seat].bit_count() == 1:
        if fits_some_meld(round.melds, card):
            return Refused(Refusal.MUST_KEEP_A_DISCARD, f"{card_text(card)} fits a meld: the last discard may fit none")
    return _veto(round, seat, DISCARDS[card])


def _veto(round: Round, seat: int, action: Action) -> Refused | None:
    for _, ask in round.rules.vetoes:
        refused: Refused | None = ask(round=round, seat=seat, action=action)
        if refused is not None:
            return refused
    return None


def _meld_refusal(
    round: Round, seat: int, meld: LayMeld, *, used: Mask | None = None, shape: Shape | None = None
) -> Refused | None:
    rules = round.rules
    if round.first_play and round.target not in meld.cards:
        assert round.target is not None
        return Refused(Refusal.MUST_USE_TAKEN_CARD, f"the first play must contain {card_text(round.target)}")
    hand = round.hands[seat]
    if used is not None and hand < 1 << 64:
        hand ^= used
    else:
        hand = without(hand, meld.cards)
    must = _less(round.must_use, meld.cards)
    if rules.plain and _surely_finishes(round, seat, hand=hand, must=must, melds=round.melds):
        return None
    shape = shape or rules.catalogue.readings(meld)[0]
    laid = rules.catalogue.meld(len(round.melds) + 1, shape, seat)
    first = rules.first_meld
    points = round.points_of(laid)
    if first.single and not round.opened[seat] and points < first.minimum:
        return Refused(Refusal.BELOW_MINIMUM, f"the first meld must reach {first.minimum} points, this is {points}")
    refused = _veto(round, seat, meld)
    if refused is not None:
        return refused
    return _stranding(
        round, seat, hand=hand, must=must, melds=(*round.melds, laid), laid=points, action=meld, move=shape
    )


def _lay_off_refusal(round: Round, seat: int, meld: Meld, card: Card, *, face: Card, end: End | None) -> Refused | None:
    rules = round.rules
    if not can_lay_off_on(rules, seat, meld):
        return Refused(Refusal.OWN_MELDS_ONLY, f"m{meld.id} is another side's: lay off on your own melds")
    if rules.first_meld.required and not round.opened[seat]:
        return Refused(Refusal.MUST_MELD_FIRST, "lay a meld of your own in this round before you lay off")
    if round.first_play and card != round.target:
        assert round.target is not None
        return Refused(Refusal.MUST_USE_TAKEN_CARD, f"the first play must contain {card_text(round.target)}")
    hand = remove(round.hands[seat], card)
    must = round.must_use
    if not (rules.take_duty.new_meld and card == round.target):
        must = _less(must, (card,))
    grown = rules.catalogue.extended(meld, card=card, face=face, seat=seat, end=end)
    melds = (*round.melds[: meld.id - 1], grown, *round.melds[meld.id :])
    if rules.plain and _surely_finishes(round, seat, hand=hand, must=must, melds=melds):
        return None
    action = LayOff(card, meld.id, end, face if card == JOKER else None)
    refused = _veto(round, seat, action)
    if refused is not None:
        return refused
    return _stranding(round, seat, hand=hand, must=must, melds=melds, laid=None, action=action, move=(face, end))


def _less(must: Mask, cards: Iterable[Card]) -> Mask:
    """What must still be used after these cards have been."""
    if must:
        for card in cards:
            if must >> card & 1:
                must = remove(must, card)
    return must


def _surely_finishes(round: Round, seat: int, *, hand: Mask, must: Mask, melds: Iterable[Meld]) -> bool:
    """The quick yes at a plain table: nothing is owed and something can end the turn, or one card is owed and usable.
    False means only that the search has to say."""
    if not must:
        if not hand or round.banned is None:
            return True
        return bool(hand & DISTINCT & ~(1 << round.banned))
    if round.banned is not None or must.bit_count() > 1 or hand & JOKER_BIT:
        return False
    return can_use(round.rules, seat=seat, hand=hand, card=must.bit_length() - 1, melds=tuple(melds))


def _stranding(
    round: Round,
    seat: int,
    *,
    hand: Mask,
    must: Mask,
    melds: tuple[Meld, ...],
    laid: int | None,
    action: Action,
    move: Move,
) -> Refused | None:
    """The refusal if the turn could not be finished after this play; it says which rule could not be kept."""
    rules = round.rules
    if rules.vetoes:
        if _dead_end_on_clone(round, seat, action, move):
            return Refused(Refusal.TAKEN_CARD_WOULD_STRAND, "after this play the turn could not be ended at this table")
        return None
    state = _turn_state(round, seat, hand=hand, must=must, melds=melds, laid=laid)
    if can_finish(rules, state):
        return None
    if not can_finish(rules.unlimited, state):
        banned = round.banned
        what = cards_text(cards_of(must)) if must else card_text(banned) if banned is not None else "the hand"
        return Refused(Refusal.TAKEN_CARD_WOULD_STRAND, f"after this play {what} could not be used as it must")
    if rules.first_meld.minimum and not can_finish(rules.free_going_out, state):
        return Refused(
            Refusal.BELOW_MINIMUM, f"the first melds could not reach {rules.first_meld.minimum} points in this turn"
        )
    return Refused(Refusal.MUST_KEEP_A_DISCARD, "after this play no legal discard could be left to go out with")


def _turn_state(
    round: Round, seat: int, *, hand: Mask, must: Mask, melds: tuple[Meld, ...], laid: int | None
) -> TurnState:
    points = round.laid_points if laid is None else (*round.laid_points, laid)
    played_target = round.target is not None and not must >> round.target & 1
    return TurnState(
        seat=seat,
        hand=hand,
        must=must,
        target=round.target,
        banned=round.banned,
        melds=melds,
        melded=round.opened[seat] > len(round.laid),
        laid=bool(points),
        laid_points=min(sum(points), max(round.rules.first_meld.minimum, 0)),
        best=points[0] if points else 0,
        lays_off=False,
        first_play=round.first_play and not played_target,
        new_meld=round.rules.take_duty.new_meld,
    )


def _can_finish_as(
    round: Round,
    seat: int,
    *,
    hand: Mask,
    must: Mask,
    target: Card,
    banned: Card | None,
    first_play: bool,
    action: Action,
    move: Move,
) -> bool:
    if round.rules.vetoes:
        return not _dead_end_on_clone(round, seat, action, move)
    state = TurnState(
        seat=seat,
        hand=hand,
        must=must,
        target=target,
        banned=banned,
        melds=tuple(round.melds),
        melded=bool(round.opened[seat]),
        first_play=first_play,
        new_meld=round.rules.take_duty.new_meld,
    )
    return can_finish(round.rules, state)


def _dead_end_on_clone(round: Round, seat: int, action: Action, move: Move) -> bool:
    """Whether the turn could not be finished after this action, by playing on a copy: for what the search cannot know,
    the vetoes and the actions of variants."""
    after = round.clone()
    after.play_verified(seat, action, move)
    return not _finishes_by_play(after, seat, set())


def _finishes_by_play(round: Round, seat: int, dead: set[object]) -> bool:
    from rummy500_engine.round import Phase

    if round.phase is not Phase.PLAY or round.turn != seat:
        return True
    if not round.rules.vetoes:
        state = _turn_state(
            round, seat, hand=round.hands[seat], must=round.must_use, melds=tuple(round.melds), laid=None
        )
        return can_finish(round.rules, state)
    key = (round.hands[seat], round.must_use, tuple(meld.placed for meld in round.melds))
    if key in dead:
        return False
    if any(_discard_refusal(round, seat, card) is None for card in set(cards_of(round.hands[seat]))):
        return True
    for action, move in _formal_plays(round, seat):
        if _veto(round, seat, action) is None:
            after = round.clone()
            after.play_verified(seat, action, move)
            if _finishes_by_play(after, seat, dead):
                return True
    dead.add(key)
    return False


def _formal_plays(round: Round, seat: int) -> Iterator[tuple[Action, Move]]:
    """Plays that have the right form, whether or not the turn could be finished after them."""
    catalogue, hand = round.rules.catalogue, round.hands[seat]
    for meld in (*(meld for _, meld in catalogue.natural_melds(hand)), *catalogue.joker_melds(hand)):
        if not round.first_play or round.target in meld.cards:
            yield meld, catalogue.readings(meld)[0]
    if round.rules.first_meld.required and not round.opened[seat]:
        return
    for meld_there in round.melds:
        if not can_lay_off_on(round.rules, seat, meld_there):
            continue
        for face in cards_of(meld_there.fits):
            for card in (face, JOKER):
                if hand >> card & 1 and (not round.first_play or card == round.target):
                    for end in meld_there.ends_taking(face):
                        yield LayOff(card, meld_there.id, end, face), (face, end)


# --- equal actions


def canonical(round: Round, action: Action) -> Action:
    """The form in which the action is listed. An action without one legal meaning is returned as it is."""
    match action:
        case Take(card, place) if place:
            pile = round.pile
            highest = len(pile) - pile[::-1].index(card) if card in pile else 0
            return TAKES[card] if place == highest else action
        case LayMeld():
            return canonical_meld(round.rules, action)
        case LayOff(card, number) if 1 <= number <= len(round.melds):
            meld = round.melds[number - 1]
            readings = lay_off_readings(meld, action)
            if len(readings) != 1:
                return action
            face, end = readings[0]
            two_ends = len(meld.ends_taking(face)) > 1
            return LayOff(card, number, end if two_ends else None, face if card == JOKER else None)
        case _:
            return action


def canonical_meld(rules: Rules, meld: LayMeld) -> LayMeld:
    shapes = rules.catalogue.readings(meld)
    return rules.catalogue.listed(shapes[0]) if len(shapes) == 1 else meld
