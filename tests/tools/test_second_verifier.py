"""A verifier in another language, written from the pages alone, agrees with ours on records and on forgeries."""

from __future__ import annotations

import copy
import io
import json
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from rummy500_arena.records import CLOCK, STAND_IN, Ending, Fair, Header, MatchPlace, Recorder, digest_of, line_text
from rummy500_arena.verification import RecordUnreadable, records_in, verify
from rummy500_catalog import Catalog
from rummy500_engine.rules import Rules
from rummy500_engine.shuffle import seed_for

NODE = shutil.which("node")
VERIFIER = Path(__file__).parents[2] / "clients/examples/node/verify.mjs"
CATALOG = Catalog()
TABLES: tuple[tuple[str, tuple[str, ...], Mapping[str, Any]], ...] = (
    ("classic", (), {}),
    ("classic", ("stock-out",), {"stock-out.rule": "reshuffle"}),
    ("classic", ("stock-out",), {"stock-out.rule": "flip", "deal": 10}),
    ("classic", ("stock-out", "call-rummy"), {"stock-out.rule": "reshuffle", "deal": 9}),
    ("classic", ("jokers", "two-decks", "call-rummy"), {"jokers.exchange": "exact", "deal": 5}),
    ("classic", ("call-rummy",), {"call-rummy.take": "card_only", "call-rummy.turn": "none"}),
    ("pagat", (), {"deal": 5}),
    ("floating", (), {"deal": 5}),
    ("bicycle", ("deal",), {"deal": 5}),
    ("ten-card", (), {"deal": 5, "deal_two": 5}),
)
Lines = list[dict[str, Any]]

pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")


def rules_for(variants: Sequence[str], options: Mapping[str, Any], players: int) -> Rules:
    return CATALOG.rules("classic", variants, options, players=players)


def record(number: int) -> Lines:
    """A game of random actions; every tenth from a given seed, some in a match, some with chance from the seats, every
    third with aligned draws."""
    preset, variants, options = TABLES[number % len(TABLES)]
    players = 2 + number // len(TABLES) % 3
    is_fair, is_match = number % 10 != 9, number % 4 == 0
    entropy = tuple(b"" if is_match or (number + seat) % 3 == 0 else bytes([seat]) * 32 for seat in range(players))
    header = Header(
        rules=CATALOG.rules(preset, variants, options, players=players),
        preset=preset,
        players=tuple(f"Zoë {seat}" for seat in range(players)),
        seed=seed_for(b"second", number),
        engine="0.1.0",
        dealer=number % players,
        single_round=number % 7 != 0,
        aligned=number % 3 == 0,
        table="" if is_match else f"t-{number:012}",
        match=MatchPlace(None if is_fair else 2**63 + 1, "deal", ("a", "b"), 0, 3, 1) if is_match else None,
        fair=Fair("3.1" if is_match else f"t-{number:012}", entropy) if is_fair else None,
        times={"created_ms": 1_790_000_000_000},
    )
    recorder, dice = Recorder(header), random.Random(number)
    away: set[int] = set()
    while recorder.game.to_act() and recorder.game.rounds_played < 2:
        seat = recorder.game.to_act()[0]
        legal = recorder.game.legal_actions(seat)
        by = STAND_IN if seat in away else CLOCK if dice.random() < 0.02 else ""
        if by == CLOCK:
            recorder.finish_turn(seat, "TIMEOUT", times={"overrun_ms": 1})
        recorder.act(seat, dice.choice(legal), by=by, times={"spent_ms": 3})
        if dice.random() < 0.02:
            if seat in away:
                recorder.give_back(seat)
            else:
                recorder.take_over(seat, "easy", "DISCONNECT", times={"overrun_ms": 2})
            away ^= {seat}
    over = not recorder.game.to_act()
    recorder.end(Ending() if over else Ending("CANCELLED", winners=(), sentence="closed"))
    return [json.loads(line) for line in recorder.text().splitlines()]


def text_of(lines: Lines) -> str:
    return "".join(f"{line_text(line)}\n" for line in lines)


def ours(text: str) -> bool:
    try:
        return all(verify(found, rules_for) is None for found in records_in(io.StringIO(text)))
    except RecordUnreadable:
        return False


