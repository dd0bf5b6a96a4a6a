"""Variants beside each other: every pair, many random sets, and the presets, played at random under the laws."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence

import pytest

from rummy500_bots import Decision, built_in
from rummy500_catalog import Catalog
from rummy500_engine.actions import Action
from rummy500_engine.game import Game
from rummy500_engine.plugins import Plugin
from rummy500_engine.rules import Rules
from rummy500_engine.shuffle import seed_for
from rummy500_engine.terms import RulesRefused
from rummy500_engine.view import seat_view
from rummy500_kit.composition import plain
from rummy500_kit.laws import check_polls
from rummy500_kit.ledger import Ledger
from rummy500_kit.play import Watch, check_replay, deal, play_game, watch_laws
from rummy500_kit.tables import describe, random_options, table_of

LONG = bool(os.environ.get("RUMMY500_LONG"))
GAMES_OF_A_PAIR = 10 if LONG else 1
SETS = 1_000 if LONG else 60
BATCHES = 125 if LONG else 6
MOST_MINIMUM = 250

CATALOG = Catalog()
BASE = CATALOG.plugin("classic")
PLUGINS = {listed.name: CATALOG.plugin(listed.name) for listed in CATALOG.variants() if listed.prefix}
CONTRADICTIONS = {frozenset(("must-discard", "floating"))}
"""Pairs that no choice of options reconciles (RULES 2)."""


def now_and_then(dice: random.Random, *, often: int) -> Watch:
    """The laws at one step in so many, and at the end of each round."""
    laws = watch_laws(dice, closely=100)

    def watch(game: Game, ledger: Ledger) -> None:
        if game.round is None or game.round.over or not dice.randrange(often):
            laws(game, ledger)

    return watch


def play(rules: Rules, dice: random.Random, *, secret: bytes, often: int = 4) -> None:
    try:
        watch, aligned = now_and_then(dice, often=often), seed_for(secret)[0] % 2 == 0
        played = play_game(rules, secret, dice, watch=watch, most_rounds=1, aligned=aligned)
        check_polls(played.events)
        check_replay(played)
    except (AssertionError, LookupError, ValueError) as error:
        raise AssertionError(f"{error}\nat {describe(rules)}, {secret!r}") from error


def table_at_random(plugins: Sequence[Plugin], dice: random.Random) -> Rules | RulesRefused:
    """A table of these variants for any number of players that lets them be."""
    options = random_options(BASE, plugins, dice)
    if "meld-first.minimum" in options:  # far more than a hand holds is another table without melds
        options["meld-first.minimum"] = int(options["meld-first.minimum"]) % (MOST_MINIMUM + 1)
    made: Rules | RulesRefused = RulesRefused("no table was tried")
    for players in dice.sample(range(2, 9), 7):
        made = table_of(BASE, plugins, players=players, options=options)
        if isinstance(made, Rules):
            return made
    return made


@pytest.mark.parametrize("name", list(PLUGINS))
def test_every_pair_plays_or_contradicts_itself(name: str) -> None:
    dice = random.Random(name)
    for other in list(PLUGINS)[list(PLUGINS).index(name) + 1 :]:
        played = 0
        for number in range(GAMES_OF_A_PAIR * 4):
            rules = table_at_random([PLUGINS[name], PLUGINS[other]], dice)
            if isinstance(rules, Rules):
                play(rules, dice, secret=b"pair %d" % number)
                played += 1
            if played == GAMES_OF_A_PAIR:
                break
        contradicts = frozenset((name, other)) in CONTRADICTIONS
        assert bool(played) is not contradicts, f"{name} and {other}: {played} games"


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_sets_of_variants_play(batch: int) -> None:
    dice = random.Random(f"sets {batch}")
    played = 0
    while played < SETS // BATCHES:
        chosen = dice.sample(list(PLUGINS.values()), dice.randint(3, 6))
        rules = table_at_random(chosen, dice)
        if isinstance(rules, Rules):
            play(rules, dice, secret=b"set %d" % played, often=8)
            played += 1


def test_the_order_of_naming_changes_neither_the_rules_nor_the_game() -> None:
    dice = random.Random("order")
    compared = 0
    while compared < (100 if LONG else 8):
        chosen = dice.sample(list(PLUGINS.values()), dice.randint(2, 5))
        options = random_options(BASE, chosen, dice)
        seed = dice.random()
        orders = [chosen, chosen[::-1], dice.sample(chosen, len(chosen))]
        made = [table_of(BASE, order, players=4, options=options) for order in orders]
        first = made[0]
        if isinstance(first, RulesRefused):
            assert {str(each) for each in made} == {str(first)}
            continue
        games = []
        for each in made:
            assert isinstance(each, Rules)
            assert each.digest == first.digest
            assert plain(each) == plain(first)
            games.append(play_game(each, b"order", random.Random(seed), most_rounds=1).events)
        assert games[0] == games[1] == games[2]
        compared += 1


@pytest.mark.parametrize("pair", sorted(map(sorted, CONTRADICTIONS)), ids=" and ".join)
def test_a_contradiction_is_refused_naming_both(pair: Sequence[str]) -> None:
    with pytest.raises(RulesRefused) as refused:
        CATALOG.rules(variants=pair)
    assert all(name in str(refused.value) for name in pair)


# --- presets


def allowed() -> list[tuple[str, int]]:
    found = []
    for listed in CATALOG.presets():
        low, high = listed.preset.players
        for players in range(low, high + 1):
            try:
                CATALOG.rules(listed.name, players=players)
            except RulesRefused:
                if players < 8 and listed.name != "partners":
                    raise
                continue  # eight need two packs or a smaller deal; partners are four or six
            found.append((listed.name, players))
    return found


@pytest.mark.parametrize("bot", ["random", "easy"])
@pytest.mark.parametrize(("preset", "players"), allowed())
def test_bots_play_every_preset_to_the_end(preset: str, players: int, bot: str) -> None:
    short: dict[str, object] = {} if LONG else {"target": 60, "max_rounds": 4}
    rules = CATALOG.rules(preset, options=short, players=players)
    game = Game(rules)
    bots = [built_in(bot, seed=seat) for seat in range(players)]
    decisions = 0
    while not game.over:
        if game.needs_deal:
            deal(game, b"preset")
        for seat in game.to_act():
            answer = bots[seat].act(Decision(seat_view(game, seat), rules))
            assert isinstance(answer, Action)
            game.apply(seat, answer)
            decisions += 1
            if game.needs_deal or game.over or (game.round is not None and game.round.poll is None):
                break
    assert decisions > players
    assert game.outcome is not None
