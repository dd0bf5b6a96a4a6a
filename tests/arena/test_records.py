"""Records: the same game gives the same lines, and a changed line is found."""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from rummy500_arena.play import play_game
from rummy500_arena.records import CLOCK, Ending, Header, MatchPlace, Recorder, line_text
from rummy500_arena.verification import Record, RecordDiffers, RecordUnreadable, Step, follow, records_in, verify
from rummy500_bots import Decision, built_in
from rummy500_catalog import Catalog
from rummy500_engine.actions import DRAW
from rummy500_engine.game import Game
from rummy500_engine.notation import read_action
from rummy500_engine.refusals import Refused
from rummy500_engine.rules import Rules
from rummy500_engine.shuffle import seed_for
from rummy500_engine.terms import Phase
from rummy500_engine.view import seat_view

CATALOG = Catalog()


def rules_for(variants: Sequence[str], options: Mapping[str, Any], players: int) -> Rules:
    return CATALOG.rules("classic", variants, options, players=players)


def header(players: int = 2, *, single_round: bool = True, number: int = 0, **more: Any) -> Header:
    return Header(
        rules=CATALOG.rules(players=players),
        preset="classic",
        players=tuple(f"bot{seat}" for seat in range(players)),
        seed=seed_for(b"records", number),
        engine="0.1.0",
        dealer=players - 1,
        single_round=single_round,
        **more,
    )


def played(start: Header, *, times: Callable[[int], int] | None = None, bot: str = "random") -> Recorder:
    recorder = Recorder(start)
    game = Game(start.rules, dealer=start.dealer, single_round=start.single_round, aligned=start.aligned)
    bots = [built_in(bot, seed=seat) for seat in range(len(start.players))]
    play_game(
        game,
        bots,
        seed=start.seed,
        watcher=lambda seat, action, events: recorder.act(
            seat, action, times={"ms": times(recorder.actions)} if times else None
        ),
    )
    recorder.end(Ending(), times={"ended_ms": times(0)} if times else None)
    return recorder


def record_of(recorder: Recorder) -> Record:
    (record,) = records_in(io.StringIO(recorder.text()))
    return record


@pytest.mark.parametrize("players", [2, 4, 7])
@pytest.mark.parametrize("number", range(5))
def test_a_record_replays(players: int, number: int) -> None:
    recorder = played(header(players, number=number))

    assert verify(record_of(recorder), rules_for) is None
    steps = list(follow(record_of(recorder), rules_for))
    assert steps[-1].game.totals == recorder.game.totals


@pytest.mark.parametrize("variant", [each.name for each in CATALOG.variants() if each.name != "classic"])
def test_a_record_with_any_variant_replays(variant: str) -> None:
    rules = CATALOG.rules("", [variant], players=4)
    for number in range(3):
        seed, aligned = seed_for(b"v", number), number > 0
        start = Header(rules, "classic", ("a", "b", "c", "d"), seed, "0.1.0", single_round=True, aligned=aligned)
        recorder = played(start)

        assert verify(record_of(recorder), rules_for) is None


def test_a_game_of_many_rounds_replays() -> None:
    recorder = played(header(single_round=False))

    assert verify(record_of(recorder), rules_for) is None
    kinds = [line["type"] for line in recorder.lines]
    assert kinds.count("deal") == kinds.count("round") == recorder.game.rounds_played > 1
    assert recorder.lines[-1]["winners"] == list(recorder.game.outcome.winners)  # type: ignore[union-attr]


def test_a_game_from_a_position_replays() -> None:
    (scenario,) = [
        found
        for found in json.loads((Path(__file__).parents[1] / "scenarios/digging.json").read_text())
        if found["id"] == "dig-001"
    ]
    start = header(position=scenario)
    recorder = Recorder(start)
    bots = [built_in("easy", seed=0)] * 2
    game, _ = start.game()
    play_game(game, bots, seed=start.seed, watcher=lambda seat, action, events: recorder.act(seat, action))
    recorder.end(Ending())

    assert verify(record_of(recorder), rules_for) is None
    assert "steps" not in recorder.lines[0]["position"]