def theirs(*paths: Path) -> list[str]:
    assert NODE is not None
    command = [NODE, str(VERIFIER), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert not done.stderr
    return done.stdout.splitlines()


def test_both_agree_on_a_hundred_records(tmp_path: Path) -> None:
    records = [record(number) for number in range(100)]
    path = tmp_path / "records.jsonl"
    path.write_text("".join(map(text_of, records)), encoding="utf-8")

    assert ours(path.read_text(encoding="utf-8"))
    assert theirs(path) == [f"{path}: 90 fair deal proven, 10 reproducible from a given seed"]
    kinds = {event["event"] for lines in records for line in lines for event in line.get("events", ())}
    assert kinds >= {"drew", "took", "melded", "laid_off", "exchanged", "stock_recycled", "poll_closed"}
    recycled = [e for lines in records for line in lines for e in line.get("events", ()) if "shuffled" in e]
    assert {event["shuffled"] for event in recycled} == {True, False}


# --- forgeries: each with a digest that fits


def first(lines: Lines, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    return next(line for line in lines if wanted(line))


def an_event(lines: Lines, kind: str) -> dict[str, Any]:
    return next(event for line in lines for event in line.get("events", ()) if event["event"] == kind)


def deal_of(lines: Lines) -> dict[str, Any]:
    return first(lines, lambda line: line["type"] == "deal")


def flipped(text: str) -> str:
    return ("1" if text[0] == "0" else "0") + text[1:]


def swapped(cards: str, *, at: int = 0) -> str:
    one = cards.split()
    other = next(index for index in range(at + 1, len(one)) if one[index] != one[at])
    one[at], one[other] = one[other], one[at]
    return " ".join(one)


def forge_seed(lines: Lines) -> None:
    lines[0]["seed"] = flipped(lines[0]["seed"])


def forge_seed_and_commitments(lines: Lines) -> None:
    """Another secret, committed to as it should be: the cards are not its cards."""
    lines[0]["seed"] = flipped(lines[0]["seed"])
    secret, place = bytes.fromhex(lines[0]["seed"]), lines[0]["fair"]["place"]
    lines[0]["fair"]["commitment"] = seed_for(secret, "commitment", place, 0).hex()
    for line in lines:
        if line["type"] == "deal":
            own = seed_for(secret, "round", line["round"])
            line["commitment"] = seed_for(own, "commitment", place, line["round"]).hex()


def forge_commitment(lines: Lines) -> None:
    lines[0]["fair"]["commitment"] = flipped(lines[0]["fair"]["commitment"])


def forge_round_commitment(lines: Lines) -> None:
    deal_of(lines)["commitment"] = flipped(deal_of(lines)["commitment"])


def forge_round_commitment_away(lines: Lines) -> None:
    del deal_of(lines)["commitment"]


def forge_place(lines: Lines) -> None:
    lines[0]["fair"]["place"] = "t-another"


def forge_entropy(lines: Lines) -> None:
    entropy = lines[0]["fair"]["entropy"]
    entropy[:] = [flipped(added) if added else "ab" * 32 for added in entropy]


def forge_entropy_away(lines: Lines) -> None:
    lines[0]["fair"]["entropy"] = [""] * len(lines[0]["players"])


def forge_entropy_of_a_seat_more(lines: Lines) -> None:
    lines[0]["fair"]["entropy"].append("")


def forge_short_entropy(lines: Lines) -> None:
    lines[0]["fair"]["entropy"][0] = "ab"


def forge_match_from_a_seed(lines: Lines) -> None:
    place = {"seed": 7, "unit": "deal", "bots": ["a", "b"], "pairing": 0, "deal": 3, "rotation": 1}
    lines[0]["match"] = place


def forge_fairness_away(lines: Lines) -> None:
    del lines[0]["fair"]
    lines[0]["format"] = 1


def forge_format(lines: Lines) -> None:
    lines[0]["format"] = 1


def forge_draws(lines: Lines) -> None:
    """Aligned draws are called plain ones, plain ones aligned."""
    is_aligned = lines[0].pop("draws", "") == "aligned"
    lines[0] |= {"format": 2} if is_aligned else {"format": 3, "draws": "aligned"}


def forge_draws_of_another_kind(lines: Lines) -> None:
    lines[0] |= {"format": 3, "draws": "blind"}


def forge_hands(lines: Lines) -> None:
    hands = deal_of(lines)["hands"]
    hands[0], hands[1] = hands[1], hands[0]


def forge_order_in_a_hand(lines: Lines) -> None:
    deal_of(lines)["hands"][0] = swapped(deal_of(lines)["hands"][0])


def forge_stock(lines: Lines) -> None:
    deal_of(lines)["stock"] = swapped(deal_of(lines)["stock"])


def forge_stock_bottom(lines: Lines) -> None:
    deal_of(lines)["stock"] = deal_of(lines)["stock"].rpartition(" ")[0]


def forge_up_card(lines: Lines) -> None:
    deal = deal_of(lines)
    top, _, rest = deal["stock"].partition(" ")
    deal["up_card"], deal["stock"] = top, f"{deal['up_card']} {rest}"


def forge_dealer(lines: Lines) -> None:
    deal_of(lines)["dealer"] = (deal_of(lines)["dealer"] + 1) % len(lines[0]["players"])


def forge_round(lines: Lines) -> None:
    deal_of(lines)["round"] = 2


def forge_draw(lines: Lines) -> None:
    drew = an_event(lines, "drew")
    drew["card"] = next(card for card in ("2C", "3C") if card != drew["card"])


def forge_draw_away(lines: Lines) -> None:
    del first(lines, lambda line: line.get("text") == "draw")["events"]


def forge_take(lines: Lines) -> None:
    took = an_event(lines, "took")
    took["cards"] = "2C" if took["cards"] != "2C" else "3C"


def forge_discard(lines: Lines) -> None:
    line = first(lines, lambda line: line.get("text", "").startswith("discard"))
    hand = set(" ".join(deal_of(lines)["hands"][line["seat"]].split()).split())
    line["text"] = next(f"discard {card}" for card in ("JK", "2C", "3C", "4C", "5C") if card not in hand)


def forge_count(lines: Lines) -> None:
    first(lines, lambda line: line["type"] == "action")["action"] = 2


def forge_held_cards(lines: Lines) -> None:
    score = first(lines, lambda line: line["type"] == "round")["scores"]
    held = next(each for each in score if each["hand"])
    held["hand"] = held["hand"].rpartition(" ")[0]


def forge_line_away(lines: Lines) -> None:
    del lines[lines.index(first(lines, lambda line: line.get("text") == "draw"))]


def forge_end_away(lines: Lines) -> None:
    lines.pop()


def forge_line_doubled(lines: Lines) -> None:
    lines.insert(3, copy.deepcopy(lines[2]))


def forge_line_of_no_type(lines: Lines) -> None:
    lines.insert(3, {"type": "comment"})


FORGERIES = [forge for name, forge in list(globals().items()) if name.startswith("forge_")]


def rewritten(lines: Lines) -> Lines:
    """With a digest that fits, if there is a line for it."""
    if lines[-1]["type"] == "end":
        lines[-1]["digest"] = digest_of(lines)
    return lines


def forged(number: int) -> Iterator[tuple[str, Lines]]:
    genuine = record(number)
    for forge in FORGERIES:
        lines = copy.deepcopy(genuine)
        forge(lines)
        yield forge.__name__, rewritten(lines)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_both_refuse_every_forgery(number: int, tmp_path: Path) -> None:
    paths = []
    for name, lines in forged(number):
        path = tmp_path / f"{name}.jsonl"
        path.write_text(text_of(lines), encoding="utf-8")
        assert not ours(path.read_text(encoding="utf-8")), name
        paths.append(path)

    told = theirs(*paths)

    assert len(told) == len(paths) == len(FORGERIES)
    for path, line in zip(paths, told, strict=True):
        assert line.startswith(f"{path}: line "), line


def test_both_refuse_to_call_a_given_position_a_fair_deal(tmp_path: Path) -> None:
    scenarios = json.loads((Path(__file__).parents[1] / "scenarios/digging.json").read_text())
    (position,) = [found for found in scenarios if found["id"] == "dig-001"]
    header = Header(
        rules=CATALOG.rules(players=2),
        preset="classic",
        players=("Anna", "Ben"),
        seed=seed_for(b"second"),
        engine="0.1.0",
        dealer=0,
        single_round=True,
        position=position,
        fair=Fair("t-000000000000", (b"", b"")),
    )
    recorder = Recorder(header)
    recorder.end(Ending("CANCELLED", winners=(), sentence="closed"))
    path = tmp_path / "record.jsonl"
    path.write_text(recorder.text(), encoding="utf-8")

    assert not ours(path.read_text(encoding="utf-8"))
    assert theirs(path) == [f"{path}: line 1: no deal is fair from a given seed or position"]


def test_both_refuse_a_record_whose_digest_does_not_fit(tmp_path: Path) -> None:
    lines = record(1)
    lines[0]["players"][0] = "somebody else"
    path = tmp_path / "record.jsonl"
    path.write_text(text_of(lines), encoding="utf-8")

    assert not ours(path.read_text(encoding="utf-8"))
    assert theirs(path) == [f"{path}: line {len(lines)}: a line of this record was changed after it was written"]


@pytest.mark.parametrize("text", ["", "hello\n", '{"type":"deal"}\n'])
def test_what_is_no_record_is_said_to_be_none(text: str, tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    path.write_text(text, encoding="utf-8")
    assert NODE is not None
    done = subprocess.run([NODE, str(VERIFIER), str(path)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
