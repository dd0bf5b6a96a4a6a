"""What the rules of a table forbid although the cards fit: duties, minimums, ways of going out, vetoes, dead ends.

Each `*_refusal` answers None or why the play is refused. The quick answers for plain tables come first; the exact
search (`finish`) is asked only where they do not settle the matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from rummy500_engine.actions import DISCARDS, Action, End, LayMeld, LayOff, Take
from rummy500_engine.cards import (
    DISTINCT,
    JOKER,
    JOKER_BIT,
    Card,
    Mask,
    add,
    card_text,
    cards_of,
    cards_text,
    count,
    hand_of,
    less,
    remove,
)
from rummy500_engine.finish import can_finish, can_reach, reachable
from rummy500_engine.first_melds import FirstMelds
from rummy500_engine.melds import Meld, Shape
from rummy500_engine.pieces import pieces_of
from rummy500_engine.plans import Plans, TakePlans, decides, reaches_minimum
from rummy500_engine.refusals import Refusal, Refused
from rummy500_engine.terms import GoingOut, Phase
from rummy500_engine.turn import TurnState, can_lay_off_on, fits_some_meld

if TYPE_CHECKING:
    from rummy500_engine.round import Round


# Bound once: looking up an enum member on its class costs as much as a call.
_PLAY: Final = Phase.PLAY


class Fit(NamedTuple):
    """One reading of a lay-off: the face that the card stands for and the end of the run, None for a set."""

    face: Card
    end: End | None


Move = int | Shape | Fit | None
"""What an action means here: a Take's index in the pile, a LayMeld's shape, a LayOff's fit."""


# --- takes


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
            if candidates >> card & 1 and _is_usable(round, seat, hand=hand, card=card, melds=round.melds):
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


def _is_usable(round: Round, seat: int, *, hand: Mask, card: Card, melds: Sequence[Meld]) -> bool:
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
        return _is_usable(round, seat, hand=hand, card=target, melds=round.melds)
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


# --- discards


def below_minimum(round: Round, seat: int) -> bool:
    first = round.rules.first_meld
    if not first.minimum or not round.laid or round.opened[seat] > len(round.laid):
        return False
    return (round.laid_points[0] if first.single else sum(round.laid_points)) < first.minimum


def discard_refusal(round: Round, seat: int, card: Card) -> Refused | None:
    if round.must_use:
        cards = cards_text(cards_of(round.must_use))
        return Refused(Refusal.MUST_USE_TAKEN_CARD, f"{cards} must be melded or laid off before the discard")
    if card == round.banned:
        return Refused(Refusal.CANNOT_DISCARD_TAKEN_CARD, f"{card_text(card)} was taken this turn: throw another card")
    rules = round.rules
    if rules.plain:
        return None
    if below_minimum(round, seat):
        least = rules.first_meld.minimum
        return Refused(Refusal.BELOW_MINIMUM, f"the first melds must reach {least} points before the turn ends")
    last = rules.going_out is GoingOut.DISCARD_UNPLAYABLE and round.hands[seat].bit_count() == 1
    if last and fits_some_meld(round.melds, card):
        return Refused(Refusal.MUST_KEEP_A_DISCARD, f"{card_text(card)} fits a meld: the last discard may fit none")
    return veto(round, seat, DISCARDS[card])


def veto(round: Round, seat: int, action: Action) -> Refused | None:
    for _, ask in round.rules.vetoes:
        refused: Refused | None = ask(round=round, seat=seat, action=action)
        if refused is not None:
            return refused
    return None


# --- plays


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
    state = _turn_state(round, seat, hand=round.hands[seat], must=must, melds=tuple(round.melds), points=None)
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
    return bool(hand >> owed & 1) and _is_usable(round, seat, hand=hand, card=owed, melds=melds)


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
    state = _turn_state(round, seat, hand=hand, must=must, melds=melds, points=points)
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


def _turn_state(
    round: Round, seat: int, *, hand: Mask, must: Mask, melds: tuple[Meld, ...], points: int | None
) -> TurnState:
    """The turn after a play: `points` are those of the meld just laid, if it was one."""
    laid = round.laid_points if points is None else (*round.laid_points, points)
    owes_target = round.target is not None and bool(must >> round.target & 1)
    return TurnState(
        seat=seat,
        hand=hand,
        must=must,
        target=round.target,
        banned=round.banned,
        melds=melds,
        melded=round.opened[seat] > len(round.laid),
        laid=bool(laid),
        laid_points=min(sum(laid), max(round.rules.first_meld.minimum, 0)),
        best=laid[0] if laid else 0,
        first_play=round.first_play and owes_target,
        new_meld=round.rules.take_duty.new_meld,
    )


# --- what only playing on can tell


def dead_end_on_copy(round: Round, seat: int, action: Action, move: Move) -> bool:
    """Whether the turn could not be finished after this action, by playing on a copy: for what the search cannot know,
    the vetoes and the actions of variants."""
    after = round.clone()
    after.play_verified(seat, action, move)
    return not finishes_by_play(after, seat)


def finishes_by_play(round: Round, seat: int, dead: set[object] | None = None) -> bool:
    """Whether the seat's turn, as it stands, can be finished; `dead` holds positions known not to be."""
    if round.phase is not _PLAY or round.turn != seat:
        return True
    dead = set() if dead is None else dead
    key = (round.hands[seat], round.must_use, tuple((meld.id, meld.fits, meld.length) for meld in round.melds))
    if key in dead:
        return False
    if _ends_now(round, seat) or any(finishes_by_play(after, seat, dead) for after in _played_on(round, seat)):
        return True
    dead.add(key)
    return False


def _ends_now(round: Round, seat: int) -> bool:
    if round.rules.vetoes:
        return any(discard_refusal(round, seat, card) is None for card in set(cards_of(round.hands[seat])))
    melds = tuple(round.melds)
    state = _turn_state(round, seat, hand=round.hands[seat], must=round.must_use, melds=melds, points=None)
    return can_finish(round.rules, state)


def _played_on(round: Round, seat: int) -> Iterator[Round]:
    """Copies of the round after each thing that the search cannot foresee: variants' actions (they only exchange cards,
    so that they may all come first) and, where variants may veto, every play."""
    for _, ask in round.rules.actions:
        for action in ask(round=round, seat=seat) or ():
            after = round.clone()
            after.play_verified(seat, action, None)
            yield after
    if round.rules.vetoes:
        for play, move in _formal_plays(round, seat):
            if veto(round, seat, play) is None:
                after = round.clone()
                after.play_verified(seat, play, move)
                yield after


def _formal_plays(round: Round, seat: int) -> Iterator[tuple[Action, Move]]:
    """Plays that have the right form, whether or not the turn could be finished after them."""
    catalogue, hand = round.rules.catalogue, round.hands[seat]
    for meld in (*catalogue.natural_melds(hand), *catalogue.joker_melds(hand)):
        if not round.first_play or round.target in meld.cards:
            yield meld, catalogue.readings(meld)[0]
    if round.rules.first_meld.required and not round.opened[seat]:
        return
    for laid in round.melds:
        if not can_lay_off_on(round.rules, seat, laid):
            continue
        for face in cards_of(laid.fits):
            for card in (face, JOKER):
                if hand >> card & 1 and (not round.first_play or card == round.target):
                    for end in laid.ends_taking(face):
                        yield LayOff(card, laid.id, end, face if card == JOKER else None), Fit(face, end)
