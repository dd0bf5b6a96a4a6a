"""What is seen of a match while it runs: on a terminal, with and without rich, and in a file."""

from __future__ import annotations

import io
import os
import pty
from collections.abc import Iterator

import pytest

from rummy500.v1.match_pb2 import MATCH_STATE_RUNNING, BotResult, Match, MatchPlan, StoppingState
from rummy500_client.match_view import LINE_SECONDS, LinesView, LineView, Pace, TableView, duration_text, open_view


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def match_with(finished: int) -> Match:
    results = [
        BotResult(name="easy", games=finished, rounds=finished, points_per_round=-4.5),
        BotResult(name="better", games=finished, rounds=finished, points_per_round=12.25),
    ]
    return Match(
        name="m-1",
        plan=MatchPlan(deals=50),
        state=MATCH_STATE_RUNNING,
        games_planned=100,
        games_finished=finished,
        results=results,
    )


@pytest.fixture
def terminal() -> Iterator[tuple[io.TextIOWrapper, int]]:
    """A stream that is a terminal, and where what it shows can be read."""
    own, theirs = pty.openpty()
    with io.TextIOWrapper(os.fdopen(theirs, "wb", buffering=0), write_through=True) as stream:
        yield stream, own
    os.close(own)


def all_shown(stream: io.TextIOWrapper, own: int) -> str:
    """Everything that the terminal was sent."""
    stream.write("<end>")
    shown = b""
    while not shown.endswith(b"<end>"):
        shown += os.read(own, 65536)
    return shown.decode().removesuffix("<end>")


def test_the_rate_follows_the_last_half_minute() -> None:
    clock = Clock()
    pace = Pace(clock)
    pace.see(match_with(0))
    assert pace.text(match_with(0)) == ""
    for finished in (10, 20, 30, 40):
        clock.now += 20
        pace.see(match_with(finished))
    assert pace.text(match_with(40)) == "0.5 games/s, 2 min left"
    clock.now += 40
    pace.see(match_with(80))
    assert pace.games_a_second == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("seconds", "text"), [(8.2, "8 s"), (240, "4 min"), (7_500, "2 h 05 min"), (273_600, "3 d 4 h")]
)
def test_a_duration_is_told_as_people_say_it(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


def test_a_file_gets_a_line_now_and_then() -> None:
    clock, stream = Clock(), io.StringIO()
    view = LinesView(stream, clock)
    for _ in range(7):
        clock.now += LINE_SECONDS / 3
        view.show(match_with(int(clock.now - 100)))
    lines = stream.getvalue().splitlines()
    assert lines[0] == "rummy500: match m-1: 30 of 100 games · easy -4.5 · better +12.2 · 1 games/s, 70 s left"
    assert len(lines) == 2


def test_a_terminal_shows_the_standings_in_place(terminal: tuple[io.TextIOWrapper, int]) -> None:
    stream, own = terminal
    view = open_view(stream)
    assert isinstance(view, TableView)
    view.show(match_with(10))
    view.show(match_with(20))
    view.tell("bot easy ended")
    view.close()
    shown = all_shown(stream, own)
    assert shown.index("better") < shown.index("easy")
    assert "20 of 100 games" in shown
    assert "+12.25" in shown
    assert "\x1b[1A" in shown  # it went back to the line above
    assert "rummy500: bot easy ended" in shown


def test_the_standings_tell_where_the_rule_stands(terminal: tuple[io.TextIOWrapper, int]) -> None:
    stream, own = terminal
    view, match = TableView(stream), match_with(10)
    match.stopping.CopyFrom(StoppingState(ratio=1.5, lower=-2.94, upper=2.94, deals=40))
    view.show(match)
    view.close()
    assert "+1.50 of -2.94 to +2.94, 40 deals" in all_shown(stream, own)


def test_without_colour_nothing_is_coloured(
    terminal: tuple[io.TextIOWrapper, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    stream, own = terminal
    view = open_view(stream)
    view.show(match_with(10))
    view.close()
    assert "\x1b[3" not in all_shown(stream, own)


def test_without_rich_there_is_one_line(terminal: tuple[io.TextIOWrapper, int]) -> None:
    stream, own = terminal
    view = LineView(stream)
    view.show(match_with(10))
    view.tell("bot easy ended")
    view.close()
    shown = all_shown(stream, own)
    assert "10 of 100 games" in shown
    assert "rummy500: bot easy ended" in shown
