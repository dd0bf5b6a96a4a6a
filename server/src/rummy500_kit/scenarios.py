"""`check_scenarios`: a variant's scenario files, run in the engine with the variants that are installed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rummy500_catalog import Catalog
from rummy500_engine.rules import Rules
from rummy500_engine.scenario import run, scenarios_in


def check_scenarios(*files: str | Path, catalog: Catalog | None = None) -> int:
    """Runs every scenario of these files and says how many; AssertionError names the first that does not hold."""
    installed = catalog or Catalog()

    def rules_for(choice: Mapping[str, Any], players: int) -> Rules:
        return installed.rules(
            choice.get("preset", ""), choice.get("variants", ()), choice.get("options", {}), players=players
        )

    count = 0
    for file in files:
        for scenario in scenarios_in(json.loads(Path(file).read_text(encoding="utf-8"))):
            outcome = run(scenario, rules_for)
            assert outcome.holds, f"{file}, scenario {scenario['id']}: {outcome.difference}"
            count += 1
    return count
