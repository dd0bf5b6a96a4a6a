"""Variants of a stranger, played through game, notation and view: an action, a poll of several seats, a veto."""

from __future__ import annotations

import random
from itertools import permutations

import pytest
from tests.engine.tables import CLASSIC, dealt, game_of, play, round_of, rules_of
from tests.engine.throwaway import ELECTION, HEARTS_LAST, LOOKOUT

from rummy500_engine.actions import PASS, Discard, VariantAction
from rummy500_engine.cards import read_card
from rummy500_engine.events import (
    Discarded,
    DrewFromStock,
    PollClosed,
    PollOpened,
    RoundScored,
    TurnPassed,
    VariantEvent,
)
from rummy500_engine.game import Game
from rummy500_engine.notation import read_action, write_action
from rummy500_engine.plugins import Plugin
from rummy500_engine.refusals import Refused
from rummy500_engine.view import redact, seat_view
from rummy500_kit.composition import check_order_independence
from rummy500_kit.laws import round_of as current
from rummy500_kit.laws import state_of
from rummy500_kit.ledger import Ledger
from rummy500_kit.play import check_replay, play_game, watch_laws
from rummy500_kit.twins import check_twin

KNOCK = VariantAction("election", "knock")


def refused(game: Game, seat: int, text: str) -> str:
    with pytest.raises(Refused) as refusal:
        game.apply(seat, read_action(text, game.rules))
    return refusal.value.code


# --- an action with its event, view field and text


def lookout_game() -> Game:
    rules = rules_of(LOOKOUT, players=2)
    return game_of(round_of(rules, hands=["7S 8D", "2C 3C"], stock="5H 6H 9H", pile="9S"))


def test_an_action_of_a_variant_is_listed_and_read_by_its_text() -> None:
    game = lookout_game()
    play(game, "0: draw")
    texts = [write_action(action) for action in game.legal_actions(0)]
    assert {"peek", "boast 7S", "boast 8D", "boast 5H"} <= set(texts)
    assert read_action("Boast 7s", game.rules) == VariantAction("lookout", "boast", (read_card("7S"),))


def test_its_event_and_view_field_show_to_each_seat_what_it_may_see() -> None:
    game = lookout_game()
    play(game, "0: draw")
    (event,) = game.apply(0, read_action("peek", game.rules))
    assert event == VariantEvent("lookout", "peeked", 0, cards=(read_card("6H"),), private=True)
    assert redact(event, 0) == event
    assert redact(event, 1) == redact(event, None) == VariantEvent("lookout", "peeked", 0, private=True)
    assert seat_view(game, 0).variant_fields == (("lookout", {"boasts": [], "peeked": ["6H"]}),)
    assert seat_view(game, 1).variant_fields == (("lookout", {"boasts": [], "peeked": []}),)


def test_its_state_folds_its_events_and_its_points_are_named_in_the_score() -> None:
    game = lookout_game()
    play(game, "0: draw", "0: boast 7S", "0: peek", "0: discard 5H", "1: draw")
    assert refused(game, 0, "boast 7S") == "NOT_YOUR_TURN"
    view = seat_view(game, 1)
    assert view.variant_fields == (("lookout", {"boasts": [{"seat": 0, "card": "7S"}], "peeked": []}),)
    round = current(game)
    (score, other) = round.scores()
    assert score.adjustments == (("boast", 5), ("peek", -2))
    assert score.points == score.placed - score.held + 3
    assert other.adjustments == ()


def test_its_action_is_refused_like_any_other() -> None:
    game = lookout_game()
    assert refused(game, 0, "peek") == "WRONG_PHASE"
    assert refused(game, 1, "peek") == "NOT_YOUR_TURN"
    play(game, "0: draw", "0: peek")
    assert refused(game, 0, "peek") == "DOES_NOT_FIT"
    assert refused(game, 0, "boast KC") == "CARD_NOT_IN_HAND"
    assert refused(game, 0, "boast") == "DOES_NOT_FIT"


def test_without_the_variant_its_verb_is_unknown() -> None:
    game = dealt(rules_of())
    assert refused(game, 0, "peek") == "UNKNOWN_ACTION"
    with pytest.raises(Refused) as refusal:
        game.apply(0, VariantAction("lookout", "peek"))
    assert refusal.value.code == "UNKNOWN_ACTION"


# --- a phase in which several seats answer


def election_game() -> Game:
    rules = rules_of(ELECTION, players=4)
    game = game_of(round_of(rules, hands=["7S 8D", "2C 3C", "4C 5C", "6C 7C"], stock="5H 6H 9H", pile="9S"))
    play(game, "0: draw")
    return game


def test_a_discard_opens_the_poll_to_every_other_seat() -> None:
    game = election_game()
    told = game.apply(0, Discard(read_card("8D")))
    eight = read_card("8D")
    assert told == [Discarded(0, eight), PollOpened("election", "election", eight, 0, (1, 2, 3))]
    assert game.to_act() == (1, 2, 3)
    assert game.legal_actions(2) == [KNOCK, PASS]
    assert game.legal_actions(0) == []


