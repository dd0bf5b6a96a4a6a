"""A position from a scenario file (NOTATION): a game in the middle of a round, set up card by card."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rummy500_engine.actions import PASS, LayOff
from rummy500_engine.cards import Card, UnreadableCard, add, cards_of, hand_of, rank_of, read_cards
from rummy500_engine.events import Event
from rummy500_engine.game import Game
from rummy500_engine.melds import Kind, Meld, Placed, Shape
from rummy500_engine.notation import read_action, read_as_meld
from rummy500_engine.readings import lay_off_readings
from rummy500_engine.refusals import Refused
from rummy500_engine.round import Round
from rummy500_engine.rules import Rules
from rummy500_engine.terms import Phase, Poll

SEED = bytes(32)
"""Orders a recycled stock of a position; a position has no secret."""
_PLACEMENT = re.compile(r"(?P<cards>.+?)(?:\s+(?P<end>low|high))?\s+by\s+(?P<name>\S+)", re.IGNORECASE)


class PositionError(Exception):
    """A field of a position or scenario that cannot be read: `field` names it."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(f"{field}: {sentence}")
        self.field, self.sentence = field, sentence


def players_of(scenario: Mapping[str, Any]) -> list[str]:
    names = scenario.get("players")
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise PositionError("players", "a list of names in seat order is required")
    if len(set(names)) < len(names):
        raise PositionError("players", "two players have one name")
    return names


def set_up(rules: Rules, scenario: Mapping[str, Any]) -> tuple[Game, list[Event]]:
    """The game at the scenario's position, and what follows at once (a round that ends because nobody can draw).

    Raises PositionError, naming the field.
    """
    reader = _Reader(rules, scenario)
    game = Game(rules, dealer=reader.seat("dealer", rules.players - 1), single_round=True)
    game.totals = reader.by_player("scores", 0, int)
    round = Round(rules, number=1, dealer=game.dealer, seed=SEED)
    game.round = round
    round.hands = [hand_of(reader.cards(f"hands.{name}", text)) for name, text in reader.texts_by_player("hands")]
    round.melds = [reader.meld(number, text) for number, text in enumerate(reader.texts("melds"), 1)]
    round.refit()
    for meld in round.melds:
        round.opened[meld.opener] += 1
    round.pile = list(reader.cards("discards", scenario.get("discards", "")))
    round.stock = list(reader.cards("stock", scenario.get("stock", "")))[::-1]
    round.turns_played = reader.number("turns_played")
    round.recycled = reader.number("recycled")
    round.turn = reader.seat("turn", (game.dealer + 1) % rules.players)
    reader.check_pack(round)
    events: list[Event] = []
    match scenario.get("phase", "draw"):
        case "draw":
            round.begin_turn(round.turn, events)
        case "play":
            reader.taken(round)
        case "call":
            reader.call(round)
        case other:
            raise PositionError("phase", f"{other!r} is none of draw, play, call")
    if round.over:
        game.score(events)
    return game, events


