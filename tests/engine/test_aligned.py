"""Aligned draws: whose share a card is, what is drawn when a share is empty, and that every draw stays a fair one."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from tests.engine.tables import rules_of, variant

from rummy500_engine.actions import DRAW, Discard
from rummy500_engine.aligned import draw_from_share, lay_in_shares
from rummy500_engine.cards import Card
from rummy500_engine.events import DrewFromStock, Event, StockRecycled
from rummy500_engine.game import Game
from rummy500_engine.rules import Rules
from rummy500_engine.shuffle import seed_for, shuffle
from rummy500_engine.terms import StockOut, StockRule
from rummy500_kit.laws import round_of
from rummy500_kit.ledger import Ledger
from rummy500_kit.play import Watch, check_replay, choose, deal, play_game, watch_laws
from rummy500_kit.twins import check_twin


def drawn(stock: list[int], seats: int, order: list[int]) -> list[int]:
    """What the seats get that draw in this order from the stock, given from its top card down."""
    left, shares = lay_in_shares(stock, seats)
    return [draw_from_share(left, shares, seat) for seat in order]


def test_a_seat_draws_from_every_nth_place_whoever_draws_between() -> None:
    stock = list(range(12))

    assert drawn(stock, 3, [0, 1, 2] * 4) == stock
    assert drawn(stock, 3, [1, 1, 1, 1]) == [1, 4, 7, 10]
    assert drawn(stock, 3, [2, 0, 2, 1, 2]) == [2, 0, 5, 1, 8]


def test_whose_share_is_empty_draws_the_last_card_of_the_longest_that_of_the_lowest_seat_first() -> None:
    assert drawn(list(range(8)), 3, [2, 2, 2, 2, 2]) == [2, 5, 6, 7, 3]
    assert drawn(list(range(3)), 4, [3, 3, 3]) == [0, 1, 2]


def test_every_card_is_drawn_once() -> None:
    dice = random.Random(1)
    for seats in range(2, 9):
        for size in range(1, 40):
            stock = list(range(size))
            assert sorted(drawn(stock, seats, dice.choices(range(seats), k=size))) == stock


def test_each_draw_is_uniform_also_when_who_draws_hangs_on_the_cards_seen() -> None:
    """Chi-squared over 40,000 shuffles of six cards: one with 5 degrees of freedom is above 20.5 once in a thousand."""
    dice, rounds = random.Random(2), 40_000
    seen = [Counter[int]() for _ in range(6)]
    for _ in range(rounds):
        stock = dice.sample(range(6), 6)
        left, shares = lay_in_shares(stock, 3)
        seat = 0
        for count in seen:
            card = draw_from_share(left, shares, seat)
            count[card] += 1
            seat = card % 3 if card < 4 else seat
    for count in seen:
        assert sum((count[card] - rounds / 6) ** 2 / (rounds / 6) for card in range(6)) < 20.5


def of_seat(events: list[Event], seat: int) -> list[Card]:
    return [event.card for event in events if isinstance(event, DrewFromStock) and event.seat == seat and event.card]


def played_round(rules: Rules, secret: bytes, dice: random.Random, *, aligned: bool) -> list[Event]:
    """A round of players who mostly draw from the stock."""
    game = Game(rules, single_round=True, aligned=aligned)
    events = deal(game, secret)
    while game.to_act():
        seat = game.to_act()[0]
        draws = DRAW in game.legal_actions(seat) and dice.random() < 0.8
        events += game.apply(seat, DRAW if draws else choose(game, seat, dice))
    return events


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_seat_draws_the_same_cards_whatever_the_others_do(players: int) -> None:
    rules = rules_of(players=players)
    alike = {True: 0, False: 0}
    for number in range(10):
        for aligned in alike:
            one, other = [
                played_round(rules, b"%d" % number, random.Random(f"{number} {which}"), aligned=aligned)
                for which in range(2)
            ]
            for seat in range(players):
                first = list(zip(of_seat(one, seat), of_seat(other, seat), strict=False))[:4]
                alike[aligned] += all(card == again for card, again in first)
    assert alike[True] == 10 * players
    assert alike[False] < 5 * players


def watch_twins(dice: random.Random) -> Watch:
    def watch(game: Game, ledger: Ledger) -> None:
        if not round_of(game).over and not dice.randrange(40):
            for viewer in (None, *range(game.rules.players)):
                check_twin(game, viewer, dice)

    return watch


@pytest.mark.parametrize("players", range(2, 9))
def test_every_law_holds_with_aligned_draws(players: int) -> None:
    dice = random.Random(players)
    rules = rules_of(players=players, options={"max_turns": 40, "deal": 5})
    for number in range(3):
        watch = watch_laws(dice, closely=200)
        check_replay(play_game(rules, b"%d" % number, dice, watch=watch, most_rounds=1, aligned=True))
        play_game(rules, b"%d" % number, dice, watch=watch_twins(dice), most_rounds=1, aligned=True)


@pytest.mark.parametrize("stock_rule", list(StockRule), ids=lambda rule: rule.value)
def test_every_law_holds_with_aligned_draws_under_each_stock_rule(stock_rule: StockRule) -> None:
    dice = random.Random(stock_rule.value)
    table = variant("stock", stock_out=StockOut(rule=stock_rule))
    rules = rules_of(table, players=3, options={"max_turns": 80})
    for number in range(4):
        watch = watch_laws(dice, closely=200)
        check_replay(play_game(rules, b"%d" % number, dice, watch=watch, most_rounds=1, aligned=True))


def to_the_recycling(rule: StockRule) -> tuple[Game, list[Card]]:
    """A round of three seats that has just recycled its stock, and the pile before without its top card."""
    table = variant("stock", stock_out=StockOut(rule=rule))
    game = Game(rules_of(table, players=3), single_round=True, aligned=True)
    deal(game, b"recycled")
    while True:
        (seat,) = game.to_act()
        legal, before = game.legal_actions(seat), list(round_of(game).pile)
        action = DRAW if DRAW in legal else next(each for each in legal if isinstance(each, Discard))
        events = game.apply(seat, action)
        if any(isinstance(event, StockRecycled) for event in events):
            return game, before


def test_a_reshuffled_stock_is_shared_out_anew_by_deal_and_number() -> None:
    game, below = to_the_recycling(StockRule.RESHUFFLE)
    round = round_of(game)
    order = shuffle(seed_for(b"recycled", "round", 1), below, stream=1)
    stock, shares = lay_in_shares(order, 3)

    assert (round.stock, round.shares) == (stock, shares)
    (event,) = game.apply(round.turn, game.legal_actions(round.turn)[0])
    assert isinstance(event, DrewFromStock)
    assert event.card == order[event.seat]


def test_a_stock_that_was_turned_over_is_drawn_in_its_order() -> None:
    game, below = to_the_recycling(StockRule.FLIP)
    round = round_of(game)

    assert round.shares == []
    assert round.stock[::-1] == below
