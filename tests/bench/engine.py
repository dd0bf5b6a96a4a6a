"""A worker that plays rounds at random in the engine on its path, and lists actions in crowded positions."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Iterable
from typing import Any

from tests.bench import jokers
from tests.bench.workers import serve_lines
from tests.engine.tables import SEED, rules_of, variant

from rummy500_engine import round as round_module
from rummy500_engine.cards import Card, add, hand_of
from rummy500_engine.legal import legal_actions
from rummy500_engine.round import Round
from rummy500_engine.rules import Rules
from rummy500_engine.shuffle import seed_for, shuffle
from rummy500_engine.terms import Pack, Phase, Sets
from rummy500_server.memory import COLLECT_AFTER

HAND_CARDS, PILE_CARDS = 40, 30


class RandomPlay:
    """Classic rounds for two: list every legal action, choose one with equal chances, apply it."""

    def __init__(self) -> None:
        self._rules = rules_of(players=2)
        self._choose = random.Random(1).random
        self._dealt = 0

    def play(self, cpu_seconds: float) -> tuple[int, float]:
        """Plays whole rounds for so long; the actions, and the processor time that they took, deals included."""
        choose, actions = self._choose, 0
        begin = time.process_time()
        spent = 0.0
        while spent < cpu_seconds:
            self._dealt += 1
            seed = seed_for(b"bench", self._dealt)
            order = shuffle(seed, self._rules.pack)
            round, _ = Round.deal(self._rules, number=1, dealer=self._dealt % 2, order=order, seed=seed)
            while not round.over:
                legal = round.legal_actions(round.turn)
                round.apply(round.turn, legal[int(choose() * len(legal))])
                actions += 1
            spent = time.process_time() - begin
        return actions, spent


def two_packs(*, identical: bool) -> Rules:
    sets = Sets(largest=None, identical=True) if identical else Sets()
    return rules_of(variant("two-packs", pack=Pack(decks=2), sets=sets), players=2)


def crowded(rules: Rules, dice: random.Random, *, stock: bool) -> Round:
    """Seat 0 holds 40 of two packs' cards; some of the rest lie as melds, 30 (or, with a stock, up to 30) in the pile.
    With a stock it is to play, one time in two with a card of a dig to use; without, it is to draw."""
    cards = list(rules.pack)
    dice.shuffle(cards)
    round = Round(rules, number=1, dealer=1, seed=SEED)
    hand, rest = cards[:HAND_CARDS], cards[HAND_CARDS:]
    round.hands[0] = hand_of(hand)
    piled = dice.randrange(PILE_CARDS) if stock else PILE_CARDS
    round.pile, rest = rest[:piled], rest[piled:]
    for _ in range(dice.randrange(6)):
        rest = _lay_meld(round, rest, dice)
    round.refit()
    round.hands[1], round.stock = hand_of(rest[:6]), rest[6:] if stock else []
    if not stock:
        for card in rest[6:]:
            round.hands[1] = add(round.hands[1], card)
        return round
    round.phase = Phase.PLAY
    if dice.randrange(2):
        card = dice.choice(hand)
        round.must_use, round.target = 1 << card, card
    return round


def _lay_meld(round: Round, rest: list[Card], dice: random.Random) -> list[Card]:
    """Lays a random meld of these cards on the table and returns the others."""
    melds = round.rules.catalogue.natural_melds(hand_of(rest))
    if not melds:
        return rest
    chosen = dice.choice(melds)
    (shape,) = round.rules.catalogue.readings(chosen)
    seat = dice.randrange(2)
    round.melds.append(round.rules.catalogue.meld(len(round.melds) + 1, shape, seat))
    round.opened[seat] += 1
    left = rest.copy()
    for card in chosen.cards:
        left.remove(card)
    return left


def time_listings(positions: int, *, stock: bool, identical: bool, seed: int) -> dict[str, Any]:
    rules, dice = two_packs(identical=identical), random.Random(seed)
    return _timed(crowded(rules, dice, stock=stock) for _ in range(positions))


def time_joker_listings(positions: int, *, packs: str, kind: str, minimum: bool, seed: int) -> dict[str, Any]:
    dice = random.Random(seed)
    tables = [jokers.rules_of(packs, minimum=each) for each in (jokers.MINIMUMS if minimum else (0,))]
    return _timed(jokers.crowded(dice.choice(tables), kind, dice) for _ in range(positions))


def _timed(rounds: Iterable[Round]) -> dict[str, Any]:
    """Milliseconds of processor time for one listing of each position, looked at once."""
    spent: list[float] = []
    for round in rounds:
        begin = time.process_time()
        legal_actions(round, 0)
        spent.append((time.process_time() - begin) * 1000)
    return {"spent": spent}


def main() -> None:
    gc.set_threshold(*COLLECT_AFTER)  # as the server has it, or a listing now and then pays for all that was before it
    play = RandomPlay()

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        match request["do"]:
            case "where":
                return {"file": round_module.__file__}
            case "play":
                actions, spent = play.play(request["seconds"])
                return {"rate": actions / spent}
            case "list jokers":
                asked = {key: value for key, value in request.items() if key != "do"}
                return time_joker_listings(**asked)
            case _:
                return time_listings(
                    request["positions"], stock=request["stock"], identical=request["identical"], seed=request["seed"]
                )

    serve_lines(answer)


if __name__ == "__main__":
    main()
