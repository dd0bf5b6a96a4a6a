"""Random play of whole games, watched move by move."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from rummy500_engine.actions import Action, Discard
from rummy500_engine.events import Event
from rummy500_engine.game import Game
from rummy500_engine.notation import read_action, write_action
from rummy500_engine.rules import Rules
from rummy500_engine.shuffle import seed_for, shuffle
from rummy500_kit.laws import (
    check_choices,
    check_clone,
    check_listing,
    check_notation,
    check_refusals,
    check_scores,
    check_state,
)
from rummy500_kit.ledger import Ledger

Watch = Callable[[Game, Ledger], None]


@dataclass(slots=True)
class Played:
    """A game as it went: who did what, and every event."""

    rules: Rules
    secret: bytes
    aligned: bool = False
    actions: list[tuple[int, Action]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    rounds: int = 0


def choose(game: Game, seat: int, dice: random.Random, *, eager: float = 0.7) -> Action:
    """A random legal action; `eager` is how often a play is preferred to a discard, so that the table fills."""
    legal = game.legal_actions(seat)
    plays = [action for action in legal if not isinstance(action, Discard)]
    return dice.choice(plays if plays and dice.random() < eager else legal)


def deal(game: Game, secret: bytes) -> list[Event]:
    seed = seed_for(secret, "round", game.rounds_played + 1)
    return game.deal(shuffle(seed, game.rules.pack), seed=seed)


def play_game(
    rules: Rules,
    secret: bytes,
    dice: random.Random,
    *,
    watch: Watch | None = None,
    most_rounds: int = 1_000,
    aligned: bool = False,
) -> Played:
    """Plays at random, now eager to lay cards down and now loath to, to the end of the game or for so many rounds;
    `watch` looks before each action and after each round."""
    game, played, ledger = Game(rules, aligned=aligned), Played(rules, secret, aligned), Ledger(rules)
    eager = dice.choice((0.2, 0.7, 0.95))
    while not game.over and played.rounds < most_rounds:
        if game.needs_deal:
            _note(played, ledger, deal(game, secret))
        before = game.totals.copy()
        seat = dice.choice(game.to_act())
        if watch is not None:
            watch(game, ledger)
        action = choose(game, seat, dice, eager=eager)
        played.actions.append((seat, action))
        _note(played, ledger, game.apply(seat, action))
        if ledger.scored is not None:
            played.rounds += 1
            if watch is not None:
                check_scores(game, ledger, before)
                watch(game, ledger)
            ledger.scored = None
    return played


def _note(played: Played, ledger: Ledger, events: list[Event]) -> None:
    played.events += events
    ledger.read(events)


def watch_laws(dice: random.Random, *, closely: int = 50) -> Watch:
    """Checks every law that is quick to check at each step, and once in `closely` steps those that try many actions."""

    def watch(game: Game, ledger: Ledger) -> None:
        check_state(game, ledger)
        check_choices(game)
        for seat in game.to_act():
            check_notation(game, seat)
        if dice.randrange(closely):
            return
        for seat in range(game.rules.players):
            check_refusals(game, seat, dice)
        for seat in game.to_act():
            check_listing(game, seat, dice)
            check_clone(game, seat, choose(game, seat, dice))

    return watch


def check_replay(played: Played) -> None:
    """The same rules, seed and actions give the same events; also when the actions go through their text."""
    game = Game(played.rules, aligned=played.aligned)
    events: list[Event] = []
    for seat, action in played.actions:
        if game.needs_deal:
            events += deal(game, played.secret)
        events += game.apply(seat, read_action(write_action(action), played.rules))
    assert events == played.events, "the same actions gave other events"
