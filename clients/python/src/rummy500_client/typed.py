"""What a person types: one-letter commands and lines of notation, and the thread that reads them."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from queue import SimpleQueue

from rummy500_client.errors import ClientError
from rummy500_client.notation import card_number
from rummy500_client.watching import Seen, TypedLine

SHORT = {
    "d": "draw",
    "t": "take",
    "m": "meld",
    "l": "layoff",
    "x": "discard",
    "p": "pass",
    "c": "call",
    "e": "exchange",
}
"""One-letter verbs and what they stand for in notation."""
ASIDES = {
    "?": "legal",
    "s": "scores",
    "h": "hand",
    "v": "view",
    "q": "quit",
    "scores": "scores",
    "hand": "hand",
    "view": "view",
    "table": "view",
    "quit": "quit",
    "exit": "quit",
    "resign": "resign",
    "help": "help",
}
"""Commands that are no action at the table."""
HELP = (
    "d draw · t CARD take from the pile · m CARDS meld · l CARD mN lay off · x CARD discard · p pass",
    'c CARD mN, or c CARD with CARDS: call "Rummy!" · e CARD mN exchange a joker, where the table has these',
    "? what is legal · h hand · v table · s scores · q leave, to come back later · resign · help",
    "several actions in one line: m 7S 7H 7D; l 8C m2; x 4D · full notation works too: discard 6S",
)

_BARE = ("draw", "pass")
"""Verbs that need no card."""
_WHERE = re.compile(r"m\d+|low|high|with", re.IGNORECASE)


@dataclass(frozen=True)
class Aside:
    """A command that is no action: legal, scores, hand, view, quit, resign, help."""

    name: str


@dataclass(frozen=True)
class Wanted:
    """Actions in notation, in order."""

    actions: tuple[str, ...]


def read_line(text: str) -> Aside | Wanted | None:
    """What a typed line asks for; None for an empty one."""
    stripped = text.strip()
    if not stripped:
        return None
    if stripped.lower() in ASIDES:
        return Aside(ASIDES[stripped.lower()])
    return Wanted(tuple(_in_full(part) for part in stripped.split(";") if part.strip()))


def _in_full(text: str) -> str:
    verb, *words = text.split()
    return " ".join((SHORT.get(verb.lower(), verb), *words))


def slip(action: str, others: Iterable[str] = ()) -> str:
    """Why no table can read a line of notation, or nothing; `others` are the verbs that variants add to the usual ones.

    A slip of the fingers is not sent: five refusals in one turn would end it.
    """
    verb, *words = action.split()
    if verb.lower() in others:
        return ""
    if verb.lower() not in SHORT.values():
        return f"'{verb}' is no command: `?` shows what is legal now, `help` the commands"
    if not words and verb.lower() not in _BARE:
        return f"{verb} what? `?` shows what is legal now"
    wrong = next((word for word in words if not _WHERE.fullmatch(word) and not _is_card(word)), "")
    return f"'{wrong}' is no card: write TH for the ten of hearts, JK for a joker" if wrong else ""


def _is_card(word: str) -> bool:
    card, _, place = word.partition("@")
    faces = card.split("=")
    return all(card_number(face) is not None for face in faces) and (not place or place.isdecimal())


def read_json_line(text: str) -> Aside | Wanted | None:
    """Reads `"draw"`, `["meld 7S 7H 7D", "discard 4C"]`, `{"actions": […]}`, `{"command": "quit"}`, or notation."""
    if not text.strip().startswith(("{", "[", '"')):
        return read_line(text)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ClientError(f"the line is no JSON: {error}") from None
    if isinstance(value, dict) and "command" in value:
        return read_line(str(value["command"]))
    if isinstance(value, dict):
        value = value.get("actions", value.get("action"))
    actions = [value] if isinstance(value, str) else value
    if not isinstance(actions, list) or not actions or not all(isinstance(action, str) for action in actions):
        raise ClientError('give {"actions": ["meld 7S 7H 7D", "discard 4C"]}, a list, a text or {"command": "quit"}')
    return Wanted(tuple(actions))


def read_input(seen: SimpleQueue[Seen], descriptor: int = 0) -> None:
    """Starts a thread that puts each line of the standard input into `seen`.

    It reads the descriptor itself: a daemon thread that holds the lock of sys.stdin would break the interpreter's end.
    """
    threading.Thread(target=_read, args=(seen, descriptor), name="input", daemon=True).start()


def _read(seen: SimpleQueue[Seen], descriptor: int) -> None:
    rest = b""
    while True:
        try:
            chunk = os.read(descriptor, 4096)
        except OSError:
            chunk = b""
        if not chunk:
            break
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            seen.put(TypedLine(line.decode("utf-8", errors="replace")))
    if rest:
        seen.put(TypedLine(rest.decode("utf-8", errors="replace")))
    seen.put(TypedLine(None))
