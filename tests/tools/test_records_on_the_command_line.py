"""`rummy500 verify` and `rummy500 replay` on records of real games."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from rummy500_arena.play import play_game
from rummy500_arena.records import Ending, Header, MatchPlace, Recorder
from rummy500_bots import built_in
from rummy500_catalog import Catalog
from rummy500_engine.game import Game
from rummy500_engine.shuffle import seed_for


def record(number: int = 0) -> str:
    start = Header(
        rules=Catalog().rules(players=2),
        preset="classic",
        players=("anna", "ben"),
        seed=seed_for(b"tools", number),
        engine="0.1.0",
        dealer=1,
        single_round=True,
        match=MatchPlace(seed=7, unit="deal", bots=("anna", "ben"), pairing=0, deal=number, rotation=1),
    )
    recorder = Recorder(start)
    bots = [built_in("easy", seed=0), built_in("random", seed=number)]
    game = Game(start.rules, dealer=1, single_round=True)
    play_game(game, bots, seed=start.seed, watcher=lambda seat, action, events: recorder.act(seat, action))
    recorder.end(Ending())
    return recorder.text()


@pytest.fixture
def records(tmp_path: Path) -> Path:
    path = tmp_path / "match.jsonl"
    path.write_text(record(0) + record(1))
    return path


def rummy500(*words: str) -> int:
    parser = argparse.ArgumentParser()
    subparsers = parser.add_subparsers(required=True)
    for point in entry_points(group="rummy500.commands"):
        if point.value.startswith("rummy500_tools"):
            point.load()(subparsers)
    arguments = parser.parse_args(words)
    code = arguments.run(arguments)
    assert isinstance(code, int)
    return code


def test_records_that_hold_are_counted(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rummy500("verify", str(records)) == 0
    assert capsys.readouterr().out == f"{records}: 2 records hold: reproducible from a given seed\n"


def test_the_first_line_that_differs_is_named(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = records.read_text().splitlines()
    second = next(i for i, line in enumerate(lines) if i and json.loads(line)["type"] == "game")
    draw = next(i for i, line in enumerate(lines) if i > second and json.loads(line).get("text", "").startswith("disc"))
    changed = json.loads(lines[draw])
    changed["text"] = "discard JK"
    lines[draw] = json.dumps(changed)
    records.write_text("\n".join(lines) + "\n")

    assert rummy500("verify", str(records)) == 1
    assert capsys.readouterr().out.startswith(f"{records}: line {draw + 1} (deal 1, rotation 1): ")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "No such file or directory"),
        (b"", "line 1: there is no record in the file"),
        (b"\xff\xfe", "this is no text in UTF-8"),
        (b"hello\n", "line 1: this is no JSON"),
        (b"[" * 100_000, "line 1: this is no JSON"),
        (b'{"type":"game","seed":' + b"9" * 5_000 + b"}", "line 1: this is no JSON"),
        (b'{"type":"game","players":["\\ud800"]}', "line 1: this is no JSON"),
    ],
)
@pytest.mark.parametrize("command", ["verify", "replay"])
def test_a_file_that_is_no_record_is_said_to_be_none(
    command: str, content: bytes | None, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "other.txt"
    if content is not None:
        path.write_bytes(content)

    assert rummy500(command, str(path)) == 2
    assert capsys.readouterr().err.startswith(f"rummy500 {command}: {path}: {sentence}")


@pytest.mark.parametrize(
    ("field", "value"), [("position", True), ("position", ["2C"]), ("rules", {"variants": ["jokers"], "options": {}})]
)
def test_a_first_line_with_other_things_in_its_fields_is_no_record(
    field: str, value: object, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, *rest = records.read_text().splitlines()
    records.write_text("\n".join((json.dumps(json.loads(first) | {field: value}), *rest)))

    assert rummy500("verify", str(records)) == 2
    assert capsys.readouterr().err.startswith(f"rummy500 verify: {records}: line 1: ")


@pytest.mark.parametrize(("told", "code"), [("xyz", 2), ("ab" * 16, 2), ("AB" * 32, 1)])
def test_a_commitment_is_64_digits_and_one_that_was_told(
    records: Path, capsys: pytest.CaptureFixture[str], told: str, code: int
) -> None:
    try:
        status: object = rummy500("verify", "--commitment", told, str(records))
    except SystemExit as refused:
        status = refused.code
    assert status == code
    said = capsys.readouterr()
    assert ("64 hexadecimal digits" in said.err) is (code == 2)
    assert ("none that was told" in said.out) is (code == 1)


def test_a_replay_shows_each_action_and_the_score(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rummy500("replay", str(records)) == 0

    shown = capsys.readouterr().out
    actions = [line for line in map(json.loads, record(0).splitlines()) if line["type"] == "action"]
    assert shown.startswith("game 1 of 2\nanna - ben   (classic, one round)\nmatch of seed 7, deal 0, rotation 1\n")
    for action in actions:
        assert action["text"] in shown
    assert "Round 1 ends: " in shown
    assert shown.splitlines()[-1].startswith("Won by ")


def test_with_a_seat_only_its_cards_are_shown(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rummy500("replay", str(records), "--seat", "ben") == 0

    shown = capsys.readouterr().out
    dealt = next(json.loads(line) for line in record(0).splitlines() if '"deal"' in line and '"hands"' in line)
    assert "      anna  13 cards\n" in shown
    assert sorted(dealt["hands"][1].split()) == sorted(shown.split("      ben ")[1].splitlines()[0].split())
    for line in shown.splitlines():
        assert not ("anna" in line and "draws" in line)


def test_a_step_shows_the_table(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rummy500("replay", str(records), "--game", "2", "--step", "3") == 0

    shown = capsys.readouterr().out
    assert "   3  " in shown
    assert "      pile: " in shown
    assert "      stock: " in shown


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--seat", "cleo"), "nobody is called 'cleo'; the players are anna, ben"),
        (("--game", "3"), "there is no game 3: the file holds 2"),
        (("--step", "9999"), "there is no step 9999: the game has "),
    ],
)
def test_what_the_record_does_not_have_is_named(
    words: tuple[str, ...], sentence: str, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rummy500("replay", str(records), *words) == 2
    assert capsys.readouterr().err.startswith(f"rummy500 replay: {sentence}")


def test_a_replay_ends_where_the_record_is_wrong(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = records.read_text().splitlines()
    lines[3] = lines[3].replace('"action":2', '"action":7')
    records.write_text("\n".join(lines))

    assert rummy500("replay", str(records)) == 1
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1].startswith("   1  ")
    assert printed.err == "rummy500 replay: the engine does not agree: line 4: action: the record has 7, the engine 2\n"


def test_the_installed_command_has_both(records: Path) -> None:
    command = [sys.executable, "-m", "rummy500_client", "verify", "-"]
    done = subprocess.run(command, input=records.read_text(), capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, "-: 2 records hold: reproducible from a given seed\n", "")
