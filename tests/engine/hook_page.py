"""docs/hooks.md, made from the docstrings of the hooks: `python -m tests.engine.hook_page` writes it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rummy500_engine import hooks
from rummy500_engine.hooks import ComposedHooks, PlayHooks

PAGE = Path(__file__).parents[2] / "docs" / "hooks.md"
TITLE = "# Hooks\n"
ORIGIN = "This page is made from the docstrings of `rummy500_engine.hooks` by `python -m tests.engine.hook_page`.\n"
COMBINED = re.compile(r"\*(One answer|Most specific|Field by field|Any of|All of|Own)\.?\*(?:, |; |\.)?\s*")


def hooks_of(group: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    return ((name, hook) for name, hook in vars(group).items() if name.startswith("rummy500_"))


def signature_of(hook: Callable[..., Any]) -> str:
    """The arguments and the answer, without `self`, as they are written."""
    signature = inspect.signature(hook)
    names = [str(parameter) for name, parameter in signature.parameters.items() if name != "self"]
    return f"({', '.join(names)}) -> {signature.return_annotation}".replace("'", "")


def sentence_of(documented: object) -> str:
    return re.sub(r"\s+", " ", inspect.getdoc(documented) or "")


def combined_by(hook: Callable[..., Any]) -> str:
    """How answers combine: what the docstring names in italics."""
    found = COMBINED.search(sentence_of(hook))
    return found[1].lower() if found else ""


def question_of(hook: Callable[..., Any]) -> str:
    """The docstring but for how answers combine, fit for a cell."""
    question = COMBINED.sub("", sentence_of(hook)).strip()
    return question.replace("|", "\\|").replace("<", "&lt;").replace(">", "&gt;")


def page() -> str:
    parts = [TITLE, inspect.getdoc(hooks) or "", "", ORIGIN]
    for title, group in (("When a table is composed", ComposedHooks), ("In play", PlayHooks)):
        parts += [f"## {title}", "", sentence_of(group), ""]
        parts += ["| hook | how answers combine | question |", "| --- | --- | --- |"]
        for name, hook in hooks_of(group):
            answer = signature_of(hook).replace("|", "\\|")
            parts.append(f"| `{name}`<br>`{answer}` | {combined_by(hook)} | {question_of(hook)} |")
        parts.append("")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
