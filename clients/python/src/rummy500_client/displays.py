"""How a game is shown at the terminal: to a person in words, to a program as JSON lines."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from typing import Any, Protocol

from rummy500.v1.event_pb2 import Event
from rummy500.v1.result_pb2 import GameResult
from rummy500.v1.view_pb2 import View
from rummy500_client.describe import ScoreSheet, Words, duty_text, hand_text, phase_text, view_lines
from rummy500_client.fair import Checked
from rummy500_client.json_text import plain
from rummy500_client.notation import action_text, card_text, legal_actions
from rummy500_client.screen import Paint, has_colour
from rummy500_client.typed import HELP


class Display(Protocol):
    """What a session shows."""

    def seated(self, table: str, seat: int | None, names: Sequence[str]) -> None: ...

    def note(self, sentence: str) -> None: ...

    def event(self, event: Event) -> None: ...

    def decision(self, view: View) -> None: ...

    def time_left(self, seconds: float) -> None:
        """Little time is left for the decision that is open."""

    def view(self, view: View) -> None: ...

    def hand(self, view: View) -> None: ...

    def legal(self, view: View) -> None: ...

    def scores(self) -> None: ...

    def help(self) -> None: ...

    def refused(self, code: str, sentence: str) -> None: ...

    def over(self, result: GameResult) -> None: ...

    def typed(self) -> None: ...

    def deal_checked(self, checked: Checked) -> None: ...

    def remember(self, event: Event) -> None:
        """An event of the past: not shown, but its scores and names count."""


class TextDisplay:
    """Words for a person. A prompt stays below what happens while the person thinks."""

    def __init__(self) -> None:
        self._paint = Paint(is_on=has_colour(sys.stdout))
        self._is_terminal = sys.stdout.isatty()
        self._names: list[str] = []
        self._seat: int | None = None
        self._sheet = ScoreSheet()
        self._prompt = self._phase = ""
        self._shown_turn: tuple[int, int] | None = None
        self._is_hand_shown = False

    def seated(self, table: str, seat: int | None, names: Sequence[str]) -> None:
        self._names, self._seat = list(names), seat
        if seat is not None:
            self._say(f"you sit at table {table}, seat {seat}; `help` shows the commands")

    def note(self, sentence: str) -> None:
        self._say(self._paint("dim", f"* {sentence}"))

    def deal_checked(self, checked: Checked) -> None:
        if checked.holds is False:
            self._say(self._paint("red", f"NO FAIR DEAL: {checked.sentence}"))
        else:
            self.note(f"{'deal checked' if checked.holds else 'deal not checked'}: {checked.sentence}")

    def remember(self, event: Event) -> None:
        if event.HasField("round_scored"):
            self._sheet.add(event.round_scored)
        if event.HasField("seat_joined") and event.seat_joined.seat < len(self._names):
            self._names[event.seat_joined.seat] = event.seat_joined.name

    def event(self, event: Event) -> None:
        self.remember(event)
        self._is_hand_shown = False
        told = Words(self._names, own=self._seat).event(event)
        if told:
            self._say(f"  {self._paint.cards(told)}")
        if event.HasField("round_scored"):
            for line in self._sheet.round_lines(event.round_scored, self._names, self._paint):
                self._say(line)
            self.scores()

    def decision(self, view: View) -> None:
        turn = (view.round, view.turns_played)
        if turn != self._shown_turn:
            self._shown_turn = turn
            self.view(view)
        elif not self._is_hand_shown:
            self.hand(view)
        self._phase = phase_text(view)
        clock = f", {view.clock.time_left_ms / 1000:.0f} s" if view.clock.time_left_ms else ""
        self._ask(f"{self._phase}{clock}> ")

    def time_left(self, seconds: float) -> None:
        self._say(self._paint("yellow", f"* {math.ceil(seconds)} s left"))
        self._ask(f"{self._phase}, {math.ceil(seconds)} s> ")

    def view(self, view: View) -> None:
        for line in view_lines(view, self._names, self._paint):
            self._say(line)
        self._say_duty(view)
        self._is_hand_shown = True

    def hand(self, view: View) -> None:
        self._say(f"  hand:  {hand_text(view.hand, self._paint)}")
        self._say_duty(view)
        self._is_hand_shown = True

    def _say_duty(self, view: View) -> None:
        duty = duty_text(view)
        if duty and view.turn == self._seat:
            self._say(self._paint("yellow", f"  you {duty}"))

    def legal(self, view: View) -> None:
        lines = grouped_legal(view)
        for line in lines or ["nothing: another seat is to move"]:
            self._say(f"  {self._paint.cards(line)}")

    def scores(self) -> None:
        for line in self._sheet.lines(self._names):
            self._say(f"  {line}")

    def help(self) -> None:
        for line in HELP:
            self._say(f"  {line}")

    def refused(self, code: str, sentence: str) -> None:
        self._say(self._paint("red", f"refused, {code}: {sentence}" if code else sentence))

    def over(self, result: GameResult) -> None:
        self._say(self._paint("bold", Words(self._names, own=self._seat).result(result)))
        if result.record:
            self._say(f"record: {result.record}")

    def _say(self, text: str) -> None:
        if self._prompt and self._is_terminal:
            sys.stdout.write("\r\x1b[K")
        elif self._prompt:
            sys.stdout.write("\n")
        self._prompt = ""
        print(text, flush=True)

    def _ask(self, prompt: str) -> None:
        self._prompt = prompt
        sys.stdout.write(self._paint("bold", prompt))
        sys.stdout.flush()

    def typed(self) -> None:
        """The person has ended a line, so nothing of the prompt is left to wipe out."""
        if self._prompt and not self._is_terminal:
            sys.stdout.write("\n")
        self._prompt = ""
        self._is_hand_shown = False


def grouped_legal(view: View) -> list[str]:
    """The legal actions, one line a verb; takes and discards of several cards stand in one line."""
    groups: dict[str, list[str]] = {}
    for action in legal_actions(view.legal_actions):
        verb, _, rest = action_text(action).partition(" ")
        groups.setdefault(verb, []).append(rest)
    lines = []
    for verb, rests in groups.items():
        joiner = " | " if verb in ("meld", "layoff", "call") else " "
        lines.append(f"{verb} {joiner.join(rests)}".rstrip())
    if not view.legal_actions.complete and lines:
        lines.append("… and more than 2,000 in all")
    return lines


class JsonDisplay:
    """One JSON object a line, each with a `type`."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._seat: int | None = None
        self._sheet: list[dict[str, Any]] = []

    def seated(self, table: str, seat: int | None, names: Sequence[str]) -> None:
        self._names, self._seat = list(names), seat
        self._write("seated", table=table, seat=seat, players=list(names))

    def note(self, sentence: str) -> None:
        self._write("note", sentence=sentence)

    def deal_checked(self, checked: Checked) -> None:
        self._write("deal_checked", round=checked.round, holds=checked.holds, sentence=checked.sentence)

    def remember(self, event: Event) -> None:
        if event.HasField("round_scored"):
            self._sheet.append(plain(event.round_scored))
        if event.HasField("seat_joined") and event.seat_joined.seat < len(self._names):
            self._names[event.seat_joined.seat] = event.seat_joined.name

    def event(self, event: Event) -> None:
        self.remember(event)
        told = Words(self._names, own=self._seat).event(event)
        self._write("event", text=told, **plain(event))

    def decision(self, view: View) -> None:
        self._write("decision", sequence=view.sequence, phase=phase_text(view), **_cards(view))

    def time_left(self, seconds: float) -> None:
        self._write("clock", time_left_ms=round(seconds * 1000))

    def view(self, view: View) -> None:
        self._write("view", view=plain(view))

    def hand(self, view: View) -> None:
        self._write("hand", hand=[card_text(card) for card in view.hand])

    def legal(self, view: View) -> None:
        self._write("legal", legal=[action_text(action) for action in legal_actions(view.legal_actions)])

    def scores(self) -> None:
        self._write("scores", rounds=self._sheet)

    def help(self) -> None:
        self._write("help", lines=list(HELP))

    def refused(self, code: str, sentence: str) -> None:
        self._write("refused", code=code, sentence=sentence)

    def over(self, result: GameResult) -> None:
        self._write("game_over", **plain(result))

    def typed(self) -> None:
        pass

    def _write(self, kind: str, **fields: object) -> None:
        print(json.dumps({"type": kind, **fields}), flush=True)


def _cards(view: View) -> dict[str, object]:
    return {
        "hand": [card_text(card) for card in view.hand],
        "pile": [card_text(card) for card in view.discards],
        "legal": [action_text(action) for action in legal_actions(view.legal_actions)],
        "must_use": [card_text(card) for card in view.duty.must_use],
        "totals": list(view.totals),
        "time_left_ms": view.clock.time_left_ms,
    }
