"""`rummy500 scenario run`: the scenarios hold over gRPC too, and what does not hold is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.clients.running import REPOSITORY, rummy500

SCENARIOS = sorted((REPOSITORY / "tests" / "scenarios").glob("*.json"))


def test_every_scenario_holds_over_grpc(state: Path) -> None:
    ended = rummy500("scenario", "run", *map(str, SCENARIOS), state=state)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.splitlines()[-1].endswith(" 0 fail")


def changed(path: Path, number: int, **fields: Any) -> dict[str, Any]:
    scenarios: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return {**scenarios[number], **fields}


def run(scenario: dict[str, Any], server: str, state: Path) -> tuple[int, str]:
    (state / "one.json").write_text(json.dumps(scenario), encoding="utf-8")
    ended = rummy500("scenario", "run", "one.json", "--server", server, state=state)
    return ended.returncode, ended.stdout + ended.stderr


STOCK = REPOSITORY / "tests" / "scenarios" / "stock.json"


@pytest.mark.parametrize(
    ("then", "told"),
    [
        ({"stock_count": 7}, "then.stock_count: wanted 7, got 0"),
        ({"turn": "anna"}, "then.turn: wanted anna, got ben"),
        ({"hands": {"ben": "8C 8D"}}, "then.hands.ben: wanted 8C 8D, got 8C 8D 3S"),
        ({"discards": "2H"}, "then.discards: wanted 2H, got 2H 8H"),
        ({"melds": ["7S 7H 7D by ben"]}, "then.melds: wanted"),
        ({"legal": ["pass"]}, "also legal: wanted [], got ['take 8H']"),
        ({"legal_includes": ["draw"]}, "not legal: wanted [], got ['draw']"),
        ({"legal_excludes": ["pass"]}, "wanted [], got ['pass']"),
        ({"round_over": True}, "then.round_over: wanted True, got False"),
    ],
)
def test_the_first_difference_is_told(then: dict[str, Any], told: str, server: str, state: Path) -> None:
    scenario = changed(STOCK, 1, then=then)
    scenario["steps"] = scenario["steps"][:2]
    code, text = run(scenario, server, state)
    assert code == 1
    assert told in text
    assert "0 hold, 1 fail" in text


def test_a_step_that_goes_another_way_is_told(server: str, state: Path) -> None:
    scenario = changed(STOCK, 1, then={})
    scenario["steps"] = [{**scenario["steps"][0], "result": "STOCK_EMPTY"}]
    code, text = run(scenario, server, state)
    assert (code, "steps[0] (anna: draw): wanted STOCK_EMPTY, got ok" in text) == (1, True), text


def test_a_scenario_of_a_variant_that_is_not_installed_is_no_failure(server: str, state: Path) -> None:
    for rules, missing in (({"variants": ["moon"]}, "variant moon"), ({"preset": "moon"}, "preset moon")):
        code, text = run(changed(STOCK, 1, rules=rules), server, state)
        assert code == 0, text
        assert f"needs the {missing}" in text
        assert "1 not run" in text


def test_a_position_that_the_server_cannot_read_is_told_by_its_field(server: str, state: Path) -> None:
    code, text = run(changed(STOCK, 1, hands={"anna": "1X"}), server, state)
    assert code == 2
    assert "one.json" in text
    assert "hands.anna" in text
