"""A bot that takes its time is asked here: in a process that has nothing but the question.

The question is the decision request that a remote bot gets, in bytes, and the bot itself as it was after its last
answer. The answer are lines of notation, and the bot as it is now: so any process may be asked next, and one that dies
takes nothing with it.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from rummy500.v1 import play_service_pb2
from rummy500_bots import Bot
from rummy500_catalog import Catalog
from rummy500_engine.notation import write_action
from rummy500_engine.rules import Rules
from rummy500_insight.reading import decision_from

REMEMBERED = 64
"""Tables' rules that a process keeps composed."""


@dataclass(frozen=True, slots=True)
class TableRules:
    """What the rules of a table are composed from, as the catalog wants it; option values as texts."""

    preset: str
    variants: tuple[str, ...]
    options: tuple[tuple[str, str], ...]
    players: int


@dataclass(frozen=True, slots=True)
class Question:
    """`bot` is pickled, `request` a serialized DecisionRequest; `asked_at` is a moment of the monotonic clock, which
    processes share."""

    bot: bytes
    rules: TableRules
    request: bytes
    asked_at: float


@dataclass(frozen=True, slots=True)
class Answer:
    """Lines of notation, and the bot as it is after them."""

    lines: tuple[str, ...]
    bot: bytes


def think(question: Question) -> Answer:
    """The bot's answer. Time that the question has waited is no time left."""
    bot: Bot = pickle.loads(question.bot)
    request = play_service_pb2.DecisionRequest.FromString(question.request)
    decision = decision_from(request, _composed(question.rules))
    if decision.time_left_ms is not None:
        waited = round((time.monotonic() - question.asked_at) * 1000)
        decision = replace(decision, time_left_ms=max(1, decision.time_left_ms - waited))
    answer = bot.act(decision)
    actions = answer if isinstance(answer, Sequence) else (answer,)
    return Answer(tuple(map(write_action, actions)), pickle.dumps(bot))


@lru_cache(maxsize=1)
def _catalog() -> Catalog:
    return Catalog()


@lru_cache(maxsize=REMEMBERED)
def _composed(rules: TableRules) -> Rules:
    """The collector need not go through what is here for good: that took as long as a decision may."""
    composed = _catalog().rules(rules.preset, rules.variants, dict(rules.options), players=rules.players)
    gc.freeze()
    return composed


def begin() -> None:
    """Of a process that thinks: it ends with its parent, however that one ends, and leaves signals to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=_end_with, args=(parent,), name="parent", daemon=True).start()


def _end_with(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(0)
