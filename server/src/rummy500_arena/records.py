"""Game records: JSON lines in NOTATION that a person can read and the engine can play again (docs/records.md).

A record is written by playing its actions once more, so a record that does not replay cannot be written. Times stand
in fields of their own (`times`); without them the same seeds and the same players give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from rummy500_arena.play import pack_of
from rummy500_engine.actions import Action
from rummy500_engine.cards import card_text, cards_text
from rummy500_engine.events import (
    Discarded,
    DrewFromStock,
    Event,
    Exchanged,
    GameWon,
    LaidOff,
    Melded,
    Passed,
    PollClosed,
    PollOpened,
    RoundDealt,
    RoundScored,
    StockRecycled,
    TookFromPile,
    TurnPassed,
    VariantEvent,
)
from rummy500_engine.fair import THE_TABLE, commitment
from rummy500_engine.game import Game
from rummy500_engine.notation import card_as, write_action
from rummy500_engine.position import set_up
from rummy500_engine.refusals import Refused
from rummy500_engine.rules import Rules

FORMATS = (1, 2, 3)
"""2 has `fair`, which a reader of 1 cannot check; 3 has `draws`, which a reader of 2 cannot."""
ALIGNED = "aligned"
Line = dict[str, Any]
CLOCK, STAND_IN = "clock", "bot"
"""Who made an action that a seat did not make itself: the clock, or the bot that played for its player."""


@dataclass(frozen=True, slots=True)
class MatchPlace:
    """Where in a match a game stands. It names no connection and no server: a match played again gives it again. `seed`
    None: nobody gave one. `unpaired`: each seating of a deal has packs of its own."""

    seed: int | None
    unit: str
    bots: tuple[str, ...]
    pairing: int
    deal: int
    rotation: int
    unpaired: bool = False


@dataclass(frozen=True, slots=True)
class Fair:
    """What a fair deal rests on: the `place` of its commitments, and by seat what it added, empty for nothing."""

    place: str
    entropy: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Header:
    """What a game starts from. `seed` is the secret of its table. `fair` None: somebody gave it.

    `single_round`: it ends when its round is scored. `aligned`: each seat draws from a share of its own of the stock.
    `position` is a scenario without its steps; nothing is dealt then.
    """

    rules: Rules
    preset: str
    players: tuple[str, ...]
    seed: bytes
    engine: str
    dealer: int | None = None
    single_round: bool = False
    aligned: bool = False
    table: str = ""
    match: MatchPlace | None = None
    position: Mapping[str, Any] | None = None
    fair: Fair | None = None
    times: Mapping[str, Any] | None = None

    def committed_to(self, round: int) -> str:
        """The commitment to the secret of a round, or of THE_TABLE."""
        assert self.fair is not None
        return commitment(self.seed, self.fair.place, round).hex()

    def game(self) -> tuple[Game, list[Event]]:
        if self.position is not None:
            return set_up(self.rules, self.position)
        return Game(self.rules, dealer=self.dealer, single_round=self.single_round, aligned=self.aligned), []

    @property
    def format(self) -> int:
        if self.aligned:
            return 3
        return 1 if self.fair is None else 2

    def line(self) -> Line:
        table = self.rules.table
        line: Line = {
            "type": "game",
            "format": self.format,
            "engine": self.engine,
            "rules": {
                "preset": self.preset,
                "variants": dict(self.rules.variants),
                "options": dict(table.options),
                "digest": self.rules.digest,
            },
            "players": list(self.players),
            "seed": self.seed.hex(),
            "dealer": self.dealer,
            "single_round": self.single_round,
        }
        if self.aligned:
            line["draws"] = ALIGNED
        if self.table:
            line["table"] = self.table
        if self.match is not None:
            place = self.match
            line["match"] = {
                "seed": place.seed,
                "unit": place.unit,
                "bots": list(place.bots),
                "pairing": place.pairing,
                "deal": place.deal,
                "rotation": place.rotation,
            }
            if place.unpaired:
                line["match"]["unpaired"] = True
        if self.fair is not None:
            line["fair"] = {
                "place": self.fair.place,
                "commitment": self.committed_to(THE_TABLE),
                "entropy": [added.hex() for added in self.fair.entropy],
            }
        if self.position is not None:
            line["position"] = {key: value for key, value in self.position.items() if key not in ("steps", "then")}
        return _timed(line, self.times)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a game ended, in the protocol's words. `winners` are given where the rules did not name them."""

    termination: str = "NORMAL"
    at_fault: int | None = None
    winners: tuple[int, ...] | None = None
    sentence: str = ""


