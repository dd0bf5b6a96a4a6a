"""What is no scenario file is told by the file, the scenario and the field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rummy500_client.scenario_file import NotAScenario, read_scenarios

GOOD: dict[str, Any] = {
    "id": "s-1",
    "title": "A title",
    "players": ["anna", "ben"],
    "steps": [{"player": "anna", "action": "draw", "result": "ok"}],
}


def scenario_file(directory: Path, document: object) -> Path:
    path = directory / "some.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_a_file_holds_one_scenario_or_a_list(tmp_path: Path) -> None:
    assert len(read_scenarios(scenario_file(tmp_path, GOOD))) == 1
    assert len(read_scenarios(scenario_file(tmp_path, [GOOD, GOOD]))) == 2


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"hand": {}}, "'hand' is no field"),
        ({"title": 3}, "title must be a text"),
        ({"players": ["anna", "anna"]}, "players names one player twice"),
        ({"players": "anna"}, "players must be a list"),
        ({"dealer": "cleo"}, "dealer names 'cleo'"),
        ({"rules": {"variants": "x"}}, "rules.variants must be a list"),
        ({"rules": {"target": 3}}, "rules.target is unknown"),
        ({"steps": [{"player": "cleo", "action": "draw", "result": "ok"}]}, "steps[0].player names 'cleo'"),
        ({"steps": [{"player": "anna", "action": 1, "result": "ok"}]}, "steps[0].action must be a text"),
        ({"steps": [{"player": "anna", "action": "draw"}]}, "steps[0].result must be"),
        ({"then": {"turns": 3}}, "then.turns is unknown"),
        ({"then": {"hands": {"cleo": ""}}}, "then.hands names 'cleo'"),
        ({"table": {"result": "ok"}}, "steps or table is required"),
    ],
)
def test_the_field_that_is_wrong_is_named(change: dict[str, Any], told: str, tmp_path: Path) -> None:
    path = scenario_file(tmp_path, {**GOOD, **change})
    with pytest.raises(NotAScenario) as raised:
        read_scenarios(path)
    assert told in raised.value.sentence
    assert str(path) in raised.value.sentence


def test_a_file_that_is_no_json_or_not_there_is_told(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    with pytest.raises(NotAScenario, match="is no JSON"):
        read_scenarios(tmp_path / "bad.json")
    with pytest.raises(NotAScenario, match="cannot be read"):
        read_scenarios(tmp_path / "none.json")
