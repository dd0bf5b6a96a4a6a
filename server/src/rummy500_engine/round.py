"""One round, from the deal until it is scored: the only thing in the engine that changes, and only by `apply`.

phase   DRAW ──draw, take──> PLAY ──discard──> POLL (only if a variant asks) ──> DRAW of the next seat
          │                   │
          └─pass, no take─> OVER <─ hand empty, stock or turns used up
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rummy500_engine import legal
from rummy500_engine.actions import PASS, Action, Call, Discard, Draw, End, LayMeld, LayOff, Pass, Take, VariantAction
from rummy500_engine.aligned import draw_from_share, lay_in_shares
from rummy500_engine.cards import JOKER, Card, Mask, add, cards_of, hand_of, remove
from rummy500_engine.events import (
    DrewFromStock,
    Event,
    Exchanged,
    LaidOff,
    Melded,
    Passed,
    PollClosed,
    PollOpened,
    RoundDealt,
    RoundEnd,
    SeatScore,
    StockRecycled,
    TookFromPile,
    TurnPassed,
    VariantEvent,
    discarded,
    drew_from_stock,
    laid_off,
    took_from_pile,
)
from rummy500_engine.melds import Meld, Placed, Shape
from rummy500_engine.readings import one_reading
from rummy500_engine.refusals import Refused
from rummy500_engine.rules import Rules
from rummy500_engine.shuffle import shuffle
from rummy500_engine.takes import duty_of, has_usable_take
from rummy500_engine.terms import Phase, Poll, StockRule, VariantError
from rummy500_engine.turn import Fit, Move

# Bound once: looking up an enum member on its class costs as much as a call.
_DRAW: Final = Phase.DRAW
_PLAY: Final = Phase.PLAY
_POLL: Final = Phase.POLL
_OVER: Final = Phase.OVER


ROUND_FIELDS: Final = (
    "_pending_polls", "banned", "dealer", "end", "ending", "first_play", "fits", "hands", "known", "laid",
    "laid_points", "melds", "must_use", "next_seat", "number", "opened", "out", "phase", "pile", "poll",
    "recycled", "rules", "seed", "shares", "states", "stock", "taken", "target", "turn", "turns_played",
)  # fmt: skip
"""All that a round is. A compiled class does not tell."""


class Round:
    """The full state of a round; never shown to anybody whole (`view.seat_view` makes what one seat sees).

    `hands` and `known` are masks by seat (`known`: cards that all saw go into that hand); `stock` is drawn from its
    end, `pile` lies bottom first. Where draws are aligned `shares` has the size of each seat's share of the stock
    (`rummy500_engine.aligned`), else it is empty. Of the turn: `must_use` is the part of the hand that must still be
    used, `target` the deepest card taken, `banned` the face that may not be discarded, `laid` the numbers of the melds
    laid.
    """

    __slots__ = ROUND_FIELDS

    def __init__(self, rules: Rules, *, number: int, dealer: int, seed: bytes) -> None:
        seats = rules.players
        self.rules = rules
        self.number = number
        self.dealer = dealer
        self.seed = seed
        self.hands: list[Mask] = [0] * seats
        self.known: list[Mask] = [0] * seats
        self.stock: list[Card] = []
        self.shares: list[int] = []
        self.pile: list[Card] = []
        self.melds: list[Meld] = []
        self.fits: Mask = 0
        self.opened = [0] * seats
        self.turn = (dealer + 1) % seats
        self.next_seat = self.turn
        self.phase = _DRAW
        self.turns_played = 0
        self.recycled = 0
        self.poll: Poll | None = None
        self._pending_polls: list[Poll] = []
        self.states: dict[str, Any] = {}
        self.out: int | None = None
        self.ending: RoundEnd | None = None
        self.end: RoundEnd | None = None
        self._begin_fresh_turn()

    def _begin_fresh_turn(self) -> None:
        self.must_use: Mask = 0
        self.target: Card | None = None
        self.taken = 0
        self.banned: Card | None = None
        self.first_play = False
        self.laid: tuple[int, ...] = ()
        self.laid_points: tuple[int, ...] = ()

    @classmethod
    def deal(
        cls, rules: Rules, *, number: int, dealer: int, order: Sequence[Card], seed: bytes, aligned: bool = False
    ) -> tuple[Round, list[Event]]:
        """Deals a shuffled pack, one card at a time from the dealer's left (RULES 1.2). `aligned`: each seat draws from
        a share of its own."""
        assert sorted(order) == sorted(rules.pack), "the order must be this table's pack"
        dealt = cls(rules, number=number, dealer=dealer, seed=seed)
        seats = rules.players
        last = rules.hand_size * seats
        received = [tuple(order[(seat - dealer - 1) % seats : last : seats]) for seat in range(seats)]
        up_card: Card | None = None
        if rules.deal.extra_card:
            received[dealt.turn] += (order[last],)
            dealt.phase = _PLAY
        else:
            up_card = order[last]
            dealt.pile.append(up_card)
        dealt.hands = [hand_of(hand) for hand in received]
        dealt.stock = list(order[:last:-1])
        if aligned:
            dealt.stock, dealt.shares = lay_in_shares(order[last + 1 :], seats)
        counts = tuple([len(hand) for hand in received])
        hands = tuple(received)
        return dealt, [RoundDealt(number, dealer, hands, counts, up_card, len(dealt.stock))]

    def clone(self) -> Round:
        """An independent copy; melds, events and variants' states are immutable and shared."""
        copy = Round(self.rules, number=self.number, dealer=self.dealer, seed=self.seed)
        copy.banned = self.banned
        copy.end = self.end
        copy.ending = self.ending
        copy.first_play = self.first_play
        copy.fits = self.fits
        copy.laid = self.laid
        copy.laid_points = self.laid_points
        copy.must_use = self.must_use
        copy.next_seat = self.next_seat
        copy.out = self.out
        copy.phase = self.phase
        copy.poll = self.poll
        copy.recycled = self.recycled
        copy.taken = self.taken
        copy.target = self.target
        copy.turn = self.turn
        copy.turns_played = self.turns_played
        copy.hands = self.hands.copy()
        copy.known = self.known.copy()
        copy.shares = self.shares.copy()
        copy.stock = self.stock.copy()
        copy.pile = self.pile.copy()
        copy.melds = self.melds.copy()
        copy.opened = self.opened.copy()
        copy.states = self.states.copy()
        copy._pending_polls = self._pending_polls.copy()
        return copy

    @property
    def over(self) -> bool:
        return self.phase is _OVER

    def to_act(self) -> tuple[int, ...]:
        """The seats that are asked now."""
        if self.phase is _OVER:
            return ()
        if self.poll is not None:
            return self.poll.waiting
        return (self.turn,)

    def legal_actions(self, seat: int) -> list[Action]:
        return legal.legal_actions(self, seat)

    def apply(self, seat: int, action: Action) -> list[Event]:
        """Plays the action and returns what happened. Raises Refused, and then nothing has changed."""
        try:
            move = legal.verify(self, seat, action)
        except Refused as refused:
            self._false_answer(seat, action, refused)
            raise
        return self.play_verified(seat, action, move)

    def play_verified(self, seat: int, action: Action, move: Move) -> list[Event]:
        """Plays an action that `legal` has verified; `move` is what it means here."""
        events: list[Event] = []
        if self.poll is not None:
            if not isinstance(action, Draw | Take):
                self._answer(self.poll, seat, action, events)
                return events
            events.append(PollClosed(self.poll.variant, self.poll.name, None))
            self.poll = None
            self._pending_polls.clear()
        match action:
            case Discard():
                self._discard(seat, action.card, events)
            case Draw():
                self._draw(seat, events)
                self.phase = _PLAY
            case Take():
                assert isinstance(move, int)
                self._take(seat, move, events)
            case LayMeld():
                assert isinstance(move, Shape)
                self._meld(seat, move, action.end, events)
                self._after_play(seat, events)
            case LayOff():
                assert isinstance(move, Fit)
                self._lay_off(seat, action.meld, action.card, move.face, move.end, events)
                self._after_play(seat, events)
            case Pass():
                events.append(Passed(seat))
                self._finish(RoundEnd.PASSED)
            case VariantAction():
                happened = self.rules.perform[action.variant](round=self, seat=seat, action=action)
                self._evolve_all(happened, events, variant=action.variant, hook="rummy500_perform")
                self._after_play(seat, events)
            case _:
                raise AssertionError(f"{action} was verified but cannot be played")
        return events

    # --- the acts

    def _draw(self, seat: int, events: list[Event]) -> None:
        card = draw_from_share(self.stock, self.shares, seat) if self.shares else self.stock.pop()
        self.hands[seat] = add(self.hands[seat], card)
        events.append(drew_from_stock(seat, card, len(self.stock)))

    def _take(self, seat: int, index: int, events: list[Event]) -> None:
        cards = tuple(self.pile[index:])
        duty = duty_of(self, index)
        del self.pile[index:]
        self._receive(seat, cards)
        self.must_use, self.target, self.taken = duty, cards[0], len(cards)
        self.banned = cards[0] if len(cards) == 1 else None
        self.first_play = self.rules.take_duty.first_play and bool(duty)
        self.phase = _PLAY
        owed = tuple(cards_of(duty)) if duty & (duty - 1) else cards[:1] if duty else ()
        events.append(took_from_pile(seat, cards, owed))

    def _receive(self, seat: int, cards: Sequence[Card]) -> None:
        for card in cards:
            self.hands[seat] = add(self.hands[seat], card)
            self.known[seat] = add(self.known[seat], card)

    def _give(self, seat: int, card: Card) -> None:
        self.hands[seat] = remove(self.hands[seat], card)
        known = self.known[seat]
        if known >> card & 1:  # whether the hand has a twin of it is nobody's business (RULES 4)
            self.known[seat] = remove(known, card)

    def _meld(self, seat: int, shape: Shape, end: End | None, events: list[Event]) -> None:
        number = len(self.melds) + 1
        meld = self.rules.catalogue.meld(number, shape, seat)
        self._use(seat, shape.cards, new_meld=True)
        self.melds.append(meld)
        self.fits |= meld.fits
        self.opened[seat] += 1
        self.laid += (number,)
        self.laid_points += (self.points_of(meld),)
        events.append(Melded(seat, number, shape.cards, shape.faces, end))

    def _lay_off(self, seat: int, number: int, card: Card, face: Card, end: End | None, events: list[Event]) -> None:
        self._use(seat, (card,), new_meld=False)
        catalogue = self.rules.catalogue
        self.melds[number - 1] = catalogue.extended(self.melds[number - 1], card=card, face=face, seat=seat, end=end)
        self.refit()
        events.append(laid_off(seat, number, card, face, end))

    def refit(self) -> None:
        """Notes which faces fit some meld on the table."""
        self.fits = 0
        for meld in self.melds:
            self.fits |= meld.fits

    def _use(self, seat: int, cards: Sequence[Card], *, new_meld: bool) -> None:
        for card in cards:
            self._give(seat, card)
            meets = new_meld or card != self.target or not self.rules.take_duty.new_meld
            if meets and self.must_use >> card & 1:
                self.must_use = remove(self.must_use, card)
        if self.target in cards:
            self.first_play = False

    def _after_play(self, seat: int, events: list[Event]) -> None:
        if self.hands[seat] or self.phase is not _PLAY:
            return
        if self.rules.floating:
            self._end_turn(seat, None, events)
            return
        self.out = seat
        self._finish(RoundEnd.OUT)

    def _discard(self, seat: int, card: Card, events: list[Event]) -> None:
        self._give(seat, card)
        self.pile.append(card)
        events.append(discarded(seat, card))
        self._end_turn(seat, card, events)

    # --- between turns

    def _end_turn(self, seat: int, card: Card | None, events: list[Event]) -> None:
        self.turns_played += 1
        if card is not None and not self.hands[seat]:
            self.out, self.ending = seat, RoundEnd.OUT
        elif self.turns_played >= self.rules.max_turns:
            self.ending = RoundEnd.TURN_LIMIT
        elif not self.stock and self.rules.stock_out.rule is StockRule.END_NOW:
            self.ending = RoundEnd.STOCK
        self.next_seat = (seat + 1) % self.rules.players
        if card is not None and self.rules.polls:
            final = self.ending is not None
            for _, ask in self.rules.polls:
                poll = ask(round=self, seat=seat, card=card, final=final)
                if poll is not None and poll.asked:
                    self._pending_polls.append(poll)
        self._go_on(events)

    def _go_on(self, events: list[Event]) -> None:
        """Opens the next poll, ends the round, or lets the next seat draw."""
        if self._pending_polls:
            poll = self.poll = self._pending_polls.pop(0)
            self._begin_fresh_turn()  # whoever goes on, by a call or a draw, owes nothing for the turn that has ended
            self.phase, self.turn = _POLL, self.next_seat
            events.append(PollOpened(poll.variant, poll.name, poll.card, poll.by, poll.asked))
            return
        if self.ending is not None:
            self._finish(self.ending)
            return
        self.begin_turn(self.next_seat, events)

    def begin_turn(self, seat: int, events: list[Event]) -> None:
        """The seat is to draw; with an empty stock the table's rule decides (RULES 1.9 and `stock-out`)."""
        self._begin_fresh_turn()
        self.turn, self.phase = seat, _DRAW
        if self.stock:
            return
        rule = self.rules.stock_out
        if rule.rule in (StockRule.RESHUFFLE, StockRule.FLIP):
            if len(self.pile) < 2 or (rule.recycles is not None and self.recycled >= rule.recycles):
                self._finish(RoundEnd.STOCK)
            else:
                self._recycle(shuffled=rule.rule is StockRule.RESHUFFLE, events=events)
        elif not has_usable_take(self, seat):
            self._finish(RoundEnd.STOCK)

    def _recycle(self, *, shuffled: bool, events: list[Event]) -> None:
        self.recycled += 1
        cards, self.pile = self.pile[:-1], self.pile[-1:]
        if shuffled:
            cards = list(shuffle(self.seed, cards, stream=self.recycled))
        if shuffled and self.shares:
            self.stock, self.shares = lay_in_shares(cards, self.rules.players)
        else:  # a stock that was turned over is known to all, and drawn in its order
            self.stock, self.shares = cards[::-1], []
        events.append(StockRecycled(len(self.stock), shuffled))

    def _finish(self, end: RoundEnd) -> None:
        self.phase, self.end, self.poll = _OVER, end, None
        self._pending_polls.clear()

    # --- polls and variants

    def _answer(self, poll: Poll, seat: int, action: Action, events: list[Event]) -> None:
        answered = self.poll = poll.with_answers((*poll.answers, (seat, action)))
        result = self.rules.poll_result[poll.variant](round=self)
        if result is None:
            if answered.waiting:
                return
            result = (PollClosed(poll.variant, poll.name, None),)
        self._evolve_all(result, events, variant=poll.variant, hook="rummy500_poll_result")
        self._after_answers(events)

    def _after_answers(self, events: list[Event]) -> None:
        """Goes on when a poll has led to something: somebody is out, has the turn, or the next seat draws."""
        self.poll = None
        for seat, hand in enumerate(self.hands):
            if not hand and self.ending is None and not self.rules.floating:
                self.out, self.ending = seat, RoundEnd.OUT
        if self.phase is _PLAY and self.ending is None:
            self._pending_polls.clear()  # somebody has the turn: what else was to be asked of the discard is over
            self._after_play(self.turn, events)
        else:
            self._go_on(events)

    def _false_answer(self, seat: int, action: Action, refused: Refused) -> None:
        """Lets the variant that asked answer a refused call: the one refusal that may leave a trace (RULES 3.7)."""
        poll = self.poll
        if poll is None or not isinstance(action, Call) or seat not in poll.waiting:
            return
        ask = self.rules.false_answer.get(poll.variant)
        happened = ask(round=self, seat=seat, action=action) if ask is not None else None
        if not happened:
            return
        events: list[Event] = []
        self._evolve_all(happened, events, variant=poll.variant, hook="rummy500_false_answer")
        self._answer(poll, seat, PASS, events)
        refused.events = tuple(events)

    def bring_about(self, happened: Sequence[Event]) -> list[Event]:
        """Applies what a poll led to: for a look ahead on a copy."""
        poll = self.poll
        assert poll is not None
        events: list[Event] = []
        self._evolve_all(happened, events, variant=poll.variant, hook="rummy500_poll_result")
        self._after_answers(events)
        return events

    def _evolve_all(self, happened: Sequence[Event], events: list[Event], *, variant: str, hook: str) -> None:
        """Applies what a variant brought about. An event that cannot happen is that variant's mistake."""
        for event in happened:
            try:
                self._evolve(event, events)
            except (AssertionError, LookupError, StopIteration, Refused) as error:
                raise VariantError(
                    variant=variant,
                    hook=hook,
                    distribution=self.rules.distributions.get(variant, ""),
                    problem=f"brought about {event}, which cannot happen: {type(error).__name__} {error}",
                ) from error

    def _evolve(self, event: Event, events: list[Event]) -> None:
        """Applies an event that a variant brought about."""
        match event:
            case DrewFromStock(seat):
                self._draw(seat, events)
            case TookFromPile(seat, cards, must_use):
                assert cards
                assert tuple(self.pile[-len(cards) :]) == cards
                del self.pile[-len(cards) :]
                self._receive(seat, cards)
                for card in must_use:
                    self.must_use = add(self.must_use, card)
                events.append(event)
            case Melded(seat, _, cards, faces, end):
                shape = one_reading(self.rules, LayMeld(cards, faces, end))
                self._meld(seat, shape, end, events)
            case LaidOff(seat, number, card, face, end):
                assert 1 <= number <= len(self.melds)
                assert card in (face, JOKER)
                assert end in self.melds[number - 1].ends_taking(face)
                self._lay_off(seat, number, card, face, end, events)
            case TurnPassed(seat, drawn):
                events.append(event)
                if drawn:
                    self.turn, self.phase = seat, _PLAY
                else:
                    self.next_seat = seat
            case Exchanged(seat, number, card):
                self._exchange(seat, number, card)
                events.append(event)
            case PollClosed():
                events.append(event)
            case VariantEvent(variant):
                fold = self.rules.state.get(variant)
                if fold is not None:
                    self.states[variant] = fold(state=self.states.get(variant), event=event)
                events.append(event)
            case _:
                raise AssertionError(f"a variant may not bring about {event}")

    def _exchange(self, seat: int, number: int, card: Card) -> None:
        assert 1 <= number <= len(self.melds)
        meld = self.melds[number - 1]
        index = next(i for i, placed in enumerate(meld.placed) if placed.card == JOKER and placed.face == card)
        self._give(seat, card)
        self._receive(seat, (JOKER,))
        placed = Placed(card, card, seat, meld.placed[index].low)
        self.melds[number - 1] = self.rules.catalogue.replaced(meld, index=index, placed=placed)

    # --- scores

    def points_of(self, meld: Meld) -> int:
        points, card_points = 0, self.rules.card_points
        for placed in meld.placed:
            points += card_points(placed.card, placed.face, placed.low)
        return points

    def scores(self) -> tuple[SeatScore, ...]:
        """Points of each seat: placed cards minus held cards, plus what variants add (RULES 1.13)."""
        rules = self.rules
        placed = [0] * rules.players
        for meld in self.melds:
            for card in meld.placed:
                placed[card.seat] += rules.card_points(card.card, card.face, card.low)
        deducts = self.end is RoundEnd.OUT or rules.stock_out.deduct
        held = [sum(rules.held_points[card] for card in cards_of(hand)) if deducts else 0 for hand in self.hands]
        bare = tuple(SeatScore(placed[s], held[s], (), placed[s] - held[s]) for s in range(rules.players))
        if not rules.adjustments:
            return bare
        return self._adjusted(bare)

    def _adjusted(self, bare: tuple[SeatScore, ...]) -> tuple[SeatScore, ...]:
        names: list[tuple[str, Sequence[int]]] = []
        for _, ask in self.rules.adjustments:
            names.extend(sorted((ask(round=self, scores=bare) or {}).items()))
        return tuple(
            SeatScore(
                score.placed,
                score.held,
                tuple((name, points[seat]) for name, points in names if points[seat]),
                score.points + sum(points[seat] for _, points in names),
            )
            for seat, score in enumerate(bare)
        )