class Recorder:
    """Writes the record of one game, action by action. `lines` are what has been written."""

    def __init__(self, header: Header) -> None:
        self.header = header
        self.lines: list[Line] = []
        self.actions = 0
        self.game, events = header.game()
        self._write(header.line())
        self._write_scores(events)
        self._deal()

    def act(self, seat: int, action: Action, *, by: str = "", times: Mapping[str, Any] | None = None) -> list[Event]:
        """An action that was applied; `by` is CLOCK or STAND_IN if the seat did not make it. Raises Refused if it is
        not legal and left no trace."""
        code = ""
        try:
            events = self.game.apply(seat, action)
        except Refused as refused:  # RULES 3.7: a false call that costs points
            if not refused.events:
                raise
            events, code = list(refused.events), refused.code
        self.actions += 1
        line: Line = {"type": "action", "action": self.actions, "seat": seat, "text": write_action(action)}
        if code:
            line["refused"] = code
        if by:
            line["by"] = by
        told = [entry for entry in map(event_line, events) if entry is not None]
        if told:
            line["events"] = told
        self._write(_timed(line, times))
        self._write_scores(events)
        self._deal()
        return events

    def finish_turn(self, seat: int, reason: str, *, times: Mapping[str, Any] | None = None) -> None:
        """The clock begins to finish the turn of a seat; its actions follow, by CLOCK."""
        self._write(_timed({"type": "clock", "seat": seat, "reason": reason}, times))

    def take_over(self, seat: int, bot: str, reason: str, *, times: Mapping[str, Any] | None = None) -> None:
        """From here on a bot plays for the seat's player; its actions follow, by STAND_IN."""
        self._write(_timed({"type": "take_over", "seat": seat, "bot": bot, "reason": reason}, times))

    def give_back(self, seat: int) -> None:
        """The seat's own player plays it again."""
        self._write({"type": "give_back", "seat": seat})

    def forfeit(self, seat: int, termination: str, *, times: Mapping[str, Any] | None = None) -> None:
        self._write(_timed({"type": "forfeit", "seat": seat, "termination": termination}, times))

    def end(self, ending: Ending, *, times: Mapping[str, Any] | None = None) -> None:
        game, outcome = self.game, self.game.outcome
        line: Line = {
            "type": "end",
            "termination": ending.termination,
            "winners": list(self._winners(ending)),
            "totals": list(game.totals),
            "rounds": game.rounds_played,
            "actions": self.actions,
        }
        if outcome is not None and outcome.settlement:
            line["settlement"] = list(outcome.settlement)
        if ending.at_fault is not None:
            line["at_fault"] = ending.at_fault
        if ending.sentence:
            line["sentence"] = ending.sentence
        line["digest"] = digest_of((*self.lines, line))
        self._write(_timed(line, times))

    def _winners(self, ending: Ending) -> tuple[int, ...]:
        if ending.winners is not None:
            return ending.winners
        outcome, scored = self.game.outcome, self.game.rounds_played
        if outcome is not None and outcome.winners:
            return outcome.winners
        return leaders(self.game.totals) if scored else ()

    def _write(self, line: Line) -> None:
        self.lines.append(line)

    def _write_scores(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, RoundScored):
                self._write(_score_line(event))

    def _deal(self) -> None:
        if not self.game.needs_deal:
            return
        fair = self.header.fair
        seed, order = pack_of(self.game, self.header.seed, fair.entropy if fair is not None else ())
        for event in self.game.deal(order, seed=seed):
            assert isinstance(event, RoundDealt)
            line = _deal_line(event, order[len(order) - event.stock_count :])
            if fair is not None:
                line["commitment"] = self.header.committed_to(event.round)
            self._write(line)

    def text(self) -> str:
        return "".join(f"{line_text(line)}\n" for line in self.lines)


