"""Calling "Rummy!" (RULES 3): what may be called, by whom, and what a call brings about.

Which window opens, and whose call counts, is the affair of the variant that opens the poll; this room knows the calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import TYPE_CHECKING

from rummy500_engine.actions import PASS, Action, Call, LayMeld, LayOff
from rummy500_engine.answers import Listing
from rummy500_engine.cards import JOKER, Card, Mask, add, cards_of, hand_of, holds
from rummy500_engine.endings import finishes_by_play, veto
from rummy500_engine.events import DrewFromStock, Event, LaidOff, Melded, PollClosed, TookFromPile, TurnPassed
from rummy500_engine.terms import GoingOut, Phase
from rummy500_engine.turn import Fit, can_lay_off_on, fits_some_meld

if TYPE_CHECKING:
    from rummy500_engine.round import Round


class CallScope(Enum):
    """PILE: cards of the pile alone; TOP: the new discard alone, laid off; WITH_HAND: the caller's cards help."""

    PILE = "pile"
    TOP = "top"
    WITH_HAND = "with_hand"


@dataclass(frozen=True, slots=True)
class CallTerms:
    """`card_only`: only the top card can be called; else it comes with every card above it. `takes_turn`: the caller
    plays on and discards. `discarder_draws`: so many cards after a valid call."""

    scope: CallScope = CallScope.PILE
    card_only: bool = False
    takes_turn: bool = True
    discarder_draws: int = 0

    @property
    def top_only(self) -> bool:
        return self.card_only or self.scope is CallScope.TOP


def is_anything_callable(round: Round, terms: CallTerms) -> bool:
    """Whether a window opens: from the pile and the table alone, so that it tells nothing of a hand (RULES 3.1)."""
    if not round.pile:
        return False
    if terms.scope is CallScope.WITH_HAND:
        return True
    cards = round.pile[-1:] if terms.top_only else round.pile
    if any(fits_some_meld(round.melds, card) for card in cards):
        return True
    if terms.top_only:
        return False
    pile = hand_of(cards)
    catalogue = round.rules.catalogue
    return bool(catalogue.meldable(pile)) or next(catalogue.joker_melds(pile), None) is not None


class LegalCalls(Listing):
    """The answers that the seat may give while the pile lies as it does: its calls in canonical form, the top card
    first, and to pass. With cards of the hand there may be very many: each is made when it is asked for, and whether
    one is among them is found out without the others."""

    def __init__(self, round: Round, seat: int, terms: CallTerms) -> None:
        self._round, self._seat, self._terms = round, seat, terms
        self._lowest = len(round.pile) - 1 if terms.top_only else 0

    def __iter__(self) -> Iterator[Action]:
        round, seat, terms = self._round, self._seat, self._terms
        for index in range(len(round.pile) - 1, self._lowest - 1, -1):
            for call in chain(_lay_off_calls(round, seat, index), _meld_calls(round, seat, index, terms)):
                if _is_valid(round, seat, call, terms):
                    yield call
        yield PASS

    def __contains__(self, answer: object) -> bool:
        return answer == PASS or (isinstance(answer, Call) and self._is_legal(answer))

    def _is_legal(self, call: Call) -> bool:
        round, terms = self._round, self._terms
        index = index_of(round, call)
        if index is None or index < self._lowest or canonical_call(round, call) != call:
            return False
        if call.with_cards:
            meld = meld_of(call)
            if terms.scope is CallScope.TOP or not holds(_callable(round, self._seat, index, terms), meld.cards):
                return False
            if len(round.rules.catalogue.readings(meld)) != 1:
                return False
        elif not 1 <= call.meld <= len(round.melds) or not can_lay_off_on(
            round.rules, self._seat, round.melds[call.meld - 1]
        ):
            return False
        return _is_valid(round, self._seat, call, terms)


def _callable(round: Round, seat: int, index: int, terms: CallTerms) -> Mask:
    """The cards of which a meld may be called, with the card at this place of the pile among them."""
    cards = hand_of(round.pile[index : index + 1] if terms.card_only else round.pile[index:])
    if terms.scope is CallScope.WITH_HAND:
        for held in cards_of(round.hands[seat]):
            cards = add(cards, held)
    return cards


def _place(round: Round, index: int) -> int:
    """0 for the highest of equal cards, else its place from the bottom."""
    return index + 1 if round.pile[index] in round.pile[index + 1 :] else 0


def _lay_off_calls(round: Round, seat: int, index: int) -> Iterator[Call]:
    card, place = round.pile[index], _place(round, index)
    for meld in round.melds:
        if not can_lay_off_on(round.rules, seat, meld):
            continue
        faces = [card] if card != JOKER else cards_of(meld.fits)
        for face in faces:
            ends = meld.ends_taking(face)
            for end in ends:
                stands = (face,) if card == JOKER else ()
                yield Call(card, place, meld.id, (), stands, end if len(ends) > 1 else None)


