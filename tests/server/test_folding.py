"""Tables without a wire: entries, folds, what the clock plays, and what happens when something breaks."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

import pytest
from tests.server.stepped_timer import SteppedTimer

from rummy500_catalog import Catalog
from rummy500_engine.actions import DRAW, PASS, Discard
from rummy500_engine.game import Game
from rummy500_engine.refusals import Refused
from rummy500_engine.rules import Rules
from rummy500_engine.shuffle import seed_for, shuffle
from rummy500_engine.terms import VariantError
from rummy500_server.clock_terms import ClockTerms
from rummy500_server.commits import Commits
from rummy500_server.creation import Creation
from rummy500_server.entries import (
    Acted,
    Clocked,
    Closed,
    Entry,
    Forfeited,
    Joined,
    Left,
    Returned,
    SeatKind,
    Started,
    TakenOver,
    UnreadableEntry,
    read_entry,
    write_entry,
)
from rummy500_server.finishing import finishing_action
from rummy500_server.journal import JournalError, MemoryJournal, Write
from rummy500_server.keeper import Keeper
from rummy500_server.results import Termination
from rummy500_server.rules_wire import Choice
from rummy500_server.status import Failure, Reason
from rummy500_server.table import FoldMismatch, Table, TableState, fold
from rummy500_server.table_events import ClockReason, TableEvent, digest_of_events
from rummy500_server.thinking import Thinking

CATALOG = Catalog()


def rules_for(players: int) -> Rules:
    return CATALOG.rules(players=players, options={"target": 200})


CLOCK = ClockTerms(
    10_000, bank_ms=5_000, increment_ms=700, most_bank_ms=9_000, startup_ms=2_000, grace_ms=3_000, forfeit_after=0
)


def creation(players: int = 2, *, name: str = "t-test") -> Creation:
    rules = rules_for(players)
    return Creation(
        name=name,
        owner="o" * 64,
        players=players,
        secret=bytes(range(32)),
        clock=CLOCK,
        created_ms=1,
        choice=Choice(options={"target": "200"}),
        digest=rules.digest,
        variants=rules.variants,
    )


def played(players: int, *, seed: int) -> tuple[Table, list[tuple[Entry, str]]]:
    """A game of random actions to its end; now and then a turn is clocked, or a bot plays for a seat for a while."""
    dice = random.Random(seed)
    table = Table(creation(players), rules_for(players))
    entries: list[tuple[Entry, str]] = []

    def enter(entry: Entry) -> None:
        entries.append((entry, digest_of_events(table.enter(entry))))

    for seat in range(players):
        enter(Joined(seat, SeatKind.JOINED, f"player {seat}", f"{seat}" * 64))
    enter(Started())
    while not table.is_over:
        (seat,) = table.to_act()
        if dice.random() < 0.01:
            enter(Clocked(seat, ClockReason.TIMEOUT, 7, 12_000))
        if dice.random() < 0.03:
            has_bot = table.seats[seat].stand_in != ""
            enter(Returned(seat) if has_bot else TakenOver(seat, ClockReason.DISCONNECT, "easy", 7, 20_000))
        enter(Acted(seat, dice.choice(table.game.legal_actions(seat)), spent_ms=dice.randrange(20_000)))
    return table, entries


@pytest.mark.parametrize("players", [2, 3, 4, 6])
def test_a_table_is_the_fold_of_its_entries(players: int) -> None:
    table, entries = played(players, seed=players)
    lines = [write_entry(entry, digest) for entry, digest in entries]

    again = fold(creation(players), rules_for(players), [read_entry(line, rules_for(players)) for line in lines])

    assert again.history == table.history
    assert again.result == table.result
    assert again.log.pieces(0, 0) == table.log.pieces(0, 0)
    assert again.sequence == table.sequence
    assert again.seats == table.seats
    assert table.banks is not None
    assert again.banks is not None
    assert (again.banks.bank, again.banks.grace) == (table.banks.bank, table.banks.grace)


def test_a_changed_entry_is_found() -> None:
    _, entries = played(2, seed=1)
    number = next(at for at, (entry, _) in enumerate(entries) if isinstance(entry, Acted) and entry.action == DRAW)
    entry, _ = entries[number]
    entries[number] = (entry, "0" * 16)
    with pytest.raises(FoldMismatch, match=f"entry {number + 1} "):
        fold(creation(), rules_for(2), entries)


@pytest.mark.parametrize(
    "entry",
    [
        Joined(1, SeatKind.BUILTIN_BOT, "Mr. X", "random,seed=3"),
        Joined(0, SeatKind.JOINED, "anna", "a" * 64, bytes(range(32))),
        Left(2),
        Started(),
        Acted(0, DRAW, 12),
        Acted(1, Discard(5), 0, by_clock=True),
        Clocked(3, ClockReason.REFUSALS, 0, 17),
        TakenOver(1, ClockReason.DISCONNECT, "random,seed=3", 5, 10_000),
        Returned(1),
        Forfeited(0, Termination.CRASH),
        Forfeited(2, Termination.TIMEOUT, 4),
        Closed(Termination.SERVER_FAULT, "variant 'x' broke"),
    ],
)
def test_an_entry_is_read_as_it_was_written(entry: Entry) -> None:
    assert read_entry(write_entry(entry, "d" * 16), rules_for(2)) == (entry, "d" * 16)


@pytest.mark.parametrize(
    "line",
    [b"", b"act", b"act\tx\tdraw\t0\td", b"join\t0\tnobody\ta\tb\t\td", b"join\t0\tjoined\ta\tb\txyz\td", b"sing\td"],
)
def test_a_line_that_is_no_entry_is_said_to_be_none(line: bytes) -> None:
    with pytest.raises(UnreadableEntry):
        read_entry(line, rules_for(2))


@pytest.mark.parametrize("players", [2, 4])
def test_a_finishing_turn_ends_from_every_position_and_throws_the_lowest_card(players: int) -> None:
    dice = random.Random(players)
    rules = rules_for(players)
    points = rules.held_points
    for number in range(40):
        game = Game(rules, single_round=True)
        seed = seed_for(bytes(32), "finishing", number)
        game.deal(shuffle(seed, rules.pack), seed=seed)
        while game.to_act():
            seat = game.to_act()[0]
            if dice.random() < 0.2:
                turn = game.round.turns_played if game.round else 0
                for _ in range(40):
                    legal = game.legal_actions(seat)
                    action = finishing_action(game, seat)
                    assert action in legal
                    thrown = [each for each in legal if isinstance(each, Discard)]
                    if thrown:
                        assert isinstance(action, Discard)
                        assert points[action.card] == min(points[each.card] for each in thrown)
                    elif DRAW in legal or PASS in legal:
                        assert action in (DRAW, PASS)
                    game.apply(seat, action)
                    if not game.to_act() or game.round is None or game.round.turns_played != turn:
                        break
                else:
                    pytest.fail("the turn does not end")
            else:
                game.apply(seat, dice.choice(game.legal_actions(seat)))


def test_the_last_side_that_plays_on_has_won() -> None:
    table = Table(creation(3), rules_for(3))
    for seat in range(3):
        table.enter(Joined(seat, SeatKind.JOINED, "abc"[seat], "abc"[seat] * 64))
    table.enter(Started())
    table.enter(Forfeited(2, Termination.CRASH))
    assert table.state is TableState.PLAYING
    table.enter(Forfeited(0, Termination.TIMEOUT))
    assert table.result is not None
    assert (table.result.winners, table.result.at_fault) == ((1,), 2)


class BrokenTable(Table):
    """A table on which playing breaks as often as `breaks` says, in mid-change."""

    breaks: Sequence[Exception] = ()

    def enter(self, entry: Entry) -> list[TableEvent]:
        if isinstance(entry, Acted) and self.breaks:
            error, *self.breaks = self.breaks
            if self.game.round is not None:
                self.game.round.hands[0] = 0
            raise error
        return super().enter(entry)


def keeper_of(table: Table, commits: Commits) -> Keeper:
    return Keeper(table, commits, timer=SteppedTimer(), ceiling_ms=86_400_000, thinking=Thinking(1))


async def broken_keeper(*breaks: Exception) -> Keeper:
    table = BrokenTable(creation(), rules_for(2))
    keeper = keeper_of(table, Commits(MemoryJournal()))
    for seat in range(2):
        keeper.enter(Joined(seat, SeatKind.JOINED, "ab"[seat], "ab"[seat] * 64))
    keeper.start()
    table.breaks = list(breaks)
    return keeper


async def test_our_mistake_is_mended_from_the_entries() -> None:
    keeper = await broken_keeper(AssertionError("ours"))
    acting = keeper.act(0, [DRAW])
    assert acting.refused is None
    assert keeper.table.game.round is not None
    assert keeper.table.game.round.hands[0].bit_count() == 14
    keeper.halt()


async def test_a_broken_variant_ends_its_table_and_is_named() -> None:
    error = VariantError(variant="x", hook="rummy500_veto", distribution="rummy500-x", problem="raised KeyError")
    keeper = await broken_keeper(error)
    with pytest.raises(Failure) as caught:
        keeper.act(0, [DRAW])
    assert caught.value.reason is Reason.TABLE_BROKEN
    assert keeper.table.result is not None
    assert keeper.table.result.termination is Termination.SERVER_FAULT
    assert "rummy500-x" in keeper.table.result.sentence
    with pytest.raises(Failure):
        keeper.act(0, [DRAW])


class FailingJournal(MemoryJournal):
    """A disk that is full."""

    is_full = False

    async def commit(self, *writes: Write) -> None:
        if self.is_full:
            raise JournalError("the disk is full")
        await super().commit(*writes)


async def test_what_the_journal_did_not_keep_is_not_shown() -> None:
    journal = FailingJournal()
    keeper = keeper_of(Table(creation(), rules_for(2)), Commits(journal))
    for seat in range(2):
        keeper.enter(Joined(seat, SeatKind.JOINED, "ab"[seat], "ab"[seat] * 64))
    keeper.start()
    await keeper.scribe.durable()
    journal.is_full = True
    keeper.act(0, [DRAW])
    with pytest.raises(JournalError):
        await keeper.scribe.durable()
    assert keeper.is_lost


def test_an_action_that_is_refused_is_no_entry() -> None:
    table = Table(creation(), rules_for(2))
    for seat in range(2):
        table.enter(Joined(seat, SeatKind.JOINED, "ab"[seat], "ab"[seat] * 64))
    table.enter(Started())
    before, told = list(table.history), table.sequence
    with pytest.raises(Refused):
        table.enter(Acted(1, DRAW))
    assert table.history == before
    assert table.sequence == told


async def test_what_gathered_while_a_commit_failed_is_not_told_as_kept() -> None:
    """An action that waits for the next commit is lost with the one before it; other tables go on."""
    journal = SlowJournal()
    commits = Commits(journal)
    keepers = []
    for name in ("t-first", "t-other"):
        keeper = keeper_of(Table(creation(name=name), rules_for(2)), commits)
        for seat in range(2):
            keeper.enter(Joined(seat, SeatKind.JOINED, "ab"[seat], "ab"[seat] * 64))
        keeper.start()
        keepers.append(keeper)
    first, other = keepers
    journal.go.set()
    await other.scribe.durable()
    journal.go.clear()
    first.act(0, [DRAW])
    await asyncio.sleep(0)
    first.act(0, [first.table.game.legal_actions(0)[-1]])
    other.act(0, [DRAW])
    journal.fail_next = True
    journal.go.set()

    with pytest.raises(JournalError):
        await first.scribe.durable()
    await other.scribe.durable()
    assert first.is_lost
    assert not other.is_lost
    assert other.scribe.is_durable
    other.halt()


class SlowJournal(MemoryJournal):
    """Waits before each commit until it may go on; may fail once."""

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Event()
        self.fail_next = False

    async def commit(self, *writes: Write) -> None:
        await self.go.wait()
        if self.fail_next:
            self.fail_next = False
            raise JournalError("the disk is full")
        await super().commit(*writes)
