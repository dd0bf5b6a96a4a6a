"""Deals are committed to before they are made, seats add chance of their own, and what was committed to is revealed."""

from __future__ import annotations

import hashlib
import io
import random
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import pytest
from tests.server.at_table import OWNER, Client, refused, secret_of
from tests.server.running import bearer, channel_to, running_app

from rummy500.v1 import event_pb2, match_pb2, table_pb2, table_service_pb2
from rummy500.v1 import match_service_pb2 as pb
from rummy500.v1.match_service_pb2_grpc import MatchServiceStub
from rummy500_arena.verification import Proof, Record, records_in, verify
from rummy500_catalog import Catalog
from rummy500_engine.rules import Rules
from rummy500_server.clock_terms import ClockTerms
from rummy500_server.creation import Creation
from rummy500_server.entries import Acted, Closed, Joined, SeatKind, Started
from rummy500_server.games import record_of
from rummy500_server.results import Termination
from rummy500_server.rules_wire import Choice
from rummy500_server.table import Table

CATALOG = Catalog()
SECRET = bytes(range(32))
CHANCE = (b"a" * 32, b"", b"c" * 32)


def rules_for(variants: Sequence[str], options: Mapping[str, Any], players: int) -> Rules:
    return CATALOG.rules("classic", variants, options, players=players)


def derived(secret: bytes, *path: object) -> bytes:
    """The one hash of docs/protocol.md, written from the page alone."""
    return hashlib.sha256(secret + b"".join(b"\0" + str(part).encode() for part in path)).digest()


def table_of(chance: Sequence[bytes], **more: Any) -> Table:
    """A table at which everybody sits, not started."""
    rules = CATALOG.rules(players=len(chance), options={"target": 150})
    creation = Creation(
        name="t-fair",
        owner="o" * 64,
        players=len(chance),
        secret=SECRET,
        clock=ClockTerms(10_000),
        created_ms=1,
        choice=Choice(options={"target": "150"}),
        digest=rules.digest,
        variants=rules.variants,
        **more,
    )
    table = Table(creation, rules)
    for seat, added in enumerate(chance):
        table.enter(Joined(seat, SeatKind.JOINED, f"player {seat}", f"{seat}" * 64, added))
    return table


def played(chance: Sequence[bytes], *, actions: int = 100_000, **more: Any) -> Table:
    table, dice = table_of(chance, **more), random.Random(3)
    table.enter(Started())
    while not table.is_over and actions:
        (seat,) = table.to_act()
        table.enter(Acted(seat, dice.choice(table.game.legal_actions(seat))))
        actions -= 1
    return table


def told(table: Table) -> list[event_pb2.Event]:
    return table.log.messages(0, None)


def kinds(events: Sequence[event_pb2.Event], *wanted: str) -> list[tuple[str, int]]:
    """The events of these kinds that name a round, in order."""
    return [
        (kind, getattr(event, kind).round) for event in events if (kind := event.WhichOneof("kind") or "") in wanted
    ]


def test_every_round_is_committed_to_before_its_chance_is_known_and_revealed_when_it_is_over() -> None:
    table = played(CHANCE)
    rounds = table.game.rounds_played
    events = told(table)

    order = kinds(events, "deal_committed", "round_dealt", "round_scored", "deal_revealed")
    expected = [("deal_committed", 0), ("deal_committed", 1)]
    for number in range(1, rounds + 1):
        expected += [("deal_committed", number + 1), ("round_dealt", number)]
        expected += [("round_scored", number), ("deal_revealed", number)]
    assert rounds > 1
    assert order == [*expected, ("deal_revealed", 0)]
    assert [event.WhichOneof("kind") for event in events[:3]] == ["deal_committed", "deal_committed", "seat_joined"]


def test_what_is_revealed_is_what_was_committed_to() -> None:
    events = told(played(CHANCE))
    commitments = {e.deal_committed.round: e.deal_committed.commitment for e in events if e.HasField("deal_committed")}
    secrets = {e.deal_revealed.round: e.deal_revealed.secret for e in events if e.HasField("deal_revealed")}

    for number, secret in secrets.items():
        assert commitments[number] == derived(secret, "commitment", "t-fair", number)
        assert secret == (derived(secrets[0], "round", number) if number else SECRET)
    assert len(set(commitments.values())) == len(commitments)


def test_every_viewer_is_told_the_same_of_a_deal() -> None:
    table = played(CHANCE)
    for kind in ("deal_committed", "deal_revealed", "seat_joined"):
        seen = [[event for event in table.log.messages(0, seat) if event.HasField(kind)] for seat in (None, 0, 1, 2)]
        assert seen[0] == seen[1] == seen[2] == seen[3]


def test_each_seat_changes_the_deal_and_a_seat_that_adds_nothing_does_not() -> None:
    hands = {
        chance: table_of_hands(chance)
        for chance in [(b"", b""), (b"x" * 32, b""), (b"", b"x" * 32), (b"x" * 32, b"x" * 32), (b"y" * 32, b"")]
    }
    assert len(set(hands.values())) == len(hands)


