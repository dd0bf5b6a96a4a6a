"""Reads game records and plays them again through the engine, line by line, up to the first line that differs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from rummy500_arena.records import ALIGNED, FORMATS, Ending, Fair, Header, Line, MatchPlace, Recorder, without_times
from rummy500_engine.fair import ENTROPY_BYTES
from rummy500_engine.game import Game
from rummy500_engine.notation import read_action
from rummy500_engine.position import PositionError
from rummy500_engine.refusals import Refused
from rummy500_engine.rules import Rules
from rummy500_engine.shuffle import SEED_BYTES
from rummy500_engine.terms import RulesRefused

RulesFor = Callable[[Sequence[str], Mapping[str, Any], int], Rules]
"""Composes the rules of a record: its variants, its options, its number of players. Raises RulesRefused."""


class RecordUnreadable(Exception):
    """Line `line` is no line of a record, or its rules cannot be composed here."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(f"line {line}: {sentence}")
        self.line, self.sentence = line, sentence


class RecordDiffers(Exception):
    """Line `line` is not what the engine says."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(f"line {line}: {sentence}")
        self.line, self.sentence = line, sentence


class Proof(Enum):
    """What a record that holds proves of its deals."""

    FAIR = "fair deal proven"
    SEED = "reproducible from a given seed"
    POSITION = "set up from a given position"


@dataclass(frozen=True, slots=True)
class Record:
    """The lines of one game; the first is line `first` of its file."""

    first: int
    lines: tuple[Line, ...]

    @property
    def proof(self) -> Proof:
        """If it holds."""
        if "fair" in self.lines[0]:
            return Proof.FAIR
        return Proof.POSITION if "position" in self.lines[0] else Proof.SEED

    @property
    def commitment(self) -> str:
        """The one that its secret was under, in hexadecimal; empty: none."""
        return str(self.lines[0]["fair"]["commitment"]) if self.proof is Proof.FAIR else ""


@dataclass(frozen=True, slots=True)
class Step:
    """A line that holds, and the game after it."""

    number: int
    line: Line
    header: Header
    game: Game


def records_in(lines: Iterable[str]) -> Iterator[Record]:
    """The records of a file, which may hold many, one after the other. Raises RecordUnreadable."""
    first, found = 1, list[Line]()
    for number, text in enumerate(lines, 1):
        line = _parsed(number, text)
        if line["type"] == "game" and found:
            yield Record(first, tuple(found))
            first, found = number, []
        found.append(line)
    if not found:
        raise RecordUnreadable(1, "there is no record in the file")
    yield Record(first, tuple(found))


def _parsed(number: int, text: str) -> Line:
    try:
        line = json.loads(text)
        json.dumps(line, ensure_ascii=False).encode()  # halves of surrogate pairs are no text
    except (ValueError, RecursionError) as error:
        raise RecordUnreadable(number, f"this is no JSON: {error}") from None
    if not isinstance(line, dict) or not isinstance(line.get("type"), str):
        raise RecordUnreadable(number, "a line of a record is an object with a type")
    return line


def read_header(record: Record, rules_for: RulesFor) -> Header:
    """What the record's game starts from. Raises RecordUnreadable, RecordDiffers if the rules are others here."""
    line, number = record.lines[0], record.first
    if line["type"] != "game":
        raise RecordUnreadable(number, "a record begins with a line of type game")
    if line.get("format") not in FORMATS:
        read = ", ".join(map(str, FORMATS))
        raise RecordUnreadable(number, f"the record has format {line.get('format')!r}; this program reads {read}")
    try:
        chosen, players = line["rules"], tuple(map(str, line["players"]))
        seed = bytes.fromhex(line["seed"])
        place = MatchPlace(**{**line["match"], "bots": tuple(line["match"]["bots"])}) if "match" in line else None
        variants = dict(chosen["variants"])
        rules = rules_for(sorted(variants), chosen["options"], len(players))
        dealer, single, position = line["dealer"], line["single_round"], line.get("position")
        draws = line.get("draws")
        fair = _fair(line["fair"], len(players)) if "fair" in line else None
    except RulesRefused as refused:
        raise RecordUnreadable(number, f"its rules cannot be composed here: {refused}") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecordUnreadable(number, f"the first line of a record is incomplete: {error}") from None
    if len(seed) != SEED_BYTES or not (dealer is None or (isinstance(dealer, int) and 0 <= dealer < len(players))):
        raise RecordUnreadable(number, "the seed has 64 hexadecimal digits, the dealer is a seat")
    if draws not in (None, ALIGNED) or (draws is not None and position is not None):
        raise RecordUnreadable(number, f"draws is {ALIGNED!r}, or left out; from a position it is left out")
    if position is not None and not isinstance(position, dict):
        raise RecordUnreadable(number, "position is a scenario, an object")
    if fair is not None and (position is not None or (place is not None and place.seed is not None)):
        raise RecordDiffers(number, "fair: no deal is fair that follows from a given seed or position")
    if rules.digest != chosen.get("digest"):
        raise RecordDiffers(
            number,
            f"rules: the record was made with {_versions(variants)} and the engine {line.get('engine')}; "
            f"here are {_versions(dict(rules.variants))} (the digests differ)",
        )
    return Header(
        rules=rules,
        preset=str(chosen.get("preset")),
        players=players,
        seed=seed,
        engine=str(line.get("engine")),
        dealer=dealer,
        single_round=bool(single),
        aligned=draws == ALIGNED,
        table=str(line.get("table", "")),
        match=place,
        position=position,
        fair=fair,
    )


