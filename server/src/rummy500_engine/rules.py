"""The rules of one table: classic, the chosen variants and their options, composed into tables and bound functions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rummy500_engine.cards import ACE, FACES, JOKER, LANE_BITS, Card, card_text
from rummy500_engine.meld_catalogue import MeldCatalogue
from rummy500_engine.plugins import Plugin, PluginSet
from rummy500_engine.terms import (
    AceEnds,
    Deal,
    FirstMeld,
    GoingOut,
    JokerPoints,
    Jokers,
    Option,
    OptionValue,
    Pack,
    RulesRefused,
    Sets,
    StockOut,
    StockRule,
    Table,
    TakeDuty,
)

MIN_PLAYERS, MAX_PLAYERS = 2, 8

Bound = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Preset:
    """A named table, as data: variants, option values under flat keys, and for how many players it is."""

    name: str
    sentence: str
    variants: tuple[str, ...] = ()
    options: tuple[tuple[str, OptionValue], ...] = ()
    players: tuple[int, int] = (MIN_PLAYERS, MAX_PLAYERS)
    more_players: tuple[tuple[int, tuple[str, ...]], ...] = ()
    """(from so many players on, these variants too)"""
    packages: tuple[tuple[str, str], ...] = ()
    """(variant, the distribution that brings it), to tell what would have to be installed"""


@dataclass(frozen=True, eq=False)
class Rules:
    """Everything a round asks, resolved: look-ups and plain calls only. Equal digests mean equal rules.

    `held_points` and `placed_points` are indexed by card; `sides` gives each seat's side. The last fields hold the
    functions of variants that act in play, each with its variant's name; they are empty at a classic table.
    """

    table: Table
    digest: str
    variants: tuple[tuple[str, str], ...]
    players: int
    pack: tuple[Card, ...]
    hand_size: int
    held_points: tuple[int, ...]
    placed_points: tuple[int, ...]
    low_ace_points: tuple[int, ...]
    jokers: Jokers
    ace_ends: AceEnds
    sets: Sets
    going_out: GoingOut
    first_meld: FirstMeld
    take_duty: TakeDuty
    own_melds_only: bool
    stock_out: StockOut
    deal: Deal
    sides: tuple[int, ...]
    settles: bool
    depends_on_arrival: bool
    target: int
    max_turns: int
    max_rounds: int
    catalogue: MeldCatalogue
    plain: bool
    """No rule of this table can forbid ending a turn once the duty of a take is met (but for the card taken)."""
    twins: bool
    """The pack has equal cards: more packs than one, or jokers."""
    floating: bool
    owes_all: bool
    """With an empty stock every card taken must be used (RULES 1.9)."""
    verbs: Mapping[str, str]
    vetoes: tuple[tuple[str, Bound], ...]
    adjustments: tuple[tuple[str, Bound], ...]
    actions: tuple[tuple[str, Bound], ...]
    perform: Mapping[str, Bound]
    state: Mapping[str, Bound]
    views: tuple[tuple[str, Bound], ...]
    polls: tuple[tuple[str, Bound], ...]
    poll_actions: Mapping[str, Bound]
    poll_result: Mapping[str, Bound]
    false_answer: Mapping[str, Bound]
    distributions: Mapping[str, str]
    """Which distribution brought each variant, to name it when it is broken."""

    @property
    def unlimited(self) -> Rules:
        """These rules without minimum and with every way of going out: they tell why a turn could not be finished."""
        return replace(self.free_going_out, first_meld=replace(self.first_meld, minimum=0))

    @property
    def free_going_out(self) -> Rules:
        return replace(self, going_out=GoingOut.ANY, floating=False)

    def card_points(self, card: Card, face: Card, low: bool) -> int:
        """What a placed card earns; `face` is what it stands for, `low` an ace at the low end of its run."""
        if card == JOKER and self.jokers.scores is JokerPoints.FIXED:
            return self.placed_points[JOKER]
        return self.low_ace_points[face] if low else self.placed_points[face]


def option_value(key: str, option: Option, value: object) -> OptionValue:
    """The value of an option, read from its text if need be. Raises RulesRefused with what is allowed."""
    allowed = option_range(option)
    if isinstance(value, int) and not isinstance(value, bool) and str(value) in option.choices:
        return str(value)
    if isinstance(value, str):
        text = value.strip()
        if (option.none and text == "none") or text in option.choices:
            return text
        if isinstance(option.default, bool) and text.lower() in ("true", "false"):
            return text.lower() == "true"
        if option.low is not None and text.lstrip("-").isdecimal():
            value = int(text)
    if isinstance(option.default, bool) and isinstance(value, bool):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and option.low is not None and option.high is not None:
        in_range = option.low <= value <= option.high
        if in_range:
            return value
    raise RulesRefused(f"option {key} is {value!r}; allowed: {allowed}", field=f"options.{key}")


def option_range(option: Option) -> str:
    """What an option may be, in words."""
    if isinstance(option.default, bool):
        return "true or false"
    parts = [*option.choices]
    if option.low is not None:
        parts.append(f"{option.low} to {option.high}")
    if option.none:
        parts.append("none")
    return ", ".join(parts)


def _table(plugins: PluginSet, *, players: int, options: Mapping[str, object]) -> Table:
    known: dict[str, Option] = {}
    for plugin in plugins.all:
        prefix = f"{plugin.name}." if plugin is not plugins.base else ""
        for option in plugins.options(plugin):
            known[prefix + option.name] = option
            _verify_default(plugins, plugin, option)
    values: dict[str, OptionValue] = {key: option.default for key, option in known.items()}
    for key, value in options.items():
        if key not in known:
            variant = key.rpartition(".")[0]
            hint = f"; the variant {variant} is not at this table" if variant else ""
            raise RulesRefused(
                f"there is no option {key}{hint}; there are: {', '.join(sorted(known))}", field=f"options.{key}"
            )
        values[key] = option_value(key, known[key], value)
    return Table(
        players=players, variants=tuple(p.name for p in plugins.variants), options=dict(sorted(values.items()))
    )


def _verify_default(plugins: PluginSet, plugin: Plugin, option: Option) -> None:
    try:
        value = option_value(option.name, option, option.default)
    except RulesRefused as refused:
        raise plugins.broken(plugin, "rummy500_options", f"has a default that it forbids: {refused}") from None
    if value != option.default or type(value) is not type(option.default):
        problem = f"has a default of the wrong type: {option.name} is {option.default!r}, read as {value!r}"
        raise plugins.broken(plugin, "rummy500_options", problem)


def _pack(plugins: PluginSet, table: Table) -> tuple[Card, ...]:
    parts = plugins.by_field("rummy500_pack", Pack, table=table)
    decks, jokers = int(parts["decks"]), int(parts["jokers"])
    return (*FACES, *([JOKER] * jokers)) * decks


def _hand_size(table: Table) -> int:
    if table.players == 2 and table.options["deal_two"] != "none":
        return table.number("deal_two")
    if table.options["deal"] == "auto":
        return 13 if table.players == 2 else 7
    return table.number("deal")


def _sides(plugins: PluginSet, table: Table) -> tuple[int, ...]:
    sides = plugins.one("rummy500_sides", tuple, table=table)
    if len(sides) != table.players:
        for plugin, answer in plugins.answers("rummy500_sides", table=table):
            if answer == sides:
                raise plugins.broken(plugin, "rummy500_sides", f"answered {answer!r} for {table.players} players")
    return sides


def _card_tables(plugins: PluginSet, table: Table, pack: Iterable[Card]) -> tuple[tuple[int, ...], ...]:
    size = JOKER + 1
    held, placed, low = [0] * size, [0] * size, [0] * size
    for card in sorted({*FACES, *pack}):
        held[card] = plugins.most_specific("rummy500_held_points", card_text(card), table=table, card=card)
        placed[card] = plugins.most_specific(
            "rummy500_placed_points", card_text(card), table=table, card=card, low=False
        )
        low[card] = placed[card]
        if card % LANE_BITS == ACE:
            low[card] = plugins.most_specific(
                "rummy500_placed_points", card_text(card), table=table, card=card, low=True
            )
    return tuple(held), tuple(placed), tuple(low)


def compose(base: Plugin, variants: Sequence[Plugin], *, players: int, options: Mapping[str, object]) -> Rules:
    """The rules of a table of `players` with these variants (in any order) and options (flat keys; values or texts).

    Raises RulesRefused when the table cannot be, VariantError when a plugin is broken.
    """
    if not MIN_PLAYERS <= players <= MAX_PLAYERS:
        raise RulesRefused(f"{players} players: Rummy 500 is for {MIN_PLAYERS} to {MAX_PLAYERS}", field="players")
    plugins = PluginSet(base, variants)
    table = _table(plugins, players=players, options=options)
    for plugin, refusal in plugins.answers("rummy500_table_refusal", table=table):
        plugins.expect(plugin, "rummy500_table_refusal", refusal, str)
        raise RulesRefused(refusal)
    pack = _pack(plugins, table)
    hand_size = _hand_size(table)
    deal = plugins.one("rummy500_deal", Deal, table=table)
    needed = players * hand_size + (1 if deal.extra_card else 0) + 2
    if needed > len(pack):
        most = (len(pack) - 2) // players
        raise RulesRefused(
            f"{players} players with {hand_size} cards each need {needed} cards with an up-card and a stock, "
            f"the pack has {len(pack)}: deal at most {most}, or play with more packs",
            field="options.deal",
        )
    held, placed, low = _card_tables(plugins, table, pack)
    sets = plugins.one("rummy500_sets", Sets, table=table)
    ace_ends = plugins.one("rummy500_ace_ends", AceEnds, table=table)
    jokers = plugins.one("rummy500_jokers", Jokers, table=table)
    going_out = plugins.one("rummy500_going_out", GoingOut, table=table)
    first_meld = plugins.one("rummy500_first_meld", FirstMeld, table=table)
    take_duty = plugins.one("rummy500_take_duty", TakeDuty, table=table)
    stock_out = plugins.one("rummy500_stock_out", StockOut, table=table)
    vetoes, verbs = plugins.bound("rummy500_veto", table), plugins.verbs(table)
    return Rules(
        table=table,
        digest=_digest(plugins, table),
        variants=tuple((plugin.name, plugin.version) for plugin in plugins.variants),
        players=players,
        pack=pack,
        hand_size=hand_size,
        held_points=held,
        placed_points=placed,
        low_ace_points=low,
        jokers=jokers,
        ace_ends=ace_ends,
        sets=sets,
        going_out=going_out,
        first_meld=first_meld,
        take_duty=take_duty,
        own_melds_only=plugins.one("rummy500_own_melds_only", bool, table=table),
        stock_out=stock_out,
        deal=deal,
        sides=_sides(plugins, table),
        settles=plugins.one("rummy500_settles", bool, table=table),
        depends_on_arrival=plugins.flag("rummy500_depends_on_arrival", table=table),
        target=table.number("target"),
        max_turns=table.number("max_turns"),
        max_rounds=table.number("max_rounds"),
        catalogue=MeldCatalogue(ace_ends=ace_ends, sets=sets, jokers=jokers, pack=pack),
        plain=going_out in (GoingOut.ANY, GoingOut.FLOATING)
        and first_meld == FirstMeld()
        and take_duty in (TakeDuty(), TakeDuty(top_too=True))
        and not vetoes,
        twins=len(pack) > len(FACES),
        floating=going_out is GoingOut.FLOATING,
        owes_all=stock_out.rule is StockRule.USE_ALL,
        verbs=verbs,
        vetoes=vetoes,
        adjustments=plugins.bound("rummy500_adjustments", table),
        actions=tuple(each for each in plugins.bound("rummy500_actions", table) if each[0] in verbs.values()),
        perform=dict(plugins.bound("rummy500_perform", table)),
        state=dict(plugins.bound("rummy500_state", table)),
        views=plugins.bound("rummy500_view", table),
        polls=plugins.bound("rummy500_poll", table),
        poll_actions=dict(plugins.bound("rummy500_poll_actions", table)),
        poll_result=dict(plugins.bound("rummy500_poll_result", table)),
        false_answer=dict(plugins.bound("rummy500_false_answer", table)),
        distributions={plugin.name: plugin.distribution for plugin in plugins.variants},
    )


def _digest(plugins: PluginSet, table: Table) -> str:
    """SHA-256 over every variant, its version, every option and the number of players (ARCHITECTURE law 3)."""
    named = {
        "players": table.players,
        "variants": [[plugin.name, plugin.version] for plugin in plugins.all],
        "options": table.options,
    }
    return hashlib.sha256(json.dumps(named, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
