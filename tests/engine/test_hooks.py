"""Each hook is documented and does what its sentence says: one test a hook, named after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.engine import hook_page
from tests.engine.tables import CLASSIC, dealt, game_of, play, round_of, rules_of, variant

from rummy500_engine.actions import PASS, Action, Call, Discard, LayMeld, VariantAction
from rummy500_engine.cards import JOKER, Card, cards_text, hand_of, rank_of, read_card, read_cards
from rummy500_engine.events import Event, Melded, RoundEnd, VariantEvent
from rummy500_engine.game import Game
from rummy500_engine.hooks import ComposedHooks, PlayHooks
from rummy500_engine.notation import read_action, write_action
from rummy500_engine.plugins import PluginSet
from rummy500_engine.refusals import Refused
from rummy500_engine.round import Round
from rummy500_engine.terms import (
    AceEnds,
    Deal,
    FirstMeld,
    GoingOut,
    Jokers,
    Option,
    Pack,
    Points,
    Poll,
    RulesRefused,
    Sets,
    Specificity,
    StockOut,
    StockRule,
    Table,
    TakeDuty,
)
from rummy500_engine.view import seat_view

HOOKS = [*hook_page.hooks_of(ComposedHooks), *hook_page.hooks_of(PlayHooks)]


@pytest.mark.parametrize(("name", "hook"), HOOKS, ids=[name for name, _ in HOOKS])
def test_every_hook_is_documented_and_tested(name: str, hook: object) -> None:
    assert hook.__doc__, f"{name} has no docstring"
    assert hook_page.combined_by(hook), f"{name} does not say how answers combine"  # type: ignore[arg-type]
    wanted = f"test_hook_{name.removeprefix('rummy500_')}_"
    assert any(test.startswith(wanted) for test in globals()), f"{name} has no test called {wanted}…"


def test_the_page_of_hooks_is_up_to_date() -> None:
    made = "run python -m tests.engine.hook_page"
    assert hook_page.PAGE.read_text(encoding="utf-8") == hook_page.page(), made


def code_of(game: Game, seat: int, text: str) -> str:
    try:
        game.apply(seat, read_action(text, game.rules))
    except Refused as refused:
        return refused.code
    return "ok"


def legal_texts(game: Game, seat: int = 0) -> list[str]:
    return [write_action(action) for action in game.legal_actions(seat)]


# --- asked when a table is composed


def test_hook_options_are_keyed_by_the_variant_and_read_from_text() -> None:
    option = Option("speed", 3, "How fast.", low=1, high=9)
    rules = rules_of(variant("race", options=(option,)), options={"race.speed": "7"})
    assert rules.table.number("race.speed") == 7
    assert rules_of(variant("race", options=(option,))).table.number("race.speed") == 3
    with pytest.raises(RulesRefused, match="1 to 9"):
        rules_of(variant("race", options=(option,)), options={"race.speed": 10})


def test_hook_sentence_is_the_variants_own() -> None:
    race = variant("race", sentence="Faster.")
    assert PluginSet(CLASSIC, [race]).own(race, "rummy500_sentence") == "Faster."


def test_hook_table_refusal_refuses_by_players_and_options() -> None:
    def answer(table: Table) -> str | None:
        return "three players at least" if table.players < 3 else None

    assert rules_of(variant("three", table_refusal=answer), players=3).players == 3
    with pytest.raises(RulesRefused, match="three players at least"):
        rules_of(variant("three", table_refusal=answer))


def test_hook_pack_says_decks_and_jokers() -> None:
    rules = rules_of(variant("packs", pack=Pack(decks=2, jokers=1)))
    assert len(rules.pack) == 106
    assert rules.pack.count(JOKER) == 2


def _queen(card: Card) -> Points | None:
    return Points(40, Specificity.NAMED_CARD) if card == read_card("QS") else None


def test_hook_held_points_are_what_a_card_in_hand_costs() -> None:
    round = round_of(rules_of(variant("queen", held_points=_queen)), hands=["QS 2C", "3C"])
    assert round.scores()[0].held == 42


def test_hook_placed_points_are_what_a_card_on_the_table_earns() -> None:
    rules = rules_of(variant("queen", placed_points=_queen))
    round = round_of(rules, hands=["2C", "3C"], melds=[("JS QS KS", 0)])
    assert round.scores()[0].placed == 60


def test_hook_placed_points_of_a_low_ace() -> None:
    def answer(card: Card, low: bool) -> Points | None:
        return Points(5, Specificity.NAMED_CARD) if low and rank_of(card) == 0 else None

    rules = rules_of(variant("ace", placed_points=answer))
    round = round_of(rules, hands=["2C", "3C"], melds=[("AS 2S 3S", 0), ("QH KH AH", 1)])
    assert [score.placed for score in round.scores()] == [10, 35]


def test_hook_jokers_need_natural_company() -> None:
    for least, code in ((1, "ok"), (2, "NOT_A_MELD")):
        rules = rules_of(variant("jokers", pack=Pack(jokers=2), jokers=Jokers(min_natural=least)))
        game = game_of(round_of(rules, hands=["7S JK JK 2D", "3C"], stock="4C 5C", pile="9D"))
        play(game, "0: draw")
        assert code_of(game, 0, "meld 7S JK=8S JK=9S") == code


@pytest.mark.parametrize(
    ("ends", "melds"),
    [
        (AceEnds.LOW_OR_HIGH, {"AC 2C 3C", "QC KC AC"}),
        (AceEnds.LOW_ONLY, {"AC 2C 3C"}),
        (AceEnds.HIGH_ONLY, {"QC KC AC"}),
        (AceEnds.CORNER, {"AC 2C 3C", "QC KC AC", "KC AC 2C"}),
    ],
)
def test_hook_ace_ends_say_where_an_ace_may_stand(ends: AceEnds, melds: set[str]) -> None:
    catalogue = rules_of(variant("aces", ace_ends=ends)).catalogue
    found = {cards_text(meld.cards) for meld in catalogue.natural_melds(hand_of(read_cards("QC KC AC 2C 3C")))}
    assert {text for text in found if len(text.split()) == 3} == melds


def test_hook_sets_say_how_large_and_of_what() -> None:
    rules = rules_of(variant("sets", pack=Pack(decks=2), sets=Sets(largest=5, identical=True)))
    game = game_of(round_of(rules, hands=["7S 7S 7H 7D 7C 7C 2D", "3C"], stock="4C 5C", pile="9D"))
    play(game, "0: draw")
    assert code_of(game, 0, "meld 7S 7S 7H 7D 7C 7C") == "NOT_A_MELD"
    assert code_of(game, 0, "meld 7S 7S 7H 7D 7C") == "ok"


def test_hook_going_out_may_need_a_discard() -> None:
    rules = rules_of(variant("discard", going_out=GoingOut.DISCARD))
    game = game_of(round_of(rules, hands=["7S 7H", "3C"], stock="7D 5C", pile="9D"))
    play(game, "0: draw")
    assert code_of(game, 0, "meld 7S 7H 7D") == "MUST_KEEP_A_DISCARD"


def test_hook_first_meld_comes_before_a_lay_off() -> None:
    rules = rules_of(variant("first", first_meld=FirstMeld(required=True)))
    game = game_of(round_of(rules, hands=["7S 2H", "3C"], stock="2D 5C", pile="9D", melds=[("7H 7D 7C", 1)]))
    play(game, "0: draw")
    assert code_of(game, 0, "layoff 7S m1") == "MUST_MELD_FIRST"


def test_hook_take_duty_may_bind_the_top_card_too() -> None:
    rules = rules_of(variant("strict", take_duty=TakeDuty(top_too=True)))
    game = game_of(round_of(rules, hands=["2S 4H", "3C"], stock="2D 5C", pile="9D"))
    assert code_of(game, 0, "take 9D") == "TAKE_NOT_USABLE"


def test_hook_own_melds_only_closes_the_others_melds() -> None:
    rules = rules_of(variant("own", own_melds_only=True))
    game = game_of(round_of(rules, hands=["7S 2H", "3C"], stock="2D 5C", pile="9D", melds=[("7H 7D 7C", 1)]))
    play(game, "0: draw")
    assert code_of(game, 0, "layoff 7S m1") == "OWN_MELDS_ONLY"


def test_hook_stock_out_may_turn_the_pile_over() -> None:
    rules = rules_of(variant("flip", stock_out=StockOut(rule=StockRule.FLIP)))
    game = game_of(round_of(rules, hands=["2S 4H", "3C 8C"], stock="2D", pile="9D KS"))
    play(game, "0: draw", "0: discard 2D")
    assert [card for card in reversed(_round(game).stock)] == list(read_cards("9D KS"))
    assert _round(game).pile == list(read_cards("2D"))


def test_hook_deal_may_open_with_a_discard_and_let_the_winner_deal() -> None:
    game = dealt(rules_of(variant("deal", deal=Deal(extra_card=True, winner_deals=True)), players=3))
    assert [hand.bit_count() for hand in _round(game).hands] == [8, 7, 7]
    assert _round(game).pile == []
    assert all(isinstance(action, Discard | LayMeld) for action in game.legal_actions(0))


def test_hook_sides_share_their_total() -> None:
    rules = rules_of(variant("sides", sides=(0, 1, 0, 1)), players=4)
    game = game_of(round_of(rules, hands=["2S", "3C", "4C", "5C"], stock="2D", pile="9D", melds=[("7H 7D 7C", 2)]))
    round = _round(game)
    round.end = RoundEnd.STOCK
    game.score([])
    assert game.totals == [15, -8, 15, -8]


def test_hook_settles_lets_the_winner_collect() -> None:
    rules = rules_of(variant("settle", settles=True), options={"target": 10})
    game = game_of(round_of(rules, hands=["7S 7H", "3C"], stock="7D 5C", pile="9D"))
    play(game, "0: draw", "0: meld 7S 7H 7D")
    assert game.outcome is not None
    assert game.outcome.settlement == (24, -24)


def test_hook_depends_on_arrival_is_noted_in_the_rules() -> None:
    assert rules_of(variant("fast", depends_on_arrival=True)).depends_on_arrival
    assert not rules_of().depends_on_arrival


def test_hook_verbs_are_read_as_the_variants_actions() -> None:
    rules = rules_of(variant("singer", verbs=("sing",)))
    assert read_action("sing 7S loudly", rules) == VariantAction("singer", "sing", read_cards("7S"), "loudly")


# --- asked in play


def _round(game: Game) -> Round:
    assert game.round is not None
    return game.round


def test_hook_veto_refuses_a_discard() -> None:
    def answer(action: Action) -> Refused | None:
        return Refused("NO_DEUCE", "keep the deuces") if action == Discard(read_card("2S")) else None

    game = game_of(round_of(rules_of(variant("v", veto=answer)), hands=["2S 4H", "3C"], stock="2D 5C", pile="9D"))
    play(game, "0: draw")
    assert code_of(game, 0, "discard 2S") == "NO_DEUCE"
    assert legal_texts(game) == ["discard 2D", "discard 4H"]


def test_hook_adjustments_are_added_under_their_name() -> None:
    rules = rules_of(variant("a", adjustments={"luck": [3, 0]}), variant("b", adjustments={"skill": [4, -1]}))
    scores = round_of(rules, hands=["2S", "3C"]).scores()
    assert [score.points for score in scores] == [5, -4]
    assert scores[0].adjustments == (("luck", 3), ("skill", 4))


SONG = VariantAction("singer", "sing")


def _singer(**hooks: Any) -> Game:
    performing: dict[str, Any] = {"verbs": ("sing",), "actions": (SONG,), "perform": _sings, **hooks}
    rules = rules_of(variant("singer", **performing))
    game = game_of(round_of(rules, hands=["7S 7H 2D", "3C"], stock="7D 5C", pile="9D"))
    play(game, "0: draw")
    return game


def _sings(seat: int) -> Sequence[Event]:
    return [VariantEvent("singer", "sang", seat)]


def test_hook_actions_are_listed_in_phase_play() -> None:
    assert "sing" in legal_texts(_singer())
    assert "sing" not in legal_texts(dealt(_singer().rules))


def test_hook_perform_brings_about_events_that_the_engine_applies() -> None:
    def melds(seat: int) -> Sequence[Event]:
        cards = read_cards("7S 7H 7D")
        return [Melded(seat, 1, cards, cards, None)]

    game = _singer(perform=melds)
    play(game, "0: sing")
    assert cards_text([placed.card for placed in _round(game).melds[0].placed]) == "7S 7H 7D"
    assert game.rules.perform.keys() == {"singer"}


def test_hook_state_folds_the_variants_own_events() -> None:
    def folds(state: int | None, event: VariantEvent) -> int:
        return (state or 0) + 1

    game = _singer(state=folds)
    play(game, "0: sing", "0: sing")
    assert _round(game).states == {"singer": 2}


def test_hook_view_shows_fields_to_each_viewer() -> None:
    def shows(seat: int | None) -> Mapping[str, Any]:
        return {"you": seat}

    game = _singer(view=shows)
    assert seat_view(game, 1).variant_fields == (("singer", {"you": 1}),)
    assert seat_view(game, None).variant_fields == (("singer", {"you": None}),)


def _asking(**hooks: Any) -> Game:
    def asks(seat: int, card: Card, final: bool) -> Poll | None:
        return None if final else Poll("asker", "asking", card, seat, (1, 2))

    poll: dict[str, Any] = {"verbs": ("yes",), "poll": asks, "poll_actions": (YES, PASS), "poll_result": None, **hooks}
    rules = rules_of(variant("asker", **poll), players=3)
    game = game_of(round_of(rules, hands=["2S 4H", "3C 8D", "5S"], stock="2D 5C", pile="9D"))
    play(game, "0: draw", "0: discard 2S")
    return game


YES = VariantAction("asker", "yes")


def test_hook_poll_asks_several_seats_after_a_discard() -> None:
    game = _asking()
    assert game.to_act() == (1, 2)
    play(game, "2: pass", "1: yes")
    assert game.to_act() == (1,)


def test_hook_poll_actions_are_what_a_waiting_seat_may_answer() -> None:
    game = _asking()
    assert legal_texts(game, 2) == ["yes", "pass"]
    assert code_of(game, 2, "draw") == "WRONG_PHASE"


def test_hook_poll_result_ends_the_poll_as_soon_as_it_answers() -> None:
    def decides(round: Round) -> Sequence[Event] | None:
        assert round.poll is not None
        said = [seat for seat, answer in round.poll.answers if answer == YES]
        return [VariantEvent("asker", "agreed", said[0])] if said else None

    game = _asking(poll_result=decides)
    assert game.apply(2, YES) == [VariantEvent("asker", "agreed", 2)]
    assert game.to_act() == (1,)


def test_hook_false_answer_makes_a_refused_call_count_as_a_pass() -> None:
    def costs(seat: int) -> Sequence[VariantEvent]:
        return [VariantEvent("asker", "false", seat)]

    game = _asking(false_answer=costs)
    with pytest.raises(Refused) as refused:
        game.apply(1, Call(read_card("2S"), 0, 7))
    assert refused.value.code == "CALL_NOT_VALID"
    assert game.to_act() == (2,)
    assert tuple(refused.value.events) == (VariantEvent("asker", "false", 1),)
