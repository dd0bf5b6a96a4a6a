"""Texts that are nearly right: lines of notation, names, options, and positions as JSON."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"
WORDS = (
    *("draw", "pass", "take", "meld", "layoff", "discard", "call", "exchange", "with", "low", "high", "by", ";"),
    *("JK", "JK=7H", "=", "7S", "10h", "TH", "XX", "AS@2", "@", "KS@999999999999", "m1", "m0", "m999999", "m-1"),
    *("7S=8S", "JK=JK", "٣H", "\uff17S", "\u0000", "\u202e7S", "💥", "🂡", "NaN", "-0", "1e999"),
)
VALUES = (
    "",
    "0",
    "-1",
    "1",
    "500",
    "9" * 40,
    "true",
    "TRUE",
    "null",
    "NaN",
    "1e9",
    "٣",
    "low",
    "flip",
    "[]",
    "{}",
    "'",
)
LOOSE: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 10**30, 1.5, float("nan"), float("inf"), "", "7S", "JK", "anna", "x" * 200),
    *([], {}, [[]], [None], {"a": 1}, {"": ""}, "7S 7S", "7S " * 60, "\ud800", "m1", "draw", "play", "call"),
)
"""Whatever JSON can be, and a little more than it can."""

FIELDS = (
    *("players", "hands", "melds", "discards", "stock", "turn", "dealer", "phase", "scores", "turns_played"),
    *("recycled", "taken", "rules", "known", "waiting", "must_use", "x"),
)


def scenarios() -> list[dict[str, Any]]:
    return [each for path in sorted(SCENARIOS.glob("*.json")) for each in json.loads(path.read_text())]


class Nonsense:
    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._scenarios = scenarios()
        self._lines: list[str] = [
            step["action"] for each in self._scenarios for step in each.get("steps", ()) if "action" in step
        ]
        options = {name for each in self._scenarios for name in each.get("rules", {}).get("options", {})}
        variants = {name for each in self._scenarios for name in each.get("rules", {}).get("variants", ())}
        self.options: list[str] = sorted(options)
        self.variants: list[str] = sorted(variants)

    def line(self) -> str:
        """A line of notation of some scenario, with words changed."""
        dice = self._dice
        words = dice.choice(self._lines).split() if dice.random() < 0.7 else []
        for _ in range(dice.randint(0 if words else 1, 4)):
            at = dice.randrange(len(words) + 1)
            match dice.randrange(4):
                case 0 if words:
                    del words[at % len(words)]
                case 1 if words:
                    words[at % len(words)] = dice.choice(WORDS)
                case 2 if words:
                    words *= dice.choice((1, 2, 3, 40))
                case _:
                    words.insert(at, dice.choice(WORDS))
        return dice.choice((" ", " ", " ", "  ", "\t", "")).join(words)

    def text_for(self, names: Sequence[str]) -> Callable[[str], str]:
        """For the fields of messages: often one of these names, or what fits a field of that name."""
        dice = self._dice

        def text(field: str) -> str:
            match field:
                case "text":
                    return self.line()
                case "position_json":
                    return self.position()
                case "value":
                    return dice.choice(VALUES)
                case "variants" | "variant":
                    return dice.choice((*self.variants, "classic", "no-such"))
                case "page_token":
                    return dice.choice(("YXQ6NTA=", "YXQ6LTE=", "====", "1-1", "9" * 60, "0-0"))
            return dice.choice((*names, *self.options, *WORDS))

        return text

    def position(self) -> str:
        """The position of some scenario, with values changed in any depth."""
        dice = self._dice
        position = copy.deepcopy(dice.choice(self._scenarios))
        for _ in range(dice.randint(1, 3)):
            self._change(position)
        text: str = json.dumps(position)
        match dice.randrange(12):
            case 0:
                return text[: dice.randrange(len(text))]
            case 1:
                return "[" * 5_000 + text
            case 2:
                return '{"players": ' * 800 + text
            case 3:
                return text.replace(":", dice.choice((",", "::", ": 1e99999,")), 1)
            case 4:
                return json.dumps(dice.choice(LOOSE))
            case 5:
                return text.replace("{", '{"turns_played": ' + "9" * dice.choice((30, 5_000)) + ", ", 1)
        return text

    def _change(self, value: Any) -> None:
        """Changes something in an object or a list of JSON, or deeper in it."""
        dice = self._dice
        keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = dice.choice(keys)
        match dice.randrange(6):
            case 0:
                del value[key]
            case 1 | 2 if isinstance(value[key], dict | list):
                self._change(value[key])
            case 3 if isinstance(value[key], str):
                words = value[key].split()
                words.insert(dice.randrange(len(words) + 1), dice.choice(WORDS))
                value[key] = " ".join(words)
            case 4 if isinstance(value, dict):
                value[dice.choice(FIELDS)] = copy.deepcopy(dice.choice(LOOSE))
            case _:
                value[key] = copy.deepcopy(dice.choice(LOOSE))
