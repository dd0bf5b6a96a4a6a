"""Which games a match consists of: duplicate deals, each played in every seating, made one by one.

A deal is one shuffled pack (or, by the game, the row of its packs). A set is a deal in all its seatings by one pairing,
that is by one choice of as many bots as there are seats. The schedule says which pairings play a deal. Everything is
computed from a game's number: a plan of a million deals takes no memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from rummy500_arena.seatings import Seating, seatings_of
from rummy500_engine.fair import deal_secret
from rummy500_engine.shuffle import seed_for

SEEDS = 1 << 64
GOLDEN = (math.sqrt(5) - 1) / 2


class Unit(Enum):
    """What is played with one deal: one round, or a game to the target."""

    DEAL = "deal"
    GAME = "game"


class Schedule(Enum):
    """Which pairings play a deal: all; all that have the first bot; or one, the next of a row in which each bot plays
    equally often."""

    ROUND_ROBIN = "round-robin"
    GAUNTLET = "gauntlet"
    POOL = "pool"


@dataclass(frozen=True, slots=True)
class PlannedGame:
    """One game of a plan. `pairing`, `deal` and `rotation` are its identity: pairings in the order of the dictionary,
    of a gauntlet those that have bot 0; `seats` gives the bot of each seat, as an index into the plan's bots; `seating`
    counts the games of a deal. `seed` stands in the place of the table's secret; in a paired plan it follows from the
    plan's secret and the deal alone."""

    pairing: int
    deal: int
    rotation: int
    seating: int
    seats: tuple[int, ...]
    seed: bytes


@dataclass(frozen=True)
class Plan:
    """`bots` are counted from 0; `players` are the seats of a table. `secret` is what every pack follows from.
    `is_paired`: all games of a deal share its packs; else each seating has packs of its own."""

    bots: int
    players: int
    deals: int
    secret: bytes
    unit: Unit = Unit.DEAL
    schedule: Schedule = Schedule.ROUND_ROBIN
    is_paired: bool = True

    def __post_init__(self) -> None:
        assert self.bots >= self.players >= 2

    @cached_property
    def pairings(self) -> int:
        """Pairings that play a deal."""
        match self.schedule:
            case Schedule.ROUND_ROBIN:
                return math.comb(self.bots, self.players)
            case Schedule.GAUNTLET:
                return math.comb(self.bots - 1, self.players - 1)
            case Schedule.POOL:
                return 1

    @cached_property
    def rotations(self) -> int:
        """Seatings of one deal by one pairing."""
        return len(seatings_of(self.players))

    @property
    def seatings(self) -> int:
        """Games of one deal."""
        return self.pairings * self.rotations

    @property
    def games(self) -> int:
        return self.deals * self.seatings

    def paired(self, pairing: int) -> tuple[int, ...]:
        """The bots of a pairing, ascending."""
        if self.schedule is Schedule.GAUNTLET:
            return (0, *(bot + 1 for bot in _choice(self.bots - 1, self.players - 1, pairing)))
        return _choice(self.bots, self.players, pairing)

    def seatings_with(self, bot: int) -> int:
        """In how many of a deal's seatings a bot sits; in a pool, of those deals that it plays."""
        if self.schedule is Schedule.ROUND_ROBIN:
            return math.comb(self.bots - 1, self.players - 1) * self.rotations
        if self.schedule is Schedule.GAUNTLET and bot:
            return math.comb(self.bots - 2, self.players - 2) * self.rotations
        return self.seatings

    def seatings_by_bot(self) -> list[list[int]]:
        """For each bot the seatings of a deal in which it sits, ascending."""
        if self.schedule is Schedule.POOL:
            return [list(range(self.seatings)) for _ in range(self.bots)]
        sits: list[list[int]] = [[] for _ in range(self.bots)]
        for pairing in range(self.pairings):
            for bot in self.paired(pairing):
                sits[bot].extend(range(pairing * self.rotations, (pairing + 1) * self.rotations))
        return sits

    def game(self, index: int) -> PlannedGame:
        """The game with this number: all seatings of deal 0, then of deal 1, …"""
        assert 0 <= index < self.games
        deal, seating = divmod(index, self.seatings)
        number, rotation = divmod(seating, self.rotations)
        if self.schedule is Schedule.POOL:
            bots = self._pooled(deal)
            pairing = _place(self.bots, bots)
        else:
            pairing, bots = number, self.paired(number)
        seats = _seated(bots, seatings_of(self.players)[rotation])
        secret = deal_secret(self.secret, deal)
        if not self.is_paired:
            secret = seed_for(secret, "seating", pairing, rotation)
        return PlannedGame(pairing, deal, rotation, seating, seats, secret)

    def __iter__(self) -> Iterator[PlannedGame]:
        return (self.game(index) for index in range(self.games))

    def _pooled(self, deal: int) -> tuple[int, ...]:
        """The pairing that plays a deal in a pool.

        A pattern of bots is moved round the circle of all bots, one place a deal, so that in as many deals as there are
        bots each plays as often as there are seats. Then comes another pattern: all that have bot 0, one in a golden
        section's steps, so that any stretch of them is spread evenly over all; after the last each pairing has played
        equally often (`players` times).
        """
        turn, shift = divmod(deal, self.bots)
        patterns = math.comb(self.bots - 1, self.players - 1)
        others = _choice(self.bots - 1, self.players - 1, turn * _step(patterns) % patterns)
        return tuple(sorted((bot + shift) % self.bots for bot in (0, *(other + 1 for other in others))))


def secret_of_seed(seed: int) -> bytes:
    """What the packs of a match with a given seed follow from."""
    assert 0 <= seed < SEEDS
    return seed.to_bytes(8, "big")


def _seated(bots: tuple[int, ...], seating: Seating) -> tuple[int, ...]:
    return tuple(bots[player] for player in seating)


def _choice(of: int, size: int, place: int) -> tuple[int, ...]:
    """The choice of `size` out of 0, 1, …, `of` - 1 at this place of the dictionary."""
    chosen: list[int] = []
    number = 0
    while len(chosen) < size:
        with_it = math.comb(of - number - 1, size - len(chosen) - 1)
        if place < with_it:
            chosen.append(number)
        else:
            place -= with_it
        number += 1
    return tuple(chosen)


def _place(of: int, chosen: tuple[int, ...]) -> int:
    """The place of an ascending choice in the dictionary."""
    after = sum(math.comb(of - 1 - number, len(chosen) - at) for at, number in enumerate(chosen))
    return math.comb(of, len(chosen)) - 1 - after


def _step(count: int) -> int:
    """About a golden section of `count`, with no divisor in common, so that its multiples reach every number below."""
    step = max(1, round(count * GOLDEN))
    while math.gcd(step, count) > 1:
        step += 1
    return step
