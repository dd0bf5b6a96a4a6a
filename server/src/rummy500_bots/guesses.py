"""Guesses of what a bot does not see: hands and stock that agree with everything public."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from rummy500_bots.knowledge import History, Knowledge
from rummy500_bots.trios import Trios
from rummy500_engine.cards import Card, Mask, add, cards_of, remove
from rummy500_engine.guess import Hidden

REPAIRS = 3
"""How often a guess is changed because a hand holds what it would have used."""


def plain_guess(knowledge: Knowledge) -> Hidden:
    """A guess without dice: for a bot that only counts what others hold."""
    return _dealt(knowledge, cards_of(knowledge.unseen))


def random_guess(knowledge: Knowledge, dice: Random) -> Hidden:
    """A guess in which each unseen card may lie anywhere."""
    cards = cards_of(knowledge.unseen)
    dice.shuffle(cards)
    return _dealt(knowledge, cards)


def likely_guess(knowledge: Knowledge, history: History, trios: Trios, dice: Random) -> Hidden:
    """A random guess in which few hands hold a pair for a card of the pile that they left lying: their players would
    have taken it."""
    hidden = random_guess(knowledge, dice)
    hands, stock = list(hidden.hands), list(hidden.stock)
    if not stock:
        return hidden
    for seat, count in enumerate(knowledge.hidden):
        left = history.last_left(seat)
        if not count or not left:
            continue
        for _ in range(REPAIRS):
            hand = hands[seat]
            pair = _usable_pair(hand, left, trios)
            if not pair:
                break
            free = [card for card in cards_of(pair) if not knowledge.known[seat] >> card & 1]
            if not free:
                break
            card, place = free[dice.randrange(len(free))], dice.randrange(len(stock))
            hands[seat] = add(remove(hand, card), stock[place])
            stock[place] = card
    return Hidden(tuple(hands), tuple(stock))


def _usable_pair(hand: Mask, left: Sequence[Card], trios: Trios) -> Mask:
    for card in left:
        for two in trios.others[card] if card < len(trios.others) else ():
            if hand & two == two:
                return two
    return 0


def _dealt(knowledge: Knowledge, cards: Sequence[Card]) -> Hidden:
    """The cards in this order: to the hands by seat, the rest to the stock."""
    hands, place = [], 0
    for seat, (hand, count) in enumerate(zip(knowledge.known, knowledge.hidden, strict=True)):
        if seat == knowledge.seat:
            hands.append(knowledge.hand)
            continue
        for card in cards[place : place + count]:
            hand = add(hand, card)
        hands.append(hand)
        place += count
    return Hidden(tuple(hands), tuple(cards[place:]))
