"""Tables at random: options anywhere in their range, and variants beside each other."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

from rummy500_engine.plugins import Plugin, PluginSet
from rummy500_engine.rules import Rules, compose
from rummy500_engine.terms import Option, OptionValue, RulesRefused

SHORT: Mapping[str, OptionValue] = {"max_rounds": 2, "max_turns": 60}
"""Base options under which a game at random ends soon."""
DEALS: tuple[Mapping[str, OptionValue], ...] = ({}, {"deal": 5}, {"deal": 4})


def options_of(base: Plugin, plugin: Plugin) -> dict[str, Option]:
    """The options of a variant under their flat keys."""
    return {f"{plugin.name}.{option.name}": option for option in PluginSet(base, (plugin,)).options(plugin)}


def extreme_values(option: Option) -> tuple[OptionValue, ...]:
    """The default, each choice, the ends of the range."""
    if isinstance(option.default, bool):
        return (False, True)
    ends = [end for end in (option.low, option.high) if end is not None]
    return (option.default, *option.choices, *ends, *(["none"] if option.none else []))


def random_value(option: Option, dice: random.Random) -> OptionValue:
    values = list(extreme_values(option))
    if option.low is not None and option.high is not None:
        values.append(dice.randint(option.low, option.high))
    return dice.choice(values)


def random_options(base: Plugin, plugins: Iterable[Plugin], dice: random.Random) -> dict[str, OptionValue]:
    return {
        key: random_value(option, dice)
        for plugin in plugins
        for key, option in options_of(base, plugin).items()
        if dice.random() < 0.6
    }


def table_of(
    base: Plugin, plugins: Sequence[Plugin], *, players: int, options: Mapping[str, object] | None = None
) -> Rules | RulesRefused:
    """The rules of a short game at such a table, dealt as large as the pack allows, or why there is no such table."""
    refused: RulesRefused | None = None
    for deal in DEALS:
        try:
            return compose(base, plugins, players=players, options={**SHORT, **deal, **(options or {})})
        except RulesRefused as error:
            refused = refused or error
            if error.field != "options.deal":
                break
    assert refused is not None
    return refused


def describe(rules: Rules) -> str:
    """A table in one line, as it can be made again."""
    options = {key: value for key, value in rules.table.options.items() if "." in key or key in (*SHORT, "deal")}
    shown = " ".join(f"{key}={value}" for key, value in options.items())
    return f"{rules.players} players, {', '.join(rules.table.variants) or 'classic'}, {shown}"
