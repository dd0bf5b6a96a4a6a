"""docs/records.md names every field that a record has, and no other."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rummy500_arena.plan import Plan, secret_of_seed
from rummy500_arena.records import CLOCK, Ending, Header, MatchPlace, Recorder, digest_of
from rummy500_bots import Decision, built_in
from rummy500_catalog import Catalog
from rummy500_engine.shuffle import seed_for
from rummy500_engine.view import seat_view

PAGE = (Path(__file__).parents[2] / "docs/records.md").read_text()
ROWS = dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| (.+) \|$", PAGE, re.MULTILINE))


def documented(kind: str) -> set[str]:
    return {"type", "times"} | set(re.findall(r"`(\w+)`", re.sub(r"\(.*?\)|: `TIMEOUT.*", "", ROWS[kind])))


def a_record() -> list[dict[str, Any]]:
    """A game of a match in which the clock plays a turn, a bot plays for a seat, and the seat forfeits."""
    rules = Catalog().rules(players=2)
    place = MatchPlace(seed=7, unit="game", bots=("easy", "random"), pairing=0, deal=0, rotation=0, unpaired=True)
    header = Header(
        rules=rules,
        preset="classic",
        players=("easy", "random"),
        seed=bytes(32),
        engine="0.1.0",
        dealer=1,
        aligned=True,
        match=place,
        times={"created_ms": 1},
    )
    recorder = Recorder(header)
    bots = [built_in("easy", seed=0), built_in("random", seed=0)]
    recorder.finish_turn(0, "TIMEOUT", times={"overrun_ms": 1})
    while not recorder.game.rounds_played:
        (seat,) = recorder.game.to_act()
        answer = bots[seat].act(Decision(seat_view(recorder.game, seat), rules))
        assert not isinstance(answer, Sequence)
        recorder.act(seat, answer, by=CLOCK if recorder.actions < 2 else "", times={"spent_ms": 1})
    recorder.take_over(1, "easy", "TIMEOUT", times={"overrun_ms": 1})
    recorder.give_back(1)
    recorder.forfeit(1, "TIMEOUT")
    recorder.end(Ending("TIMEOUT", at_fault=1, winners=(0,), sentence="random forfeited."))
    return [json.loads(line) for line in recorder.text().splitlines()]


def test_every_type_of_line_and_each_of_its_fields_is_on_the_page() -> None:
    lines = a_record()

    assert {line["type"] for line in lines} == set(ROWS)
    for line in lines:
        assert set(line) <= documented(line["type"]), line
        for inner in ("rules", "match"):
            assert all(f"`{field}`" in PAGE for field in line.get(inner, {}))
        for event in line.get("events", ()):
            assert f"`{event['event']}`" in PAGE
            assert all(f"`{field}`" in PAGE for field in event if field != "event")
        for score in line.get("scores", ()):
            assert all(f"`{field}`" in PAGE for field in score)
        assert all(f"`{field}`" in PAGE for field in line.get("times", {}))


def test_the_digest_is_made_as_the_page_says() -> None:
    lines = a_record()
    text = "".join(
        json.dumps(
            {k: v for k, v in line.items() if k not in ("times", "digest")}, sort_keys=True, separators=(",", ":")
        )
        + "\n"
        for line in lines
    )

    assert lines[-1]["digest"] == digest_of(lines) == hashlib.sha256(text.encode()).hexdigest()


def test_the_seed_of_a_deal_is_made_as_the_page_says() -> None:
    plan = Plan(bots=2, players=2, deals=3, secret=secret_of_seed(7))

    assert plan.game(4).seed == seed_for((7).to_bytes(8, "big"), "deal", 2)
