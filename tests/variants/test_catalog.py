"""The catalog: what it finds, what it composes, and how it names what is broken."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from rummy500_catalog import Catalog, ChoiceRefused, Offer
from rummy500_engine.cards import Card
from rummy500_engine.hooks import hookimpl
from rummy500_engine.rules import Preset
from rummy500_engine.terms import Option, Points, RulesRefused, Specificity, Table, VariantError


class Nines:
    """A throwaway variant: nines are worth what an option says."""

    @hookimpl
    def rummy500_options(self) -> tuple[Option, ...]:
        return (Option("points", 20, "What a nine is worth.", low=0, high=100),)

    @hookimpl
    def rummy500_sentence(self) -> str:
        return "Nines are worth more."

    @hookimpl
    def rummy500_held_points(self, table: Table, card: Card) -> Points | None:
        return Points(table.number("nines.points"), Specificity.RANK) if card % 16 == 8 else None


class Misspelt:
    @hookimpl
    def rummy500_held_pionts(self, table: Table) -> None:
        return None


class Raising:
    @hookimpl
    def rummy500_sets(self, table: Table) -> None:
        raise KeyError("nothing there")


class NoOptions:
    @hookimpl
    def rummy500_options(self) -> str:
        return "points=3"


class Quarrelling:
    @hookimpl
    def rummy500_table_refusal(self, table: Table) -> str | None:
        return "not with nines: leave one out" if "nines" in table.variants else None


def offer(name: str, loaded: object, distribution: str = "") -> Offer:
    return Offer(name, distribution or f"dist-{name}", "1.2.3", lambda: loaded)


def failing(name: str, error: BaseException) -> Offer:
    def load() -> object:
        raise error

    return Offer(name, f"dist-{name}", "1.2.3", load)


def catalog(*variants: Offer, presets: tuple[Offer, ...] = ()) -> Catalog:
    return Catalog(variants=variants, presets=presets)


def test_the_classic_table_needs_no_package() -> None:
    rules = catalog().rules()

    assert (rules.players, rules.target, rules.variants) == (2, 500, ())


def test_a_variant_is_listed_with_where_it_came_from() -> None:
    classic, nines = catalog(offer("nines", Nines())).variants()

    assert (classic.name, classic.distribution, classic.prefix) == ("classic", "rummy500", "")
    assert (nines.name, nines.version, nines.distribution, nines.sentence, nines.problem) == (
        "nines",
        "1.2.3",
        "dist-nines",
        "Nines are worth more.",
        "",
    )
    assert [option.name for option in nines.options] == ["points"]


def test_options_come_as_values_or_as_texts() -> None:
    known = catalog(offer("nines", Nines()))

    by_value = known.rules(variants=["nines"], options={"nines.points": 30, "target": 300})
    by_text = known.rules(variants=["nines"], options={"nines.points": "30", "target": "300"})

    assert by_value.digest == by_text.digest
    assert by_value.held_points[8] == 30


def test_rules_are_composed_once() -> None:
    known = catalog(offer("nines", Nines()), offer("quiet", SimpleNamespace()))

    assert known.rules(variants=["nines", "quiet"]) is known.rules(variants=["quiet", "nines"])
    assert known.rules(variants=["nines"]) is not known.rules(variants=["nines"], players=3)


def test_only_so_many_rules_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rummy500_catalog.catalog.REMEMBERED_RULES", 2)
    known = catalog()

    first = known.rules()
    for target in (100, 200):
        known.rules(options={"target": target})

    again = known.rules()
    assert again is not first
    assert again.digest == first.digest


def test_nothing_is_loaded_before_it_is_used() -> None:
    known = catalog(failing("bad", RuntimeError("loaded")), offer("nines", Nines()))

    assert known.rules(variants=["nines"]).variants == (("nines", "1.2.3"),)


@pytest.mark.parametrize(
    ("broken", "hook"),
    [
        (failing("bad", ImportError("no module named x")), "entry point"),
        (failing("bad", SystemExit(3)), "entry point"),
        (offer("bad", Misspelt()), "registration"),
        (offer("bad", Raising()), "rummy500_sets"),
        (offer("bad", NoOptions()), "rummy500_options"),
    ],
    ids=["import", "exit", "misspelt", "raising", "no-options"],
)
def test_a_broken_variant_is_listed_with_its_distribution_and_the_others_work(broken: Offer, hook: str) -> None:
    known = catalog(broken, offer("nines", Nines()))

    _, bad, nines = known.variants()
    assert bad.problem.startswith(f"variant 'bad' (distribution dist-bad), hook {hook}: ")
    assert nines.problem == ""
    with pytest.raises(VariantError) as failed:
        known.rules(variants=["bad"])
    assert (failed.value.variant, failed.value.distribution) == ("bad", "dist-bad")
    assert known.rules(variants=["nines"]).held_points[8] == 20


def test_two_distributions_that_claim_one_name_are_refused_naming_both() -> None:
    known = catalog(offer("nines", Nines(), "one"), offer("nines", Nines(), "two"))

    with pytest.raises(VariantError, match="one and two"):
        known.rules(variants=["nines"])
    assert "one and two" in known.variant("nines").problem
    assert known.rules().variants == ()


def test_a_variant_may_not_take_the_name_of_the_classic_rules() -> None:
    known = catalog(offer("classic", Nines(), "pretender"))

    with pytest.raises(ChoiceRefused, match="do not name them"):
        known.rules(variants=["classic"])
    own, pretender = known.variants()
    assert (own.distribution, own.problem) == ("rummy500", "")
    assert (pretender.distribution, pretender.problem) == ("pretender", "this is the name of the classic rules")


@pytest.mark.parametrize(
    ("choose", "field", "sentence"),
    [
        (lambda known: known.rules("nope"), "preset", "there is no preset 'nope'; there are: classic"),
        (lambda known: known.rules(variants=["nope"]), "variants", "'nope' is not installed; installed: nines"),
        (lambda known: known.rules(variants=["classic"]), "variants", "do not name them"),
        (lambda known: known.rules(variants=["nines", "nines"]), "variants", "named twice"),
        (lambda known: known.rules(options={"nines.points": 3}), "options.nines.points", "not at this table"),
        (lambda known: known.rules(options={"target": 0}), "options.target", "allowed: 1 to 10000"),
        (lambda known: known.rules(options={"target": "much"}), "options.target", "allowed: 1 to 10000"),
        (lambda known: known.rules(players=9), "players", "2 to 8"),
        (lambda known: known.rules(players=8), "options.deal", "deal at most 6"),
        (lambda known: known.rules(variants=["nines", "quarrelling"]), "rules", "leave one out"),
    ],
)
def test_a_table_that_cannot_be_is_refused_with_the_field(
    choose: Callable[[Catalog], object], field: str, sentence: str
) -> None:
    with pytest.raises(RulesRefused, match=sentence) as refused:
        choose(catalog(offer("nines", Nines()), offer("quarrelling", Quarrelling())))
    assert refused.value.field == field


PRESETS = (
    Preset("nine", "Nines.", ("nines",), (("nines.points", 50), ("target", 300)), players=(3, 4)),
    Preset("crowd", "More from five on.", ("nines",), more_players=((5, ("quiet",)),)),
    Preset("wanting", "What is not here.", ("missing",), packages=(("missing", "dist-missing"),)),
)


@pytest.mark.parametrize("presets", [PRESETS, lambda: list(PRESETS)], ids=["sequence", "callable"])
def test_a_preset_is_a_start_that_options_go_before(presets: object) -> None:
    known = catalog(offer("nines", Nines()), offer("quiet", SimpleNamespace()), presets=(offer("any", presets),))

    rules = known.rules("nine", ["quiet"], {"target": 200}, players=3)

    assert rules.table.variants == ("nines", "quiet")
    assert (rules.target, rules.held_points[8]) == (200, 50)
    assert known.rules("nine", ["nines"], players=3).table.variants == ("nines",)
    assert known.rules("crowd", players=4).table.variants == ("nines",)
    assert known.rules("crowd", players=5).table.variants == ("nines", "quiet")


def test_a_preset_is_refused_for_other_numbers_of_players() -> None:
    known = catalog(offer("nines", Nines()), presets=(offer("any", PRESETS),))

    with pytest.raises(RulesRefused, match="preset nine is for 3 to 4 players, not for 2") as refused:
        known.rules("nine")
    assert refused.value.field == "players"


def test_a_preset_whose_variant_is_missing_is_listed_with_the_package_it_wants() -> None:
    known = catalog(offer("nines", Nines()), presets=(offer("any", PRESETS),))

    listed = {each.name: each for each in known.presets()}
    assert {name: each.is_available for name, each in listed.items()} == {
        "classic": True,
        "nine": True,
        "crowd": False,
        "wanting": False,
    }
    assert listed["wanting"].missing == ("dist-missing",)
    with pytest.raises(ChoiceRefused, match="install dist-missing") as refused:
        known.rules("wanting")
    assert refused.value.missing == ("dist-missing",)


def test_a_package_of_presets_that_cannot_be_loaded_spoils_no_other() -> None:
    known = catalog(
        offer("nines", Nines()),
        presets=(failing("bad", ImportError("no module named x")), offer("odd", 7), offer("any", PRESETS)),
    )

    listed = {each.name: each for each in known.presets()}
    assert "dist-bad cannot be loaded: ImportError" in listed["bad"].problem
    assert "dist-odd cannot be loaded: TypeError" in listed["odd"].problem
    assert listed["nine"].is_available


def test_a_preset_claimed_twice_is_refused_naming_both() -> None:
    mine = (Preset("classic", "My own."),)
    known = catalog(presets=(offer("any", mine, "pretender"),))

    (listed,) = known.presets()
    assert listed.problem == "pretender and rummy500 both claim the name classic: remove one"
    with pytest.raises(ChoiceRefused, match="pretender and rummy500"):
        known.rules()


def test_the_sheet_names_every_option_with_its_value_and_sentence() -> None:
    known = catalog(offer("nines", Nines()))
    rules = known.rules(variants=["nines"], options={"target": 300}, players=3)

    sheet = known.sheet(rules)

    for key, value in rules.table.options.items():
        assert f"| `{key}` | {value} |" in sheet
    assert "- **nines** 1.2.3: Nines are worth more." in sheet
    assert "| 9 | 20 | 9 |  |" in sheet
    assert "each player gets 7" in sheet
