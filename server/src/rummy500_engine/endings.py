"""How a turn can end: which discards are legal, what stands at its end, and what only playing on can tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rummy500_engine.actions import DISCARDS, Action, LayOff
from rummy500_engine.cards import JOKER, Card, Mask, card_text, cards_of, cards_text
from rummy500_engine.finish import can_finish
from rummy500_engine.melds import Meld
from rummy500_engine.refusals import Refusal, Refused
from rummy500_engine.terms import GoingOut, Phase
from rummy500_engine.turn import Fit, Move, TurnState, can_lay_off_on, fits_some_meld

if TYPE_CHECKING:
    from rummy500_engine.round import Round


# Bound once: looking up an enum member on its class costs as much as a call.
_PLAY: Final = Phase.PLAY


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


def turn_state(
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
    state = turn_state(round, seat, hand=round.hands[seat], must=round.must_use, melds=melds, points=None)
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
