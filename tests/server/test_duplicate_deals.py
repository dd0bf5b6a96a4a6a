"""Duplicate deals over gRPC: what a plan comes to, which packs are shared, and that no bot sees two sides of one."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from tests.server.running import channel_to, running_app
from tests.server.stream_bot import StreamBot, plain, stream_bot
from tests.server.test_matches import OWNER, builtin, connected, plan, reason, records, rules_for, run, without_times

from rummy500.v1 import action_pb2, event_pb2, match_pb2, match_service_pb2_grpc, play_service_pb2, rules_pb2
from rummy500.v1 import match_service_pb2 as pb
from rummy500_arena.plan import Plan, Schedule, secret_of_seed
from rummy500_arena.verification import records_in, verify
from rummy500_catalog import Catalog, Offer, installed
from rummy500_catalog.offers import VARIANTS
from rummy500_engine.hooks import hookimpl
from rummy500_server.clock_terms import ClockTerms
from rummy500_server.creation import Creation

ROUND_ROBIN, GAUNTLET, POOL = (match_pb2.MatchSchedule.Value(f"MATCH_SCHEDULE_{each.name}") for each in Schedule)


def raising(round: Any) -> None:
    if round.turns_played > 2:
        raise KeyError("oops")


CATALOG = Catalog(
    variants=[
        *installed(VARIANTS),
        Offer("raises", "dist-raises", "1.0", lambda: SimpleNamespace(rummy500_veto=hookimpl(raising))),
    ]
)


@pytest.fixture
async def channel() -> AsyncIterator[grpc.aio.Channel]:
    async with running_app(catalog=CATALOG) as app, channel_to(app.address) as channel:
        yield channel


@pytest.fixture
async def matches(channel: grpc.aio.Channel) -> Any:
    return match_service_pb2_grpc.MatchServiceStub(channel)


def easy(*names: str) -> list[match_pb2.MatchBot]:
    return [builtin(name, "easy") for name in names]


async def planned(matches: Any, wanted: match_pb2.MatchPlan) -> pb.PlanMatchResponse:
    answer: pb.PlanMatchResponse = await matches.PlanMatch(pb.PlanMatchRequest(plan=wanted))
    return answer


# --- what a plan comes to


@pytest.mark.parametrize("schedule", list(Schedule))
async def test_a_plan_is_told_without_being_played(matches: Any, schedule: Schedule) -> None:
    nameless = match_pb2.MatchBot(name="mine", connected=match_pb2.ConnectedBot())
    number = match_pb2.MatchSchedule.Value(f"MATCH_SCHEDULE_{schedule.name}")
    told = await planned(matches, plan(*easy("a", "b", "c", "d"), nameless, players=3, schedule=number, deals=7))

    expected = Plan(bots=5, players=3, deals=7, secret=secret_of_seed(7), schedule=schedule)
    assert (told.seatings, told.games, told.is_paired) == (expected.seatings, expected.games, True)
    assert [list(bot.seatings) for bot in told.bots] == expected.seatings_by_bot()
    assert [bot.count for bot in told.bots] == [len(own) for own in expected.seatings_by_bot()]
    assert told.plan.schedule == number
    assert not told.plan.HasField("seed")
    assert not (await matches.ListMatches(pb.ListMatchesRequest())).matches


async def test_of_too_many_seatings_only_the_number_is_told(matches: Any) -> None:
    told = await planned(matches, plan(*easy(*map(str, range(20))), players=4, deals=1))

    assert {bot.count for bot in told.bots} == {969 * 24}
    assert not any(bot.seatings for bot in told.bots)


async def test_a_plan_that_cannot_be_is_refused_as_when_it_is_made(matches: Any) -> None:
    for wanted in (plan(schedule=9), plan(players=4), plan(rules=rules_pb2.RulesChoice(preset="moon"))):
        refusals = []
        for call, request in ((matches.PlanMatch, pb.PlanMatchRequest), (matches.CreateMatch, pb.CreateMatchRequest)):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await call(request(plan=wanted), metadata=OWNER)
            refusals.append((reason(refused.value), refused.value.details()))
        assert refusals[0] == refusals[1]


async def test_a_stream_that_is_named_for_two_seatings_is_refused(matches: Any) -> None:
    with pytest.raises(grpc.aio.AioRpcError, match="two sides of one deal"):
        await run(matches, plan(connected("a", "x", "x"), *easy("b")))


# --- which packs are shared


def dealt(lines: Sequence[Mapping[str, Any]]) -> dict[int, list[str]]:
    """By deal the packs of its games, as they lay before the deal."""
    found: dict[int, list[str]] = {}
    place: Any = None
    for line in lines:
        place = line["match"] if line["type"] == "game" else place
        if line["type"] == "deal":
            found.setdefault(place["deal"], []).append(f"{line['hands']} {line['up_card']} {line['stock']}")
    return found


@pytest.mark.parametrize(("schedule", "deals", "games"), [(ROUND_ROBIN, 2, 24), (GAUNTLET, 2, 12), (POOL, 4, 8)])
async def test_all_seatings_of_a_deal_share_its_packs_and_draw_aligned(
    matches: Any, schedule: Any, deals: int, games: int
) -> None:
    bots = [builtin("a", "random"), *easy("b", "c", "d")]
    match = await run(matches, plan(*bots, players=2, deals=deals, schedule=schedule))
    text = await records(matches, match=match.name)
    found = list(records_in(io.StringIO(text)))

    assert match.is_paired
    assert len(found) == match.games_finished == games
    assert [verify(record, rules_for) for record in found] == [None] * games
    assert {(record.lines[0]["format"], record.lines[0]["draws"]) for record in found} == {(3, "aligned")}
    packs = dealt(without_times(text))
    assert all(len(set(of_deal)) == 1 for of_deal in packs.values())
    assert len(set().union(*packs.values())) == match.plan.deals


async def test_a_match_with_a_bot_on_one_connection_is_unpaired(matches: Any, channel: grpc.aio.Channel) -> None:
    async with stream_bot(channel, "alone"):
        match = await run(matches, plan(connected("alone", "alone"), *easy("b"), deals=4, schedule=POOL))
    text = await records(matches, match=match.name)

    assert not match.is_paired
    assert match.plan.unpaired
    assert all(record.lines[0]["match"]["unpaired"] for record in records_in(io.StringIO(text)))
    assert not any("draws" in record.lines[0] for record in records_in(io.StringIO(text)))
    assert [verify(record, rules_for) for record in records_in(io.StringIO(text))] == [None] * 8
    assert all(len(set(of_deal)) == 2 for of_deal in dealt(without_times(text)).values())


async def test_a_match_may_be_asked_for_unpaired(matches: Any) -> None:
    match = await run(matches, plan(*easy("a", "b"), deals=2, unpaired=True))

    assert not match.is_paired
    packs = dealt(without_times(await records(matches, match=match.name)))
    assert [len(set(of_deal)) for of_deal in packs.values()] == [2, 2]


@pytest.mark.parametrize("schedule", [ROUND_ROBIN, GAUNTLET, POOL])
async def test_copies_of_one_bot_score_the_same_to_the_last_point(matches: Any, schedule: Any) -> None:
    three = plan(
        *easy("a", "b", "c"), players=3, deals=2, schedule=schedule, rules=rules_pb2.RulesChoice(preset="pagat")
    )
    for wanted in (three, plan(*easy("a", "b"), deals=1, schedule=schedule, unit=match_pb2.MATCH_UNIT_GAME)):
        match = await run(matches, wanted)
        assert len({(result.points_per_round, result.wins, result.draws) for result in match.results}) == 1
        assert match.results[0].rounds > 0


# --- what the packs depend on


class Note:
    """A bot that notes the hands that it is dealt, by round."""

    def __init__(self) -> None:
        self.hands: list[tuple[int, ...]] = []

    def answer(self, request: play_service_pb2.DecisionRequest) -> list[action_pb2.Action]:
        dealt = [event.round_dealt for event in request.events if event.HasField("round_dealt")]
        self.hands += [(each.up_card, *each.hand) for each in dealt]
        return plain(request)


async def hands_of(matches: Any, channel: grpc.aio.Channel, other: match_pb2.MatchBot, *variants: str) -> list[Any]:
    """The hands of one process in a match from seed 7, one game after the other."""
    note = Note()
    async with stream_bot(channel, "one", note.answer), stream_bot(channel, "two"):
        choice = rules_pb2.RulesChoice(variants=variants)
        wanted = plan(connected("mine", "one", "two"), other, deals=4, concurrency=1, rules=choice)
        await run(matches, wanted)
    return note.hands


async def test_the_deals_depend_on_nothing_that_bots_or_variants_do(matches: Any, channel: grpc.aio.Channel) -> None:
    against_easy = await hands_of(matches, channel, builtin("b", "easy"))
    against_random = await hands_of(matches, channel, builtin("b", "random"))
    broken = await hands_of(matches, channel, builtin("b", "easy"), "raises")

    assert len(against_easy) == 4
    assert against_random == against_easy
    assert broken
    assert set(broken) <= set(against_easy)


def test_a_table_of_a_match_from_before_knows_its_deal_and_its_seating() -> None:
    now = Creation(
        name="t-1", owner="o", players=2, secret=bytes(32), clock=ClockTerms(10_000), created_ms=1, match="m-1"
    )
    then = json.loads(now.to_json()) | {"record": "m-1.30.1"}
    for field in ("deal", "seating", "aligned"):
        del then[field]
    read = Creation.from_json(json.dumps(then).encode())

    assert (read.deal, read.seating, read.place, read.aligned) == (30, 1, "30.1", False)


# --- a bot that remembers deals


class Memory:
    """What one process knows of the games that it has played: the card turned up, and the cards seen in each hand."""

    def __init__(self) -> None:
        self.owners: list[Planted] = []
        self.games: list[tuple[int, dict[int, set[int]]]] = []
        self.names: list[str] = []
        self.commitments: list[bytes] = []

    def knows(self, up_card: int, hand: Sequence[int]) -> bool:
        return any(up == up_card and any(set(hand) <= seen for seen in hands.values()) for up, hands in self.games)


class Planted:
    """Looks up each deal in its memory, and keeps all that it sees. `recognised` are deals that it knew."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        memory.owners.append(self)
        self.bot: StreamBot | None = None
        self.games = self.recognised = 0
        self._seen: dict[str, list[event_pb2.Event]] = {}

    def answer(self, request: play_service_pb2.DecisionRequest) -> list[action_pb2.Action]:
        for owner in self.memory.owners:
            owner.keep_what_is_over()
        if request.table not in self._seen:  # its first decision there
            (dealt,) = [event.round_dealt for event in request.events if event.HasField("round_dealt")]
            self.games += 1
            self.recognised += self.memory.knows(dealt.up_card, dealt.hand)
        self._seen.setdefault(request.table, []).extend(request.events)
        return plain(request)

    def keep_what_is_over(self) -> None:
        if self.bot is None:
            return
        for table, over in self.bot.over.items():
            if table not in self._seen:
                continue
            events = [*self._seen.pop(table), *over.events]
            hands: dict[int, set[int]] = {}
            for event in events:
                for seat, cards in shown_by(event):
                    hands.setdefault(seat, set()).update(cards)
            up_card = next(event.round_dealt.up_card for event in events if event.HasField("round_dealt"))
            self.memory.games.append((up_card, hands))
            self.memory.names += [table, over.result.record]
            self.memory.commitments += [e.deal_committed.commitment for e in events if e.HasField("deal_committed")]


