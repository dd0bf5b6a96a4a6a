"""Games written out step by step with what each seat is told and sees, so that a leak shows in a diff.

Of a view stands there what has changed since the step before, first a spectator's, then what differs from it for each
seat.

`python -m tests.playthroughs` writes the files again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from pathlib import Path
from typing import Any

from tests.engine.tables import deal, rules_of
from tests.engine.throwaway import ELECTION, HEARTS_LAST, LOOKOUT

from rummy500_engine.actions import Action, Discard
from rummy500_engine.cards import card_text, cards_text
from rummy500_engine.events import Event
from rummy500_engine.game import Game
from rummy500_engine.notation import write_action, write_meld
from rummy500_engine.rules import Rules
from rummy500_engine.shuffle import seed_for
from rummy500_engine.view import PublicPoll, View, redact, seat_view

HERE = Path(__file__).parent
NAMES = ("anna", "ben", "cleo", "dora")
ONE_CARD = frozenset(("card", "face", "up_card", "target", "banned"))
SOME_CARDS = frozenset(("cards", "faces", "must_use", "hand", "pile"))
MANY_HANDS = frozenset(("hands", "known"))
INDENT = 8


@dataclass(frozen=True)
class Playthrough:
    """A fixed game: its actions follow from `name` by the documented hash, whatever Python's dice do."""

    name: str
    rules: Rules
    rounds: int

    @property
    def file(self) -> Path:
        return HERE / f"{self.name}.txt"

    def text(self) -> str:
        return "\n".join(line.rstrip() for line in _lines(self)) + "\n"


def playthroughs() -> list[Playthrough]:
    short: dict[str, object] = {"deal": 5, "max_rounds": 2}
    shorter: dict[str, object] = {"deal": 5, "max_turns": 12}
    return [
        Playthrough("two-players", rules_of(players=2), 1),
        Playthrough("four-players", rules_of(players=4, options=short), 2),
        Playthrough("with-variants", rules_of(LOOKOUT, ELECTION, HEARTS_LAST, players=3, options=shorter), 1),
    ]


def _lines(played: Playthrough) -> Iterator[str]:
    rules = played.rules
    names = NAMES[: rules.players]
    secret = played.name.encode()
    yield f"{', '.join(names)}: {' '.join(rules.table.variants) or 'classic'} {_options(rules)}"
    game, step, shown = Game(rules), 0, dict[str, str]()
    while not game.over:
        if game.needs_deal:
            if game.rounds_played == played.rounds:
                return
            told = deal(game, secret=secret)
            yield from ("", f"--- round {game.rounds_played + 1}: {names[game.dealer]} deals")
        else:
            step += 1
            number = int.from_bytes(seed_for(secret, "step", step)[:8], "big")
            seat = game.to_act()[number % len(game.to_act())]
            action = _choice(game, seat, number >> 8)
            told = game.apply(seat, action)
            yield from ("", f"--- {step}. {names[seat]}: {write_action(action)}")
        yield from _told(told, names)
        for label, text in _seen(game, names):
            if shown.get(label) != text:
                yield _line(label.partition(":")[0], text)
            shown[label] = text


def _options(rules: Rules) -> str:
    return " ".join(f"{key}={value}" for key, value in rules.table.options.items())


def _choice(game: Game, seat: int, number: int) -> Action:
    """Plays before discards three times out of four, by the order of their texts."""
    legal = sorted(game.legal_actions(seat), key=write_action)
    plays = [action for action in legal if not isinstance(action, Discard)]
    chosen = plays if plays and number % 4 else legal
    return chosen[(number >> 2) % len(chosen)]


# --- what is told and seen


def _told(events: Sequence[Event], names: Sequence[str]) -> Iterator[str]:
    """Each event as everybody is told it, then as those seats are told it that are told more."""
    for event in events:
        for_all = redact(event, None)
        yield _line("told", _described(for_all))
        for seat, name in enumerate(names):
            if redact(event, seat) != for_all:
                yield _line(f"  {name}", _described(redact(event, seat)))


def _seen(game: Game, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The view of a spectator, then of each seat whatever differs from it."""
    public = dict(_shown(seat_view(game, None), names))
    yield from public.items()
    for seat, name in enumerate(names):
        for what, text in _shown(seat_view(game, seat), names):
            if text != public.get(what):
                yield f"  {name}:{what}", f"{what} {text}"


def _line(label: str, text: str) -> str:
    return f"{label:<{INDENT}} {text}"


def _shown(view: View, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The view by fields; those that are small stand together."""
    small = {}
    for field in fields(view):
        value = getattr(view, field.name)
        if field.name == "melds":
            yield from ((f"m{meld.id}", write_meld(meld, names)) for meld in value)
        elif field.name == "legal":
            yield field.name, ", ".join(sorted(write_action(action) for action in value))
        elif field.name in ("hand", "pile", "known", "variant_fields"):
            yield field.name, _value(field.name, value)
        elif field.name != "seat" and value not in (None, (), False):
            small[field.name] = _value(field.name, value)
    yield "table", " ".join(f"{name}={text}" for name, text in small.items())


def _described(event: Event) -> str:
    parts = [f"{field.name}={_value(field.name, getattr(event, field.name))}" for field in fields(event)]
    return f"{type(event).__name__} {' '.join(parts)}"


def _value(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if name in ONE_CARD:
        return str(card_text(value))
    if name in SOME_CARDS:
        return f"[{cards_text(value)}]"
    if name in MANY_HANDS:
        return " ".join("-" if hand is None else f"[{cards_text(hand)}]" for hand in value)
    if isinstance(value, PublicPoll):
        return f"{value.name}:{_value('card', value.card)}:{value.by}:{_value('asked', value.asked)}"
    if isinstance(value, Enum):
        return str(value.value)
    if name == "seats":
        return " ".join(f"{score.placed}-{score.held}{list(score.adjustments) or ''}={score.points}" for score in value)
    return str(value).replace(" ", "") if isinstance(value, tuple) and name != "variant_fields" else str(value)


def write_all() -> None:
    for played in playthroughs():
        played.file.write_text(played.text(), encoding="utf-8")
