"""A fair deal: from a secret that was committed to, and from what the seats added, to the seed of a round
(docs/protocol.md).

Everything is one hash, `seed_for`: who is shown the secret of one round learns nothing of another's, nor of what all
of them follow from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rummy500_engine.shuffle import SEED_BYTES, seed_for

THE_TABLE: Final = 0
"""In the place of a round's number: the secret that the secrets of all rounds of a table follow from."""
ENTROPY_BYTES: Final = 32


def deal_secret(secret: bytes, deal: int) -> bytes:
    """What stands in the place of a table's own secret at all tables of a match that play the deal, counted from 0."""
    return seed_for(secret, "deal", deal)


def round_secret(secret: bytes, round: int) -> bytes:
    """The secret of a round; of THE_TABLE the table's own."""
    return secret if round == THE_TABLE else seed_for(secret, "round", round)


def round_seed(secret: bytes, round: int, entropy: Sequence[bytes] = ()) -> bytes:
    """What the pack of the round, and its recycled stocks, are shuffled with. `entropy` by seat: what each added, empty
    for nothing. Where nobody added anything it is the secret of the round."""
    seed = round_secret(secret, round)
    for seat, added in enumerate(entropy):
        if added:
            seed = seed_for(seed, "entropy", seat, added.hex())
    return seed


def commitment(secret: bytes, place: str, round: int) -> bytes:
    """To `round_secret(secret, round)`. `place` keeps commitments of one secret at several tables apart."""
    own = round_secret(secret, round)
    assert len(own) == SEED_BYTES
    return seed_for(own, "commitment", place, round)
