"""Aligned draws: each seat draws from a share of its own of the shuffled stock, so that what one seat does changes no
other's next cards, and a deal that is played again in another seating stays the same deal after play has diverged.

The stock's places are counted from 0, the card on its top first. Seat k's share are the places k, k + n, k + 2n, … of a
table of n seats, and it draws them in that order. Whose share is empty draws the last card of the longest share, of
several that of the lowest seat. What is drawn is as uniform as from the top: which place is next depends on how many
cards each seat has drawn, which all have seen, and on no card; and given all that is seen so far, the cards at the
places that nobody has seen are in every order with the same probability, so that the card at any of these places is
each of the unseen cards with the same probability.

A stock in shares lies in one list, share by share, each with its next card last: it is as many cards as the stock has.
"""

from __future__ import annotations

from collections.abc import Sequence

from rummy500_engine.cards import Card


def lay_in_shares(stock: Sequence[Card], seats: int) -> tuple[list[Card], list[int]]:
    """The stock, given from its top card down, in shares, and how many cards each share has."""
    shares = [stock[seat::seats][::-1] for seat in range(seats)]
    return [card for share in shares for card in share], [len(share) for share in shares]


def draw_from_share(stock: list[Card], shares: list[int], seat: int) -> Card:
    """Takes the seat's next card out of a stock that has one."""
    if shares[seat]:
        place = sum(shares[: seat + 1]) - 1
    else:
        seat = shares.index(max(shares))
        place = sum(shares[:seat])
    shares[seat] -= 1
    return stock.pop(place)