def test_a_view_of_the_poll_shows_only_ones_own_part() -> None:
    game = election_game()
    play(game, "0: discard 8D")
    before = {seat: seat_view(game, seat) for seat in (None, 0, 1, 3)}
    assert game.apply(2, KNOCK) == []
    assert {seat: seat_view(game, seat) for seat in (None, 0, 1, 3)} == before
    assert seat_view(game, 2).to_act == ()
    assert (before[1].to_act, before[0].to_act, before[None].to_act) == ((1,), (), ())
    assert before[1].phase_name == "election"
    poll = before[1].poll
    assert poll is not None
    assert poll.asked == (1, 2, 3)


def test_most_knocks_carry_the_election() -> None:
    game = election_game()
    play(game, "0: discard 8D", "3: knock", "1: pass")
    told = game.apply(2, KNOCK)
    assert told == [
        PollClosed("election", "election", 2),
        DrewFromStock(0, read_card("6H"), 1),
        TurnPassed(2, False),
    ]
    assert game.to_act() == (2,)
    assert redact(told[1], 1) == DrewFromStock(0, None, 1)


def test_an_election_that_is_lost_changes_nothing() -> None:
    game = election_game()
    play(game, "0: discard 8D", "3: pass", "1: pass")
    assert game.apply(2, KNOCK) == [PollClosed("election", "election", None)]
    assert game.to_act() == (1,)


@pytest.mark.parametrize(
    "answers", [("knock", "pass", "knock"), ("pass", "pass", "knock"), ("knock", "knock", "knock")]
)
def test_the_order_in_which_answers_arrive_changes_nothing(answers: tuple[str, str, str]) -> None:
    ends = []
    for order in permutations((1, 2, 3)):
        game = election_game()
        play(game, "0: discard 8D", *(f"{seat}: {answers[seat - 1]}" for seat in order))
        ends.append(state_of(game))
    assert all(end == ends[0] for end in ends)


def test_in_a_poll_only_answers_of_asked_seats_count() -> None:
    game = election_game()
    play(game, "0: discard 8D")
    assert refused(game, 1, "draw") == "WRONG_PHASE"
    assert refused(game, 0, "knock") == "NOT_YOUR_TURN"
    play(game, "1: knock")
    assert refused(game, 1, "pass") == "NOT_YOUR_TURN"
    assert refused(game, 0, "call 8D m1") == "CALL_NOT_VALID"


def test_the_discard_that_ends_the_round_opens_no_election() -> None:
    game = game_of(round_of(rules_of(ELECTION), hands=["", "2C"], stock="5H 6H"))
    play(game, "0: draw")
    told = game.apply(0, Discard(read_card("5H")))
    assert isinstance(told[-1], RoundScored)


# --- a veto


def test_a_veto_refuses_with_the_variants_own_code_and_is_not_listed() -> None:
    game = game_of(round_of(rules_of(HEARTS_LAST), hands=["7S 8H", "2C 3C"], stock="5H 6H", pile="9S"))
    play(game, "0: draw")
    assert refused(game, 0, "discard 8H") == "HEARTS_LAST"
    assert [write_action(action) for action in game.legal_actions(0)] == ["discard 7S"]


def test_a_veto_counts_in_the_search_for_dead_ends() -> None:
    """9S may be taken only if the turn can end: the heart may not be thrown while the nine is held."""
    rules = rules_of(HEARTS_LAST)
    game = game_of(round_of(rules, hands=["8H", "2C 3C"], stock="5H 6H", pile="9S"))
    assert refused(game, 0, "take 9S") == "TAKE_NOT_USABLE"
    assert [write_action(action) for action in game.legal_actions(0)] == ["draw"]
    usable = game_of(
        round_of(rules, hands=["8H", "2C 3C"], stock="5H 6H", pile="9S", melds=[("6S 7S 8S", 1)]),
    )
    play(usable, "0: take 9S", "0: layoff 9S m1", "0: discard 8H")


# --- the laws, at tables with all of them


@pytest.mark.parametrize(
    "variants", [[LOOKOUT], [ELECTION], [HEARTS_LAST], [LOOKOUT, ELECTION, HEARTS_LAST]], ids=lambda v: v[-1].name
)
def test_every_law_holds_at_a_table_with_variants(variants: list[Plugin]) -> None:
    dice = random.Random(len(variants))
    rules = rules_of(*variants, players=3, options={"max_rounds": 2, "max_turns": 40})
    for number in range(2):
        check_replay(play_game(rules, b"%d" % number, dice, watch=watch_laws(dice, closely=100)))


def test_views_keep_the_secrets_of_a_variant_too() -> None:
    """Who has peeked knows a card of the stock; to every other seat the game looks the same whatever that card is."""
    dice = random.Random(7)
    rules = rules_of(LOOKOUT, ELECTION, players=3, options={"max_rounds": 1, "max_turns": 40})

    def watch(game: Game, ledger: Ledger) -> None:
        round = current(game)
        if round.over or dice.randrange(10):
            return
        knowing = {event.seat for event in round.states.get("lookout", ()) if event.name == "peeked"}
        for viewer in (None, 0, 1, 2):
            if viewer not in knowing:
                check_twin(game, viewer, dice)

    for number in range(4):
        play_game(rules, b"%d" % number, dice, watch=watch)


def test_the_order_of_naming_changes_nothing() -> None:
    check_order_independence(CLASSIC, [LOOKOUT, ELECTION, HEARTS_LAST], players=3)