def _fair(found: Mapping[str, Any], players: int) -> Fair:
    """Raises ValueError, or what a missing field raises."""
    entropy = tuple(bytes.fromhex(added) for added in found["entropy"])
    if len(entropy) != players or any(len(added) not in (0, ENTROPY_BYTES) for added in entropy):
        raise ValueError(f"fair.entropy has {ENTROPY_BYTES} bytes in hexadecimal, or none, for each of the players")
    return Fair(str(found["place"]), entropy)


def _versions(variants: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {version}" for name, version in variants.items()) or "no variants"


def follow(record: Record, rules_for: RulesFor) -> Iterator[Step]:
    """Plays the record again and yields each line that holds.

    Raises RecordUnreadable or RecordDiffers at the first that does not.
    """
    header = read_header(record, rules_for)
    try:
        recorder = Recorder(header)
    except PositionError as error:
        raise RecordUnreadable(record.first, f"position.{error}") from None
    for index, line in enumerate(record.lines):
        number = record.first + index
        if index and record.lines[index - 1]["type"] == "end":
            raise RecordDiffers(number, "the record goes on after its end")
        if index >= len(recorder.lines):
            _repeat(recorder, number, line)
        _compare(number, line, recorder.lines[index])
        yield Step(number, line, header, recorder.game)
    if record.lines[-1]["type"] != "end":
        raise RecordDiffers(record.first + len(record.lines) - 1, "the record breaks off after this line")


def verify(record: Record, rules_for: RulesFor) -> RecordDiffers | None:
    """The first difference between a record and the engine. Raises RecordUnreadable."""
    try:
        for _ in follow(record, rules_for):
            pass
    except RecordDiffers as difference:
        return difference
    return None


def _repeat(recorder: Recorder, number: int, line: Line) -> None:
    """Does what the line says was done."""
    match line["type"]:
        case "action":
            seat, text = _seat(recorder, number, line, "seat"), str(line.get("text"))
            try:
                recorder.act(seat, read_action(text, recorder.header.rules), by=str(line.get("by", "")))
            except Refused as refused:
                raise RecordDiffers(number, f"the engine refuses {text!r} of seat {seat}: {refused}") from None
        case "clock":
            recorder.finish_turn(_seat(recorder, number, line, "seat"), str(line.get("reason")))
        case "take_over":
            seat = _seat(recorder, number, line, "seat")
            recorder.take_over(seat, str(line.get("bot")), str(line.get("reason")))
        case "give_back":
            recorder.give_back(_seat(recorder, number, line, "seat"))
        case "forfeit":
            recorder.forfeit(_seat(recorder, number, line, "seat"), str(line.get("termination")))
        case "end":
            _end(recorder, number, line)
        case other:
            raise RecordDiffers(number, f"the engine has no line of type {other!r} here")


def _seat(recorder: Recorder, number: int, line: Line, field: str) -> int:
    seat = line.get(field)
    if not isinstance(seat, int) or isinstance(seat, bool) or not 0 <= seat < recorder.header.rules.players:
        raise RecordDiffers(number, f"{field}: {seat!r} is no seat of this table")
    return seat


def _end(recorder: Recorder, number: int, line: Line) -> None:
    termination = str(line.get("termination"))
    by_the_rules = termination in ("NORMAL", "ROUND_LIMIT")
    if by_the_rules and recorder.game.to_act():
        raise RecordDiffers(number, f"termination: the record has {termination}, but the game is not over")
    winners = line.get("winners")
    if not by_the_rules and not (isinstance(winners, list) and all(isinstance(seat, int) for seat in winners)):
        raise RecordDiffers(number, f"winners: {winners!r} is no list of seats")
    recorder.end(
        Ending(
            termination=termination,
            at_fault=_seat(recorder, number, line, "at_fault") if "at_fault" in line else None,
            winners=None if by_the_rules else tuple(winners or ()),
            sentence=str(line.get("sentence", "")),
        )
    )


def _compare(number: int, found: Line, expected: Line) -> None:
    found, expected = without_times(found), without_times(expected)
    if _same(found, expected):
        return
    if found["type"] != expected["type"]:
        raise RecordDiffers(number, f"the record has a line of type {found['type']!r}, the engine {expected['type']!r}")
    for key in (*expected, *found):
        if not _same(found.get(key), expected.get(key)):
            if key == "digest":
                raise RecordDiffers(number, "digest: a line of this record was changed after it was written")
            if key in ("fair", "commitment"):
                raise RecordDiffers(number, f"{key}: the commitment is not one to the secret of this record")
            raise RecordDiffers(number, f"{key}: the record has {found.get(key)!r}, the engine {expected.get(key)!r}")
    raise RecordDiffers(number, "a field is there without a value")


def _same(left: object, right: object) -> bool:
    """Whether two values are the same JSON: 1, 1.0 and true are three."""
    return left == right and json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
