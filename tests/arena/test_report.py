"""Results that are read back, and the page that is made of them."""

from __future__ import annotations

import json
import random
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from rummy500_arena.plan import Plan
from rummy500_arena.report import report_html
from rummy500_arena.results import ResultsUnreadable, read_results
from rummy500_arena.score import Effort, GameScore
from rummy500_arena.statistics import MatchStatistics

VOID = {"meta", "br"}


def lines_of(bots: int, players: int, deals: int) -> list[str]:
    """A results file of games whose points are drawn."""
    plan = Plan(bots=bots, players=players, deals=deals, secret=b"")
    dice = random.Random(bots)
    names = ["<one> & two", *(f"bot-{number}" for number in range(1, bots))]
    head = {
        "type": "match", "format": 1, "match": "m-1", "bots": names, "players": players, "deals": deals,
        "seatings": plan.seatings, "unit": "deal", "schedule": "round-robin", "is_paired": True,
        "plan": {"rules": {"preset": ""}},
    }  # fmt: skip
    lines: list[dict[str, Any]] = [head]
    for game in plan:
        points = [dice.randrange(-60, 160) for _ in game.seats]
        lines.append(
            {
                "type": "seating",
                "deal": game.deal,
                "pairing": game.pairing,
                "seating": game.seating,
                "record": f"m-1.{game.deal}.{game.seating}",
                "bots": game.seats,
                "sides": list(range(players)),
                "names": [names[bot] for bot in game.seats],
                "points": points,
                "rounds": 1,
                "winners": [points.index(max(points))],
                "termination": "NORMAL",
                "at_fault": None,
                "counts": True,
                "decisions": [9] * players,
                "refusals": [0] * players,
                "charged_ms": [90] * players,
                "thinking_ms": [[[0, 4], [20, 5]]] * players,
            }
        )
    lines.append({"type": "end", "state": "finished", "sentence": "stopped early after all"})
    return [json.dumps(line) + "\n" for line in lines]


def test_results_that_are_read_back_give_the_statistics_of_the_match() -> None:
    lines = lines_of(3, 2, 12)
    plan = Plan(bots=3, players=2, deals=12, secret=b"")
    expected = MatchStatistics(plan)
    for game, text in zip(plan, lines[1:-1], strict=True):
        points = tuple(json.loads(text)["points"])
        score = GameScore(points, 1, (points.index(max(points)),), sides=(0, 1))
        expected.add(game, score, [Effort(9, 0, 90, {0: 4, 20: 5})] * 2)

    found = read_results(lines).statistics()

    assert found.tallies == expected.tallies
    assert found.pairs == expected.pairs


class Page(HTMLParser):
    """Checks that what is opened is closed, and keeps every address."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize(("bots", "players", "deals"), [(2, 2, 40), (3, 2, 30), (8, 2, 3), (4, 4, 2), (2, 2, 1)])
def test_the_page_is_whole_and_needs_no_network(bots: int, players: int, deals: int) -> None:
    text = report_html(lines_of(bots, players, deals), records="records.jsonl")
    page = Page()
    page.feed(text)

    assert page.open == []
    assert set(page.addresses) == {"records.jsonl"}
    assert not re.search(r"https?:|@import|url\(|<script", text)
    assert "&lt;one&gt; &amp; two" in text
    assert "<one>" not in text
    assert "stopped early after all" in text
    assert re.search(r"rummy500 replay records.jsonl --game \d+<", text)
    assert "nan" not in text


def test_every_chart_has_a_title_and_the_same_lines_give_the_same_page() -> None:
    lines = lines_of(3, 2, 20)
    text = report_html(lines, records="")

    charts = re.findall(r"<svg [^>]*>", text)
    assert len(charts) > 4
    assert all('role="img" aria-label="' in chart for chart in charts)
    assert text == report_html(lines, records="")


def test_a_match_without_a_game_has_a_page_too() -> None:
    text = report_html(lines_of(2, 2, 3)[:1], records="")

    assert "not over" in text


def test_a_line_that_breaks_off_is_left_out() -> None:
    lines = lines_of(2, 2, 3)

    assert len(list(read_results([*lines[:4], lines[4][:30]]).seatings)) == 3


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([], "line 1: the file is empty"),
        (["{}\n"], "line 1: this is no line of a results file"),
        ([lines_of(2, 2, 1)[0], "[1, 2]\n"], "line 2: this is no line"),
        ([lines_of(2, 2, 1)[0].replace('"format": 1', '"format": 9')], "line 1: .*format 1"),
        ([lines_of(2, 2, 1)[0], lines_of(2, 2, 1)[1].replace('"points"', '"pints"')], "line 2: .*points"),
    ],
)
def test_what_is_no_results_file_is_told_with_its_line(lines: list[str], sentence: str) -> None:
    with pytest.raises(ResultsUnreadable, match=sentence):
        read_results(lines)
