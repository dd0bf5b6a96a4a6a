"""`rummy500 variants`: the variants and presets that a server has."""

from __future__ import annotations

import argparse

from rummy500.v1.rules_pb2 import OptionDescription, Preset, Variant
from rummy500.v1.rules_service_pb2 import GetVariantRequest, ListPresetsRequest, ListVariantsRequest
from rummy500_client.json_text import print_json
from rummy500_client.options import Subparsers, add_json, add_server, server_or_private


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser("variants", help="the installed variants and presets")
    add_server(parser, is_private=True)
    add_json(parser)
    parser.set_defaults(run=run)
    actions = parser.add_subparsers(metavar="ACTION")
    show = actions.add_parser("show", help="one variant and its options")
    show.add_argument("variant", metavar="NAME")
    show.set_defaults(run=run_show)


def run(arguments: argparse.Namespace) -> int:
    with server_or_private(arguments) as connection:
        variants = connection.ask(connection.rules.ListVariants, ListVariantsRequest(page_size=100)).variants
        presets = connection.ask(connection.rules.ListPresets, ListPresetsRequest(page_size=100)).presets
    if arguments.json:
        for kind, messages in (("variant", variants), ("preset", presets)):
            for message in messages:
                print_json(message, type=kind)
        return 0
    print("variants")
    for variant in variants:
        print(f"  {variant.name:16} {variant.problem or variant.summary}")
    print("presets")
    for preset in presets:
        print(f"  {preset.name:16} {_preset(preset)}")
    return 0


def _preset(preset: Preset) -> str:
    if preset.available:
        return preset.summary
    return f"not available: {preset.problem or 'install ' + ', '.join(preset.missing_distributions)}"


def run_show(arguments: argparse.Namespace) -> int:
    with server_or_private(arguments) as connection:
        request = GetVariantRequest(variant=arguments.variant)
        variant = connection.ask(connection.rules.GetVariant, request).variant
    if arguments.json:
        print_json(variant)
        return 0
    for line in _lines(variant):
        print(line)
    return 0


def _lines(variant: Variant) -> list[str]:
    lines = [f"{variant.name} {variant.version} ({variant.distribution})", f"  {variant.summary}"]
    if variant.problem:
        lines.append(f"  cannot be used: {variant.problem}")
    return lines + [f"  --option {option.name}={_values(option)}  {option.summary}" for option in variant.options]


def _values(option: OptionDescription) -> str:
    """`500 (1 to 10000)`: the default, then what else it may be."""
    parts = [f"{option.minimum} to {option.maximum}"] if option.HasField("minimum") else []
    parts += [choice for choice in option.choices if choice != option.default_value]
    return f"{option.default_value} ({', '.join(parts)})" if parts else option.default_value