class _Reader:
    """Reads the fields of one position; every error names its field."""

    def __init__(self, rules: Rules, scenario: Mapping[str, Any]) -> None:
        self.rules, self.scenario = rules, scenario
        self.names = players_of(scenario)

    def seat_of(self, field: str, name: object) -> int:
        if name not in self.names:
            raise PositionError(field, f"{name!r} is none of the players {', '.join(self.names)}")
        return self.names.index(str(name))

    def seat(self, field: str, default: int) -> int:
        return self.seat_of(field, self.scenario[field]) if field in self.scenario else default

    def number(self, field: str) -> int:
        value = self.scenario.get(field, 0)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise PositionError(field, f"{value!r} is no number from 0 up")
        return value

    def _mapping(self, field: str) -> Mapping[str, Any]:
        value = self.scenario.get(field, {})
        if not isinstance(value, Mapping):
            raise PositionError(field, "an object, player to value, is wanted")
        for name in value:
            self.seat_of(field, name)
        return value

    def by_player(self, field: str, default: int, kind: type[int]) -> list[int]:
        value = self._mapping(field)
        for name, number in value.items():
            if not isinstance(number, kind) or isinstance(number, bool):
                raise PositionError(f"{field}.{name}", f"{number!r} is no number")
        return [value.get(name, default) for name in self.names]

    def texts_by_player(self, field: str) -> list[tuple[str, object]]:
        value = self._mapping(field)
        return [(name, value.get(name, "")) for name in self.names]

    def texts(self, field: str) -> list[str]:
        value = self.scenario.get(field, [])
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            raise PositionError(field, "a list of texts is wanted")
        return value

    def cards(self, field: str, text: object) -> tuple[Card, ...]:
        if not isinstance(text, str):
            raise PositionError(field, f"{text!r} is no text of cards")
        try:
            return read_cards(text)
        except UnreadableCard as unreadable:
            raise PositionError(field, str(unreadable)) from None

    def check_pack(self, round: Round) -> None:
        """No card may stand in the position more often than the pack has it."""
        placed = [card.card for meld in round.melds for card in meld.placed]
        used = hand_of([*round.pile, *round.stock, *placed])
        for hand in round.hands:
            for card in cards_of(hand):
                used = add(used, card)
        if used & ~hand_of(self.rules.pack):
            raise PositionError("hands", "a card stands in the position more often than the pack of this table has it")

    # --- melds

    def meld(self, number: int, text: str) -> Meld:
        field = f"melds[{number - 1}]"
        opening, *later = text.split(";")
        cards, end, name = self._placement(field, opening)
        words = [word.partition("/")[0] for word in cards.split()]
        shape = self._shape(field, " ".join(words) + (f" {end}" if end else ""))
        opener = self.seat_of(field, name)
        meld = self.rules.catalogue.meld(number, shape, opener)
        for word in cards.split():
            card, _, owner = word.partition("/")
            if owner:
                meld = self._credited(field, meld, card=card, seat=self.seat_of(field, owner))
        for placement in later:
            meld = self._laid_off(field, meld, placement)
        return meld

    def _placement(self, field: str, text: str) -> tuple[str, str | None, str]:
        found = _PLACEMENT.fullmatch(text.strip())
        if found is None:
            raise PositionError(field, f"{text!r} is no placement; write CARDS by NAME")
        return found["cards"], found["end"], found["name"]

    def _shape(self, field: str, text: str) -> Shape:
        try:
            asked = read_as_meld(text)
        except Refused as refused:
            raise PositionError(field, refused.sentence) from None
        shapes = self.rules.catalogue.readings(asked)
        if len(shapes) > 1:  # all thirteen: as written, low to high
            low_first = rank_of((asked.stands_for or asked.cards)[0]) == 0
            shapes = [shape for shape in shapes if shape.kind is Kind.SET or (shape.start == 0) is low_first]
        if len(shapes) != 1:
            raise PositionError(field, f"{text!r} is no meld of this table" if not shapes else f"{text!r} is ambiguous")
        return shapes[0]

    def _credited(self, field: str, meld: Meld, *, card: str, seat: int) -> Meld:
        for index, placed in enumerate(meld.placed):
            if placed.card == self.cards(field, card)[0]:
                exchanged = Placed(placed.card, placed.face, seat, placed.low)
                return self.rules.catalogue.replaced(meld, index=index, placed=exchanged)
        raise PositionError(field, f"{card} is not in the meld")

    def _laid_off(self, field: str, meld: Meld, text: str) -> Meld:
        cards, end, name = self._placement(field, text)
        word, _, owner = cards.partition("/")
        try:
            action = read_action(f"layoff {word} m{meld.id}" + (f" {end}" if end else ""), self.rules)
        except Refused as refused:
            raise PositionError(field, refused.sentence) from None
        assert isinstance(action, LayOff)
        readings = lay_off_readings(meld, action)
        if len(readings) != 1:
            raise PositionError(field, f"{cards} does not fit, or fits in several ways")
        face, side = readings[0]
        seat = self.seat_of(field, owner or name)
        return self.rules.catalogue.extended(meld, card=action.card, face=face, seat=seat, end=side)

    # --- phases

    def taken(self, round: Round) -> None:
        round.phase = Phase.PLAY
        taken = self.scenario.get("taken", {"kind": "stock"})
        if not isinstance(taken, Mapping) or taken.get("kind") not in ("stock", "pile"):
            raise PositionError("taken", "an object of kind stock or pile is wanted")
        for name in map(str, taken.get("laid", [])):
            number = int(name.removeprefix("m")) if name.removeprefix("m").isdecimal() else 0
            if not 1 <= number <= len(round.melds):
                raise PositionError("taken.laid", f"{name!r} is no meld of the position")
            round.laid += (number,)
            round.laid_points += (round.points_of(round.melds[number - 1]),)
        if taken["kind"] == "stock":
            return
        (card,) = self.cards("taken.card", taken.get("card", ""))[:1] or (None,)
        count = taken.get("count", 1)
        if card is None or not isinstance(count, int):
            raise PositionError("taken", "a take from the pile needs card and count")
        round.target, round.taken = card, count
        round.banned = card if count == 1 else None
        if "unused" in taken:
            round.must_use = hand_of(self.cards("taken.unused", taken["unused"]))
        elif taken.get("must_use"):
            round.must_use = 1 << card
        round.first_play = bool(round.must_use) and self.rules.take_duty.first_play and not round.laid
        if round.must_use & ~round.hands[round.turn]:
            raise PositionError("taken", "a card that must still be used is not in the hand")

    def call(self, round: Round) -> None:
        call = self.scenario.get("call")
        if not isinstance(call, Mapping):
            raise PositionError("call", "phase call needs the open call: card, by, waiting")
        discarder = self.seat_of("call.by", call.get("by"))
        card = self.cards("call.card", call.get("card", ""))[0]
        round.next_seat = self.seat("turn", (discarder + 1) % self.rules.players)
        round.turn, round.phase = round.next_seat, Phase.POLL
        for _, ask in self.rules.polls:
            poll = ask(round=round, seat=discarder, card=card, final=False)
            if poll is not None:
                round.poll = self._answered(poll, call)
                return
        raise PositionError("call", "nothing can be called in this position at this table")

    def _answered(self, poll: Poll, call: Mapping[str, Any]) -> Poll:
        waiting = [self.seat_of("call.waiting", name) for name in call.get("waiting", [])]
        said = {self.seat_of("call.answers", name): text for name, text in call.get("answers", {}).items()}
        answers = []
        for seat in poll.asked:
            if seat in said:
                answers.append((seat, read_action(str(said[seat]), self.rules)))
            elif waiting and seat not in waiting:
                answers.append((seat, PASS))
        return poll.with_answers(tuple(answers))


def meld_placements(meld: Meld) -> tuple[object, ...]:
    """A meld for comparison: its placements in order, the cards of the opening in any order."""
    opening = sorted((p.face, p.card, p.seat, p.low) for p in meld.placed[: meld.opening])
    later = [(p.face, p.card, p.seat, p.low) for p in meld.placed[meld.opening :]]
    return (meld.kind, meld.start, tuple(opening), tuple(later))


def melds_of(rules: Rules, scenario: Mapping[str, Any], texts: Sequence[str]) -> list[tuple[object, ...]]:
    """The melds that the texts describe, for comparison."""
    reader = _Reader(rules, scenario)
    return [meld_placements(reader.meld(number, text)) for number, text in enumerate(texts, 1)]
