"""Runs scenario files through the engine (NOTATION): a position, steps with their results, and what must hold then."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rummy500_engine.actions import Action
from rummy500_engine.cards import cards_of, cards_text, hand_of, read_cards
from rummy500_engine.events import Event, RoundScored
from rummy500_engine.game import Game
from rummy500_engine.notation import read_action, write_action, write_meld
from rummy500_engine.position import PositionError, meld_placements, melds_of, players_of, set_up
from rummy500_engine.readings import canonical
from rummy500_engine.refusals import Refused
from rummy500_engine.round import Round
from rummy500_engine.rules import Rules
from rummy500_engine.shuffle import seed_for, shuffle
from rummy500_engine.terms import RulesRefused

FIELDS = frozenset(
    (
        "id", "title", "source", "rules", "players", "teams", "dealer", "scores", "hands", "melds", "discards",
        "stock", "turn", "phase", "taken", "call", "turns_played", "recycled", "steps", "then", "table",
    )
)  # fmt: skip
THEN_FIELDS = frozenset(
    (
        "turn", "phase", "hands", "melds", "discards", "stock_count", "round_over", "round_scores", "scores",
        "game_over", "winners", "legal", "legal_includes", "legal_excludes", "next_dealer", "settlement",
    )
)  # fmt: skip
RulesFor = Callable[[Mapping[str, Any], int], Rules]
"""Composes the rules that a scenario's `rules` name, for so many players; raises RulesRefused if they cannot be."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a scenario went: `difference` is the first thing that did not hold, empty if all did."""

    id: str
    title: str
    difference: str

    @property
    def holds(self) -> bool:
        return not self.difference


class _Differs(Exception):
    pass


def check(scenario: object, *, where: str = "scenario") -> Mapping[str, Any]:
    """The scenario if it has the form of one. Raises PositionError, naming the field."""
    if not isinstance(scenario, Mapping):
        raise PositionError(where, "an object is wanted")
    for field in scenario:
        if field not in FIELDS:
            raise PositionError(str(field), f"no field of a scenario; there are {', '.join(sorted(FIELDS))}")
    for field in ("id", "title"):
        if not isinstance(scenario.get(field), str):
            raise PositionError(field, "a text is required")
    players_of(scenario)
    if ("steps" in scenario) is ("table" in scenario):
        raise PositionError("steps", "either steps or table is required")
    for index, step in enumerate(scenario.get("steps", [])):
        if not isinstance(step, Mapping) or not {"player", "action", "result"} <= set(step):
            raise PositionError(f"steps[{index}]", "player, action and result are required")
        _check_then(f"steps[{index}].then", step.get("then", {}))
    _check_then("then", scenario.get("then", {}))
    return scenario


def _check_then(where: str, then: object) -> None:
    if not isinstance(then, Mapping):
        raise PositionError(where, "an object is wanted")
    for field in then:
        if field not in THEN_FIELDS:
            raise PositionError(f"{where}.{field}", f"no such field; there are {', '.join(sorted(THEN_FIELDS))}")


def scenarios_in(document: object) -> Iterator[Mapping[str, Any]]:
    """The scenarios of a file: one object or a list of objects."""
    entries = document if isinstance(document, list) else [document]
    for index, entry in enumerate(entries):
        yield check(entry, where=f"[{index}]")


def run(scenario: Mapping[str, Any], rules_for: RulesFor) -> Outcome:
    """Runs one checked scenario. RulesRefused is an outcome where `table` expects it, else it is raised."""
    runner = _Runner(scenario)
    try:
        if "table" in scenario:
            runner.run_table(rules_for)
        else:
            runner.run_steps(rules_for(scenario.get("rules", {}), len(runner.names)))
    except _Differs as differs:
        return Outcome(scenario["id"], scenario["title"], str(differs))
    return Outcome(scenario["id"], scenario["title"], "")


