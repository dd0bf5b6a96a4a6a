"""Choices and rules between the catalog and the wire."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rummy500.v1 import rules_pb2
from rummy500_catalog import Catalog, ChoiceRefused, ListedPreset, ListedVariant
from rummy500_engine.cards import FACES, JOKER
from rummy500_engine.rules import MAX_PLAYERS, MIN_PLAYERS, Rules
from rummy500_engine.terms import Option, OptionValue, RulesRefused, VariantError
from rummy500_server.status import Failure, bad_request

MOST_VARIANTS, MOST_OPTIONS, LONGEST_NAME = 32, 128, 64
LONGEST_SENTENCE = 512
WIRE_CARDS = (*FACES, JOKER)
"""The cards in the order of the enum Card: element i has number i + 1."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The rules that somebody asks for. Option values are texts, as they came."""

    preset: str = ""
    variants: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)

    def rules(self, catalog: Catalog, players: int) -> Rules:
        """Raises RulesRefused or VariantError."""
        return catalog.rules(self.preset, self.variants, self.options, players=players)


def read_choice(message: rules_pb2.RulesChoice, path: str = "choice") -> Choice:
    """Raises Failure BAD_REQUEST, with the field below `path`, when lengths or counts are out of range."""
    problems: list[tuple[str, str]] = []
    if len(message.preset) > LONGEST_NAME:
        problems.append((f"{path}.preset", f"at most {LONGEST_NAME} characters"))
    if len(message.variants) > MOST_VARIANTS:
        problems.append((f"{path}.variants", f"at most {MOST_VARIANTS}"))
    if len(message.options) > MOST_OPTIONS:
        problems.append((f"{path}.options", f"at most {MOST_OPTIONS}"))
    for at, variant in enumerate(message.variants):
        problems += _name_problem(f"{path}.variants[{at}]", variant)
    options: dict[str, str] = {}
    for at, option in enumerate(message.options):
        problems += _name_problem(f"{path}.options[{at}].name", option.name)
        problems += _name_problem(f"{path}.options[{at}].value", option.value)
        if option.name in options:
            problems.append((f"{path}.options[{at}].name", f"{option.name} is given twice"))
        options[option.name] = option.value
    if problems:
        raise _bad(problems)
    return Choice(message.preset, tuple(message.variants), options)


def read_players(players: int, path: str = "players") -> int:
    """Raises Failure BAD_REQUEST."""
    if not MIN_PLAYERS <= players <= MAX_PLAYERS:
        raise bad_request(path, f"{players}: it must be {MIN_PLAYERS} to {MAX_PLAYERS}")
    return players


def choice_message(choice: Choice) -> rules_pb2.RulesChoice:
    return rules_pb2.RulesChoice(
        preset=choice.preset, variants=sorted(choice.variants), options=_options(choice.options)
    )


def rules_message(catalog: Catalog, rules: Rules, choice: Choice) -> rules_pb2.Rules:
    """The full rules of a table."""
    in_play = [catalog.variant(name) for name in ("classic", *rules.table.variants)]
    pack = [rules.pack.count(card) for card in WIRE_CARDS]
    return rules_pb2.Rules(
        digest=rules.digest,
        choice=choice_message(choice),
        players=rules.players,
        variants=[
            rules_pb2.RulesVariant(name=each.name, version=each.version, distribution=each.distribution)
            for each in in_play
        ],
        options=_options(rules.table.options),
        sheet=catalog.sheet(rules, preset=choice.preset),
        pack=[0, *pack],
        hand_points=[0, *(rules.held_points[card] for card in WIRE_CARDS)],
    )


def refusal_message(error: RulesRefused | VariantError) -> rules_pb2.RulesRefusal:
    """Why a choice is refused."""
    refusal = rules_pb2.RulesRefusal(sentence=str(error)[:LONGEST_SENTENCE])
    match error:
        case VariantError(variant=variant):
            refusal.variants.append(variant)
        case ChoiceRefused(missing=missing, variants=variants):
            refusal.missing_distributions.extend(missing)
            refusal.variants.extend(variants)
    if isinstance(error, RulesRefused) and error.field.startswith("options."):
        refusal.option = error.field.removeprefix("options.")
    return refusal


def variant_message(listed: ListedVariant) -> rules_pb2.Variant:
    return rules_pb2.Variant(
        name=listed.name,
        version=listed.version,
        distribution=listed.distribution,
        summary=listed.sentence,
        options=[_described(listed.prefix, option) for option in listed.options],
        problem=listed.problem,
    )


def preset_message(listed: ListedPreset) -> rules_pb2.Preset:
    preset = listed.preset
    low, high = preset.players
    everybody = (low, high) == (MIN_PLAYERS, MAX_PLAYERS)
    return rules_pb2.Preset(
        name=preset.name,
        summary=preset.sentence,
        choice=rules_pb2.RulesChoice(variants=preset.variants, options=_options(dict(preset.options))),
        players=[] if everybody else range(low, high + 1),
        available=listed.is_available,
        missing_distributions=listed.missing,
        problem=listed.problem,
    )


def _described(prefix: str, option: Option) -> rules_pb2.OptionDescription:
    kind = rules_pb2.OPTION_TYPE_CHOICE
    if isinstance(option.default, bool):
        kind = rules_pb2.OPTION_TYPE_BOOLEAN
    elif option.low is not None:
        kind = rules_pb2.OPTION_TYPE_INTEGER
    return rules_pb2.OptionDescription(
        name=prefix + option.name,
        type=kind,
        default_value=option_text(option.default),
        minimum=option.low,
        maximum=option.high,
        choices=[*option.choices, *(["none"] if option.none else [])],
        summary=option.sentence,
    )


def option_text(value: OptionValue) -> str:
    """An option's value as the wire has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _options(values: Mapping[str, OptionValue]) -> list[rules_pb2.Option]:
    return [rules_pb2.Option(name=name, value=option_text(value)) for name, value in sorted(values.items())]


def _name_problem(path: str, text: str) -> list[tuple[str, str]]:
    return [] if 1 <= len(text) <= LONGEST_NAME else [(path, f"1 to {LONGEST_NAME} characters")]


def _bad(problems: Iterable[tuple[str, str]]) -> Failure:
    (path, sentence), *more = problems
    return bad_request(path, sentence, *more)
