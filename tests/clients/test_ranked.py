"""Ranked play on the command line: a player registers, plays for points, and looks where it stands."""

from __future__ import annotations

import json
from pathlib import Path

from tests.clients.running import rummy500, terminal


def test_a_player_registers_plays_and_is_listed(server: str, state: Path) -> None:
    at = ("--server", server)
    early = rummy500("play", *at, "--ranked", "easy", state=state)
    assert early.returncode == 1
    assert "RegisterPlayer" in early.stderr

    assert rummy500("player", "register", "Anna of the ranks", *at, state=state).returncode == 0
    with terminal("play", *at, "--ranked", "easy", state=state) as anna:
        anna.wait_for("> Anna of the ranks (you)")
        anna.wait_for("draw, ")
        anna.type("resign")
        anna.wait_for("lost: 0 points; 0 in all, place ")
        assert anna.wait_ended() == 0

    shown = rummy500("player", "show", *at, state=state)
    assert shown.stdout.startswith("Anna of the ranks: 0 points, place ")
    assert "lost" in shown.stdout.splitlines()[1]
    assert "classic, against easy" in shown.stdout.splitlines()[1]
    listed = rummy500("leaderboard", *at, "--json", state=state)
    assert "Anna of the ranks" in {json.loads(line)["name"] for line in listed.stdout.splitlines()}


def test_what_ranked_play_cannot_be_combined_with_is_said(server: str, state: Path) -> None:
    for flags in (("--ranked", "easy"), ("--server", server, "--ranked", "easy", "--bots", "random")):
        refused = rummy500("play", *flags, state=state)
        assert refused.returncode == 2
        assert "--ranked names all opponents" in refused.stderr
    refused = rummy500("play", "--server", server, "--ranked", "random", state=state)
    assert refused.returncode == 1
    assert "the levels are easy" in refused.stderr
