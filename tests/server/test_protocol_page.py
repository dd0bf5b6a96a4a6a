"""docs/protocol.md says what the code does: its tables are complete, and its shuffle can be repeated from the page."""

from __future__ import annotations

import hashlib
import re

import pytest
from tests.server.protocol_tables import PAGE, TABLES, filled

from rummy500.v1 import (
    card_pb2,
    match_service_pb2,
    play_service_pb2,
    player_service_pb2,
    rules_service_pb2,
    table_service_pb2,
)
from rummy500_server.access import METHODS
from rummy500_server.services.play import FEATURES

TEXT = PAGE.read_text()


def test_the_tables_are_those_of_the_code() -> None:
    assert filled(TEXT, TABLES) == TEXT, "run `python -m tests.server.protocol_tables`"


def test_every_method_of_the_contract_says_who_may_call_it() -> None:
    services = [
        service
        for module in (rules_service_pb2, table_service_pb2, play_service_pb2, match_service_pb2, player_service_pb2)
        for service in module.DESCRIPTOR.services_by_name.values()
    ]
    assert {service.name: {method.name for method in service.methods} for service in services} == {
        service: set(methods) for service, methods in METHODS.items()
    }


def test_every_feature_of_welcome_is_explained() -> None:
    (section,) = re.findall(r"\| feature \|.*?\n\n", TEXT, re.DOTALL)
    assert tuple(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == FEATURES


RANKS, SUITS = "A23456789TJQK", "CDHS"
VECTORS = re.findall(r"seed +([0-9a-f]{64})\n +stream (\d+)\n +pack +(.+)\n +order +(.+)", TEXT)


def written_down(pack: str) -> list[str]:
    cards = [rank + suit for suit in SUITS for rank in RANKS]
    found = re.fullmatch(r"52 cards(?: and (\d) jokers)?", pack)
    assert found, pack
    return cards + ["JK"] * int(found[1] or 0)


def repeated(seed: bytes, stream: int, cards: list[str]) -> list[str]:
    """The algorithm of the page, written from the page alone."""
    blocks = (hashlib.sha256(seed + stream.to_bytes(4, "big") + n.to_bytes(4, "big")).digest() for n in range(10_000))
    pool = b""

    def below(n: int) -> int:
        nonlocal pool
        while True:
            if len(pool) < 4:
                pool += next(blocks)
            number, pool = int.from_bytes(pool[:4], "big"), pool[4:]
            if number < 4294967296 - 4294967296 % n:
                return number % n

    for i in reversed(range(1, len(cards))):
        j = below(i + 1)
        cards[i], cards[j] = cards[j], cards[i]
    return cards


@pytest.mark.parametrize(("seed", "stream", "pack", "order"), VECTORS)
def test_a_vector_of_the_page_follows_from_its_algorithm(seed: str, stream: str, pack: str, order: str) -> None:
    assert " ".join(repeated(bytes.fromhex(seed), int(stream), written_down(pack))) == order


def test_the_page_has_three_vectors_and_the_seed_of_the_second_follows_from_its_secret() -> None:
    assert len(VECTORS) == 3
    assert hashlib.sha256(bytes(range(32)) + b"\0round\0" + b"1").hexdigest() == VECTORS[1][0]


def derive(secret: bytes, *path: object) -> bytes:
    """The one hash of a fair deal, written from the page alone."""
    return hashlib.sha256(secret + b"".join(b"\0" + str(part).encode() for part in path)).digest()


def test_the_vectors_of_a_fair_deal_follow_from_the_page() -> None:
    secret, place = bytes(range(32)), "t-0123456789ab"
    vectors = re.findall(r"round +(\d+)\n +secret +(\w+)\n +commitment +(\w+)(?:\n +seed +(\w+)\n +order +(.+))?", TEXT)
    added = {"1": {}, "2": {0: "aa" * 32, 2: "cc" * 32}}
    assert [vector[0] for vector in vectors] == ["0", "1", "2"]
    for number, told, committed, seed, order in vectors:
        own = derive(secret, "round", number) if number != "0" else secret
        assert told == own.hex()
        assert committed == derive(own, "commitment", place, number).hex()
        for seat, entropy in added.get(number, {}).items():
            own = derive(own, "entropy", seat, entropy)
        if order:
            assert seed == own.hex()
            assert order == " ".join(repeated(own, 0, written_down("52 cards")))


def test_the_cards_have_the_numbers_that_the_page_says() -> None:
    numbers = {name.removeprefix("CARD_"): number for name, number in card_pb2.Card.items()}
    cards = [*written_down("52 cards"), "JK"]
    assert numbers == {"UNSPECIFIED": 0} | {card: number for number, card in enumerate(cards, start=1)}
