"""`check_variant`: one call that puts a variant through everything that must hold (RULES 4) and names what breaks."""

from __future__ import annotations

import random
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rummy500_catalog import Catalog
from rummy500_engine.game import Game
from rummy500_engine.plugins import Plugin, PluginSet
from rummy500_engine.refusals import Refused
from rummy500_engine.rules import MAX_PLAYERS, MIN_PLAYERS, Rules
from rummy500_engine.terms import OptionValue, RulesRefused, VariantError
from rummy500_engine.view import seat_view
from rummy500_kit.composition import check_order_independence
from rummy500_kit.laws import check_polls, check_turn_ends, round_of
from rummy500_kit.ledger import Ledger
from rummy500_kit.play import Played, Watch, check_replay, play_game, watch_laws
from rummy500_kit.tables import describe, extreme_values, options_of, random_options, table_of
from rummy500_kit.twins import twin_for
from rummy500_kit.witness import Witness

MOST_BESIDE = 3
TRIES = 60

_CHANGES = ("rummy500_perform", "rummy500_poll_result", "rummy500_false_answer", "rummy500_state")
_SUSPECTS: Mapping[str, tuple[str, ...]] = {
    "check_state": _CHANGES,
    "check_conservation": _CHANGES,
    "check_ledger": _CHANGES,
    "check_meld": _CHANGES,
    "check_choices": ("rummy500_poll_actions", "rummy500_veto", "rummy500_actions", "rummy500_poll"),
    "check_notation": ("rummy500_actions", "rummy500_poll_actions", "rummy500_verbs"),
    "check_listing": ("rummy500_actions", "rummy500_poll_actions", "rummy500_verbs", "rummy500_veto"),
    "check_refusals": ("rummy500_actions", "rummy500_poll_actions", "rummy500_false_answer", "rummy500_veto"),
    "check_turn_ends": ("rummy500_actions",),
    "check_polls": ("rummy500_poll_result",),
    "check_clone": ("rummy500_state", "rummy500_perform", "rummy500_poll_result"),
    "check_replay": (*_CHANGES, "rummy500_adjustments", "rummy500_actions", "rummy500_poll"),
    "check_scores": ("rummy500_adjustments",),
    "check_views": ("rummy500_view", "rummy500_actions", "rummy500_poll_actions", "rummy500_veto"),
}
"""Of a law that does not hold: the hooks that could be why, the likeliest first."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check came to see: rounds played, tables of how many kinds, questions by hook."""

    rounds: int
    tables: int
    asked: Mapping[str, int]


def check_variant(
    variant: str | Plugin,
    *,
    rounds: int = 1_000,
    seed: object = "kit",
    options: Mapping[str, OptionValue] | None = None,
    catalog: Catalog | None = None,
) -> Checked:
    """Plays so many rounds at random with the variant, alone and beside other installed variants, with every option
    anywhere in its range but for those that `options` fix (flat keys), for every number of players that it allows.

    Raises VariantError, which names variant, hook and distribution, and the table at which it happened. The same seed
    plays the same games.
    """
    catalog = catalog or Catalog()
    plugin = catalog.plugin(variant) if isinstance(variant, str) else variant
    return _Check(catalog, plugin, seed=seed, options=options or {}).run(rounds)


