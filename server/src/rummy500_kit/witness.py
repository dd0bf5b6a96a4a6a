"""A witness of everything that one variant answers: each question is asked twice, and once of a twin.

A hook is pure: the same question gets the same answer, and asking changes nothing. What a seat is shown or may do
depends on what that seat may see; whether a poll opens, on what all can see.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import wraps
from inspect import iscoroutinefunction
from types import SimpleNamespace
from typing import Any

from rummy500_engine.hooks import PROJECT
from rummy500_engine.plugins import Plugin, PluginSet
from rummy500_engine.round import Round
from rummy500_engine.terms import Poll, VariantError
from rummy500_kit.laws import round_state
from rummy500_kit.twins import twin_of

MARK = f"{PROJECT}_impl"
OF_A_SEAT = ("rummy500_veto", "rummy500_actions", "rummy500_view", "rummy500_poll_actions")
OF_ALL = ("rummy500_poll",)
ALWAYS, RARELY = 40, 25
"""The first so many questions of a hook are looked at closely, then one in so many."""

Question = Mapping[str, Any]


class Witness:
    """`plugin` stands in for the variant; `asked` counts the questions by hook, `last` is the hook asked last."""

    def __init__(self, plugin: Plugin, dice: random.Random) -> None:
        self.asked: Counter[str] = Counter()
        self.last = "registration"
        self._of = plugin
        self._dice = dice
        self.hooks = _hooks_of(plugin.implementation)
        watched = {name: self._watched(name, function) for name, function in self.hooks.items()}
        self.plugin = Plugin(plugin.name, SimpleNamespace(**watched), plugin.version, plugin.distribution)

    def broken(self, hook: str, problem: str) -> VariantError:
        return PluginSet.broken(self._of, hook, problem)

    def _watched(self, hook: str, function: Callable[..., Any]) -> Callable[..., Any]:
        if iscoroutinefunction(function):
            return function

        @wraps(function)
        def ask(**question: Any) -> Any:
            self.last = hook
            self.asked[hook] += 1
            if self.asked[hook] > ALWAYS and self._dice.randrange(RARELY):
                return function(**question)
            return self._ask_closely(hook, function, question)

        setattr(ask, MARK, getattr(function, MARK))
        return ask

    def _ask_closely(self, hook: str, function: Callable[..., Any], question: Question) -> Any:
        before = _snapshot(question)
        answer = function(**question)
        again = function(**question)
        after = _snapshot(question)
        if again != answer:
            raise self.broken(hook, f"answered {answer!r}, and to the same question again {again!r}")
        if after != before:
            changed = ", ".join(sorted(name for name in after if after[name] != before[name]))
            raise self.broken(hook, f"changed what it was asked about ({changed}): a hook only answers")
        round = question.get("round")
        if isinstance(round, Round):
            self._verify_twin(hook, function, question, answer)
            if hook == "rummy500_poll_result":
                self._verify_any_order(function, question, answer)
        if hook == "rummy500_view":
            self._verify_json(answer)
        return answer

    def _verify_twin(self, hook: str, function: Callable[..., Any], question: Question, answer: Any) -> None:
        if hook not in (*OF_A_SEAT, *OF_ALL):
            return
        round = question["round"]
        viewer = None if hook in OF_ALL else question.get("seat", None if round.poll is not None else round.turn)
        if hook == "rummy500_view":
            viewer = question.get("seat")
        other = function(**{**question, "round": twin_of(round, viewer, self._dice)})
        if other != answer:
            who = "all" if viewer is None else f"seat {viewer}"
            raise self.broken(
                hook, f"depends on cards that {who} may not see: answered {answer!r}, with others hidden {other!r}"
            )

    def _verify_any_order(self, function: Callable[..., Any], question: Question, answer: Any) -> None:
        round = question["round"]
        poll = round.poll
        if poll is None or round.rules.depends_on_arrival or len(poll.answers) < 2:
            return
        other = round.clone()
        answers = list(poll.answers)
        self._dice.shuffle(answers)
        other.poll = Poll(
            poll.variant, poll.name, poll.card, poll.by, poll.asked, tuple(answers), poll.seconds, poll.draw_closes
        )
        late = function(**{**question, "round": other})
        if late != answer:
            raise self.broken(
                "rummy500_poll_result",
                f"depends on the order in which answers arrive ({answer!r}, or {late!r}), and does not say so by "
                "rummy500_depends_on_arrival",
            )

    def _verify_json(self, answer: Any) -> None:
        try:
            json.dumps(answer, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise self.broken("rummy500_view", f"answered {answer!r}, which is not JSON: {error}") from error


def _hooks_of(implementation: object) -> dict[str, Callable[..., Any]]:
    """Whatever is marked as a hook, misspelt ones too."""
    found = {}
    for name in dir(implementation):
        function = getattr(implementation, name, None)
        if callable(function) and getattr(function, MARK, None) is not None:
            found[name] = function
    return found


def _snapshot(question: Question) -> dict[str, Any]:
    """What a hook could change of its question."""
    found: dict[str, Any] = {}
    if isinstance(question.get("round"), Round):
        found |= {f"round.{name}": value for name, value in round_state(question["round"]).items()}
        found["round.states"] = deepcopy(found["round.states"])
    if "table" in question:
        found["table.options"] = dict(question["table"].options)
    if "state" in question:
        found["state"] = deepcopy(question["state"])
    return found
