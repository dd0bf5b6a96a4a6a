"""The kit finds every fault of tests/variants/faults.py, naming hook and distribution, and none where none is."""

from __future__ import annotations

import os

import pytest
from tests.variants.faults import DISTRIBUTION, FAULTS, NAME, SOUND, Fault

from rummy500_catalog import Catalog
from rummy500_engine.terms import VariantError
from rummy500_kit import check_variant

LONG = bool(os.environ.get("RUMMY500_LONG"))
ROUNDS = 2_000 if LONG else 12
ALONE = Catalog(variants=(), presets=())
INSTALLED = [variant.name for variant in Catalog().variants() if variant.prefix]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.what.replace(" ", "-"))
def test_the_kit_finds(fault: Fault) -> None:
    with pytest.raises(VariantError) as found:
        check_variant(fault.plugin, rounds=400, catalog=ALONE)
    error = found.value
    assert (error.variant, error.distribution) == (NAME, DISTRIBUTION)
    assert error.hook == fault.hook or (error.hook == "registration" and fault.hook in error.problem), str(error)
    assert len(str(error)) > len(error.hook) + len(DISTRIBUTION) + 20


@pytest.mark.parametrize("sound", SOUND, ids=lambda fault: fault.what.replace(" ", "-"))
def test_the_kit_finds_no_fault_where_there_is_none(sound: Fault) -> None:
    checked = check_variant(sound.plugin, rounds=20, catalog=ALONE)
    assert checked.rounds >= 20
    assert all(checked.asked[f"rummy500_{hook}"] for hook in sound.hooks)


@pytest.mark.parametrize("variant", INSTALLED)
def test_every_installed_variant_holds(variant: str) -> None:
    checked = check_variant(variant, rounds=ROUNDS)
    assert checked.rounds >= ROUNDS


def test_the_same_seed_plays_the_same_games() -> None:
    checked = [check_variant(SOUND[0].plugin, rounds=6, seed=3, catalog=ALONE) for _ in range(2)]
    assert checked[0] == checked[1]
