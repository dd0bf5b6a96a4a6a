"""Two games that differ only in what a viewer may not see, and what can be done in both so that they go on alike."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rummy500_engine.actions import PASS, Action, Call, LayMeld, LayOff, Take, VariantAction
from rummy500_engine.cards import cards_of, cards_text
from rummy500_engine.events import Event
from rummy500_engine.game import Game
from rummy500_engine.legal import refusal
from rummy500_engine.notation import write_action, write_meld
from rummy500_engine.position import set_up
from rummy500_engine.rules import Rules
from rummy500_engine.shuffle import shuffle
from rummy500_engine.terms import Phase
from rummy500_engine.view import redact
from rummy500_kit.candidates import candidates
from rummy500_kit.laws import round_of
from rummy500_kit.play import choose, deal
from rummy500_kit.twins import twin_for

NAMES = ("anna", "ben", "cleo", "dora", "emil", "fred", "gina", "hugo")
MOST_STEPS = 14
ATTEMPTS, MOST_TRIED = 3, 100
NEAR = 10
"""So many cards of the stock stay where they are, if any: the games go on alike for as long."""
SEED = bytes(range(32))


@dataclass(frozen=True, slots=True)
class Step:
    """What happens next: `attempts` are lines of the viewer's that are refused; then `lines`, each of a seat: one of
    the seat in turn, or in a poll one of each that is asked."""

    attempts: tuple[str, ...]
    lines: tuple[tuple[int, str], ...]
    in_poll: bool


@dataclass(frozen=True, slots=True)
class Twins:
    """`viewer` None: a spectator. `rules` as a scenario has them. Each world begins with a position, or with the order
    of its pack."""

    viewer: int | None
    rules: Mapping[str, Any]
    players: int
    positions: tuple[Mapping[str, Any], Mapping[str, Any]] | None
    orders: tuple[Sequence[int], Sequence[int]] | None
    steps: tuple[Step, ...]


def position_of(game: Game, rules: Mapping[str, Any]) -> dict[str, Any]:
    """A game before a draw as a scenario file has it."""
    round, names = round_of(game), NAMES[: game.rules.players]
    return {
        "rules": dict(rules),
        "players": list(names),
        "dealer": names[round.dealer],
        "turn": names[round.turn],
        "hands": {name: cards_text(cards_of(hand)) for name, hand in zip(names, round.hands, strict=True)},
        "melds": [write_meld(meld, names) for meld in round.melds],
        "discards": cards_text(round.pile),
        "stock": cards_text(round.stock[::-1]),
        "scores": dict(zip(names, game.totals, strict=True)),
        "turns_played": round.turns_played,
        "recycled": round.recycled,
        "phase": "draw",
    }


def twins_in_play(rules: Rules, choice: Mapping[str, Any], dice: random.Random) -> Twins | None:
    """Twins from the middle of a round that was played at random. None: the round ended."""
    game = Game(rules, single_round=True)
    deal(game, dice.randbytes(32))
    steps = dice.randrange(90)
    while steps > 0 or round_of(game).phase is not Phase.DRAW:
        steps -= 1
        if round_of(game).over:
            return None
        seat = dice.choice(game.to_act())
        game.apply(seat, choose(game, seat, dice))
    if round_of(game).over:
        return None
    position, viewer = position_of(game, choice), dice.choice((None, *range(rules.players)))
    one, _ = set_up(rules, position)
    if round_of(one).over:
        return None
    other = twin_for(one, viewer, dice, kept=dice.choice((0, NEAR)))
    positions = (position, position_of(other, choice))
    return Twins(viewer, choice, rules.players, positions, None, _script(one, other, viewer, dice))


def twins_from_the_deal(
    rules: Rules, choice: Mapping[str, Any], dice: random.Random, *, viewer: int | None, aligned: bool = False
) -> Twins:
    """Twins from a deal that gives the viewer the same cards and turns up the same; `aligned` as in a match."""
    dealer = rules.players - 1
    order = shuffle(dice.randbytes(32), rules.pack)
    dealt = rules.hand_size * rules.players
    fixed = {dealt, *range(dealt + 1, dealt + 1 + dice.choice((0, NEAR)))}
    if viewer is not None:
        fixed |= {(viewer - dealer - 1) % rules.players + rules.players * card for card in range(rules.hand_size)}
    free = [place for place in range(len(order)) if place not in fixed]
    moved = [order[place] for place in free]
    dice.shuffle(moved)
    exchanged = list(order)
    for place, card in zip(free, moved, strict=True):
        exchanged[place] = card
    one, other = Game(rules, aligned=aligned), Game(rules, aligned=aligned)
    one.deal(order, seed=SEED)
    other.deal(exchanged, seed=SEED)
    return Twins(viewer, choice, rules.players, None, (order, exchanged), _script(one, other, viewer, dice))


def _script(one: Game, other: Game, viewer: int | None, dice: random.Random) -> tuple[Step, ...]:
    steps: list[Step] = []
    while len(steps) < MOST_STEPS and not round_of(one).over:
        attempts = _attempts(one, viewer, dice)
        in_poll = round_of(one).poll is not None
        lines = _answers(one) if in_poll else _one_line(one, other, dice)
        if not lines:
            break
        told, told_other = [_play(game, lines) for game in (one, other)]
        if _part_ways(one, other) or _viewer_learns(told, told_other, viewer):
            break
        steps.append(Step(attempts, tuple((seat, write_action(action)) for seat, action in lines), in_poll))
        if round_of(one).to_act() != round_of(other).to_act():
            break  # that is for the comparison to find
    return tuple(steps)


def _answers(game: Game) -> list[tuple[int, Action]]:
    """All that are asked pass."""
    poll = round_of(game).poll
    assert poll is not None
    return [(seat, PASS) for seat in poll.asked]


def _one_line(one: Game, other: Game, dice: random.Random) -> list[tuple[int, Action]]:
    """An action that both games allow; empty: there is none."""
    (seat,) = one.to_act()
    shared = [action for action in one.legal_actions(seat) if refusal(round_of(other), seat, action) is None]
    plays = [action for action in shared if not isinstance(action, VariantAction)]
    return [(seat, dice.choice(plays or shared))] if shared else []


def _play(game: Game, lines: Sequence[tuple[int, Action]]) -> list[Event]:
    events: list[Event] = []
    for seat, action in lines:
        if seat in game.to_act() and refusal(round_of(game), seat, action) is None:
            events += game.apply(seat, action)
    return events


def _part_ways(one: Game, other: Game) -> bool:
    """The end of a round shows all hands, and may hang on them."""
    return round_of(one).over or round_of(other).over


def _viewer_learns(told: Sequence[Event], told_other: Sequence[Event], viewer: int | None) -> bool:
    """Whether the viewer is shown a card of its own, another one in each game."""
    mine, mine_other = (
        [event for event in events if getattr(event, "seat", -1) == viewer] for events in (told, told_other)
    )
    return [redact(event, viewer) for event in mine] != [redact(event, viewer) for event in mine_other]


def _can_be_written(action: Action) -> bool:
    if isinstance(action, LayMeld):
        return len(action.stands_for) in (0, len(action.cards))
    return not isinstance(action, VariantAction)


def _attempts(game: Game, viewer: int | None, dice: random.Random) -> tuple[str, ...]:
    """Lines of the viewer's that are refused where the game stands, each for another reason."""
    round = round_of(game)
    if viewer is None:
        return ()
    costs = round.poll is not None and bool(round.rules.false_answer)
    tried = [
        action
        for action in candidates(round, viewer, dice)
        if _can_be_written(action) and not (costs and isinstance(action, Call))
    ]
    dice.shuffle(tried)
    near: list[Action] = [Take(card, place) for place, card in enumerate(round.pile, 1)]
    near += [LayOff(card, meld.id) for meld in round.melds for card in cards_of(round.hands[viewer])]
    found: dict[str, Action] = {}
    for action in (*near, *tried[:MOST_TRIED]):
        refused = refusal(round, viewer, action)
        if refused is not None:
            found.setdefault(refused.code, action)
    codes = dice.sample(sorted(found), min(ATTEMPTS, len(found)))
    return tuple(write_action(found[code]) for code in codes)
