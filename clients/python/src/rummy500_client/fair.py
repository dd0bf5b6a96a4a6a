"""Checks deals against what the server had committed to, from what one viewer is told (docs/protocol.md)."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rummy500.v1.card_pb2 import CARD_AC, CARD_JK
from rummy500.v1.event_pb2 import DealRevealed, DrewFromStock, Event, RoundDealt
from rummy500.v1.match_pb2 import Match

THE_TABLE = 0
"""In the place of a round's number: the secret that the secrets of all rounds follow from."""


def new_entropy() -> bytes:
    """Chance of one's own, for JoinTableRequest.entropy."""
    return secrets.token_bytes(32)


def derive(secret: bytes, *path: str | int) -> bytes:
    return hashlib.sha256(secret + b"".join(b"\0" + str(part).encode() for part in path)).digest()


def written_down(counts: Sequence[int]) -> list[int]:
    """The pack in the order before the shuffle, from Rules.pack."""
    decks = counts[CARD_AC]
    return [*range(CARD_AC, CARD_JK), *[int(CARD_JK)] * (counts[CARD_JK] // decks)] * decks


def shuffle(seed: bytes, cards: Sequence[int]) -> list[int]:
    order, words = list(cards), _words(seed)
    for last in range(len(order) - 1, 0, -1):
        word = next(words)
        while word >= 2**32 - 2**32 % (last + 1):
            word = next(words)
        chosen = word % (last + 1)
        order[last], order[chosen] = order[chosen], order[last]
    return order


def _words(seed: bytes) -> Iterator[int]:
    block = 0
    while True:
        digest = hashlib.sha256(seed + bytes(4) + block.to_bytes(4, "big")).digest()
        yield from (int.from_bytes(digest[at : at + 4], "big") for at in range(0, 32, 4))
        block += 1


@dataclass(frozen=True)
class Checked:
    """What came of a check. `holds` None: it cannot be told."""

    round: int
    holds: bool | None
    sentence: str


@dataclass
class _Deal:
    """What the viewer was told of a round's pack: `draws` are its own, each with its place in the stock."""

    dealt: RoundDealt
    draws: list[tuple[int, int]] = field(default_factory=list)
    is_recycled: bool = False


class DealCheck:
    """Sees the events of a table in order. `pack` is Rules.pack; `own` the viewer's seat, None for a spectator, and
    `entropy` what was sent with it."""

    def __init__(self, table: str, pack: Sequence[int], *, own: int | None = None, entropy: bytes = b"") -> None:
        self._table, self._pack = table, list(pack)
        self._own, self._entropy = own, entropy
        self._commitments: dict[int, bytes] = {}
        self._secrets: dict[int, bytes] = {}
        self._added: dict[int, bytes] = {}
        self._deals: dict[int, _Deal] = {}
        self._round = 0
        self._seen = 0

    def see(self, event: Event) -> Checked | None:
        """What was checked, if the event reveals a secret. An event that was seen before tells nothing."""
        if event.sequence <= self._seen:
            return None
        self._seen = event.sequence
        match event.WhichOneof("kind"):
            case "deal_committed":
                self._commitments[event.deal_committed.round] = event.deal_committed.commitment
            case "seat_joined":
                self._added[event.seat_joined.seat] = event.seat_joined.entropy
            case "seat_left" if not self._deals:
                self._added.pop(event.seat_left.seat, None)
            case "round_dealt":
                self._round = event.round_dealt.round
                self._deals[self._round] = _Deal(event.round_dealt)
            case "drew_from_stock":
                self._drew(event.drew_from_stock)
            case "stock_recycled" if self._round in self._deals:
                self._deals[self._round].is_recycled = True
            case "deal_revealed":
                return self._checked(event.deal_revealed)
            case _:
                pass
        return None

    def _drew(self, drew: DrewFromStock) -> None:
        deal = self._deals.get(self._round)
        if deal is not None and drew.card and not deal.is_recycled:
            deal.draws.append((deal.dealt.stock_count - drew.stock_count - 1, drew.card))

    def _checked(self, revealed: DealRevealed) -> Checked:
        number, secret = revealed.round, revealed.secret
        self._secrets[number] = secret
        if number not in self._commitments:
            return Checked(number, None, f"{_named(number)} cannot be checked: its commitment was not seen")
        problem = self._problem(number, secret)
        if problem:
            return Checked(number, False, f"{_named(number)} is not fair: {problem}")
        if number == THE_TABLE:
            return Checked(number, True, "all rounds follow from what was committed to before anybody sat down")
        return Checked(number, True, f"{_named(number)} is what the server had committed to ({self._shown(number)})")

    def _problem(self, number: int, secret: bytes) -> str:
        """What is wrong; empty: nothing."""
        if derive(secret, "commitment", self._table, number) != self._commitments[number]:
            return "the secret is not the one that was committed to"
        if number == THE_TABLE:
            others = [k for k, told in self._secrets.items() if k and derive(secret, "round", k) != told]
            return f"round {others[0]} has a secret of another origin" if others else ""
        if self._own is not None and self._added.get(self._own, self._entropy) != self._entropy:
            return "what you added to the chance was left out"
        deal = self._deals.get(number)
        return "" if deal is None else self._wrong_card(deal, shuffle(self._seed(secret), written_down(self._pack)))

    def _seed(self, secret: bytes) -> bytes:
        for seat, added in sorted(self._added.items()):
            if added:
                secret = derive(secret, "entropy", seat, added.hex())
        return secret

    def _wrong_card(self, deal: _Deal, order: Sequence[int]) -> str:
        dealt = deal.dealt
        seats, first = len(dealt.hand_counts), (dealt.dealer + 1) % len(dealt.hand_counts)
        size, total = dealt.hand_counts[dealt.dealer], sum(dealt.hand_counts)
        stock = order[total + bool(dealt.up_card) :]
        if self._own is not None:
            place = (self._own - first) % seats
            hand = [*order[place : size * seats : seats]]
            if dealt.hand_counts[self._own] > size:
                hand.append(order[size * seats])
            if sorted(hand) != sorted(dealt.hand):
                return "your hand is not that of the pack"
        if dealt.up_card and order[total] != dealt.up_card:
            return "the card turned up is not that of the pack"
        if any(place >= len(stock) or stock[place] != card for place, card in deal.draws):
            return "a card that you drew is not that of the pack"
        return ""

    def _shown(self, number: int) -> str:
        """Which of the viewer's cards were compared."""
        deal = self._deals.get(number)
        if deal is None:
            return "its cards were dealt before you looked"
        parts = ["your hand"] if self._own is not None else []
        parts += ["the card turned up"] if deal.dealt.up_card else []
        parts += [f"{len(deal.draws)} of your draws"] if deal.draws else []
        return f"with {' and '.join(parts)}" if parts else "no card of it was shown to you"


def _named(number: int) -> str:
    return "this table" if number == THE_TABLE else f"the deal of round {number}"


def match_problem(match: Match, *, told: bytes, records: Iterable[str]) -> str:
    """Why the deals of a match that is over are not fair; empty: they are, or follow from a given seed. `told` is the
    commitment as it was told before the match began, `records` the lines of its records."""
    if match.from_seed or not match.secret:
        return ""
    if told != match.commitment or derive(match.secret, "commitment", match.name, THE_TABLE) != told:
        return "the secret of the match is not the one that was committed to"
    for line in records:
        game = json.loads(line)
        if game["type"] == "game" and game["seed"] != _secret_in_match(match, game["match"]).hex():
            return f"deal {game['match']['deal']} does not follow from the secret of the match"
    return ""


def _secret_in_match(match: Match, place: Mapping[str, int]) -> bytes:
    """Of the table with that place in a match that is over."""
    secret = derive(match.secret, "deal", place["deal"])
    return derive(secret, "seating", place["pairing"], place["rotation"]) if match.plan.unpaired else secret