def table_of_hands(chance: Sequence[bytes]) -> tuple[int, ...]:
    table = played(chance, actions=0)
    assert table.game.round is not None
    return tuple(table.game.round.hands)


def test_a_game_that_is_broken_off_reveals_its_open_round_when_the_table_is_over() -> None:
    table = played(CHANCE, actions=5)
    assert not kinds(told(table), "deal_revealed")

    table.enter(Closed(Termination.CANCELLED, "enough"))

    assert kinds(told(table), "deal_revealed") == [("deal_revealed", 1), ("deal_revealed", 0)]
    assert told(table)[-1].HasField("table_closed")


def test_a_table_that_never_started_reveals_nothing() -> None:
    table = table_of(CHANCE)
    table.enter(Closed(Termination.CANCELLED, "enough"))
    assert not kinds(told(table), "deal_revealed")


def test_a_table_from_a_seed_commits_to_nothing_and_reveals_nothing() -> None:
    events = told(played((b"", b""), from_seed=True))
    assert not kinds(events, "deal_committed", "deal_revealed")


def test_no_event_reveals_a_deal_of_a_match() -> None:
    events = told(played((b"", b""), match="m-1", record="m-1.abc", deal=3, seating=0))
    commitment = next(event.deal_committed for event in events if event.HasField("deal_committed"))

    assert commitment.commitment == derived(SECRET, "commitment", "3.0", 0)
    assert not kinds(events, "deal_revealed")


def read(text: str) -> Record:
    (record,) = records_in(io.StringIO(text))
    return record


def test_a_record_proves_a_fair_deal() -> None:
    record = read(record_of(played(CHANCE)))

    assert verify(record, rules_for) is None
    assert record.proof is Proof.FAIR
    assert record.lines[0]["format"] == 2
    assert record.lines[0]["fair"]["entropy"] == [added.hex() for added in CHANCE]
    assert record.commitment == derived(SECRET, "commitment", "t-fair", 0).hex()


def test_a_record_of_a_table_from_a_seed_proves_that_it_can_be_repeated() -> None:
    record = read(record_of(played((b"", b""), from_seed=True)))

    assert verify(record, rules_for) is None
    assert record.proof is Proof.SEED
    assert record.lines[0]["format"] == 1


# --- over the wire


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with running_app() as app, channel_to(app.address) as channel:
        yield Client.on(channel)


async def shown(client: Client, table: str) -> table_pb2.Table:
    return (await client.tables.GetTable(table_service_pb2.GetTableRequest(table=table))).table


async def test_a_table_shows_its_commitments_before_anybody_adds_chance(client: Client) -> None:
    table = await client.create(2)
    before = await shown(client, table)
    await client.join(table, "anna", entropy=b"a" * 32)

    async with client.watch(table, after_sequence=0) as watching:
        first, second, joined = (await watching.next()).events.events
    assert (first.deal_committed.round, second.deal_committed.round) == (0, 1)
    assert before.commitment == first.deal_committed.commitment
    assert before.round_commitment == second.deal_committed.commitment
    assert joined.seat_joined.entropy == b"a" * 32
    assert not before.from_seed


async def test_the_next_round_is_committed_to_with_the_deal(client: Client) -> None:
    table = await client.playing("anna", "ben")
    async with client.watch(table, after_sequence=0) as watching:
        seen = await watching.until("round_dealt")
    commitments = [event for _, kind, event in seen if kind == "deal_committed"]
    assert [event.round for event in commitments] == [0, 1, 2]
    assert (await shown(client, table)).round_commitment == commitments[2].commitment


@pytest.mark.parametrize("entropy", [b"a", b"a" * 31, b"a" * 33])
async def test_chance_has_32_bytes(client: Client, entropy: bytes) -> None:
    table = await client.create(2)
    with refused("BAD_REQUEST") as said:
        await client.join(table, "anna", entropy=entropy)
    assert said.fields == ["entropy"]
    assert (await shown(client, table)).seats[0].name == ""


async def test_who_sits_already_cannot_change_its_chance(client: Client) -> None:
    table = await client.create(2)
    await client.join(table, "anna", entropy=b"a" * 32)
    await client.join(table, "anna", entropy=b"b" * 32)
    await client.join(table, "ben")
    async with client.watch(table, after_sequence=0) as watching:
        seen = (await watching.next()).events.events
    assert [event.seat_joined.entropy for event in seen if event.HasField("seat_joined")] == [b"a" * 32, b""]


async def test_a_table_from_a_seed_is_called_so_and_its_seed_is_not_shown(client: Client) -> None:
    table = await client.create(2, seed=SECRET, start_when_full=True)
    await client.join(table, "anna", entropy=b"a" * 32)
    await client.join(table, "ben")

    seen = await shown(client, table)
    assert seen.from_seed
    assert not seen.commitment
    assert not seen.round_commitment
    assert SECRET not in seen.SerializeToString()
    async with client.watch(table, after_sequence=0) as watching:
        events = (await watching.next()).events.events
    assert not any(event.seat_joined.entropy for event in events)
    assert SECRET not in b"".join(event.SerializeToString() for event in events)


