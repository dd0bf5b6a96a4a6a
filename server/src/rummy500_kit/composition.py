"""Variants combine the same way in whatever order they are named (ARCHITECTURE law 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import islice, permutations
from typing import Any

from rummy500_engine.plugins import Plugin
from rummy500_engine.rules import Rules, compose
from rummy500_engine.terms import RulesRefused

MOST_ORDERS = 24


def check_order_independence(
    base: Plugin, variants: Sequence[Plugin], *, players: int, options: Mapping[str, object] | None = None
) -> None:
    """Every order of naming gives equal rules, or the same refusal."""
    outcomes = [
        _outcome(base, order, players=players, options=options or {})
        for order in islice(permutations(variants), MOST_ORDERS)
    ]
    for outcome in outcomes[1:]:
        assert outcome == outcomes[0], "the order in which variants are named changes the rules"


def _outcome(base: Plugin, order: Sequence[Plugin], *, players: int, options: Mapping[str, object]) -> Any:
    try:
        rules = compose(base, order, players=players, options=options)
    except RulesRefused as refused:
        return str(refused)
    return plain(rules)


def plain(rules: Rules) -> dict[str, Any]:
    """The rules as values to compare: of functions, which variants they come from."""
    values: dict[str, Any] = {}
    for field in fields(rules):
        value = getattr(rules, field.name)
        if field.name in ("vetoes", "adjustments", "actions", "views", "polls"):
            value = [variant for variant, _ in value]
        elif field.name in ("perform", "state", "poll_actions", "poll_result", "false_answer"):
            value = list(value)
        elif field.name == "catalogue":
            continue
        values[field.name] = value
    return values