def test_a_false_call_that_costs_points_is_recorded_as_refused() -> None:
    rules = CATALOG.rules("", ["call-rummy"], {"call-rummy.false_call_points": 10}, players=3)
    start = Header(rules, "classic", ("anna", "ben", "cleo"), bytes(32), "0.1.0", dealer=2, single_round=True)
    recorder = Recorder(start)
    bots = [built_in("random", seed=seat) for seat in range(3)]
    costs = False
    while not costs:
        seat = recorder.game.to_act()[0]
        view = seat_view(recorder.game, seat)
        if view.phase is Phase.POLL:
            recorder.act(seat, read_action("call 2C m99", rules))
            costs = True
            continue
        answer = bots[seat].act(Decision(view, rules))
        assert not isinstance(answer, Sequence)
        recorder.act(seat, answer)
    recorder.end(Ending("CANCELLED", winners=()))

    assert recorder.lines[-2]["refused"] == "CALL_NOT_VALID"
    assert verify(record_of(recorder), rules_for) is None


def test_the_same_game_gives_the_same_bytes_but_for_times() -> None:
    place = MatchPlace(seed=7, unit="deal", bots=("easy", "random"), pairing=0, deal=3, rotation=1)
    bare, again = played(header(match=place)), played(header(match=place))
    timed = played(header(match=place, times={"started_ms": 5}), times=lambda number: number + 3)

    assert bare.text() == again.text() != timed.text()
    stripped = [
        line_text({k: v for k, v in json.loads(line).items() if k != "times"}) for line in timed.text().split("\n")[:-1]
    ]
    assert "".join(f"{line}\n" for line in stripped) == bare.text()
    assert "times" not in bare.text()