def shown_by(event: event_pb2.Event) -> list[tuple[int, Sequence[int]]]:
    """By seat the cards that an event shows to have been in its hand."""
    match event.WhichOneof("kind"):
        case "melded":
            return [(event.melded.seat, event.melded.meld.cards)]
        case "laid_off":
            return [(event.laid_off.seat, [event.laid_off.card])]
        case "discarded":
            return [(event.discarded.seat, [event.discarded.card])]
        case "round_scored":
            return [(score.seat, score.held_cards) for score in event.round_scored.scores]
        case _:
            return []


async def planted(channel: grpc.aio.Channel, matches: Any, memories: Sequence[Memory]) -> tuple[list[Planted], Any]:
    """A match of planted bots, fair deals, one game after the other; a process, with its memory, for each seating."""
    plants = [Planted(memory) for memory in memories]
    async with contextlib.AsyncExitStack() as bots:
        for number, plant in enumerate(plants):
            plant.bot = await bots.enter_async_context(stream_bot(channel, f"plant-{number}", plant.answer))
        wanted = plan(connected("plant", "plant-0", "plant-1"), *easy("b"), deals=12, concurrency=1)
        wanted.ClearField("seed")
        match = await run(matches, wanted)
    return plants, match


async def test_a_bot_that_remembers_deals_never_meets_one_again(matches: Any, channel: grpc.aio.Channel) -> None:
    plants, match = await planted(channel, matches, [Memory(), Memory()])

    assert match.is_paired
    assert [plant.games for plant in plants] == [12, 12]
    assert [plant.recognised for plant in plants] == [0, 0]
    for plant in plants:
        assert len(plant.memory.games) >= 10
        assert len(set(plant.memory.names)) == len(plant.memory.names)
    commitments = [each for plant in plants for each in plant.memory.commitments]
    assert len(set(commitments)) == len(commitments) > 40


async def test_a_memory_that_two_processes_share_would_know_every_second_game(
    matches: Any, channel: grpc.aio.Channel
) -> None:
    """So the test above is one that can fail."""
    shared = Memory()
    plants, _ = await planted(channel, matches, [shared, shared])

    assert sum(plant.recognised for plant in plants) > 4


async def test_no_name_tells_the_deal_or_which_games_share_one(matches: Any, channel: grpc.aio.Channel) -> None:
    async with stream_bot(channel, "one") as one, stream_bot(channel, "two") as two:
        match = await run(matches, plan(connected("mine", "one", "two"), *easy("b"), deals=10, concurrency=1))
    games = (await matches.ListGames(pb.ListGamesRequest(match=match.name), metadata=OWNER)).games

    told = {table: over.result.record for bot in (one, two) for table, over in bot.over.items()}
    assert {game.table: game.record for game in games} == told
    in_order = sorted(games, key=lambda game: (game.deal, game.seating))
    assert [game.record for game in in_order] != sorted(told.values())
    marks = [record.removeprefix(f"{match.name}.") for record in told.values()]
    assert len({len(mark) for mark in marks}) == 1
    assert len({mark[:6] for mark in marks}) == len({mark[-6:] for mark in marks}) == 20
