"""The built-in bots: what they are called, how they play, and that they play any legal game to its end."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

import pytest

from rummy500_arena.play import play_game
from rummy500_bots import Bot, BotRefused, BotSpec, Decision, built_in, kinds
from rummy500_catalog import Catalog
from rummy500_engine.actions import Action, Discard, LayMeld
from rummy500_engine.events import DrewFromStock, RoundDealt
from rummy500_engine.game import Game
from rummy500_engine.notation import read_action, write_action
from rummy500_engine.position import set_up
from rummy500_engine.rules import Rules
from rummy500_engine.shuffle import seed_for
from rummy500_engine.view import seat_view

CATALOG = Catalog()
LONG = os.environ.get("RUMMY500_LONG") == "1"
ROUNDS = 1_000 if LONG else 30
QUICK = sorted(name for name, kind in kinds().items() if not kind.thinks)


def rules_for(players: int, variants: tuple[str, ...] = (), **options: object) -> Rules:
    if players == 8:
        options.setdefault("deal", 6)
    return CATALOG.rules("", variants, options, players=players)


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("players", range(2, 9))
def test_every_bot_plays_rounds_of_every_size_to_their_end(name: str, players: int) -> None:
    rules = rules_for(players)

    for number in range(ROUNDS):
        bots = [built_in(name, seed=number * players + seat) for seat in range(players)]
        game = play_game(Game(rules, single_round=True), bots, seed=seed_for(b"rounds", players, number))

        assert game.rounds_played == 1


@pytest.mark.parametrize("players", [2, 3, 5])
def test_bots_play_whole_games_to_the_target(players: int) -> None:
    rules = rules_for(players)
    names = ["easy", "random"]

    for number in range(30 if LONG else 3):
        bots = [built_in(names[seat % 2], seed=seat) for seat in range(players)]
        game = play_game(Game(rules), bots, seed=seed_for(b"games", players, number))

        assert game.outcome is not None


@pytest.mark.parametrize("preset", [each.name for each in CATALOG.presets() if each.is_available])
@pytest.mark.parametrize("players", [2, 4, 6])
def test_bots_play_at_tables_whose_variants_they_do_not_know(preset: str, players: int) -> None:
    low, high = next(each.preset.players for each in CATALOG.presets() if each.name == preset)
    rules = CATALOG.rules(preset, players=min(max(players, low), high))
    for number in range(ROUNDS // 5):
        names = ["easy", "normal", "random"] * 3
        bots = [built_in(names[seat], seed=number + seat) for seat in range(rules.players)]
        game = play_game(Game(rules, single_round=True), bots, seed=seed_for(b"presets", number))

        assert game.rounds_played == 1


@pytest.mark.parametrize("variant", [each.name for each in CATALOG.variants() if each.name != "classic"])
def test_bots_play_with_any_variant(variant: str) -> None:
    rules = rules_for(4, (variant,))
    for number in range(ROUNDS // 5):
        bots = [built_in(name, seed=number) for name in ("normal", "random", "normal", "easy")]
        game = play_game(Game(rules, single_round=True), bots, seed=seed_for(b"variants", number))

        assert game.rounds_played == 1


@pytest.mark.parametrize("name", QUICK)
def test_the_same_seed_plays_the_same_round(name: str) -> None:
    def play() -> list[str]:
        said: list[str] = []
        bots = [built_in(name, seed=5), built_in(name, seed=6)]
        play_game(
            Game(rules_for(2), single_round=True),
            bots,
            seed=bytes(32),
            watcher=lambda seat, action, events: said.append(f"{seat} {write_action(action)}"),
        )
        return said

    assert play() == play()


def test_random_takes_another_seed_from_its_settings() -> None:
    def first_choices(spec: str, seed: int) -> list[str]:
        said: list[str] = []
        bots = [built_in(spec, seed=seed), built_in("easy", seed=0)]
        play_game(
            Game(rules_for(2), single_round=True),
            bots,
            seed=bytes(32),
            watcher=lambda seat, action, events: said.append(write_action(action)),
        )
        return said

    assert first_choices("random,seed=3", 1) == first_choices("random,seed=3", 2) == first_choices("random", 3)
    assert first_choices("random", 1) != first_choices("random", 2)


def easy_action(decision: Decision) -> Action:
    answer = built_in("easy", seed=0).act(decision)
    assert not isinstance(answer, Sequence)
    return answer


def test_random_plays_on_in_the_same_way_when_it_is_made_anew() -> None:
    class Forgetful:
        def act(self, decision: Decision) -> Action:
            answer = built_in("random", seed=5).act(decision)
            assert not isinstance(answer, Sequence)
            return answer

    def play(bot: Bot) -> list[int]:
        game = Game(rules_for(2))
        return play_game(game, [bot, built_in("easy", seed=0)], seed=bytes(32)).totals

    assert play(Forgetful()) == play(built_in("random", seed=5))


def test_random_takes_each_legal_action_equally_often() -> None:
    decision = at("7S 7H 7D 9C 2D", phase="play")
    counts = Counter(built_in("random", seed=seed).act(decision) for seed in range(6_000))

    assert set(counts) == set(decision.legal)
    assert all(850 < count < 1_150 for count in counts.values()), counts


class Listening:
    """Plays like easy and keeps what it was told."""

    def __init__(self) -> None:
        self.heard: list[Decision] = []

    def act(self, decision: Decision) -> Action:
        self.heard.append(decision)
        return easy_action(decision)


def test_a_bot_is_told_what_its_seat_may_see_and_nothing_else() -> None:
    listening = Listening()

    play_game(Game(rules_for(2), single_round=True), [listening, built_in("random", seed=1)], seed=bytes(32))

    dealt = listening.heard[0].events[0]
    assert isinstance(dealt, RoundDealt)
    assert dealt.hands[0] is not None
    assert dealt.hands[1] is None
    for decision in listening.heard:
        assert decision.legal
        for event in decision.events:
            assert not isinstance(event, DrewFromStock) or (event.card is None) is (event.seat != 0)


def at(hand: str, melds: tuple[str, ...] = (), **more: object) -> Decision:
    position = {
        "players": ["anna", "ben"],
        "hands": {"anna": hand, "ben": "2C 3D"},
        "melds": list(melds),
        "discards": "4S",
        "stock": "5D KC",
        "turn": "anna",
        "phase": "play",
        **more,
    }
    game, _ = set_up(rules_for(2), position)
    return Decision(seat_view(game, 0), game.rules)


@pytest.mark.parametrize(
    ("hand", "melds", "phase", "wanted"),
    [
        pytest.param("7S 7H 7D 9C", (), "draw", "draw", id="draws from the stock"),
        pytest.param("9H TH JH QH 2S", (), "play", "meld 9H TH JH QH", id="melds the most points"),
        pytest.param("QH 2S", ("9H TH JH by ben",), "play", "layoff QH m1", id="lays off what it can"),
        pytest.param("KH KD 9S 6C", (), "play", "discard 9S", id="throws the highest loose card, not the pair"),
        pytest.param("KH KD", (), "play", "discard KH", id="breaks a pair when nothing is loose"),
        pytest.param("AS 2S 9D", (), "play", "discard 9D", id="keeps an ace with its two"),
    ],
)
def test_easy_plays_as_a_beginner(hand: str, melds: tuple[str, ...], phase: str, wanted: str) -> None:
    assert write_action(easy_action(at(hand, melds, phase=phase))) == wanted


def test_easy_declines_the_pile_when_the_stock_is_empty() -> None:
    decision = at("QH 2S", ("9H TH JH by ben",), stock="", discards="4S KH", phase="draw")

    assert write_action(easy_action(decision)) == "pass"


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("grandmaster", "there is no built-in bot 'grandmaster'; there are easy, expert, normal, random"),
        ("", "there is no built-in bot ''; there are easy, expert, normal, random"),
        ("easy,level=3", "the bot easy has no setting 'level'; it has none"),
        ("random,luck=1", "the bot random has no setting 'luck'; it has seed"),
        ("random,seed=-1", "the setting seed of the bot random is '-1'"),
        ("random,seed=1,seed=2", "the setting seed of the bot random is given twice"),
        ("random,seed", "'seed' in 'random,seed' is no setting"),
    ],
)
def test_an_unknown_bot_or_setting_is_refused_by_name(spec: str, sentence: str) -> None:
    with pytest.raises(BotRefused, match=f"^{sentence}"):
        built_in(spec, seed=0)


def test_a_spec_is_written_as_it_is_read() -> None:
    assert str(BotSpec.read("random, seed=3")) == "random,seed=3"


def test_an_answer_with_several_actions_is_applied_in_order() -> None:
    class AllAtOnce:
        """Melds and throws in one answer."""

        def act(self, decision: Decision) -> list[Action]:
            for meld in decision.legal:
                if isinstance(meld, LayMeld):
                    loose = [a for a in decision.legal if isinstance(a, Discard) and a.card not in meld.cards]
                    return [meld, *loose[:1]]
            return [easy_action(decision)]

    answers: list[int] = []
    bot = AllAtOnce()
    game = play_game(
        Game(rules_for(2), single_round=True),
        [bot, bot],
        seed=bytes(32),
        watcher=lambda seat, action, events: answers.append(seat),
    )

    assert game.rounds_played == 1
    assert answers


@pytest.mark.parametrize("priority", ["seat_order", "first_received"])
@pytest.mark.parametrize(("thrown", "wanted"), [("TD", "call TD m1"), ("2H", "pass")])
def test_easy_calls_what_can_be_called_and_else_lets_the_others_call(priority: str, thrown: str, wanted: str) -> None:
    rules = rules_for(3, ("call-rummy",), **{"call-rummy.scope": "with_hand", "call-rummy.priority": priority})
    position = {
        "players": ["anna", "ben", "cleo"],
        "hands": {"anna": f"{thrown} 3S", "ben": "4S KH", "cleo": "KC 5H"},
        "melds": ["7D 8D 9D by cleo"],
        "discards": "5S",
        "stock": "3C 4C",
        "turn": "anna",
        "phase": "play",
    }
    game, _ = set_up(rules, position)
    game.apply(0, read_action(f"discard {thrown}", rules))
    assert write_action(easy_action(Decision(seat_view(game, 1), rules))) == wanted
