"""`rummy500 review`: where a player lost points in a recorded game, and what would have been better."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rummy500_arena.verification import Record, RecordDiffers, RecordUnreadable, follow
from rummy500_bots import Decision
from rummy500_bots.appraisal import Appraisal, appraise
from rummy500_engine.actions import Draw, LayMeld, LayOff
from rummy500_engine.notation import read_action, write_action
from rummy500_engine.view import seat_view
from rummy500_tools.record_file import (
    DIFFERS,
    HOLDS,
    NoRecord,
    add_choice_of_record,
    chosen_record,
    fail,
    installed_rules,
)

LEAST = 3.0
"""Points below which a loss is not worth a word."""


@dataclass(frozen=True, slots=True)
class Loss:
    """An action of a record that was not the best."""

    action: int
    round: int
    player: str
    played: str
    appraisal: Appraisal


def add(subparsers: Any) -> None:
    """Adds the subcommand to the parser of `rummy500`."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "review",
        help="show where points were lost in a recorded game, with the better move",
        description="Looks at each draw, call and turn of a recorded game with what its player could see then, and "
        "shows those for which the bot `expert` finds something better, the dearest first. The points are expected "
        "ones: a good move may have turned out badly. Exit code 0, 1 when the engine does not agree with the record, 2 "
        "when it is no record.",
    )
    add_choice_of_record(parser, seat="only this player")
    parser.add_argument("--worst", type=int, default=10, metavar="N", help="so many moves at most (default 10)")
    parser.add_argument("--samples", type=int, default=12, metavar="N", help="guesses for each move (default 12)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    try:
        chosen = chosen_record(arguments)
        losses = list(_losses(chosen.record, chosen.seat, samples=max(1, arguments.samples)))
    except (NoRecord, RecordUnreadable) as error:
        return fail("review", str(error))
    except RecordDiffers as difference:
        print(f"rummy500 review: the engine does not agree: {difference}", file=sys.stderr)
        return DIFFERS
    worst = sorted(losses, key=lambda loss: -loss.appraisal.lost)[: max(0, arguments.worst)]
    for loss in worst:
        better = "; ".join(map(write_action, loss.appraisal.better))
        print(f"action {loss.action}, round {loss.round}, {loss.player}: {loss.played}")
        print(f"      better by about {loss.appraisal.lost:.0f} points: {better}")
        print(f"      {loss.appraisal.sentence}")
    if not worst:
        print("nothing better was found")
    return HOLDS


def _losses(record: Record, seat: int | None, *, samples: int) -> Iterator[Loss]:
    lines = record.lines
    for index, step in enumerate(follow(record, installed_rules())):
        line = lines[index + 1] if index + 1 < len(lines) else {}
        if line.get("type") != "action" or "by" in line or seat not in (None, line.get("seat")):
            continue
        mover, game = line["seat"], step.game
        if game.round is None or mover not in game.to_act():
            continue  # the next line of the record is false, and `follow` says so
        played = read_action(str(line["text"]), game.rules)
        if isinstance(played, LayMeld | LayOff):
            continue
        decision = Decision(seat_view(game, mover), game.rules)
        if len(decision.legal) < 2 and isinstance(played, Draw):
            continue
        appraisal = appraise(decision, played, samples=samples)
        if appraisal is not None and appraisal.lost >= LEAST:
            yield Loss(line["action"], game.round.number, step.header.players[mover], str(line["text"]), appraisal)
