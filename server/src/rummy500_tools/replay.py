"""`rummy500 replay`: shows a recorded game step by step, with all hands or with the eyes of one seat."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from rummy500_arena.records import Header
from rummy500_arena.verification import Record, RecordDiffers, RecordUnreadable, Step, follow
from rummy500_engine.cards import cards_of, cards_text
from rummy500_engine.notation import write_meld
from rummy500_tools.record_file import (
    DIFFERS,
    HOLDS,
    NoRecord,
    add_choice_of_record,
    chosen_record,
    fail,
    installed_rules,
)


def add(subparsers: Any) -> None:
    """Adds the subcommand to the parser of `rummy500`."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "replay",
        help="show a recorded game step by step",
        description="Shows a recorded game step by step, without a server. The engine plays each step again; where the "
        "record differs from it the replay ends there. Exit code 0, 1 when it differs, 2 when it is no record.",
    )
    add_choice_of_record(parser, seat="see with the eyes of this player")
    parser.add_argument("--step", type=int, metavar="N", help="show only the table after action N (0: as dealt)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    try:
        chosen = chosen_record(arguments)
        lines = _show(chosen.record, chosen.seat, step=arguments.step)
        if chosen.of > 1:
            print(f"game {arguments.game} of {chosen.of}")
        for line in lines:
            print(line)
    except (NoRecord, RecordUnreadable) as error:
        return fail("replay", str(error))
    except RecordDiffers as difference:
        sys.stdout.flush()
        print(f"rummy500 replay: the engine does not agree: {difference}", file=sys.stderr)
        return DIFFERS
    return HOLDS


def _show(record: Record, seat: int | None, *, step: int | None) -> Iterator[str]:
    steps = follow(record, installed_rules())
    if step is None:
        for each in steps:
            yield from _line(each, seat)
        return
    at_step: list[str] = []
    done = 0
    for each in steps:
        done = each.line["action"] if each.line["type"] == "action" else done
        if done > step:
            break
        if each.line["type"] in ("deal", "action") or not at_step:
            at_step = list(_table(each, seat))
    if done < step:
        raise NoRecord(f"there is no step {step}: the game has {done} actions")
    yield from at_step


def _line(step: Step, seat: int | None) -> Iterator[str]:
    line, names = step.line, step.header.players
    match line["type"]:
        case "game":
            yield from _opening(step.header)
            if step.header.position is not None:
                yield from _hands(step, seat)
        case "deal":
            yield ""
            yield f"Round {line['round']}, dealt by {names[line['dealer']]}; up-card {line['up_card'] or 'none'}"
            yield from _hands(step, seat)
        case "action":
            yield _action(step, seat)
        case "round":
            yield from _scores(step)
        case "clock":
            yield f"      the clock finishes the turn of {names[line['seat']]}: {line['reason']}"
        case "take_over":
            yield f"      the bot {line['bot']} plays for {names[line['seat']]}: {line['reason']}"
        case "give_back":
            yield f"      {names[line['seat']]} is back"
        case "forfeit":
            yield f"      {names[line['seat']]} forfeits: {line['termination']}"
        case "end":
            yield _ending(step)


def _opening(header: Header) -> Iterator[str]:
    table = header.rules.table
    variants = " ".join(("classic", *table.variants))
    yield f"{' - '.join(header.players)}   ({variants}, {'one round' if header.single_round else 'a game'})"
    if header.match is not None:
        yield f"match of seed {header.match.seed}, deal {header.match.deal}, rotation {header.match.rotation}"


def _action(step: Step, seat: int | None) -> str:
    line, names = step.line, step.header.players
    width = max(map(len, names))
    seen = [note for event in line.get("events", ()) if (note := _note(event, seat))]
    by = f" [{line['by']}]" if "by" in line else ""
    notes = f"   ({', '.join(seen)})" if seen else ""
    return f"{line['action']:>4}  {names[line['seat']]:<{width}}  {line['text']}{by}{notes}"


def _note(event: dict[str, Any], seat: int | None) -> str:
    match event:
        case {"event": "drew", "seat": drawer, "card": card}:
            return f"draws {card}" if seat is None or seat == drawer else ""
        case {"event": "took", "cards": cards, "must_use": must_use}:
            return f"takes {cards}" + (f", must use {must_use}" if must_use else "")
        case {"event": "melded", "meld": meld}:
            return f"m{meld}"
        case {"event": "laid_off"}:
            return ""
        case {"event": "variant", "variant": variant, "name": name}:
            return f"{variant}: {name}"
        case {"event": name}:
            return str(name).replace("_", " ")
        case _:
            return ""


def _hands(step: Step, seat: int | None) -> Iterator[str]:
    names, held = step.header.players, step.game.round
    if held is None:
        return
    width = max(map(len, names))
    for there, hand in enumerate(held.hands):
        shown = cards_text(cards_of(hand)) if seat is None or seat == there else f"{hand.bit_count()} cards"
        yield f"      {names[there]:<{width}}  {shown}"


def _table(step: Step, seat: int | None) -> Iterator[str]:
    names, there = step.header.players, step.game.round
    yield from _opening(step.header)
    if step.line["type"] == "action":
        yield _action(step, seat)
    if there is None:
        return
    yield from _hands(step, seat)
    for meld in there.melds:
        yield f"      m{meld.id}: {write_meld(meld, names)}"
    yield f"      pile: {cards_text(there.pile) or 'empty'}"
    yield f"      stock: {len(there.stock)} cards"
    asked = ", ".join(names[acting] for acting in step.game.to_act())
    yield f"      {there.phase.value}: {asked}" if asked else "      nobody is to act"


def _scores(step: Step) -> Iterator[str]:
    line, names = step.line, step.header.players
    width = max(map(len, names))
    who = f" by {names[line['out']]}" if line["out"] is not None else ""
    yield f"Round {line['round']} ends: {line['reason'].replace('_', ' ')}{who}"
    for seat, score in enumerate(line["scores"]):
        more = "".join(f" {points:+d} {name}" for name, points in score["adjustments"].items())
        yield (
            f"      {names[seat]:<{width}}  {score['placed']:>4} placed - {score['held']:>3} held{more} = "
            f"{score['points']:>4}, total {line['totals'][seat]}"
        )


def _ending(step: Step) -> str:
    line, names = step.line, step.header.players
    winners = " and ".join(names[seat] for seat in line["winners"]) or "nobody"
    return f"Won by {winners}; {line['termination']}" + (f": {line['sentence']}" if "sentence" in line else "")
