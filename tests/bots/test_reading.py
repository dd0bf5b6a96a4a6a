"""A decision request read back into the engine's terms is what the server's own table says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from rummy500.v1 import event_pb2, play_service_pb2, view_pb2
from rummy500_arena.play import play_game
from rummy500_bots import Decision, built_in
from rummy500_bots.knowledge import History
from rummy500_catalog import Catalog
from rummy500_engine.actions import Action
from rummy500_engine.game import Game
from rummy500_engine.melds import Meld
from rummy500_engine.shuffle import seed_for
from rummy500_engine.view import View
from rummy500_insight import decision_from
from rummy500_server.translate.events import event_bytes
from rummy500_server.translate.views import PublicPieces, view_bytes

CATALOG = Catalog()
TABLES: list[tuple[str, tuple[str, ...], int]] = [
    (each.name, (), each.preset.players[0]) for each in CATALOG.presets() if each.is_available
]
TABLES += [("", ("ace-runs", "call-rummy", "jokers"), 3), ("", ("meld-first", "strict-take", "stock-out"), 4)]


def comparable(view: View) -> View:
    """Without what the message leaves out; of a meld laid off in the order of the message, sets are sorted."""
    target = view.target if view.target in view.must_use else None
    melds = tuple(meld_as_seen(meld) for meld in view.melds)
    return replace(view, target=target, variant_fields=(), melds=melds)  # type: ignore[arg-type]


def meld_as_seen(meld: Meld) -> tuple[object, ...]:
    opening = sorted((each.face, each.card, each.seat, each.low) for each in meld.placed[: meld.opening])
    later = [(each.face, each.card, each.seat, each.low) for each in meld.placed[meld.opening :]]
    return (meld.id, meld.kind, meld.opener, meld.start, meld.length, meld.fits, opening, later)


class Compared:
    """Plays like `random` and reads each question back from its message."""

    def __init__(self, seat: int) -> None:
        self._bot, self._told, self._read, self.compared = built_in("random", seed=seat), History(), History(), 0
        self.game: Game | None = None

    def act(self, decision: Decision) -> Action | Sequence[Action]:
        assert self.game is not None
        seat = decision.view.seat
        piece = view_bytes(
            self.game, seat, decision.legal, public=PublicPieces("t"), sequence=9, clock=b"", with_variants=False
        )
        request = play_service_pb2.DecisionRequest(view=view_pb2.View.FromString(piece), time_left_ms=700)
        for event in decision.events:
            request.events.append(event_pb2.Event.FromString(event_bytes(event, 1, seat)))

        read = decision_from(request, decision.rules)

        assert comparable(read.view) == comparable(decision.view)
        assert read.time_left_ms == 700
        self._told.note(decision.events)
        self._read.note(read.events)
        assert self._read == self._told
        self.compared += 1
        return self._bot.act(decision)


@pytest.mark.parametrize(("preset", "variants", "players"), TABLES)
def test_a_request_says_all_that_the_table_does(preset: str, variants: tuple[str, ...], players: int) -> None:
    rules = CATALOG.rules(preset, variants, players=players)
    bots = [Compared(seat) for seat in range(players)]
    for number in range(1):
        game = Game(rules, single_round=True)
        for bot in bots:
            bot.game = game
        play_game(game, bots, seed=seed_for(b"reading", preset, number))

    assert all(bot.compared > 10 for bot in bots)