def _meld_calls(round: Round, seat: int, index: int, terms: CallTerms) -> Iterator[Call]:
    if terms.scope is CallScope.TOP:
        return
    card, place = round.pile[index], _place(round, index)
    cards = _callable(round, seat, index, terms)
    catalogue = round.rules.catalogue
    for meld in chain(catalogue.natural_melds(cards), catalogue.joker_melds(cards, beside=card)):
        if card in meld.cards:
            yield called_meld(card, place, meld)


def called_meld(card: Card, place: int, meld: LayMeld) -> Call:
    """The call that lays this meld, which holds the called card."""
    at = meld.cards.index(card)
    others = meld.cards[:at] + meld.cards[at + 1 :]
    faces = meld.stands_for
    stands = (faces[at], *faces[:at], *faces[at + 1 :]) if faces else ()
    return Call(card, place, 0, others, stands, meld.end)


def meld_of(call: Call) -> LayMeld:
    return LayMeld((call.card, *call.with_cards), call.stands_for, call.end)


def index_of(round: Round, call: Call) -> int | None:
    """Where the called card lies in the pile."""
    pile = round.pile
    if call.place:
        index = call.place - 1
        return index if 0 <= index < len(pile) and pile[index] == call.card else None
    return len(pile) - 1 - pile[::-1].index(call.card) if call.card in pile else None


def canonical_call(round: Round, call: Call) -> Call:
    """The form in which the call is listed; a call without one meaning is returned as it is."""
    index = index_of(round, call)
    if index is None:
        return call
    place = _place(round, index)
    catalogue = round.rules.catalogue
    if call.with_cards:
        shapes = catalogue.readings(meld_of(call))
        return called_meld(call.card, place, catalogue.listed(shapes[0])) if len(shapes) == 1 else call
    if not 1 <= call.meld <= len(round.melds):
        return call
    meld = round.melds[call.meld - 1]
    fit = _fit(round, call)
    if fit is None:
        return call
    stands = (fit.face,) if call.card == JOKER else ()
    end = fit.end if len(meld.ends_taking(fit.face)) > 1 else None
    return Call(call.card, place, call.meld, (), stands, end)


def _fit(round: Round, call: Call) -> Fit | None:
    """The one reading of a called lay-off, if there is one."""
    meld = round.melds[call.meld - 1]
    faces = call.stands_for[:1] if call.stands_for else (call.card,)
    if faces == (JOKER,):
        faces = tuple(cards_of(meld.fits))
    fits = [Fit(face, end) for face in faces for end in meld.ends_taking(face) if call.end in (None, end)]
    return fits[0] if len(fits) == 1 else None


def call_events(round: Round, seat: int, call: Call, terms: CallTerms) -> list[Event]:
    """What a legal call brings about (RULES 3.5 to 3.7)."""
    poll = round.poll
    assert poll is not None
    index = index_of(round, call)
    assert index is not None
    cards = tuple(round.pile[index : index + 1] if terms.card_only else round.pile[index:])
    takes_turn = terms.takes_turn and round.ending is None
    owed = cards if not round.stock and round.rules.owes_all else ()
    events: list[Event] = [PollClosed(poll.variant, poll.name, seat, call.card, index + 1)]
    if takes_turn:
        events.append(TurnPassed(seat, drawn=True))
    events.append(TookFromPile(seat, cards, owed))
    if call.with_cards:
        shape = round.rules.catalogue.readings(meld_of(call))[0]
        number = len(round.melds) + 1
        events.append(Melded(seat, number, shape.cards, shape.faces, round.rules.catalogue.listed(shape).end))
    else:
        fit = _fit(round, call)
        assert fit is not None
        events.append(LaidOff(seat, call.meld, call.card, fit.face, fit.end))
    drawn = min(terms.discarder_draws, len(round.stock))
    events += [DrewFromStock(poll.by, None, len(round.stock) - 1 - k) for k in range(drawn)]
    return events


def _is_valid(round: Round, seat: int, call: Call, terms: CallTerms) -> bool:
    """Whether the rules of the table let this seat make the call: bound as in a turn (RULES 3.8)."""
    rules = round.rules
    play: LayMeld | LayOff
    if call.with_cards:
        play = meld_of(call)
        first = rules.first_meld
        at_once = first.single or not (terms.takes_turn and round.ending is None)
        if first.minimum and at_once and not round.opened[seat]:
            shape = rules.catalogue.readings(play)[0]
            if round.points_of(rules.catalogue.meld(1, shape, seat)) < first.minimum:
                return False
    else:
        fit = _fit(round, call)
        if fit is None or (rules.first_meld.required and not round.opened[seat]):
            return False
        play = LayOff(call.card, call.meld, fit.end, fit.face if call.card == JOKER else None)
    if rules.vetoes and veto(round, seat, play) is not None:
        return False
    if rules.plain and (round.stock or not rules.owes_all):
        return True
    after = round.clone()
    after.bring_about(call_events(round, seat, call, terms))
    if after.over:
        return True
    if after.phase is Phase.PLAY and after.turn == seat:
        return finishes_by_play(after, seat)
    if after.must_use:
        return False
    return bool(after.hands[seat]) or rules.going_out in (GoingOut.ANY, GoingOut.FLOATING)
