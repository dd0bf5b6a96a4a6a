"""Which games a match consists of: duplicate deals, each played in every seating, made one by one.

A deal is one shuffled pack (or, by the game, the row of its packs). Up to four seats it is played in every permutation
of its players; with more seats in every rotation, so that each player sits once in each seat. Where a match has more
bots than seats, each choice of bots plays each deal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import permutations

from rummy500_engine.fair import deal_secret

EVERY_PERMUTATION = 4
"""Seats up to which a deal is played in every permutation."""
SEEDS = 1 << 64


class Unit(Enum):
    """What is played with one deal: one round, or a game to the target."""

    DEAL = "deal"
    GAME = "game"


@dataclass(frozen=True, slots=True)
class PlannedGame:
    """One game of a plan. `pairing`, `deal` and `rotation` are its identity; `seats` gives the bot of each seat, as an
    index into the plan's bots; `seating` counts the games of a deal."""

    pairing: int
    deal: int
    rotation: int
    seating: int
    seats: tuple[int, ...]
    seed: bytes


@dataclass(frozen=True)
class Plan:
    """`bots` are counted from 0; `players` are the seats of a table. `secret` is what every pack follows from."""

    bots: int
    players: int
    deals: int
    secret: bytes
    unit: Unit = Unit.DEAL

    def __post_init__(self) -> None:
        assert self.bots >= self.players >= 2

    @cached_property
    def pairings(self) -> int:
        """Choices of bots for a table."""
        return math.comb(self.bots, self.players)

    @cached_property
    def rotations(self) -> int:
        """Seatings of one deal by one pairing."""
        return len(_seatings(self.paired(0)))

    def paired(self, pairing: int) -> tuple[int, ...]:
        """The bots of a pairing in their first seating, pairings in the order of the dictionary."""
        chosen: list[int] = []
        bot = 0
        while len(chosen) < self.players:
            with_it = math.comb(self.bots - bot - 1, self.players - len(chosen) - 1)
            if pairing < with_it:
                chosen.append(bot)
            else:
                pairing -= with_it
            bot += 1
        return tuple(chosen)

    @property
    def seatings(self) -> int:
        """Games of one deal."""
        return self.pairings * self.rotations

    @property
    def games(self) -> int:
        return self.deals * self.seatings

    def game(self, index: int) -> PlannedGame:
        """The game with this number: all seatings of deal 0, then of deal 1, …"""
        assert 0 <= index < self.games
        deal, seating = divmod(index, self.seatings)
        pairing, rotation = divmod(seating, self.rotations)
        seats = _seatings(self.paired(pairing))[rotation]
        return PlannedGame(pairing, deal, rotation, seating, seats, self.deal_seed(deal))

    def __iter__(self) -> Iterator[PlannedGame]:
        return (self.game(index) for index in range(self.games))

    def deal_seed(self, deal: int) -> bytes:
        """What the packs of a deal follow from, whoever plays it."""
        return deal_secret(self.secret, deal)


def secret_of_seed(seed: int) -> bytes:
    """What the packs of a match with a given seed follow from."""
    assert 0 <= seed < SEEDS
    return seed.to_bytes(8, "big")


def _seatings(players: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    if len(players) > EVERY_PERMUTATION:
        return tuple(players[turn:] + players[:turn] for turn in range(len(players)))
    return tuple(permutations(players))
