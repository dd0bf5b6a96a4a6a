"""From a 32-byte seed to an order of cards, by an algorithm that another language can repeat (docs/protocol.md).

The bytes are SHA-256(seed || stream as 4 bytes || block number as 4 bytes, big-endian) for block 0, 1, ..., one block
after the other. A number below n is drawn by reading 4 bytes big-endian and rejecting values from the largest multiple
of n on, so that each number is equally likely. The order is a Fisher-Yates shuffle from the last place down.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from struct import Struct
from typing import Final

from rummy500_engine.cards import Card

SEED_BYTES: Final = 32
_WORD: Final = 1 << 32
_EIGHT_WORDS: Final = Struct(">8I")


def _words(seed: bytes, stream: int) -> Iterator[int]:
    block = 0
    while True:
        digest = hashlib.sha256(seed + stream.to_bytes(4, "big") + block.to_bytes(4, "big")).digest()
        yield from _EIGHT_WORDS.unpack(digest)
        block += 1


def shuffle(seed: bytes, cards: Sequence[Card], *, stream: int = 0) -> tuple[Card, ...]:
    """The cards in the order that the seed gives. `stream` 0 is the deal, 1, 2, … its recycled stocks."""
    assert len(seed) == SEED_BYTES
    words = _words(seed, stream)
    order = list(cards)
    for last in range(len(order) - 1, 0, -1):
        choices = last + 1
        limit = _WORD - _WORD % choices
        word = next(words)
        while word >= limit:
            word = next(words)
        chosen = word % choices
        order[last], order[chosen] = order[chosen], order[last]
    return tuple(order)


def seed_for(secret: bytes, *path: str | int) -> bytes:
    """A seed of its own for each round or deal: SHA-256 over the secret and the path, each part after a NUL."""
    named = b"".join(b"\0" + str(part).encode() for part in path)
    return hashlib.sha256(secret + named).digest()