def leaders(totals: Sequence[int]) -> tuple[int, ...]:
    return tuple(seat for seat, total in enumerate(totals) if total == max(totals))


def line_text(line: Mapping[str, Any]) -> str:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"))


def without_times(line: Mapping[str, Any]) -> Line:
    return {key: value for key, value in line.items() if key != "times"}


def digest_of(lines: Iterable[Mapping[str, Any]]) -> str:
    """SHA-256 over the lines without `times` and without `digest`, each as JSON with sorted keys and a line feed."""
    digest = hashlib.sha256()
    for line in lines:
        bare = {key: value for key, value in line.items() if key not in ("times", "digest")}
        text = json.dumps(bare, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        digest.update(text.encode() + b"\n")
    return digest.hexdigest()


def _timed(line: Line, times: Mapping[str, Any] | None) -> Line:
    if times:
        line["times"] = dict(times)
    return line


def _deal_line(event: RoundDealt, stock: Sequence[int]) -> Line:
    return {
        "type": "deal",
        "round": event.round,
        "dealer": event.dealer,
        "hands": [cards_text(hand or ()) for hand in event.hands],
        "up_card": None if event.up_card is None else card_text(event.up_card),
        "stock": cards_text(stock),
    }


def _score_line(event: RoundScored) -> Line:
    return {
        "type": "round",
        "round": event.round,
        "reason": event.reason.value,
        "out": event.out,
        "scores": [
            {
                "placed": score.placed,
                "held": score.held,
                "adjustments": dict(score.adjustments),
                "points": score.points,
                "hand": cards_text(hand),
            }
            for score, hand in zip(event.seats, event.hands, strict=True)
        ],
        "totals": list(event.totals),
    }


def event_line(event: Event) -> Line | None:
    """What an action brought about, where its text does not say so itself; scores have lines of their own."""
    match event:
        case Discarded() | Passed() | RoundDealt() | RoundScored() | GameWon():
            return None
        case DrewFromStock(seat, card):
            return {"event": "drew", "seat": seat, "card": card_text(card) if card is not None else None}
        case TookFromPile(seat, cards, must_use):
            return {"event": "took", "seat": seat, "cards": cards_text(cards), "must_use": cards_text(must_use)}
        case Melded(seat, meld, cards, faces, end):
            return {"event": "melded", "seat": seat, "meld": meld, "cards": _cards_as(cards, faces), **_end(end)}
        case LaidOff(seat, meld, card, face, end):
            return {"event": "laid_off", "seat": seat, "meld": meld, "card": card_as(card, face), **_end(end)}
        case Exchanged(seat, meld, card):
            return {"event": "exchanged", "seat": seat, "meld": meld, "card": card_text(card)}
        case PollOpened(variant, name, card, by, asked):
            opener = None if card is None else card_text(card)
            return {
                "event": "poll_opened",
                "variant": variant,
                "name": name,
                "card": opener,
                "by": by,
                "asked": [*asked],
            }
        case PollClosed(variant, name, winner):
            return {"event": "poll_closed", "variant": variant, "name": name, "winner": winner}
        case TurnPassed(seat, drawn):
            return {"event": "turn_passed", "seat": seat, "drawn": drawn}
        case StockRecycled(stock_count, shuffled):
            return {"event": "stock_recycled", "stock_count": stock_count, "shuffled": shuffled}
        case VariantEvent(variant, name, seat, fields, cards):
            return {
                "event": "variant",
                "variant": variant,
                "name": name,
                "seat": seat,
                "fields": dict(fields),
                "cards": cards_text(cards),
            }
        case _:
            assert_never(event)


def _cards_as(cards: Sequence[int], faces: Sequence[int]) -> str:
    return " ".join(card_as(card, face) for card, face in zip(cards, faces, strict=True))


def _end(end: Any) -> Line:
    return {} if end is None else {"end": end.value}
