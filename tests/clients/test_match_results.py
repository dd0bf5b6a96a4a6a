"""What a match leaves behind: results, page and tables, from a real match, and as the documentation shows them."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet
from tests.clients.running import REPOSITORY, environment, rummy500

from rummy500.v1.match_pb2 import BotResult, Match
from rummy500.v1.match_service_pb2 import GetMatchRequest
from rummy500_client.connection import Connection
from rummy500_client.errors import ClientError
from rummy500_client.match_export import COLUMNS
from rummy500_client.match_report import pair_lines
from rummy500_client.match_results import ResultsFile

PAGE = (REPOSITORY / "docs" / "results.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", PAGE, re.MULTILINE))
Line = dict[str, Any]


@pytest.fixture(scope="module")
def played(server: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Line, Path]:
    """A match on a server, as its command shows it, and where it ran."""
    state = tmp_path_factory.mktemp("played")
    bots = ("--bot", "builtin:easy", "--bot", "builtin:random", "--deals", "6")
    shown = rummy500("match", "run", *bots, "--server", server, "--json", state=state)
    assert shown.returncode == 0, shown.stderr
    return json.loads(shown.stdout), state


def lines_of(path: Path) -> list[Line]:
    return [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]


def test_a_match_writes_a_line_for_each_seating_and_each_field_is_on_the_page(played: tuple[Line, Path]) -> None:
    match, state = played
    lines = lines_of(state / match["results_file"])

    assert [line["type"] for line in lines] == ["match", *["seating"] * 12, "end"]
    assert [(line["deal"], line["seating"]) for line in lines[1:-1]] == [divmod(at, 2) for at in range(12)]
    for line in lines:
        assert set(line) == {"type", *re.findall(r"`(\w+)`", ROWS[line["type"]])}
    points = sum(line["points"][line["names"].index("easy")] for line in lines[1:-1])
    assert points / 12 == pytest.approx(lines[-1]["results"][0]["points_per_round"])


def test_a_file_that_breaks_off_is_gone_on_with(played: tuple[Line, Path], server: str, tmp_path: Path) -> None:
    match, state = played
    whole = (state / match["results_file"]).read_bytes()
    file = tmp_path / "results.jsonl"
    for length in (0, 100, len(whole) // 3, len(whole) // 2, len(whole) - 5, len(whole)):
        file.write_bytes(whole[:length])
        with Connection(server) as connection:
            shown = connection.ask(connection.matches.GetMatch, GetMatchRequest(match=match["name"])).match
            results = ResultsFile(file, connection)
            results.follow(shown)
            results.follow(shown)
        assert file.read_bytes() == whole


def test_the_results_of_another_match_are_left_alone(played: tuple[Line, Path], server: str, tmp_path: Path) -> None:
    match, state = played
    file = tmp_path / "results.jsonl"
    file.write_text((state / match["results_file"]).read_text().replace(match["name"], "m-another"), encoding="utf-8")
    with Connection(server) as connection:
        shown = connection.ask(connection.matches.GetMatch, GetMatchRequest(match=match["name"])).match
        with pytest.raises(ClientError, match="is of match m-another"):
            ResultsFile(file, connection).follow(shown)


def test_a_page_is_made_when_the_match_is_over_and_anew(played: tuple[Line, Path]) -> None:
    match, state = played
    page = (state / match["report"]).read_text(encoding="utf-8")
    again = rummy500("match", "report", match["results_file"], "-o", "again.html", state=state)

    assert again.stdout == "report: again.html\n"
    assert f"Match {match['name']}: finished" in page
    assert "rummy500 replay " in page


def test_a_file_that_is_no_results_file_is_told(state: Path) -> None:
    (state / "x.jsonl").write_text('{"type": "game"}\n', encoding="utf-8")
    report = rummy500("match", "report", "x.jsonl", state=state)
    missing = rummy500("match", "export", "y.jsonl", "--csv", "y.csv", state=state)

    assert (report.returncode, missing.returncode) == (2, 2)
    assert "x.jsonl: line 1: this is no line of a results file" in report.stderr
    assert "y.jsonl is not there" in missing.stderr


def test_tables_have_a_row_for_each_seat(played: tuple[Line, Path], server: str) -> None:
    match, state = played
    for kind in ("csv", "json", "parquet"):
        done = rummy500("match", "export", match["results_file"], f"--{kind}", f"seats.{kind}", state=state)
        assert done.stdout == f"seats.{kind}: 24 rows\n", done.stderr
    fetched = rummy500("match", "export", match["name"], "--json", "same.json", "--server", server, state=state)
    assert fetched.returncode == 0, fetched.stderr

    as_json = lines_of(state / "seats.json")
    with (state / "seats.csv").open(encoding="utf-8", newline="") as file:
        as_csv = list(csv.DictReader(file))
    assert all(tuple(row) == COLUMNS for row in as_json)
    assert all(f"`{column}`" in PAGE for column in COLUMNS)
    assert parquet.read_table(state / "seats.parquet").to_pylist() == as_json == lines_of(state / "same.json")
    assert [row["points"] for row in as_csv] == [str(row["points"]) for row in as_json]


def test_what_the_page_shows_in_a_notebook_works(played: tuple[Line, Path]) -> None:
    match, state = played
    results = state / match["results_file"]
    rummy500("match", "export", str(results), "--parquet", str(results.with_name("seats.parquet")), state=state)
    snippets = re.findall(r"^```python\n(.+?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert len(snippets) == 2
    for snippet in snippets:
        shown = subprocess.run(
            [sys.executable, "-c", snippet],
            cwd=results.parent,
            env={**environment(state), "HOME": os.fspath(state)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert shown.returncode == 0, shown.stderr
        assert "easy" in shown.stdout


def test_a_rule_is_given_by_a_flag_and_its_mistakes_are_told(state: Path) -> None:
    bots = ("match", "run", "--bot", "builtin:easy", "--bot", "builtin:random", "--deals", "33", "--seed", "1")
    done = rummy500(*bots, "--sprt", "difference0=-500,difference1=500", state=state)
    wrong = rummy500(*bots, "--sprt", "difference0=1,gamma=2", state=state)

    assert done.returncode == 0, done.stderr
    assert "sequential test: " in done.stdout
    assert "easy less random: " in done.stdout
    assert "stopped early after 32 of 33 deals" in done.stdout
    assert wrong.returncode == 2
    assert "'gamma=2': it is difference0=X" in wrong.stderr


def test_a_rating_of_nothing_has_no_minus() -> None:
    match = Match(results=[BotResult(name="one", rating=-1e-12, rating_high=-1e-12)])
    assert pair_lines(match) == ["ratings in Elo: one +0 ± 0"]
