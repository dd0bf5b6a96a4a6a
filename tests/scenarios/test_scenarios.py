"""The scenario files of this directory, run by the engine's own runner: each is a rule of the game."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from rummy500_catalog import Catalog
from rummy500_engine.rules import Rules
from rummy500_engine.scenario import run, scenarios_in

FILES = sorted(Path(__file__).parent.glob("*.json"))
CATALOG = Catalog()


def rules_for(choice: Mapping[str, Any], players: int) -> Rules:
    return CATALOG.rules(
        choice.get("preset", ""), choice.get("variants", ()), choice.get("options", {}), players=players
    )


def scenarios() -> Iterator[Any]:
    for file in FILES:
        for scenario in scenarios_in(json.loads(file.read_text(encoding="utf-8"))):
            yield pytest.param(scenario, id=f"{file.stem}-{scenario['id']}")


@pytest.mark.parametrize("scenario", list(scenarios()))
def test_scenario(scenario: Mapping[str, Any]) -> None:
    outcome = run(scenario, rules_for)
    assert outcome.holds, outcome.difference


def test_no_two_scenarios_share_an_id() -> None:
    ids = [scenario["id"] for file in FILES for scenario in scenarios_in(json.loads(file.read_text(encoding="utf-8")))]
    assert len(ids) == len(set(ids)) >= 192
