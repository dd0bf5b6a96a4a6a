"""The shuffle is the documented algorithm, fair, and different for every seed and stream."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from itertools import permutations

import pytest

from rummy500_engine.cards import FACES, cards_text
from rummy500_engine.shuffle import seed_for, shuffle

VECTORS = [
    (
        bytes(32),
        0,
        "9S 9D JD QD 2D 2H 6D KH 5D 4S TC QS JS AH 9H 2S 9C 3C 5C 2C TH 7H JH 8S KS 3S 3H AC 8C 6C 3D 6S 5S 4C AS 7C "
        "TD 4D 8D KD 7D JC 6H 5H KC TS 8H QH AD 7S QC 4H",
    ),
    (
        bytes.fromhex("df7327a3062d1b0aa259304781b56494c1b6540a48e2da5fefa31a5f169e8337"),
        0,
        "JH 5S 5H 9H 4H TC QS QH 7C KH 9S TS 8S KD AS 3H KC 2D QD 4D 7H 2S QC 4C 6S 7S 9D 8H 2C KS 4S JS 3D 5D 3C TD "
        "AH 6D 6C 9C TH 8D 7D JD 5C 2H 8C 6H AD JC AC 3S",
    ),
]


def numbers(seed: bytes, stream: int) -> Iterator[int]:
    """The words of the documentation, read a second time: four bytes of SHA-256 in counter mode."""
    for block in range(1 << 32):
        digest = hashlib.sha256(b"".join((seed, stream.to_bytes(4, "big"), block.to_bytes(4, "big")))).digest()
        yield from (int.from_bytes(digest[at : at + 4], "big") for at in range(0, 32, 4))


def shuffled_again(seed: bytes, cards: list[int], stream: int) -> list[int]:
    words = numbers(seed, stream)
    for last in reversed(range(1, len(cards))):
        whole = (1 << 32) // (last + 1) * (last + 1)
        chosen = next(word for word in words if word < whole) % (last + 1)
        cards[last], cards[chosen] = cards[chosen], cards[last]
    return cards


@pytest.mark.parametrize(("seed", "stream", "order"), VECTORS)
def test_the_vectors_of_the_protocol_page(seed: bytes, stream: int, order: str) -> None:
    assert cards_text(shuffle(seed, FACES, stream=stream)) == order


@pytest.mark.parametrize("number", range(20))
def test_the_algorithm_is_the_documented_one(number: int) -> None:
    seed = seed_for(b"algorithm", number)
    cards = [*FACES, *FACES][: 3 + 5 * number]
    assert list(shuffle(seed, cards, stream=number)) == shuffled_again(seed, cards.copy(), number)


def test_a_shuffle_holds_the_same_cards() -> None:
    assert sorted(shuffle(seed_for(b"same"), FACES)) == sorted(FACES)


def test_every_order_of_four_cards_is_as_likely() -> None:
    """Chi-squared over the 24 orders: 23 degrees of freedom, 49.7 is exceeded once in a thousand."""
    seeds = 12_000
    counts = Counter(shuffle(seed_for(b"fair", number), (1, 2, 3, 4)) for number in range(seeds))
    assert set(counts) == set(permutations((1, 2, 3, 4)))
    expected = seeds / 24
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < 49.7


def test_every_card_is_as_likely_at_the_ends_of_the_pack() -> None:
    """Chi-squared over the 52 cards: 51 degrees of freedom, 87.9 is exceeded once in a thousand."""
    seeds = 2_600
    orders = [shuffle(seed_for(b"ends", number), FACES) for number in range(seeds)]
    for place in (0, 51):
        counts = Counter(order[place] for order in orders)
        assert sum((counts[card] - seeds / 52) ** 2 / (seeds / 52) for card in FACES) < 87.9


def test_streams_and_paths_give_orders_of_their_own() -> None:
    seed = seed_for(b"secret", "round", 1)
    orders = {shuffle(seed, FACES, stream=stream) for stream in range(100)}
    orders |= {shuffle(seed_for(b"secret", "round", number), FACES) for number in range(2, 102)}
    assert len(orders) == 200


def test_parts_of_a_path_do_not_run_together() -> None:
    seeds = {seed_for(b"s", "ab", "c"), seed_for(b"s", "a", "bc"), seed_for(b"s", "abc"), seed_for(b"sa", "b", "c")}
    assert len(seeds) == 4
    assert seed_for(b"s", 1) == seed_for(b"s", "1")
