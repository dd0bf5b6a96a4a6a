"""The match file: each flag of `rummy500 match run` is a key of it too, and a flag that is given overrides the key."""

from __future__ import annotations

import argparse
import difflib
import textwrap
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from rummy500_client.errors import ClientError
from rummy500_client.match_bots import NAME_OF_A_BOT, read_bot

BOT = "bot"
SOURCES = {"builtin": "builtin:", "class": "", "command": "cmd:", "dial": "dial:", "connected": "connected:"}
"""What a bot's table may name as its source, and how a flag begins that names it."""
_BOT_KEYS = ("name", "settings", *SOURCES)
_WIDTH = 100
_HEAD = (
    "A match: `rummy500 match run FILE` plays it. Each key is a flag of that command too, and a flag that is given "
    "overrides the key. Lines that begin with # say what else there is."
)
_EXAMPLE = """\
# The bots, two or more. One has a `name` and one of: builtin (with `settings`, such as { seed = 3 }),
# class, command, dial, connected. In short: bot = ["builtin:easy", "mybot.py:MyBot"]
[[bot]]
name = "one"
builtin = "easy"

[[bot]]
name = "another"
builtin = "random"
"""


class Mistake(Exception):
    """One thing that is wrong with the value of `path`."""

    def __init__(self, path: tuple[str | int, ...], sentence: str) -> None:
        super().__init__(sentence)
        self.path = path


class MatchKeys:
    """The flags of `parser`, all but `flags_only`, as keys of a file. To be made after all flags were added: from then
    on the parser tells only what was given, and `filled` adds the rest."""

    def __init__(self, parser: argparse.ArgumentParser, *, flags_only: Collection[str]) -> None:
        self._actions: dict[str, argparse.Action] = {}
        self._defaults: dict[str, object] = {}
        for action in parser._actions:
            flag = next((text for text in action.option_strings if text.startswith("--")), "")
            if not flag or action.dest == "help":
                continue
            self._defaults[action.dest] = action.default
            action.default = argparse.SUPPRESS
            if flag not in flags_only:
                self._actions[flag.removeprefix("--")] = action

    def filled(self, given: argparse.Namespace, file: Path | None) -> argparse.Namespace:
        """What was given by flags, then what the file says, then the defaults. Raises ClientError, which tells all that
        is wrong with the file."""
        from_file = self._read(file) if file is not None else {}
        return argparse.Namespace(**{**self._defaults, **from_file, **vars(given)})

    def _read(self, file: Path) -> dict[str, object]:
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
            raise ClientError(f"the match file {file} cannot be read: {why}") from None
        try:
            values = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ClientError(f"{file} is no TOML: {error}") from None
        found: dict[str, object] = {}
        mistakes: list[Mistake] = []
        for key, value in values.items():
            try:
                action = self._action(key)
                found[action.dest] = _value(action, key, value)
            except Mistake as mistake:
                mistakes.append(mistake)
        if mistakes:
            lines = KeyLines(text)
            told = sorted((lines.of(mistake.path), str(mistake)) for mistake in mistakes)
            raise ClientError("\n  ".join(f"{file}, line {line}: {sentence}" for line, sentence in told))
        return found

    def _action(self, key: str) -> argparse.Action:
        action = self._actions.get(key)
        if action is None:
            raise Mistake((key,), f"{key!r} is no key of a match{_meant(key, self._actions)}")
        return action

    def example(self) -> str:
        """A whole match file, with each key that there is."""
        lines = [*_comment(_HEAD), ""]
        for key, action in self._actions.items():
            if key == BOT:
                continue
            lines += [*_comment(action.help or ""), f"# {key} = {self._example_of(action)}", ""]
        return "\n".join(lines) + "\n" + _EXAMPLE

    def _example_of(self, action: argparse.Action) -> str:
        default = self._defaults[action.dest]
        if action.nargs == 0:
            return "true"
        if _is_repeated(action):
            return f'["{action.metavar}"]'
        if isinstance(default, int | Path) and default:
            return str(default) if isinstance(default, int) else f'"{default}"'
        if action.choices is not None:
            return " or ".join(f'"{choice}"' for choice in action.choices)
        return str(action.metavar) if action.type is not None or action.metavar == "N" else f'"{action.metavar}"'


def _value(action: argparse.Action, key: str, value: object) -> object:
    if key == BOT:
        return _bots(value)
    if isinstance(value, dict) and "=" in str(action.metavar):
        parts = [f"{name}={_plain((key, name), f'{key}.{name}', part)}" for name, part in value.items()]
        return parts if _is_repeated(action) else _one(action, key, ",".join(parts))
    if action.nargs == 0:
        return _switch(key, value)
    if _is_repeated(action):
        return [_one(action, key, part) for part in (value if isinstance(value, list) else [value])]
    return _one(action, key, value)