class _Runner:
    def __init__(self, scenario: Mapping[str, Any]) -> None:
        self.scenario = scenario
        self.names = players_of(scenario)
        self.game: Game | None = None
        self.scored: RoundScored | None = None

    def run_table(self, rules_for: RulesFor) -> None:
        wanted = self.scenario["table"]
        try:
            rules = rules_for(self.scenario.get("rules", {}), len(self.names))
        except RulesRefused as refused:
            self._expect("table.result", wanted.get("result"), "refused", because=str(refused))
            return
        self._expect("table.result", wanted.get("result"), "ok")
        dealer = self.names.index(self.scenario["dealer"]) if "dealer" in self.scenario else len(self.names) - 1
        game = Game(rules, dealer=dealer)
        seed = seed_for(b"scenario", self.scenario["id"])
        game.deal(shuffle(seed, rules.pack), seed=seed)
        round = game.round
        assert round is not None
        found: dict[str, object] = {
            "hand_sizes": {name: hand.bit_count() for name, hand in zip(self.names, round.hands, strict=True)},
            "discards_count": len(round.pile),
            "stock_count": len(round.stock),
            "turn": self.names[round.turn],
            "phase": round.phase.value,
        }
        for field, value in wanted.items():
            if field != "result":
                self._expect(f"table.{field}", value, found.get(field))

    def run_steps(self, rules: Rules) -> None:
        self._check_teams(rules)
        self.game, events = set_up(rules, self.scenario)
        self._note(events)
        for index, step in enumerate(self.scenario["steps"]):
            self._step(index, step)
            self._then(f"steps[{index}].then", step.get("then", {}))
        self._then("then", self.scenario.get("then", {}))

    def _check_teams(self, rules: Rules) -> None:
        sides: dict[int, list[str]] = {}
        for name, side in zip(self.names, rules.sides, strict=True):
            sides.setdefault(side, []).append(name)
        teams = self.scenario.get("teams")
        if teams is not None and sorted(sorted(team) for team in teams) != sorted(
            sorted(side) for side in sides.values()
        ):
            raise PositionError("teams", f"the sides of this table are {sorted(sides.values())}")

    def _note(self, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, RoundScored):
                self.scored = event

    def _step(self, index: int, step: Mapping[str, Any]) -> None:
        game = self.game
        assert game is not None
        where = f"steps[{index}] ({step['player']}: {step['action']})"
        if step["player"] not in self.names:
            raise PositionError(f"steps[{index}].player", f"{step['player']!r} is none of the players")
        seat = self.names.index(step["player"])
        wanted = step["result"] if isinstance(step["result"], list) else [step["result"]]
        result, why, listed = "ok", "", False
        try:
            action = read_action(step["action"], game.rules)
            listed = self._is_listed(seat, action)
            self._note(game.apply(seat, action))
        except Refused as refused:
            result, why = refused.code, refused.sentence
            self._note(refused.events)
        if result not in wanted:
            raise _Differs(f"{where}: wanted {' or '.join(wanted)}, got {result}{f' ({why})' if why else ''}")
        if listed is not (result == "ok"):
            raise _Differs(f"{where}: {result}, yet it {'stands' if listed else 'does not stand'} in the legal actions")

    def _is_listed(self, seat: int, action: Action) -> bool:
        game = self.game
        assert game is not None
        assert game.round is not None
        return not game.over and canonical(game.round, action) in game.legal_actions(seat)

    # --- what must hold

    def _expect(self, where: str, wanted: object, found: object, *, because: str = "") -> None:
        if wanted != found:
            raise _Differs(f"{where}: wanted {wanted}, got {found}{f' ({because})' if because else ''}")

    def _then(self, where: str, then: Mapping[str, Any]) -> None:
        game = self.game
        assert game is not None
        assert game.round is not None
        for field, wanted in then.items():
            self._holds(f"{where}.{field}", field, wanted, game, game.round)

    def _holds(self, where: str, field: str, wanted: Any, game: Game, round: Round) -> None:
        by_name = dict(zip(self.names, range(len(self.names)), strict=True))
        match field:
            case "turn":
                self._expect(where, wanted, self.names[round.turn])
            case "phase":
                self._expect(where, wanted, round.poll.name if round.poll else round.phase.value)
            case "hands":
                for name, text in wanted.items():
                    hand = round.hands[by_name[name]]
                    if hand != hand_of(read_cards(text)):
                        self._expect(f"{where}.{name}", text, cards_text(cards_of(hand)))
            case "melds":
                found = [meld_placements(meld) for meld in round.melds]
                if found != melds_of(game.rules, self.scenario, wanted):
                    self._expect(where, wanted, [write_meld(meld, self.names) for meld in round.melds])
            case "discards":
                self._expect(
                    where, list(read_cards(wanted)), round.pile, because=f"the pile is {cards_text(round.pile)}"
                )
            case "stock_count":
                self._expect(where, wanted, len(round.stock))
            case "round_over":
                self._expect(where, wanted, round.over)
            case "round_scores":
                scores = self.scored.seats if self.scored else ()
                found_scores = {name: score.points for name, score in zip(self.names, scores, strict=False)}
                self._expect(where, wanted, {name: found_scores.get(name) for name in wanted})
            case "scores":
                self._expect(where, wanted, {name: game.totals[by_name[name]] for name in wanted})
            case "game_over":
                self._expect(where, wanted, game.over)
            case "winners":
                winners = game.outcome.winners if game.outcome else ()
                self._expect(where, sorted(wanted), sorted(self.names[seat] for seat in winners))
            case "next_dealer":
                self._expect(where, wanted, self.names[game.dealer])
            case "settlement":
                paid = game.outcome.settlement if game.outcome else ()
                self._expect(where, wanted, dict(zip(self.names, paid, strict=False)))
            case "legal" | "legal_includes" | "legal_excludes":
                lists = wanted if isinstance(wanted, Mapping) else {self.names[round.turn]: wanted}
                for name, texts in lists.items():
                    self._legal(f"{where}.{name}", field, texts, by_name[name])
            case _:
                raise PositionError(where, "no such field")

    def _legal(self, where: str, field: str, texts: Sequence[str], seat: int) -> None:
        game = self.game
        assert game is not None
        assert game.round is not None
        listed = game.legal_actions(seat)
        wanted = [canonical(game.round, read_action(text, game.rules)) for text in texts]
        missing = [write_action(action) for action in wanted if action not in listed]
        if field == "legal_excludes":
            there = [write_action(action) for action in wanted if action in listed]
            self._expect(where, [], there)
            return
        self._expect(f"{where}: not legal", [], missing)
        if field == "legal":
            self._expect(
                f"{where}: also legal", [], [write_action(action) for action in listed if action not in wanted]
            )
