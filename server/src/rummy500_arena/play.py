"""Plays one game between bots without a table, a clock or a wire: for tests and for simulations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rummy500_bots import Bot, Decision
from rummy500_engine.actions import Action
from rummy500_engine.cards import Card
from rummy500_engine.events import Event
from rummy500_engine.fair import round_seed
from rummy500_engine.game import Game
from rummy500_engine.shuffle import shuffle
from rummy500_engine.view import redact, seat_view

Watcher = Callable[[int, Action, Sequence[Event]], object]
"""Told of each action that was applied: its seat, the action, what happened."""


def pack_of(game: Game, secret: bytes, entropy: Sequence[bytes] = ()) -> tuple[bytes, tuple[Card, ...]]:
    """The seed of the game's next round and the order of its pack, from the game's secret and what the seats added
    (`rummy500_engine.fair`)."""
    seed = round_seed(secret, game.rounds_played + 1, entropy)
    return seed, shuffle(seed, game.rules.pack)


def deal_next(game: Game, secret: bytes) -> list[Event]:
    """Deals the game's next round, to whose chance no seat added anything."""
    seed, order = pack_of(game, secret)
    return game.deal(order, seed=seed)


def play_game(game: Game, bots: Sequence[Bot], *, seed: bytes, watcher: Watcher | None = None) -> Game:
    """Plays the game to its end, a bot for each seat. A bot's mistake raises Refused."""
    unseen: list[list[Event]] = [[] for _ in bots]

    def publish(events: Sequence[Event]) -> None:
        for seat, waiting in enumerate(unseen):
            waiting.extend(redact(event, seat) for event in events)

    while True:
        if game.needs_deal:
            publish(deal_next(game, seed))
        asked = game.to_act()
        if not asked:
            return game
        seat = asked[0]
        decision = Decision(seat_view(game, seat), game.rules, tuple(unseen[seat]))
        unseen[seat].clear()
        answer = bots[seat].act(decision)
        for action in answer if isinstance(answer, Sequence) else (answer,):
            events = game.apply(seat, action)
            publish(events)
            if watcher is not None:
                watcher(seat, action, events)
            if seat not in game.to_act() or game.needs_deal:
                break