def tampered(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return value + "x" if not value or value[-1] != "x" else value[:-1]
        case list():
            return [*value, 0]
        case dict():
            return {**value, "more": 0}
        case None:
            return 0
        case _:
            raise AssertionError(value)


def fields_of(line: Mapping[str, Any]) -> list[tuple[str | int, ...]]:
    def paths(value: Any, path: tuple[str | int, ...]) -> list[tuple[str | int, ...]]:
        found = [path] if path else []
        if isinstance(value, dict):
            for key in value:
                found += paths(value[key], (*path, key))
        if isinstance(value, list):
            for index, entry in enumerate(value):
                found += paths(entry, (*path, index))
        return found

    return [path for path in paths(dict(line), ()) if path[0] != "times"]


def with_change(line: Mapping[str, Any], path: tuple[str | int, ...]) -> dict[str, Any]:
    changed: Any = copy.deepcopy(dict(line))
    there = changed
    for key in path[:-1]:
        there = there[key]
    there[path[-1]] = tampered(there[path[-1]])
    return changed  # type: ignore[no-any-return]


def found_in(record: Record) -> int:
    """The line that is named, or 0."""
    try:
        difference = verify(record, rules_for)
    except RecordUnreadable as unreadable:
        return unreadable.line
    return difference.line if difference is not None else 0


def test_each_single_tampered_field_is_found_and_its_line_named() -> None:
    record = record_of(played(header(number=2), bot="easy"))
    last = len(record.lines)
    changes = 0
    for index, line in enumerate(record.lines):
        for path in fields_of(line):
            lines = (*record.lines[:index], with_change(line, path), *record.lines[index + 1 :])
            named = found_in(Record(1, lines))

            assert named == index + 1 or (index == 0 and named == last), (index + 1, path, named)
            changes += 1
    assert changes > 200


def test_a_line_that_is_missing_doubled_or_in_another_place_is_found() -> None:
    record = record_of(played(header(number=2), bot="easy"))
    lines = record.lines
    for index in range(1, len(lines)):
        assert found_in(Record(1, (*lines[:index], *lines[index + 1 :]))), index
        assert found_in(Record(1, (*lines[: index + 1], *lines[index:]))), index
        if index > 1:
            swapped = (*lines[: index - 1], lines[index], lines[index - 1], *lines[index + 1 :])
            assert found_in(Record(1, swapped)), index


def test_a_record_that_breaks_off_is_found() -> None:
    record = record_of(played(header()))

    difference = verify(Record(1, record.lines[:-1]), rules_for)

    assert difference is not None
    assert difference.line == len(record.lines) - 1
    assert "breaks off" in difference.sentence


def test_what_differs_is_said() -> None:
    record = record_of(played(header(number=2), bot="easy"))
    index = next(i for i, line in enumerate(record.lines) if line.get("text") == "draw")
    card = record.lines[index]["events"][0]["card"]
    other = "2C" if card != "2C" else "3C"
    changed = copy.deepcopy(record.lines[index])
    changed["events"][0]["card"] = other

    difference = verify(Record(1, (*record.lines[:index], changed, *record.lines[index + 1 :])), rules_for)

    assert difference is not None
    assert str(difference).startswith(f"line {index + 1}: events: the record has ")
    assert other in difference.sentence
    assert card in difference.sentence


def test_a_game_that_a_seat_forfeited_replays() -> None:
    recorder = Recorder(header())
    recorder.finish_turn(0, "TIMEOUT", times={"overrun_ms": 3})
    recorder.act(0, DRAW, by=CLOCK, times={"ms": 10_000})
    recorder.forfeit(0, "TIMEOUT")
    recorder.end(Ending("TIMEOUT", at_fault=0, winners=(1,), sentence="bot0 ran out of time three times."))

    assert verify(record_of(recorder), rules_for) is None
    assert recorder.lines[-1]["at_fault"] == 0


def test_a_game_cannot_have_ended_by_the_rules_before_it_is_over() -> None:
    recorder = Recorder(header())
    recorder.act(0, DRAW)
    recorder.end(Ending())

    difference = verify(record_of(recorder), rules_for)

    assert difference is not None
    assert "the game is not over" in difference.sentence


def test_an_illegal_action_cannot_be_recorded() -> None:
    recorder = Recorder(header())

    with pytest.raises(Refused):
        recorder.act(1, DRAW)

    assert [line["type"] for line in recorder.lines] == ["game", "deal"]


def test_a_file_holds_many_records_and_lines_are_counted_in_the_file() -> None:
    first, second = played(header(number=0)), played(header(number=1))
    text = first.text() + second.text()

    one, two = records_in(io.StringIO(text))
    assert (one.first, two.first) == (1, len(first.lines) + 1)
    assert verify(two, rules_for) is None
    changed = (*two.lines[:2], {**two.lines[2], "seat": 1}, *two.lines[3:])
    assert found_in(Record(two.first, changed)) == two.first + 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "there is no record"),
        ("[1]\n", "an object with a type"),
        ("{\n", "this is no JSON"),
        ('{"type":"deal"}\n', "begins with a line of type game"),
        ('{"type":"game","format":99}\n', "format 99"),
        ('{"type":"game","format":1}\n', "is incomplete"),
    ],
)
def test_what_is_no_record_is_said_to_be_none(text: str, sentence: str) -> None:
    with pytest.raises(RecordUnreadable, match=sentence):
        _ = [verify(record, rules_for) for record in records_in(io.StringIO(text))]


def test_a_record_of_rules_that_are_not_installed_names_them() -> None:
    recorder = played(header())
    recorder.lines[0]["rules"]["variants"] = {"moon-landing": "2.0"}

    with pytest.raises(RecordUnreadable, match="moon-landing"):
        verify(record_of(recorder), rules_for)


def test_a_record_of_another_version_names_both() -> None:
    recorder = played(header())
    recorder.lines[0]["rules"]["digest"] = "0" * 64

    with pytest.raises(RecordDiffers, match=r"engine 0\.1\.0"):
        list[Step](follow(record_of(recorder), rules_for))
