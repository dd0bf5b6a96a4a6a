"""Positions that a table is to begin with: what they name, and whether they can be."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rummy500_engine.position import PositionError, players_of, set_up
from rummy500_engine.refusals import Refused
from rummy500_engine.rules import Rules
from rummy500_server.rules_wire import Choice
from rummy500_server.status import Failure, bad_request


def named_in(position: Mapping[str, Any], *, players: int) -> tuple[int, Choice]:
    """How many players the position has, and its rules; `players` is how many are asked for, 0: as many as it has.

    Raises Failure BAD_REQUEST, naming the field.
    """
    try:
        found = len(players_of(position))
    except PositionError as error:
        raise _bad_position(error) from error
    if players not in (0, found):
        raise bad_request("seats", f"{players}: the position has {found} players; leave it 0")
    return found, _choice_of(position)


def verify_position(position: Mapping[str, Any], rules: Rules) -> None:
    """Raises Failure BAD_REQUEST when no game can stand so."""
    try:
        set_up(rules, position)
    except PositionError as error:
        raise _bad_position(error) from error
    except Refused as error:
        raise bad_request("position_json", error.sentence) from error


def _bad_position(error: PositionError) -> Failure:
    return bad_request(f"position_json.{error.field}", error.sentence)


def _choice_of(position: Mapping[str, Any]) -> Choice:
    rules = position.get("rules", {})
    if not isinstance(rules, Mapping):
        raise bad_request("position_json.rules", "an object with preset, variants and options is wanted")
    preset, variants, options = rules.get("preset", ""), rules.get("variants", []), rules.get("options", {})
    if not isinstance(preset, str):
        raise bad_request("position_json.rules.preset", "a name is wanted")
    if not isinstance(variants, list) or not all(isinstance(variant, str) for variant in variants):
        raise bad_request("position_json.rules.variants", "a list of names is wanted")
    if not isinstance(options, Mapping):
        raise bad_request("position_json.rules.options", "an object, option to value, is wanted")
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in options.items()}
    return Choice(preset, tuple(variants), texts)
