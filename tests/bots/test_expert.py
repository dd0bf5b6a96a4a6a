"""The bot `expert`: legal at every table, in time, repeatable by samples, and able to say why."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

import pytest

from rummy500_arena.play import play_game
from rummy500_arena.ratio import interval
from rummy500_bots import Bot, Decision, built_in, kinds
from rummy500_bots.decision import Adviser
from rummy500_bots.effort import Effort
from rummy500_bots.expert import ExpertBot
from rummy500_bots.lookahead import WINNING, Stakes, lead_of
from rummy500_catalog import Catalog
from rummy500_engine.actions import Action, Discard
from rummy500_engine.cards import read_card
from rummy500_engine.game import Game
from rummy500_engine.notation import write_action
from rummy500_engine.position import set_up
from rummy500_engine.shuffle import seed_for
from rummy500_engine.view import seat_view

CATALOG = Catalog()
LONG = os.environ.get("RUMMY500_LONG") == "1"
DEALS = 200 if LONG else 1


@pytest.mark.parametrize("preset", [each.name for each in CATALOG.presets() if each.is_available])
def test_it_plays_at_every_preset(preset: str) -> None:
    low, high = next(each.preset.players for each in CATALOG.presets() if each.name == preset)
    for number in range(DEALS):
        rules = CATALOG.rules(preset, players=max(low, min(high, 3 + number % 2)))
        bots = [built_in("normal" if seat else "expert,samples=1", seed=number) for seat in range(rules.players)]
        game = play_game(Game(rules, single_round=True), bots, seed=seed_for(b"experts", preset, number))

        assert game.rounds_played == 1


@pytest.mark.parametrize("variant", [each.name for each in CATALOG.variants() if each.name != "classic"])
def test_it_plays_with_any_variant(variant: str) -> None:
    rules = CATALOG.rules("", (variant,), players=4)
    for number in range(DEALS):
        bots = [built_in("normal" if seat else "expert,samples=1", seed=number) for seat in range(4)]
        game = play_game(Game(rules, single_round=True), bots, seed=seed_for(b"experts", variant, number))

        assert game.rounds_played == 1


class Noting:
    """Plays like another bot and keeps what it said and how long it took."""

    def __init__(self, bot: Bot, said: list[str], took: list[float] | None = None) -> None:
        self._bot, self._said, self._took = bot, said, took

    def act(self, decision: Decision) -> Action | Sequence[Action]:
        began = time.process_time()
        answer = self._bot.act(decision)
        if self._took is not None:
            self._took.append(time.process_time() - began)
        self._said += map(write_action, answer if isinstance(answer, Sequence) else (answer,))
        return answer


def said_in_a_round(spec: str, seed: int) -> list[str]:
    said: list[str] = []
    bots = [Noting(built_in(spec, seed=seed), said), built_in("normal", seed=0)]
    play_game(Game(CATALOG.rules(players=2), single_round=True), bots, seed=bytes(32))
    return said


def test_with_samples_the_same_seed_plays_the_same_round() -> None:
    assert said_in_a_round("expert,samples=2", 7) == said_in_a_round("expert,samples=2,seed=7", 1)


@pytest.mark.parametrize(("preset", "players"), [("classic", 2), ("pagat", 4)])
def test_it_takes_no_longer_than_it_may(preset: str, players: int) -> None:
    """It stops in the middle of a rollout too, when its time is over: no step takes half as long again."""
    took: list[float] = []
    expert = ExpertBot(0, Effort(time_ms=20))
    expert.clock = time.process_time
    others: list[Bot] = [built_in("normal", seed=0) for _ in range(players - 1)]

    play_game(
        Game(CATALOG.rules(preset, players=players), single_round=True),
        [Noting(expert, [], took), *others],
        seed=bytes(32),
    )

    assert sorted(took)[len(took) * 9 // 10] < 0.030


def decision_at(hand: str, **more: object) -> Decision:
    position = {
        "players": ["anna", "ben"],
        "hands": {"anna": hand, "ben": "2C 3D 9D JS 4H"},
        "discards": "4S",
        "stock": "5D QD 6H 2D 8C TD",
        "turn": "anna",
        **more,
    }
    game, events = set_up(CATALOG.rules(players=2), position)
    return Decision(seat_view(game, 0), game.rules, tuple(events))


@pytest.mark.parametrize("name", sorted(name for name, kind in kinds().items() if name in ("normal", "expert")))
@pytest.mark.parametrize(
    ("hand", "more", "wanted"),
    [
        pytest.param("7S 7H KC 2H", {"discards": "9C 7D"}, "lay 21 points more", id="a take"),
        pytest.param("7S 9H KC 2H", {"discards": "QS"}, "unknown card of the stock", id="a draw"),
        pytest.param("7S 7H 7D 2H KC", {"phase": "play"}, "earns 21 points for certain", id="a meld"),
        pytest.param("KC 7S 7H 2H", {"phase": "play"}, "goes with nothing that you hold", id="a discard"),
    ],
)
def test_it_says_in_a_sentence_why(name: str, hand: str, more: dict[str, object], wanted: str) -> None:
    bot: Adviser = built_in("expert,samples=4" if name == "expert" else name, seed=1)  # type: ignore[assignment]

    advice = bot.advise(decision_at(hand, **more))

    assert advice.actions
    assert wanted in advice.sentence
    assert advice.sentence.endswith(".")


def test_near_the_target_winning_matters_more_than_points() -> None:
    """The round is over, ten points ahead: whether that wins or loses the game depends on the totals before it."""
    rules = CATALOG.rules("", (), {"target": 100}, players=2)
    game, _ = set_up(
        rules,
        {
            "players": ["anna", "ben"],
            "hands": {"anna": "KC", "ben": "KD"},
            "discards": "4S",
            "stock": "5D QD",
            "turn": "anna",
            "phase": "play",
        },
    )
    round = game.round
    assert round is not None
    round.apply(0, Discard(read_card("KC")))

    leads = [lead_of(round, 0, Stakes(totals, 100)) for totals in ((0, 0), (100, 0), (0, 120))]

    assert leads == [10.0, 10.0 + WINNING, 10.0 - WINNING]


@pytest.mark.parametrize("style", ["balanced", "cautious", "greedy", "digger"])
@pytest.mark.parametrize("name", ["normal", "expert,samples=1"])
def test_every_style_plays(name: str, style: str) -> None:
    bots = [built_in(f"{name},style={style}", seed=seat) for seat in range(2)]

    assert play_game(Game(CATALOG.rules(players=2), single_round=True), bots, seed=bytes(32)).rounds_played == 1


def cards_taken(style: str) -> float:
    sizes = []
    for number in range(12):
        said: list[str] = []
        bots: list[Bot] = [Noting(built_in(f"normal,style={style}", seed=0), said), built_in("normal", seed=0)]
        play_game(Game(CATALOG.rules(players=2), single_round=True), bots, seed=seed_for(b"styles", number))
        sizes.append(sum(line.startswith("take") for line in said) / max(1, sum(line == "draw" for line in said)))
    return sum(sizes) / len(sizes)


def test_a_digger_takes_more_often_than_the_cautious() -> None:
    assert cards_taken("digger") > cards_taken("balanced") > cards_taken("cautious")


@pytest.mark.skipif(not LONG, reason="takes minutes; RUMMY500_LONG=1")
@pytest.mark.parametrize("preset", ["classic", "pagat", "bicycle"])
def test_it_beats_normal(preset: str) -> None:
    rules = CATALOG.rules(preset, players=2)
    leads = []
    for deal in range(DEALS):
        lead = 0
        for seat in range(2):
            bots: list[Bot] = [built_in("normal", seed=0), built_in("normal", seed=0)]
            bots[seat] = built_in("expert", seed=deal)
            totals = play_game(Game(rules, single_round=True), bots, seed=seed_for(b"strength", deal)).totals
            lead += totals[seat] - totals[1 - seat]
        leads.append(lead / 2)

    assert interval(leads).low > 0
