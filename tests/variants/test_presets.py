"""The presets that are shipped: those of RULES 2, each usable or wanting a package."""

from __future__ import annotations

import pytest

from rummy500_catalog import Catalog, ListedPreset
from rummy500_engine.terms import RulesRefused

NAMES = {
    "classic",
    "pagat",
    "bicycle",
    "ten-card",
    "flat",
    "six-handed",
    "partners",
    "queen-40",
    "strict",
    "floating",
}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog()


def test_they_are_those_of_the_rules(catalog: Catalog) -> None:
    assert {listed.name for listed in catalog.presets()} == NAMES
    assert all(listed.preset.sentence for listed in catalog.presets())


def test_each_is_playable_or_names_the_packages_that_it_wants(catalog: Catalog) -> None:
    installed = {variant.name for variant in catalog.variants()}
    for listed in catalog.presets():
        assert listed.problem == ""
        assert listed.is_available == (set(_variants(listed)) <= installed)
        assert all(name.startswith("rummy500-variant-") for name in listed.missing)
        if listed.is_available:
            assert any(_is_playable(catalog, listed, players) for players in range(2, 9)), listed.name


def _variants(listed: ListedPreset) -> list[str]:
    more = [variant for _, added in listed.preset.more_players for variant in added]
    return [*listed.preset.variants, *more]


def _is_playable(catalog: Catalog, listed: ListedPreset, players: int) -> bool:
    try:
        return catalog.rules(listed.name, players=players).players == players
    except RulesRefused:
        return False
