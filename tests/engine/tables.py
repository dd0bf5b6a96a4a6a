"""Tables for the tests of the engine: rules with throwaway variants, and rounds set up card by card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from rummy500_engine import classic
from rummy500_engine.cards import Card, hand_of, read_cards
from rummy500_engine.events import Event
from rummy500_engine.game import Game
from rummy500_engine.hooks import hookimpl
from rummy500_engine.melds import Meld
from rummy500_engine.notation import read_action, read_as_meld
from rummy500_engine.plugins import Plugin
from rummy500_engine.round import Round
from rummy500_engine.rules import Rules, compose
from rummy500_engine.shuffle import seed_for, shuffle
from rummy500_engine.terms import Phase

CLASSIC = Plugin("classic", classic, "0.1.0", "rummy500")
SEED = bytes(32)


def variant(name: str, **hooks: Any) -> Plugin:
    """A throwaway variant: `pack=lambda table: …` answers rummy500_pack, a plain value answers with itself."""
    answers = {f"rummy500_{hook}": hookimpl(_answering(answer)) for hook, answer in hooks.items()}
    return Plugin(name, SimpleNamespace(**answers), "1.0", f"dist-of-{name}")


def _answering(answer: Any) -> Any:
    if callable(answer):
        return answer

    def function() -> Any:
        return answer

    return function


def rules_of(*variants: Plugin, players: int = 2, options: Mapping[str, object] | None = None) -> Rules:
    return compose(CLASSIC, variants, players=players, options=options or {})


def dealt(rules: Rules, *, secret: bytes = b"tests", single_round: bool = False) -> Game:
    game = Game(rules, single_round=single_round)
    deal(game, secret=secret)
    return game


def deal(game: Game, *, secret: bytes = b"tests") -> list[Event]:
    seed = seed_for(secret, "round", game.rounds_played + 1)
    return game.deal(shuffle(seed, game.rules.pack), seed=seed)


def card(text: str) -> Card:
    (one,) = read_cards(text)
    return one


def meld_of(rules: Rules, number: int, text: str, seat: int) -> Meld:
    (shape,) = rules.catalogue.readings(read_as_meld(text))
    return rules.catalogue.meld(number, shape, seat)


def round_of(
    rules: Rules,
    *,
    hands: Sequence[str],
    pile: str = "",
    stock: str = "",
    melds: Sequence[tuple[str, int]] = (),
    phase: Phase = Phase.DRAW,
) -> Round:
    """A round in which seat 0 is to act; `stock` is written next card first, melds with the seat that laid them."""
    round = Round(rules, number=1, dealer=rules.players - 1, seed=SEED)
    round.hands = [hand_of(read_cards(hand)) for hand in hands]
    round.hands += [0] * (rules.players - len(round.hands))
    round.pile = list(read_cards(pile))
    round.stock = list(read_cards(stock))[::-1]
    for number, (text, seat) in enumerate(melds, 1):
        round.melds.append(meld_of(rules, number, text, seat))
        round.opened[seat] += 1
    round.refit()
    round.phase = phase
    return round


def game_of(round: Round) -> Game:
    game = Game(round.rules, dealer=round.dealer, single_round=True)
    game.round = round
    return game


def play(game: Game, *lines: str) -> None:
    """Plays lines such as `0: draw`; each must be legal."""
    for line in lines:
        seat, _, text = line.partition(": ")
        game.apply(int(seat), read_action(text, game.rules))
