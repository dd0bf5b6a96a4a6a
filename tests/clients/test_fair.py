"""The client checks every deal by itself, and keeps a given seed from the bots that it starts."""

from __future__ import annotations

import json
import random
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.clients.running import rummy500

from rummy500.v1.event_pb2 import Event
from rummy500.v1.match_pb2 import Match
from rummy500_catalog import Catalog
from rummy500_client.fair import Checked, DealCheck, derive, match_problem
from rummy500_engine.rules import Rules
from rummy500_server.clock_terms import ClockTerms
from rummy500_server.creation import Creation
from rummy500_server.entries import Acted, Joined, SeatKind, Started
from rummy500_server.rules_wire import Choice, rules_message
from rummy500_server.table import Table

SHORT = ("--option", "max_rounds=2", "--option", "max_turns=4")
CHANCE = (b"a" * 32, b"", b"c" * 32)
CATALOG = Catalog()
CHOICES = {
    "classic": Choice(options={"max_rounds": "3"}),
    "two packs with jokers": Choice("pagat", ("two-decks",), {"max_rounds": "2", "deal": "5"}),
    "an extra card": Choice("", ("deal",), {"max_rounds": "2", "deal.extra_card": "true"}),
    "a stock that is recycled": Choice("", ("stock-out",), {"max_rounds": "2", "stock-out.rule": "reshuffle"}),
}


def played(choice: Choice) -> Table:
    """A game of random actions."""
    rules: Rules = choice.rules(CATALOG, 3)
    creation = Creation(
        name="t-fair",
        owner="o" * 64,
        players=3,
        secret=bytes(range(32)),
        clock=ClockTerms(10_000),
        created_ms=1,
        choice=choice,
        digest=rules.digest,
        variants=rules.variants,
    )
    table, dice = Table(creation, rules), random.Random(5)
    for seat, added in enumerate(CHANCE):
        table.enter(Joined(seat, SeatKind.JOINED, "abc"[seat], "abc"[seat] * 64, added))
    table.enter(Started())
    while not table.is_over:
        seat = table.to_act()[0]
        table.enter(Acted(seat, dice.choice(table.game.legal_actions(seat))))
    return table


def told(table: Table, seat: int | None) -> list[Event]:
    return table.log.messages(0, seat)


def checks(table: Table, events: Sequence[Event], own: int | None, *, entropy: bytes | None = None) -> list[Checked]:
    pack = rules_message(CATALOG, table.rules, table.creation.choice).pack
    added = b"" if own is None else CHANCE[own]
    check = DealCheck("t-fair", pack, own=own, entropy=added if entropy is None else entropy)
    return [checked for event in events if (checked := check.see(event)) is not None]


@pytest.mark.parametrize("name", CHOICES)
def test_every_deal_of_a_fair_table_holds_for_every_viewer(name: str) -> None:
    table = played(CHOICES[name])
    for own in (None, 0, 1, 2):
        found = checks(table, told(table, own), own)

        assert [checked.round for checked in found] == [*range(1, table.game.rounds_played + 1), 0]
        assert [checked.holds for checked in found] == [True] * len(found)
        assert all(("your draws" in checked.sentence) == (own is not None) for checked in found[:-1])


def first(events: Sequence[Event], kind: str, number: int = 0) -> Event:
    return [event for event in events if event.WhichOneof("kind") == kind][number]


def flipped(secret: bytes) -> bytes:
    return bytes([secret[0] ^ 1]) + secret[1:]


def another(card: int) -> int:
    return card % 52 + 1


def other_commitment(events: list[Event]) -> None:
    committed = first(events, "deal_committed", 1).deal_committed
    committed.commitment = flipped(committed.commitment)


def other_secret(events: list[Event]) -> None:
    revealed = first(events, "deal_revealed").deal_revealed
    revealed.secret = flipped(revealed.secret)


def other_hand(events: list[Event]) -> None:
    hand = first(events, "round_dealt").round_dealt.hand
    hand[0] = another(hand[0])  # type: ignore[call-overload]


def other_up_card(events: list[Event]) -> None:
    dealt = first(events, "round_dealt").round_dealt
    dealt.up_card = another(dealt.up_card)  # type: ignore[assignment]


def other_draw(events: list[Event]) -> None:
    drew = next(event.drew_from_stock for event in events if event.drew_from_stock.card)
    drew.card = another(drew.card)  # type: ignore[assignment]


def other_chance_of_another_seat(events: list[Event]) -> None:
    first(events, "seat_joined", 2).seat_joined.entropy = b"d" * 32


def own_chance_left_out(events: list[Event]) -> None:
    first(events, "seat_joined").seat_joined.entropy = b""


@pytest.mark.parametrize(
    "change",
    [
        other_commitment,
        other_secret,
        other_hand,
        other_up_card,
        other_draw,
        other_chance_of_another_seat,
        own_chance_left_out,
    ],
)
def test_a_deal_that_is_not_the_one_committed_to_is_found(change: Callable[[list[Event]], None]) -> None:
    table = played(CHOICES["classic"])
    events = told(table, 0)
    change(events)

    found = checks(table, events, 0)

    assert found[0].holds is False
    assert found[0].round == 1


