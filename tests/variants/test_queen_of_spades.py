"""The variant queen-of-spades, as it is installed."""

from __future__ import annotations

import pytest

from rummy500_catalog import Catalog
from rummy500_engine.cards import FACES, read_card
from rummy500_engine.terms import RulesRefused

QS, QH = read_card("QS"), read_card("QH")


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog()


@pytest.mark.parametrize(("card", "queen", "other"), [("QS", QS, QH), ("QH", QH, QS)])
@pytest.mark.parametrize("points", [40, 50, 0, -1000, 1000])
def test_that_queen_counts_so_much_melded_and_caught(
    catalog: Catalog, card: str, queen: int, other: int, points: int
) -> None:
    options = {"queen-of-spades.card": card, "queen-of-spades.points": points}
    rules = catalog.rules(variants=["queen-of-spades"], options=options)

    assert (rules.held_points[queen], rules.placed_points[queen]) == (points, points)
    assert (rules.held_points[other], rules.placed_points[other]) == (10, 10)


def test_by_default_it_is_the_queen_of_spades_at_40(catalog: Catalog) -> None:
    rules = catalog.rules("queen-40")

    assert rules.held_points[QS] == 40
    assert rules.digest == catalog.rules(variants=["queen-of-spades"]).digest


def test_every_other_card_is_as_at_a_classic_table(catalog: Catalog) -> None:
    classic, queen = catalog.rules(), catalog.rules("queen-40")

    for card in set(FACES) - {QS}:
        assert queen.held_points[card] == classic.held_points[card]
        assert queen.placed_points[card] == classic.placed_points[card]
        assert queen.low_ace_points[card] == classic.low_ace_points[card]


@pytest.mark.parametrize(
    "options", [{"queen-of-spades.card": "QC"}, {"queen-of-spades.points": 1001}, {"queen-of-spades.suit": "S"}]
)
def test_an_option_out_of_range_is_refused(catalog: Catalog, options: dict[str, object]) -> None:
    with pytest.raises(RulesRefused, match="queen-of-spades"):
        catalog.rules(variants=["queen-of-spades"], options=options)
