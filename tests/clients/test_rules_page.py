"""The sheet of rules that is settled before the first deal: as text, as JSON, and as a page to print."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

from tests.clients.running import rummy500

CHOICE = (
    *("--preset", "pagat", "--players", "4"),
    *("--variant", "queen-of-spades", "--option", "queen-of-spades.points=50"),
)


def test_the_sheet_says_what_holds_at_this_table(server: str, state: Path) -> None:
    told = rummy500("rules", "--server", server, *CHOICE, state=state).stdout
    for sentence in (
        "# Rummy 500, pagat, 4 players",
        "The pack has 54 cards, 2 of them jokers; each player gets 7.",
        "**Empty stock.** The pile plays on as usual; declining it ends the round.",
        'may be called, with "Rummy!", out of turn.',
        "| `queen-of-spades.points` | 50 |",
        "| QS | 50 | 50 |",
    ):
        assert sentence in told


def test_json_has_the_same_sheet_and_every_option(server: str, state: Path) -> None:
    text = rummy500("rules", "--server", server, *CHOICE, state=state).stdout
    rules = json.loads(rummy500("rules", "--server", server, *CHOICE, "--json", state=state).stdout)
    assert rules["sheet"].rstrip() == text.rstrip()
    assert {"name": "queen-of-spades.points", "value": "50"} in rules["options"]
    assert len(rules["digest"]) == 64


def test_the_page_holds_the_sheet_and_a_blank_score_sheet_and_needs_nothing_else(server: str, state: Path) -> None:
    page = state / "rules.html"
    ended = rummy500("rules", "--server", server, *CHOICE, "--html", str(page), state=state)
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr
    html = page.read_text(encoding="utf-8")
    assert not re.search(r"<script|<link|<img|@import|url\(|https?:", html)
    shown = unescape(re.sub(r"<[^>]+>", "", html))
    assert "Of several, the deepest must be used in a meld or a lay-off in the same turn" in shown
    assert "queen-of-spades.points50" in shown
    rows = re.findall(r"<tr><td>(\d+|Total)</td>((?:<td></td>)+)</tr>", html)
    assert [name for name, _ in rows] == [*map(str, range(1, 13)), "Total"]
    assert {blank.count("<td>") for _, blank in rows} == {4}


def test_sides_and_house_rules_are_told_in_sentences(server: str, state: Path) -> None:
    choice = ("--variant", "partners", "--variant", "own-melds", "--variant", "meld-first", "--players", "4")
    house = ("--option", "meld-first.minimum=30", "--variant", "stock-out", "--option", "stock-out.rule=flip")
    told = rummy500("rules", "--server", server, *choice, *house, state=state).stdout
    assert "Players 1 and 3 against players 2 and 4" in told
    assert "On your side's melds only" in told
    assert "must be worth 30 points" in told
    assert "turned over into a new stock, the old bottom card first, as often as need be." in told


def test_a_page_that_cannot_be_written_is_told(server: str, state: Path) -> None:
    ended = rummy500("rules", "--server", server, "--html", "/nowhere/rules.html", state=state)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("rummy500: /nowhere/rules.html cannot be written")


def test_what_cannot_be_played_is_refused_with_the_way_out(server: str, state: Path) -> None:
    for arguments, told in (
        (("--variant", "must-discard", "--variant", "floating"), "play with one of them"),
        (("--players", "8"), "deal at most 6, or play with more packs"),
        (("--variant", "partners", "--players", "3"), "change the number of seats, or play without"),
        (("--preset", "six-handed", "--players", "4"), "6 players"),
        (("--variant", "moon"), "installed:"),
        (("--option", "target=0"), "1 to 10000"),
        (("--variant", "call-rummy", "--option", "call-rummy.turn=none"), "set take to card_only"),
    ):
        ended = rummy500("rules", "--server", server, *arguments, state=state)
        assert (ended.returncode, ended.stdout) == (2, ""), arguments
        assert told in ended.stderr
        assert len(ended.stderr.splitlines()) == 1