class _Check:
    def __init__(self, catalog: Catalog, plugin: Plugin, *, seed: object, options: Mapping[str, OptionValue]) -> None:
        self.dice = random.Random(f"{seed} {plugin.name}")
        self.base = catalog.plugin("classic")
        self.witness = Witness(plugin, random.Random(f"witness {seed}"))
        self.plugin = self.witness.plugin
        self.fixed = options
        listed = [listed for listed in catalog.variants() if listed.prefix and not listed.problem]
        self.others = [catalog.plugin(each.name) for each in listed if each.name != plugin.name]

    def run(self, rounds: int) -> Checked:
        self.verify_words()
        self.verify_options()
        played, tables, refused, number = 0, 0, "", 0
        while played < rounds:
            number += 1
            rules = self.table(number)
            if isinstance(rules, RulesRefused):
                refused = refused or str(rules)
                if not tables and number >= TRIES:
                    problem = f"refuses each of {TRIES} tables, the first with: {refused}"
                    raise self.witness.broken("rummy500_table_refusal", problem)
                continue
            tables += 1
            played += self.play(rules, number)
        if tables >= TRIES and not self.fixed:
            self.verify_verbs(tables)
        return Checked(played, tables, dict(self.witness.asked))

    # --- what it says of itself

    def verify_words(self) -> None:
        sentence = PluginSet(self.base, (self.plugin,)).own(self.plugin, "rummy500_sentence")
        if not isinstance(sentence, str) or not sentence.strip():
            raise self.witness.broken("rummy500_sentence", f"answered {sentence!r}: one sentence for people is wanted")

    def verify_options(self) -> None:
        """Each value at the end of a range makes a table, or is refused with a reason; none breaks it."""
        options = options_of(self.base, self.plugin)
        for key, option in options.items():
            if not option.sentence.strip():
                raise self.witness.broken("rummy500_options", f"{key} has no sentence for people")
            for value in extreme_values(option):
                players = self.dice.randint(MIN_PLAYERS, MAX_PLAYERS)
                table_of(self.base, [self.plugin], players=players, options={key: value, **self.fixed})

    def verify_verbs(self, tables: int) -> None:
        """A variant without verbs at a table is not asked for actions there."""
        hook = "rummy500_actions"
        if hook in self.witness.hooks and not self.witness.asked[hook]:
            raise self.witness.broken(hook, f"was never asked: rummy500_verbs named no verb at any of {tables} tables")

    # --- tables

    def table(self, number: int) -> Rules | RulesRefused:
        """Every other table is the variant alone; the rest has up to three others beside it."""
        most = min(MOST_BESIDE, len(self.others))
        beside = self.dice.sample(self.others, self.dice.randint(1, most)) if most and number % 2 else []
        plugins = [self.plugin, *beside]
        options = {**random_options(self.base, plugins, self.dice), **self.fixed}
        players = self.dice.randint(MIN_PLAYERS, MAX_PLAYERS)
        rules = table_of(self.base, plugins, players=players, options=options)
        if beside and isinstance(rules, Rules):
            given = {key: value for key, value in rules.table.options.items() if "." in key or key == "deal"}
            try:
                check_order_independence(self.base, plugins, players=players, options=given)
            except AssertionError as error:
                raise self.witness.broken(self.witness.last, f"{error}, at {describe(rules)}") from error
        return rules

    # --- play

    def play(self, rules: Rules, number: int) -> int:
        played = Played(rules, b"check %d" % number)
        games: list[Game] = []
        try:
            watch = self.watch(games)
            played = play_game(rules, played.secret, self.dice, watch=watch, most_rounds=2)
            check_polls(played.events)
            check_replay(played)
        except VariantError as error:
            if error.variant != self.plugin.name:
                raise
            raise self.witness.broken(error.hook, f"{error.problem}; at {_moment(rules, games)}") from error
        except (AssertionError, Refused, LookupError, TypeError, ValueError) as error:
            hook = self.suspect(error, games)
            what = str(error) or type(error).__name__
            raise self.witness.broken(hook, f"{what}; at {_moment(rules, games)}") from error
        return played.rounds

    def watch(self, games: list[Game]) -> Watch:
        """The laws, some at every step, those that take time now and then."""
        laws = watch_laws(self.dice, closely=300)

        def watch(game: Game, ledger: Ledger) -> None:
            games[:] = [game]
            if self.dice.randrange(4) and not round_of(game).over:
                return
            laws(game, ledger)
            if round_of(game).over or self.dice.randrange(8):
                return
            check_views(game, self.dice)
            for seat in game.to_act():
                check_turn_ends(game, seat, self.dice)

        return watch

    def suspect(self, error: BaseException, games: Sequence[Game]) -> str:
        """The hook that is likeliest to be why a law does not hold."""
        law = next((name for name in _calls(error) if name in _SUSPECTS), "")
        if not law and isinstance(error, Refused):
            law = "check_listing"  # what was listed has been refused
        suspects = [hook for hook in _SUSPECTS.get(law, ()) if hook in self.witness.hooks]
        in_poll = bool(games) and games[0].round is not None and games[0].round.poll is not None
        if law == "check_choices" and not in_poll:
            suspects = [hook for hook in suspects if not hook.startswith("rummy500_poll")]
        if suspects:
            return suspects[0]
        rest = sorted(set(self.witness.hooks) - {"rummy500_options", "rummy500_sentence"})
        return self.witness.last if law == "" else " or ".join(rest)


def check_views(game: Game, dice: random.Random) -> None:
    """Nobody's view, and nobody's choices, change when the cards that they may not see are exchanged (law 5)."""
    for viewer in (None, *range(game.rules.players)):
        twin = twin_for(game, viewer, dice)
        assert seat_view(twin, viewer) == seat_view(game, viewer), f"seat {viewer} sees what it may not"


def _calls(error: BaseException) -> list[str]:
    """The functions that the error went through, the innermost first."""
    return [frame.name for frame in reversed(traceback.extract_tb(error.__traceback__))]


def _moment(rules: Rules, games: Sequence[Game]) -> str:
    round = games[0].round if games else None
    when = f"turn {round.turns_played + 1} of round {round.number}, seat {round.turn}; " if round is not None else ""
    return f"{when}{describe(rules)}"
