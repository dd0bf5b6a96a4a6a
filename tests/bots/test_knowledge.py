"""What a bot knows: every card is in one place, and what is known of a hand is what all saw go there."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from random import Random

import pytest

from rummy500_arena.play import play_game
from rummy500_bots import Bot, Decision, built_in
from rummy500_bots.guesses import likely_guess, random_guess
from rummy500_bots.knowledge import History, knowledge_of
from rummy500_bots.trios import trios_of
from rummy500_catalog import Catalog
from rummy500_engine.actions import Action, Discard, Take
from rummy500_engine.cards import cards_of, cards_text, hand_of, holds, read_card, read_cards
from rummy500_engine.events import Discarded, DrewFromStock, RoundDealt, TookFromPile
from rummy500_engine.game import Game
from rummy500_engine.position import set_up
from rummy500_engine.rules import Rules
from rummy500_engine.shuffle import seed_for
from rummy500_engine.view import seat_view

CATALOG = Catalog()


def decision_at(rules: Rules, hand: str, **position: object) -> Decision:
    names = ["me", "you", "they"][: rules.players]
    given = {"players": names, "dealer": names[-1], "hands": {"me": hand, "you": "2C 3C 4C"}, "discards": "9C"}
    game, events = set_up(rules, {**given, "stock": "5C 6C", "turn": "me", **position})
    return Decision(seat_view(game, 0), rules, tuple(events))


def test_unseen_are_the_cards_of_the_pack_that_lie_nowhere_in_sight() -> None:
    rules = CATALOG.rules(players=2)
    decision = decision_at(rules, "7S 7H KD", melds=["QC KC AC by you"])

    knowledge = knowledge_of(rules, decision.view)

    assert cards_text(cards_of(knowledge.hand)) == "KD 7H 7S"
    assert knowledge.unseen.bit_count() == 52 - 3 - 1 - 3
    assert not knowledge.unseen & hand_of(read_cards("7S 7H KD 9C QC KC AC"))
    assert (knowledge.hidden, knowledge.stock_count) == ((0, 3), 2)


def test_a_card_taken_is_known_until_it_is_played() -> None:
    rules = CATALOG.rules(players=2)
    game, _ = set_up(
        rules,
        {
            "players": ["me", "you"],
            "hands": {"me": "7S 7H KD", "you": "2C 3C 4C"},
            "discards": "9C 7D",
            "stock": "5C 6C",
            "turn": "you",
        },
    )
    game.apply(1, Take(read_card("7D")))
    game.apply(1, Discard(read_card("2C")))
    knowledge = knowledge_of(rules, seat_view(game, 0))

    assert knowledge.known[1] == hand_of(read_cards("7D"))
    assert knowledge.hidden == (0, 2)
    assert knowledge.chance_of(1, read_card("7D")) == 1
    assert knowledge.chance_of(1, read_card("9C")) == 0
    assert knowledge.chance_of(1, read_card("3C")) == pytest.approx(2 / knowledge.unseen.bit_count())


def test_with_two_packs_equal_cards_are_counted_one_by_one() -> None:
    rules = CATALOG.rules("", ("two-decks", "jokers"), players=2)
    decision = decision_at(rules, "7S 7S JK")

    knowledge = knowledge_of(rules, decision.view)

    assert not knowledge.unseen & hand_of(read_cards("7S"))
    assert holds(knowledge.unseen, read_cards("9C 7H 7H JK JK JK"))
    assert not holds(knowledge.unseen, read_cards("9C 9C"))


def test_history_tells_who_took_and_who_left_what_lay_open() -> None:
    history = History()
    seven, nine, king = read_cards("7S 9C KD")

    history.note([RoundDealt(1, 1, ((), None), (7, 7), seven, 30), DrewFromStock(0, None, 29), Discarded(0, nine)])
    history.note([TookFromPile(1, (nine,), ()), Discarded(1, king), DrewFromStock(0, None, 28)])

    assert history.left == {0: [(seven,), (seven, king)]}
    assert (history.took, history.threw) == ({1: [nine]}, {0: [nine], 1: [king]})
    assert history.pile == [seven, king]


def test_a_likely_guess_holds_fewer_pairs_that_would_have_been_used() -> None:
    rules = CATALOG.rules(players=2)
    decision = decision_at(rules, "7S KH KD", hands={"me": "7S KH KD", "you": "2C 3C 4C 8H 9H TD JS"}, discards="7H 7D")
    knowledge, trios, dice = knowledge_of(rules, decision.view), trios_of(rules), Random(1)
    history = History(left={1: [read_cards("7H 7D")]})

    def pairs(hand: int) -> int:
        return sum(hand & two == two for card in read_cards("7H 7D") for two in trios.others[card])

    plain = [pairs(random_guess(knowledge, dice).hands[1]) for _ in range(300)]
    likely = [pairs(likely_guess(knowledge, history, trios, dice).hands[1]) for _ in range(300)]

    assert sum(likely) < sum(plain) / 2


class HistoryKeeper:
    """Plays like another bot and keeps a history, to compare it with the table."""

    def __init__(self, bot: Bot) -> None:
        self._bot, self._history = bot, History()

    def act(self, decision: Decision) -> Action | Sequence[Action]:
        self._history.note(decision.events)
        assert tuple(self._history.pile) == decision.view.pile
        assert self._history.round == decision.view.round
        return self._bot.act(decision)


@pytest.mark.parametrize("preset", ["classic", "pagat", "bicycle"])
def test_a_history_knows_the_pile_as_it_lies(preset: str) -> None:
    rules = CATALOG.rules(preset, players=3)
    bots = [HistoryKeeper(built_in("random", seed=seat)) for seat in range(3)]

    game = play_game(Game(rules), bots, seed=seed_for(b"history", preset))

    assert game.over


@pytest.mark.parametrize("name", ["normal"])
@pytest.mark.parametrize("preset", ["classic", "pagat"])
def test_what_a_bot_does_never_depends_on_a_card_that_it_does_not_see(name: str, preset: str) -> None:
    """At each decision the hidden cards are dealt anew: the bot must do the same."""
    rules, dice = CATALOG.rules(preset, players=3), Random(5)

    class Doubted:
        def __init__(self, seat: int) -> None:
            self._bot, self.seat = built_in(name, seed=1), seat

        def act(self, decision: Decision) -> Action | Sequence[Action]:
            round = game.round
            assert round is not None
            hidden = random_guess(knowledge_of(rules, decision.view), dice)
            hands, stock = round.hands, round.stock
            before = self._bot.act(decision)
            round.hands, round.stock = list(hidden.hands), list(hidden.stock)
            again = Decision(seat_view(game, self.seat), rules, decision.events)
            assert self._bot.act(again) == before
            round.hands, round.stock = hands, stock
            return before

    game = Game(rules, single_round=True)
    play_game(game, [Doubted(seat) for seat in range(3)], seed=seed_for(b"doubts", preset))

    assert game.rounds_played == 1


def test_the_pairs_among_some_cards_are_those_that_make_a_meld() -> None:
    rules, dice = CATALOG.rules(players=2), Random(3)
    trios = trios_of(rules)
    for _ in range(200):
        cards = hand_of(dice.sample(rules.pack, 20))
        card = dice.choice(rules.pack)
        pairs = [1 << one | 1 << other for one, other in combinations(cards_of(cards & ~(1 << card)), 2)]

        assert set(trios.among(card, cards)) == {
            pair for pair in pairs if rules.catalogue.meldable(pair | 1 << card) == pair | 1 << card
        }
