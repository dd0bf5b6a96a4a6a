"""Variants answer together: in any order, contradictions are refused naming both, a broken one is named itself."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tests.engine.tables import CLASSIC, dealt, play, round_of, rules_of, variant

from rummy500_engine.actions import DRAW, VariantAction
from rummy500_engine.cards import Card, read_card
from rummy500_engine.events import VariantEvent
from rummy500_engine.game import Game
from rummy500_engine.hooks import ComposedHooks, hookimpl
from rummy500_engine.plugins import Plugin, PluginSet
from rummy500_engine.rules import compose
from rummy500_engine.terms import (
    AceEnds,
    Deal,
    FirstMeld,
    GoingOut,
    Jokers,
    Option,
    Pack,
    Points,
    RulesRefused,
    Sets,
    Specificity,
    StockOut,
    StockRule,
    Table,
    TakeDuty,
    VariantError,
)
from rummy500_engine.view import seat_view
from rummy500_kit.composition import check_order_independence


def points(text: str, worth: int, specificity: Specificity) -> Any:
    def answer(table: Table, card: Card) -> Points | None:
        return Points(worth, specificity) if card == read_card(text) else None

    return answer


COMPATIBLE = [
    variant("packs", pack=Pack(decks=2)),
    variant("jokers", pack=Pack(jokers=2), jokers=Jokers(min_natural=2)),
    variant("queen", held_points=points("QS", 40, Specificity.NAMED_CARD)),
    variant("ranks", held_points=points("QS", 5, Specificity.RANK), options=(Option("worth", 5, "", low=0, high=9),)),
]


def test_the_order_of_naming_changes_nothing() -> None:
    check_order_independence(CLASSIC, COMPATIBLE, players=4, options={"ranks.worth": 3})


def test_the_order_of_naming_changes_no_refusal() -> None:
    left, right = variant("left", sets=Sets(largest=5)), variant("right", sets=Sets(largest=6))
    check_order_independence(CLASSIC, [left, right, *COMPATIBLE[:2]], players=4)


def test_a_pack_is_answered_field_by_field() -> None:
    rules = rules_of(*COMPATIBLE)
    assert len(rules.pack) == 2 * (52 + 2)


def test_the_most_specific_points_count() -> None:
    rules = rules_of(*COMPATIBLE)
    assert rules.held_points[read_card("QS")] == 40
    assert rules.placed_points[read_card("QS")] == 10


def test_a_digest_names_variants_versions_options_and_players() -> None:
    digests = {
        rules_of().digest,
        rules_of(players=3).digest,
        rules_of(options={"target": 300}).digest,
        rules_of(COMPATIBLE[0]).digest,
        rules_of(Plugin("packs", COMPATIBLE[0].implementation, "1.1", "dist-of-packs")).digest,
    }
    assert len(digests) == 5
    assert rules_of(options={"target": "500"}).digest == rules_of().digest


@pytest.mark.parametrize(
    ("hook", "one", "other"),
    [
        ("jokers", Jokers(min_natural=1), Jokers(min_natural=2)),
        ("ace_ends", AceEnds.LOW_ONLY, AceEnds.CORNER),
        ("sets", Sets(largest=5), Sets(largest=None)),
        ("going_out", GoingOut.DISCARD, GoingOut.FLOATING),
        ("first_meld", FirstMeld(required=True), FirstMeld(minimum=30)),
        ("take_duty", TakeDuty(top_too=True), TakeDuty(new_meld=True)),
        ("own_melds_only", True, False),
        ("stock_out", StockOut(rule=StockRule.FLIP), StockOut(rule=StockRule.END_NOW)),
        ("deal", Deal(extra_card=True), Deal(winner_deals=True)),
        ("sides", (0, 0), (1, 0)),
        ("settles", True, False),
        ("pack", Pack(decks=2), Pack(decks=3)),
        ("held_points", Points(1, Specificity.RANK), Points(2, Specificity.RANK)),
        ("placed_points", Points(1, Specificity.RANK), Points(2, Specificity.RANK)),
        ("verbs", ("sing",), ("sing", "dance")),
    ],
)
def test_two_answers_of_equal_rank_are_refused_naming_both(hook: str, one: object, other: object) -> None:
    with pytest.raises(RulesRefused) as refused:
        rules_of(variant("apple", **{hook: one}), variant("pear", **{hook: other}))
    assert "apple and pear" in str(refused.value)
    assert hook in str(refused.value)


def test_two_equal_answers_are_no_contradiction() -> None:
    rules = rules_of(variant("apple", sets=Sets(largest=5)), variant("pear", sets=Sets(largest=5)))
    assert rules.sets.largest == 5


def test_a_variant_named_twice_is_refused() -> None:
    with pytest.raises(RulesRefused, match="packs is named twice"):
        rules_of(COMPATIBLE[0], COMPATIBLE[0])


def test_a_variant_may_refuse_a_table() -> None:
    with pytest.raises(RulesRefused, match="four players only"):
        rules_of(variant("four", table_refusal="four players only"))


# --- broken plugins

COMPOSED = sorted(name.removeprefix("rummy500_") for name in vars(ComposedHooks) if name.startswith("rummy500_"))


def names_the_culprit(error: VariantError, hook: str) -> bool:
    text = str(error)
    return "broken" in text and hook in text and "dist-of-broken" in text


@pytest.mark.parametrize("hook", COMPOSED)
def test_a_hook_that_raises_is_named(hook: str) -> None:
    def raising() -> None:
        raise KeyError("oops")

    broken = variant("broken", **{hook: raising})
    with pytest.raises(VariantError) as error:
        PluginSet(CLASSIC, [broken]).own(broken, "rummy500_sentence") if hook == "sentence" else rules_of(broken)
    assert names_the_culprit(error.value, f"rummy500_{hook}")
    assert "KeyError" in str(error.value)


@pytest.mark.parametrize("hook", [hook for hook in COMPOSED if hook != "sentence"])
def test_a_hook_that_answers_the_wrong_type_is_named(hook: str) -> None:
    with pytest.raises(VariantError) as error:
        rules_of(variant("broken", **{hook: 12.5}))
    assert names_the_culprit(error.value, f"rummy500_{hook}")


@pytest.mark.parametrize(
    ("hook", "answer"),
    [
        ("options", ("not an option",)),
        ("verbs", (7,)),
        ("verbs", ("Sing",)),
        ("verbs", ("two words",)),
        ("sides", (0,)),
    ],
)
def test_an_answer_with_wrong_parts_is_named(hook: str, answer: object) -> None:
    with pytest.raises(VariantError) as error:
        rules_of(variant("broken", **{hook: answer}))
    assert names_the_culprit(error.value, f"rummy500_{hook}")


@pytest.mark.parametrize("verb", ["draw", "take", "meld", "layoff", "discard", "pass", "call"])
def test_no_variant_takes_a_verb_of_the_game(verb: str) -> None:
    with pytest.raises(VariantError, match=verb):
        rules_of(variant("broken", verbs=(verb,)))


def test_a_misspelt_hook_is_named() -> None:
    with pytest.raises(VariantError) as error:
        rules_of(variant("broken", going_outt=GoingOut.DISCARD))
    assert names_the_culprit(error.value, "rummy500_going_outt")


def test_a_hook_with_an_unknown_argument_is_named() -> None:
    def answer(table: Table, weather: str) -> None:
        return None

    with pytest.raises(VariantError) as error:
        rules_of(variant("broken", sets=answer))
    assert names_the_culprit(error.value, "rummy500_sets")


def test_an_asynchronous_hook_is_named() -> None:
    async def answer(table: Table) -> Sets:
        return Sets()

    with pytest.raises(VariantError) as error:
        rules_of(variant("broken", sets=answer))
    assert names_the_culprit(error.value, "rummy500_sets")


COMPANIONS: dict[str, dict[str, object]] = {
    "actions": {"verbs": ("sing",), "perform": ()},
    "poll": {"poll_actions": (), "poll_result": ()},
}


@pytest.mark.parametrize("hook", COMPANIONS)
def test_a_hook_without_the_hooks_that_it_needs_is_named(hook: str) -> None:
    with pytest.raises(VariantError, match="beside it") as error:
        rules_of(variant("broken", **{hook: None}))
    assert names_the_culprit(error.value, f"rummy500_{hook}")


@pytest.mark.parametrize("hook", ["veto", "actions", "view", "poll"])
@pytest.mark.parametrize("raises", [True, False])
def test_a_hook_that_breaks_in_play_is_named(hook: str, raises: bool) -> None:
    def answer() -> float:
        if raises:
            raise RuntimeError("oops")
        return 12.5

    with pytest.raises(VariantError) as error:
        a_turn(dealt(rules_of(variant("broken", **COMPANIONS.get(hook, {}), **{hook: answer}))))
    assert names_the_culprit(error.value, f"rummy500_{hook}")


def a_turn(game: Game) -> None:
    """A draw, a look at the view, a discard."""
    for _ in range(2):
        seat = game.to_act()[0]
        legal = game.legal_actions(seat)
        game.apply(seat, legal[0] if legal[0] == DRAW else legal[-1])
        seat_view(game, seat)


def test_an_implementation_may_leave_out_arguments_and_be_an_object() -> None:
    class OneSuit:
        @hookimpl
        def rummy500_sets(self) -> Sets:
            return Sets(largest=3)

    rules = compose(CLASSIC, [Plugin("one", OneSuit(), "1", "d")], players=2, options={})
    assert rules.sets.largest == 3


def test_a_hook_that_nobody_overrides_is_absent_from_the_rules() -> None:
    rules = rules_of()
    assert (rules.vetoes, rules.actions, rules.adjustments, rules.views, rules.polls) == ((),) * 5
    assert rules.plain


def test_an_event_of_a_variant_without_state_is_told_and_changes_nothing() -> None:
    def perform(seat: int) -> list[VariantEvent]:
        return [VariantEvent("singer", "sang", seat)]

    song = VariantAction("singer", "sing")
    rules = rules_of(variant("singer", verbs=("sing",), actions=(song,), perform=perform))
    round = round_of(rules, hands=["2C 3C", "4D"], stock="5H 6H", pile="9S")
    round.apply(0, round.legal_actions(0)[0])
    assert round.apply(0, song) == [VariantEvent("singer", "sang", 0)]


def test_a_plugin_with_nothing_in_it_is_the_classic_game() -> None:
    rules = compose(CLASSIC, [Plugin("empty", SimpleNamespace(), "1", "d")], players=2, options={})
    game = dealt(rules)
    play(game, "0: draw")
    assert game.to_act() == (0,)
