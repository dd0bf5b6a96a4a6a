"""The rules of a table as a sheet for people, in Markdown: what a family would settle before the first deal."""

from __future__ import annotations

from collections.abc import Iterable

from rummy500_catalog.listing import ListedVariant
from rummy500_catalog.sheet_sentences import sentences
from rummy500_engine.cards import FACES, JOKER, card_text
from rummy500_engine.rules import Rules, option_range


def sheet(rules: Rules, variants: Iterable[ListedVariant], *, preset: str = "") -> str:
    """How this table is played, every option with its value and sentence, and what the cards count. `variants` are
    those in play, the classic rules first."""
    shown = [variant for variant in variants if variant.name in rules.table.variants or not variant.prefix]
    lines = [f"# Rummy 500, {preset or 'classic'}, {rules.players} players", "", "## How it is played here", ""]
    lines += [f"- **{about}.** {sentence}" for about, sentence in sentences(rules)]
    lines += ["", "## What is in play", ""]
    lines += [f"- **{variant.name}** {variant.version}: {variant.sentence}" for variant in shown]
    lines += ["", "## Options", "", "| option | value | may be | what it does |", "| --- | --- | --- | --- |"]
    for variant in shown:
        for option in variant.options:
            key = variant.prefix + option.name
            value = _text(rules.table.options[key])
            lines.append(f"| `{key}` | {value} | {option_range(option)} | {option.sentence} |")
    lines += ["", "## What the cards count", "", *_cards(rules)]
    return "\n".join(lines) + "\n"


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _cards(rules: Rules) -> list[str]:
    lines = ["| cards | in hand | on the table | as a low ace |", "| --- | --- | --- | --- |"]
    groups: dict[tuple[int, int, int], list[str]] = {}
    for card in [*FACES, *([JOKER] if JOKER in rules.pack else [])]:
        points = (rules.held_points[card], rules.placed_points[card], rules.low_ace_points[card])
        groups.setdefault(points, []).append(card_text(card))
    for (held, placed, low), cards in sorted(groups.items()):
        lines.append(f"| {_names(cards)} | {held} | {placed} | {low if low != placed else ''} |")
    return lines


def _names(cards: list[str]) -> str:
    """`2` for the four twos, else the cards."""
    ranks: dict[str, list[str]] = {}
    for text in cards:
        ranks.setdefault(text[0], []).append(text)
    return " ".join(rank if len(texts) == 4 else " ".join(texts) for rank, texts in ranks.items())
