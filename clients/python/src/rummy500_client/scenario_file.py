"""Reads scenario files (NOTATION): JSON, one object a file or a list of objects. Bad ones are told by the field."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rummy500.v1.rules_pb2 import Option, RulesChoice
from rummy500_client.errors import ClientError

_POSITION = frozenset(
    ("players", "teams", "dealer", "scores", "hands", "melds", "discards", "stock", "turn", "phase", "taken", "call")
)
FIELDS = _POSITION | {"id", "title", "source", "rules", "turns_played", "recycled", "steps", "then", "table"}
_ROUND = frozenset(("turn", "phase", "hands", "melds", "discards", "stock_count", "round_over", "round_scores"))
_GAME = frozenset(("scores", "game_over", "winners", "next_dealer", "settlement"))
THEN_FIELDS = _ROUND | _GAME | {"legal", "legal_includes", "legal_excludes"}
TABLE_FIELDS = frozenset(("result", "hand_sizes", "discards_count", "stock_count", "turn", "phase"))
BY_PLAYER = ("hands", "scores", "round_scores", "settlement")


class NotAScenario(ClientError):
    """A file, or an entry of it, is no scenario; the sentence names the field."""


@dataclass(frozen=True)
class Step:
    player: str
    action: str
    results: tuple[str, ...]
    then: Mapping[str, Any]


@dataclass(frozen=True)
class Scenario:
    """One scenario; `json` is its text as the server takes it for a position."""

    id: str
    title: str
    players: tuple[str, ...]
    rules: RulesChoice
    dealer: str
    steps: tuple[Step, ...]
    then: Mapping[str, Any]
    table: Mapping[str, Any] | None
    json: str


def read_scenarios(path: Path) -> list[Scenario]:
    """The scenarios of a file. Raises NotAScenario."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise NotAScenario(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise NotAScenario(f"{path} is no JSON: {error}") from None
    entries = document if isinstance(document, list) else [document]
    if not entries:
        raise NotAScenario(f"{path} holds no scenario")
    return [_Reader(path, index, entry).scenario() for index, entry in enumerate(entries)]


class _Reader:
    """Reads one entry; every error names the file, the entry and the field."""

    def __init__(self, path: Path, index: int, entry: object) -> None:
        self._path = path
        self._where = f"scenario {index + 1}"
        if not isinstance(entry, dict):
            raise self._bad("an entry", "is no object")
        self._entry: dict[str, Any] = entry
        if isinstance(entry.get("id"), str):
            self._where = f"scenario {entry['id']}"

    def _bad(self, field: str, what: str) -> NotAScenario:
        return NotAScenario(f"{self._path}: {self._where}: {field} {what}")

    def scenario(self) -> Scenario:
        entry = self._entry
        for field in entry:
            if field not in FIELDS:
                raise self._bad(f"{field!r}", f"is no field of a scenario; there are {', '.join(sorted(FIELDS))}")
        players = self._players()
        if ("steps" in entry) == ("table" in entry):
            raise self._bad("steps", "or table is required, one of the two")
        table = entry.get("table")
        if table is not None:
            self._known("table", table, TABLE_FIELDS)
            if table.get("result") not in ("ok", "refused"):
                raise self._bad("table.result", "must be ok or refused")
        dealer = entry.get("dealer", players[-1])
        self._is_player("dealer", dealer, players)
        return Scenario(
            id=self._text("id"),
            title=self._text("title"),
            players=players,
            rules=self._rules(),
            dealer=dealer,
            steps=self._steps(players),
            then=self._then("then", entry.get("then", {}), players),
            table=table,
            json=json.dumps(entry),
        )

    def _text(self, field: str) -> str:
        text = self._entry.get(field)
        if not isinstance(text, str) or not text:
            raise self._bad(field, "must be a text")
        return text

    def _players(self) -> tuple[str, ...]:
        players = self._entry.get("players")
        if not isinstance(players, list) or not players or not all(isinstance(name, str) and name for name in players):
            raise self._bad("players", "must be a list of names in seat order")
        if len(set(players)) < len(players):
            raise self._bad("players", "names one player twice")
        return tuple(players)

    def _is_player(self, field: str, name: object, players: tuple[str, ...]) -> None:
        if name not in players:
            raise self._bad(field, f"names {name!r}, who is none of the players {', '.join(players)}")

    def _known(self, where: str, value: object, fields: frozenset[str]) -> None:
        if not isinstance(value, dict):
            raise self._bad(where, "must be an object")
        for field in value:
            if field not in fields:
                raise self._bad(f"{where}.{field}", f"is unknown; there are {', '.join(sorted(fields))}")

    def _rules(self) -> RulesChoice:
        rules = self._entry.get("rules", {})
        self._known("rules", rules, frozenset(("preset", "variants", "options")))
        preset, variants, options = rules.get("preset", ""), rules.get("variants", []), rules.get("options", {})
        if not isinstance(preset, str):
            raise self._bad("rules.preset", "must be a text")
        if not isinstance(variants, list) or not all(isinstance(name, str) for name in variants):
            raise self._bad("rules.variants", "must be a list of names")
        if not isinstance(options, dict) or not all(isinstance(value, str | int) for value in options.values()):
            raise self._bad("rules.options", "must be an object of names and values")
        chosen = [Option(name=name, value=_option_text(value)) for name, value in options.items()]
        return RulesChoice(preset=preset, variants=variants, options=chosen)

    def _steps(self, players: tuple[str, ...]) -> tuple[Step, ...]:
        steps = self._entry.get("steps", [])
        if not isinstance(steps, list):
            raise self._bad("steps", "must be a list")
        return tuple(self._step(f"steps[{index}]", step, players) for index, step in enumerate(steps))

    def _step(self, where: str, step: object, players: tuple[str, ...]) -> Step:
        self._known(where, step, frozenset(("player", "action", "result", "then")))
        assert isinstance(step, dict)
        self._is_player(f"{where}.player", step.get("player"), players)
        action, result = step.get("action"), step.get("result")
        if not isinstance(action, str):
            raise self._bad(f"{where}.action", "must be a text")
        results = [result] if isinstance(result, str) else result
        if not isinstance(results, list) or not results or not all(isinstance(code, str) for code in results):
            raise self._bad(f"{where}.result", "must be ok, a code or a list of codes")
        then = self._then(f"{where}.then", step.get("then", {}), players)
        return Step(step["player"], action, tuple(results), then)

    def _then(self, where: str, then: object, players: tuple[str, ...]) -> Mapping[str, Any]:
        self._known(where, then, THEN_FIELDS)
        assert isinstance(then, dict)
        for field in BY_PLAYER:
            value = then.get(field, {})
            if not isinstance(value, dict):
                raise self._bad(f"{where}.{field}", "must be an object, player to value")
            for name in value:
                self._is_player(f"{where}.{field}", name, players)
        return then


def _option_text(value: str | int) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
