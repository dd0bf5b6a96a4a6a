"""`rummy500 review`: where points were lost in a recorded game; `rummy500 arena`: matches without a server."""

from __future__ import annotations

import json
from pathlib import Path

from tests.clients.running import rummy500

from rummy500_arena.records import Ending, Header, Recorder
from rummy500_catalog import Catalog
from rummy500_engine.notation import read_action

POSITION = {
    "players": ["anna", "ben"],
    "dealer": "ben",
    "hands": {"anna": "7S 7H 7D QC 4C", "ben": "2C 3D 9D JS 4H"},
    "discards": "4S",
    "stock": "5D QD 6H 2D 8C TD",
    "turn": "anna",
}


def record_of(*actions: str) -> str:
    rules = Catalog().rules(players=2)
    header = Header(
        rules=rules,
        preset="classic",
        players=("anna", "ben"),
        seed=bytes(32),
        engine="test",
        dealer=None,
        single_round=True,
        position=POSITION,
    )
    recorder = Recorder(header)
    for number, action in enumerate(actions):
        recorder.act(number // 2 % 2, read_action(action, rules))
    recorder.end(Ending(termination="CANCELLED", at_fault=None, winners=()))
    return recorder.text()


def test_melds_that_were_not_laid_are_found(tmp_path: Path) -> None:
    """Anna draws, and throws one of three sevens instead of laying them."""
    record = tmp_path / "game.jsonl"
    record.write_text(record_of("draw", "discard 7S", "draw", "discard 9D"), encoding="utf-8")

    reviewed = rummy500("review", str(record), "--seat", "anna", "--samples", "4", state=tmp_path)

    assert reviewed.returncode == 0, reviewed.stderr
    assert "anna: discard 7S" in reviewed.stdout
    assert "meld 7D 7H 7S" in reviewed.stdout
    assert "earns 21 points for certain" in reviewed.stdout
    assert "ben" not in reviewed.stdout


def test_a_review_says_what_it_cannot_read(tmp_path: Path) -> None:
    record = tmp_path / "game.jsonl"
    record.write_text(json.dumps({"type": "game"}), encoding="utf-8")

    for arguments, sentence in (
        ((str(record),), "the record has format None"),
        ((str(record), "--game", "2"), "there is no game 2: the file holds 1"),
        (("nowhere.jsonl",), "nowhere.jsonl: No such file or directory"),
    ):
        reviewed = rummy500("review", *arguments, state=tmp_path)
        assert reviewed.returncode == 2
        assert sentence in reviewed.stderr


def test_the_arena_shows_a_table_and_refuses_what_cannot_be(tmp_path: Path) -> None:
    played = rummy500("arena", "--bot", "normal", "--bot", "easy", "--deals", "4", "--processes", "1", state=tmp_path)

    assert played.returncode == 0, played.stderr
    lines = played.stdout.splitlines()
    assert lines[0] == "4 deals, 8 games"
    assert [line.split()[0] for line in lines[1:]] == ["bot", "normal", "easy"]
    for arguments, sentence in (
        (("--bot", "easy"), "give --bot twice"),
        (("--bot", "easy", "--bot", "grandmaster"), "there is no built-in bot 'grandmaster'"),
        (("--bot", "easy", "--bot", "easy", "--players", "3"), "--players is 3"),
        (("--bot", "easy", "--bot", "easy", "--preset", "chess"), "chess"),
    ):
        refused = rummy500("arena", *arguments, state=tmp_path)
        assert refused.returncode == 2
        assert sentence in refused.stderr