async def test_the_record_of_a_closed_game_proves_its_deal(client: Client) -> None:
    table = await client.create(2, start_when_full=True)
    told_before = (await shown(client, table)).commitment
    await client.join(table, "anna", entropy=b"a" * 32)
    await client.join(table, "ben", entropy=b"b" * 32)
    await client.act(table, "anna", "draw")
    await client.tables.CloseTable(table_service_pb2.CloseTableRequest(table=table), metadata=bearer(OWNER))

    async with client.watch(table, "anna", after_sequence=0) as watching:
        seen = await watching.until("table_closed")
    (secret,) = [event.secret for _, kind, event in seen if kind == "deal_revealed" and event.round == 0]
    assert told_before == derived(secret, "commitment", table, 0)


# --- matches


@pytest.fixture
async def matches() -> AsyncIterator[Any]:
    async with running_app() as app, channel_to(app.address) as channel:
        yield MatchServiceStub(channel)


def plan(**more: Any) -> match_pb2.MatchPlan:
    bots = [match_pb2.MatchBot(name=name, builtin=table_pb2.BuiltinBot(name="random")) for name in ("ann", "bob")]
    return match_pb2.MatchPlan(bots=bots, **more)


async def made(matches: Any, wanted: match_pb2.MatchPlan) -> Any:
    return (await matches.CreateMatch(pb.CreateMatchRequest(plan=wanted), metadata=bearer(OWNER))).match


async def games_of(matches: Any, match: str) -> Any:
    return (await matches.ListGames(pb.ListGamesRequest(match=match))).games


async def text_of(matches: Any, match: str) -> str:
    call = matches.GetRecord(pb.GetRecordRequest(match=match), metadata=bearer(secret_of("anybody")))
    return b"".join([response.chunk async for response in call]).decode()


async def test_a_match_commits_to_all_its_deals_and_reveals_them_at_its_end(matches: Any) -> None:
    match = await made(matches, plan(deals=2))
    last = match
    async for response in matches.WatchMatch(pb.WatchMatchRequest(match=match.name)):
        assert bool(response.match.secret) == response.match.HasField("finished")
        last = response.match

    assert match.commitment == last.commitment == derived(last.secret, "commitment", match.name, 0)
    assert not match.from_seed
    assert not last.plan.HasField("seed")
    for game in await games_of(matches, match.name):
        assert game.secret == derived(last.secret, "deal", game.deal)
        assert game.commitment == derived(game.secret, "commitment", f"{game.deal}.{game.seating}", 0)
    found = list(records_in(io.StringIO(await text_of(matches, match.name))))
    assert [verify(record, rules_for) for record in found] == [None] * 4
    assert {record.proof for record in found} == {Proof.FAIR}
    assert len({record.commitment for record in found}) == 4


async def test_a_deal_is_told_and_revealed_when_all_its_seatings_are_over_and_not_before(matches: Any) -> None:
    match = await made(matches, plan(deals=100_000, concurrency=3))
    async for _ in matches.WatchMatch(pb.WatchMatchRequest(match=match.name)):
        games = await games_of(matches, match.name)
        told = Counter(game.deal for game in games)
        assert set(told.values()) <= {2}
        assert all(game.secret for game in games)
        if len(games) > 20:
            break
    await matches.CancelMatch(pb.CancelMatchRequest(match=match.name), metadata=bearer(OWNER))
    assert all(game.secret for game in await games_of(matches, match.name))


async def test_a_match_from_a_seed_is_called_so(matches: Any) -> None:
    match = await made(matches, plan(deals=1, seed=500))
    assert match.from_seed
    assert not match.commitment
    assert not match.plan.HasField("seed")
    async for response in matches.WatchMatch(pb.WatchMatchRequest(match=match.name)):
        assert response.match.plan.HasField("seed") == response.match.HasField("finished")
    for game in await games_of(matches, match.name):
        assert not game.commitment
        assert not game.secret
    found = list(records_in(io.StringIO(await text_of(matches, match.name))))
    assert {record.proof for record in found} == {Proof.SEED}
    assert [verify(record, rules_for) for record in found] == [None, None]


async def test_the_owner_has_a_record_when_the_deal_is_over(matches: Any) -> None:
    match = await made(matches, plan(deals=100_000))
    while not (over := await games_of(matches, match.name)):
        await anext(aiter(matches.WatchMatch(pb.WatchMatchRequest(match=match.name))))
    request = pb.GetRecordRequest(record=over[0].record)
    chunks = [response.chunk async for response in matches.GetRecord(request, metadata=bearer(OWNER))]
    assert verify(read(b"".join(chunks).decode()), rules_for) is None
    await matches.CancelMatch(pb.CancelMatchRequest(match=match.name), metadata=bearer(OWNER))