def _one(action: argparse.Action, key: str, value: object) -> object:
    text = _plain((key,), key, value)
    if action.choices is not None and text not in action.choices:
        raise Mistake((key,), f"{key} is {text!r}{_meant(text, [str(each) for each in action.choices])}")
    if not callable(action.type):
        return text
    try:
        return action.type(text)
    except argparse.ArgumentTypeError as error:
        raise Mistake((key,), f"{key}: {error}") from None


def _is_repeated(action: argparse.Action) -> bool:
    return isinstance(action, argparse._AppendAction)


def _meant(word: str, known: Collection[str]) -> str:
    """What was meant, or else what there is."""
    close = difflib.get_close_matches(word.lower().replace("_", "-"), known, 1, 0.6)
    return f": did you mean {close[0]}?" if close else f"; there are {', '.join(known)}"


def _kind(value: object) -> str:
    match value:
        case bool():
            return f"{str(value).lower()} without quotes"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the text {value!r}"
        case list():
            return "a list"
        case dict():
            return "a table"
        case _:
            return "a date or time"


def _plain(path: tuple[str | int, ...], key: str, value: object) -> str:
    """A value as a flag would say it."""
    match value:
        case bool():
            return str(value).lower()
        case int() | float() | str():
            return str(value)
        case _:
            raise Mistake(path, f"{key} is {_kind(value)}, but a number or a text is wanted")


def _switch(key: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise Mistake((key,), f"{key} is {_kind(value)}, but it is true or false")
    return value


def _bots(value: object) -> list[str]:
    """The bots as flags would name them."""
    if not isinstance(value, list):
        raise Mistake((BOT,), f'bot is {_kind(value)}, but there are several: [[bot]] before each, or bot = ["…", "…"]')
    texts = [_bot(at, part) for at, part in enumerate(value)]
    names = []
    for at, text in enumerate(texts):
        try:
            names.append(read_bot(text).name)
        except ClientError as error:
            raise Mistake((BOT, at), error.sentence) from None
    name, count = max(Counter(names).items(), key=lambda counted: counted[1], default=("", 0))
    if count > 1:
        second = [at for at, other in enumerate(names) if other == name][1]
        raise Mistake((BOT, second), f'{count} bots have the name {name!r}: give each one of its own, name = "…"')
    return texts


def _bot(at: int, value: object) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        raise Mistake((BOT, at), f"a bot is {_kind(value)}, but a table or a text is wanted")
    for key, part in value.items():
        if key not in _BOT_KEYS:
            raise Mistake((BOT, at, key), f"{key!r} is no key of a bot{_meant(key, _BOT_KEYS)}")
        if key != "settings" and not isinstance(part, str):
            raise Mistake((BOT, at, key), f"{key} is {_kind(part)}, but a text in quotes is wanted")
    sources = [key for key in SOURCES if key in value]
    if len(sources) != 1:
        told = f"{' and '.join(sources)} are given" if sources else "none is given"
        raise Mistake((BOT, at), f"a bot has one of {', '.join(SOURCES)}: {told}")
    (source,) = sources
    if "name" in value and not NAME_OF_A_BOT.fullmatch(value["name"]):
        raise Mistake((BOT, at, "name"), f"the name {value['name']!r} is not 1 to 48 letters, digits, dots, - and _")
    named = f"{value['name']}=" if "name" in value else ""
    return f"{named}{SOURCES[source]}{value[source]}{_settings(at, source, value.get('settings', {}))}"


def _settings(at: int, source: str, settings: object) -> str:
    path = (BOT, at, "settings")
    if not isinstance(settings, dict):
        raise Mistake(path, f"settings is {_kind(settings)}, but a table is wanted: {{ seed = 3 }}")
    if settings and source != "builtin":
        raise Mistake(path, f"settings are for a builtin bot, and this one is a {source}")
    return "".join(f",{name}={_plain(path, name, part)}" for name, part in settings.items())


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(text.replace("%%", "%"), _WIDTH)]


class KeyLines:
    """In which line of a TOML text each key stands: that after the last beginning of the text which is TOML too and
    does not have the key yet."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines(keepends=True)

    def of(self, path: tuple[str | int, ...]) -> int:
        """The line of the key, or of the nearest one around it."""
        while path and path not in self._found:
            path = path[:-1]
        return self._found.get(path, 1)

    @cached_property
    def _found(self) -> Mapping[tuple[str | int, ...], int]:
        found: dict[tuple[str | int, ...], int] = {}
        begins = 1
        for number in range(1, len(self._lines) + 1):
            try:
                beginning = tomllib.loads("".join(self._lines[:number]))
            except tomllib.TOMLDecodeError:
                continue
            for path in _paths(beginning):
                found.setdefault(path, begins)
            begins = number + 1
        return found


def _paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if path:
        yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from _paths(part, (*path, key))