def test_a_table_whose_rounds_are_of_another_origin_is_found() -> None:
    table = played(CHOICES["classic"])
    events = told(table, 0)
    revealed = first(events, "deal_revealed", -1).deal_revealed
    revealed.secret = flipped(revealed.secret)

    assert checks(table, events, 0)[-1].holds is False


def test_who_saw_no_commitment_is_told_that_nothing_can_be_checked() -> None:
    table = played(CHOICES["classic"])
    late = [event for event in told(table, 0) if not event.HasField("deal_committed")]

    assert {checked.holds for checked in checks(table, late, 0)} == {None}


def test_events_that_come_twice_tell_nothing() -> None:
    table = played(CHOICES["classic"])
    events = told(table, 0)

    assert len(checks(table, [*events, *events], 0)) == table.game.rounds_played + 1


# --- matches

SECRET = bytes(range(32))
COMMITMENT = derive(SECRET, "commitment", "m-1", 0)


def record_of(deal: int, seed: bytes) -> str:
    return json.dumps({"type": "game", "seed": seed.hex(), "match": {"deal": deal}})


RECORDS = [record_of(deal, derive(SECRET, "deal", deal)) for deal in (0, 1)]


@pytest.mark.parametrize(
    ("match", "told", "records", "problem"),
    [
        (Match(name="m-1", commitment=COMMITMENT, secret=SECRET), COMMITMENT, RECORDS, ""),
        (Match(name="m-1", from_seed=True), b"", RECORDS, ""),
        (Match(name="m-1", commitment=COMMITMENT, secret=flipped(SECRET)), COMMITMENT, RECORDS, "the secret of"),
        (Match(name="m-1", commitment=COMMITMENT, secret=SECRET), flipped(COMMITMENT), RECORDS, "the secret of"),
        (
            Match(name="m-1", commitment=COMMITMENT, secret=SECRET),
            COMMITMENT,
            [*RECORDS, record_of(2, SECRET)],
            "deal 2 does not follow",
        ),
    ],
)
def test_the_deals_of_a_match_follow_from_what_it_committed_to(
    match: Match, told: bytes, records: list[str], problem: str
) -> None:
    assert match_problem(match, told=told, records=records).startswith(problem)
    assert bool(match_problem(match, told=told, records=records)) == bool(problem)


# --- the commands


def test_watch_shows_that_each_deal_was_checked(server: str, state: Path) -> None:
    made = rummy500("tables", "create", "--bot", "random", "--bot", "easy", *SHORT, "--server", server, state=state)
    table = made.stdout.strip()
    watched = rummy500("watch", table, "--server", server, state=state)
    shown = rummy500("tables", "show", table, "--server", server, state=state)

    lines = watched.stdout.splitlines()
    checked = [line for line in lines if line.startswith("* deal checked: ")]
    assert checked == [
        "* deal checked: the deal of round 1 is what the server had committed to (with the card turned up)",
        "* deal checked: the deal of round 2 is what the server had committed to (with the card turned up)",
        "* deal checked: all rounds follow from what was committed to before anybody sat down",
    ]
    assert "deals: committed to as " in shown.stdout
    assert [line for line in lines if "the server commits to its deals: " in line]


def test_a_bot_cannot_read_the_seed_of_its_match(state: Path) -> None:
    spy, report = state / "spy.sh", state / "seen"
    spy.write_text(f"(ps -ww -o args= -p $PPID; env) > {shlex.quote(str(report))}\n")
    bots = ("--bot", f"spy=cmd:sh {spy}", "--bot", "builtin:easy", "--deals", "1")
    for given in (("--seed", "918273645"), ("--seed=918273645",)):
        report.unlink(missing_ok=True)
        rummy500("match", "run", *bots, *given, state=state)
        seen = report.read_text()
        assert "match run" in seen
        assert "918273645" not in seen


def test_a_seed_may_come_in_a_file(state: Path) -> None:
    (state / "seed").write_text("7\n")
    ended = rummy500(
        *("match", "run", "--bot", "builtin:easy", "--bot", "builtin:random", "--deals", "1"),
        *("--seed-file", "seed"),
        state=state,
    )
    assert "reproducible from seed 7, finished" in ended.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--seed", "abc"), "the seed: 'abc' is not a whole number"),
        (("--seed", "-1"), "the seed: -1 is not from 0 to 18446744073709551615"),
        (("--seed-file", "nowhere"), "--seed-file nowhere cannot be read"),
        (("--seed", "1", "--seed-file", "nowhere"), "not allowed with argument"),
    ],
)
def test_a_seed_that_cannot_be_read_is_said_to_be_none(words: tuple[str, ...], sentence: str, state: Path) -> None:
    ended = rummy500("match", "run", "--bot", "builtin:easy", "--bot", "builtin:random", *words, state=state)
    assert ended.returncode == 2
    assert sentence in ended.stderr
