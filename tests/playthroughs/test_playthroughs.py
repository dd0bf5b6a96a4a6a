"""The golden transcripts: what each seat is told and sees at each step of fixed games."""

from __future__ import annotations

import difflib

import pytest
from tests.playthroughs.transcript import HERE, Playthrough, playthroughs


@pytest.mark.parametrize("played", playthroughs(), ids=lambda played: played.name)
def test_a_fixed_game_looks_to_each_seat_as_it_always_did(played: Playthrough) -> None:
    golden, now = played.file.read_text(encoding="utf-8").splitlines(), played.text().splitlines()
    difference = list(difflib.unified_diff(golden, now, "golden", "now", lineterm="", n=1))[:40]
    assert golden == now, "\n".join(["python -m tests.playthroughs writes it again:", *difference])


def test_every_transcript_is_of_a_playthrough() -> None:
    assert {file.name for file in HERE.glob("*.txt")} == {played.file.name for played in playthroughs()}


def test_the_transcripts_show_the_whole_game() -> None:
    text = "".join(played.file.read_text(encoding="utf-8") for played in playthroughs())
    for event in ("RoundDealt", "DrewFromStock", "TookFromPile", "Melded", "LaidOff", "Discarded", "PollOpened"):
        assert event in text
    for event in ("PollClosed", "VariantEvent", "RoundScored", "GameWon", "TurnPassed"):
        assert event in text
