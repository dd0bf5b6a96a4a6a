"""Three variants that nobody plays: an action of its own, a poll of several seats, a veto."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rummy500_engine.actions import PASS, Action, Discard, VariantAction
from rummy500_engine.cards import Card, card_text, cards_of, suit_of
from rummy500_engine.events import DrewFromStock, Event, PollClosed, SeatScore, TurnPassed, VariantEvent
from rummy500_engine.hooks import hookimpl
from rummy500_engine.plugins import Plugin
from rummy500_engine.refusals import Refused
from rummy500_engine.round import Round
from rummy500_engine.terms import Poll, Table

HEARTS = 2


class Lookout:
    """Once a round each player may `peek` at the next card of the stock, for two points, and `boast` of a card of the
    hand before all, which earns five."""

    @hookimpl
    def rummy500_verbs(self) -> Sequence[str]:
        return ("peek", "boast")

    @hookimpl
    def rummy500_actions(self, round: Round, seat: int) -> Sequence[VariantAction]:
        done = {event.name for event in self._told(round) if event.seat == seat}
        found = []
        if "peeked" not in done and round.stock:
            found.append(VariantAction("lookout", "peek"))
        if "boasted" not in done:
            found += [VariantAction("lookout", "boast", (card,)) for card in sorted(set(cards_of(round.hands[seat])))]
        return found

    @hookimpl
    def rummy500_perform(self, round: Round, seat: int, action: VariantAction) -> Sequence[Event]:
        if action.verb == "peek":
            return [VariantEvent("lookout", "peeked", seat, cards=(round.stock[-1],), private=True)]
        (card,) = action.cards
        return [VariantEvent("lookout", "boasted", seat, fields=(("suit", suit_of(card)),), cards=(card,))]

    @hookimpl
    def rummy500_state(self, state: Any, event: VariantEvent) -> tuple[VariantEvent, ...]:
        return (*(state or ()), event)

    @hookimpl
    def rummy500_view(self, round: Round, seat: int | None) -> Mapping[str, Any]:
        told = self._told(round)
        boasts = [{"seat": event.seat, "card": card_text(event.cards[0])} for event in told if event.name == "boasted"]
        seen = [card_text(event.cards[0]) for event in told if event.name == "peeked" and event.seat == seat]
        return {"boasts": boasts, "peeked": seen}

    @hookimpl
    def rummy500_adjustments(self, round: Round, scores: tuple[SeatScore, ...]) -> Mapping[str, Sequence[int]]:
        told = self._told(round)
        counts = [
            [sum(event.name == name and event.seat == seat for event in told) for seat in range(len(scores))]
            for name in ("boasted", "peeked")
        ]
        return {"boast": [5 * count for count in counts[0]], "peek": [-2 * count for count in counts[1]]}

    @staticmethod
    def _told(round: Round) -> tuple[VariantEvent, ...]:
        told: tuple[VariantEvent, ...] = round.states.get("lookout", ())
        return told


class Election:
    """After each discard all others are asked, and may `knock`. If most do, the discarder draws a card and the next
    player loses the turn."""

    @hookimpl
    def rummy500_verbs(self) -> Sequence[str]:
        return ("knock",)

    @hookimpl
    def rummy500_poll(self, round: Round, seat: int, card: Card, final: bool) -> Poll | None:
        players = round.rules.players
        asked = tuple((seat + step) % players for step in range(1, players))
        return None if final else Poll("election", "election", card, seat, asked)

    @hookimpl
    def rummy500_poll_actions(self) -> Sequence[Action]:
        return (VariantAction("election", "knock"), PASS)

    @hookimpl
    def rummy500_poll_result(self, round: Round) -> Sequence[Event] | None:
        poll = round.poll
        assert poll is not None
        if poll.waiting:
            return None
        knocked = [seat for seat, answer in poll.answers if answer != PASS]
        if 2 * len(knocked) <= len(poll.asked):
            return None
        first = min(knocked, key=poll.asked.index)
        drawn = [DrewFromStock(poll.by, None, 0)] if round.stock else []
        return [PollClosed("election", "election", first), *drawn, TurnPassed(poll.asked[1 % len(poll.asked)], False)]


class HeartsLast:
    """A heart may not be discarded while the hand holds another suit."""

    @hookimpl
    def rummy500_veto(self, table: Table, round: Round, seat: int, action: Action) -> Refused | None:
        if not isinstance(action, Discard) or suit_of(action.card) != HEARTS:
            return None
        if all(suit_of(card) == HEARTS for card in cards_of(round.hands[seat])):
            return None
        return Refused("HEARTS_LAST", "throw another suit before a heart")


LOOKOUT = Plugin("lookout", Lookout(), "1.0", "dist-of-lookout")
ELECTION = Plugin("election", Election(), "1.0", "dist-of-election")
HEARTS_LAST = Plugin("hearts-last", HeartsLast(), "1.0", "dist-of-hearts-last")
