"""Built-in bots that take their time: they think in processes that have nothing but the question, no table waits for
another's, and whatever happens to those processes the game goes on."""

from __future__ import annotations

import asyncio
import gc
import os
import pickle
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from tests.server.running import TOKEN, bearer, channel_to, running_app, server_process
from tests.server.test_matches import builtin, plan, run

from rummy500.v1 import match_pb2, match_service_pb2_grpc, result_pb2, table_pb2, table_service_pb2_grpc
from rummy500.v1 import match_service_pb2 as match_service
from rummy500.v1 import table_service_pb2 as table_service
from rummy500_bots import Decision, built_in
from rummy500_catalog import Catalog
from rummy500_engine.actions import Action
from rummy500_engine.game import Game
from rummy500_engine.round import Round
from rummy500_engine.shuffle import seed_for, shuffle
from rummy500_insight.thinking import Question, TableRules
from rummy500_server.thinking import NoThought, Thinking
from rummy500_server.translate.views import PublicPieces, view_bytes

OWNER = bearer(TOKEN)
CLASSIC = TableRules("", (), (), 2)
SECONDS = 30.0


class PeekingBot:
    """Looks for what it may not see: a game, or the order of a stock, wherever its process has one."""

    def __init__(self) -> None:
        self.process = 0
        self.seen: list[str] = []

    def act(self, decision: Decision) -> Action:
        self.process = os.getpid()
        self.seen = [type(each).__name__ for each in gc.get_objects() if isinstance(each, Game | Round)]
        return decision.legal[0]


class FailingBot:
    """Ends its process the first time, and again if `always`."""

    def __init__(self, marker: str) -> None:
        self._marker = Path(marker)

    def act(self, decision: Decision) -> Action:
        if not self._marker.exists():
            self._marker.touch()
            os._exit(3)
        return decision.legal[0]


class SlowBot:
    """Thinks for as long as it is told."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def act(self, decision: Decision) -> Action:
        time.sleep(self._seconds)
        return decision.legal[0]


class RaisingBot:
    def act(self, decision: Decision) -> Action:
        raise ValueError("it has no idea")


def question(bot: Any) -> tuple[Question, Game]:
    """A first decision of a game of two, as the server asks it, and the game."""
    rules = Catalog().rules(players=2)
    game = Game(rules)
    game.deal(shuffle(seed_for(b"question"), rules.pack), seed=bytes(32))
    (seat,) = game.to_act()
    view = view_bytes(game, seat, game.legal_actions(seat), public=PublicPieces("t"), sequence=1, clock=b"")
    from rummy500.v1.play_service_pb2 import DecisionRequest
    from rummy500.v1.view_pb2 import View

    request = DecisionRequest(view=View.FromString(view), time_left_ms=10_000).SerializeToString()
    return Question(pickle.dumps(bot), CLASSIC, request, time.monotonic()), game


async def test_a_bot_that_peeks_finds_nothing_where_it_thinks() -> None:
    asked, game = question(PeekingBot())
    here = PeekingBot()
    here.act(Decision(game_view(game), game.rules))
    thinking = Thinking(1)
    try:
        answer = await thinking.answer(asked)
    finally:
        thinking.close()
    there: PeekingBot = pickle.loads(answer.bot)

    assert "Game" in here.seen  # in the server's own process it would have found the table
    assert there.process not in (0, os.getpid())
    assert there.seen == []
    assert answer.lines == ("draw",)


def game_view(game: Game) -> Any:
    from rummy500_engine.view import seat_view

    return seat_view(game, game.to_act()[0])


async def test_a_question_outlives_the_process_that_died_over_it(tmp_path: Path) -> None:
    thinking = Thinking(1)
    try:
        answer = await thinking.answer(question(FailingBot(str(tmp_path / "died")))[0])
    finally:
        thinking.close()

    assert (tmp_path / "died").exists()
    assert answer.lines == ("draw",)


async def test_a_bot_that_raises_is_no_thought_and_harms_nobody() -> None:
    thinking = Thinking(1)
    try:
        with pytest.raises(NoThought, match="ValueError: it has no idea"):
            await thinking.answer(question(RaisingBot())[0])
        answer = await thinking.answer(question(built_in("expert,samples=1", seed=0))[0])
    finally:
        thinking.close()

    assert len(answer.lines) == 1


async def test_no_more_questions_wait_than_can_be_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rummy500_server.thinking.WAITING_A_PROCESS", 2)
    thinking = Thinking(1)
    asked = question(SlowBot(0.0))[0]
    try:
        first = [asyncio.ensure_future(thinking.answer(asked)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(NoThought, match="2 questions are waiting"):
            await thinking.answer(asked)
        answers = await asyncio.gather(*first)
    finally:
        thinking.close()

    assert [answer.lines for answer in answers] == [("draw",), ("draw",)]
    assert thinking.waiting == 0


async def test_an_expert_plays_a_match_and_nothing_goes_wrong() -> None:
    async with running_app(bot_processes=1) as app, channel_to(app.address) as channel:
        matches = match_service_pb2_grpc.MatchServiceStub(channel)
        match = await run(matches, plan(builtin("expert", samples="1"), builtin("easy"), deals=2, seed=3))

    assert match.state == match_pb2.MATCH_STATE_FINISHED
    for result in match.results:
        assert [(t.termination, t.count) for t in result.terminations] == [(result_pb2.TERMINATION_NORMAL, 4)]
        assert result.refusals == 0


async def test_an_expert_is_never_late_however_long_its_process_takes_to_start() -> None:
    """No process thinks yet when the first decision is asked, and there is hardly time to start one."""
    async with running_app(bot_processes=1, decision_ms=400) as app, channel_to(app.address) as channel:
        matches = match_service_pb2_grpc.MatchServiceStub(channel)
        match = await run(matches, plan(builtin("expert"), builtin("easy"), deals=1, seed=3))

    for result in match.results:
        assert [(t.termination, t.count) for t in result.terminations] == [(result_pb2.TERMINATION_NORMAL, 2)]


async def test_no_table_waits_for_another_tables_expert() -> None:
    """One expert thinks for a minute; meanwhile quick bots play a whole match."""
    async with running_app(bot_processes=1, decision_ms=600_000) as app, channel_to(app.address) as channel:
        matches = match_service_pb2_grpc.MatchServiceStub(channel)
        slow = plan(builtin("expert", time_ms="60000"), builtin("easy"), deals=1)
        made = await matches.CreateMatch(match_service.CreateMatchRequest(plan=slow), metadata=OWNER)

        quick = await asyncio.wait_for(run(matches, plan(builtin("easy"), builtin("random"), deals=2)), SECONDS)
        held = await matches.GetMatch(match_service.GetMatchRequest(match=made.match.name), metadata=OWNER)

        assert quick.state == match_pb2.MATCH_STATE_FINISHED
        assert held.match.state == match_pb2.MATCH_STATE_RUNNING
        assert held.match.games_finished == 0


def children(process: int) -> set[int]:
    """The processes that this one has started and that still run."""
    found = set()
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        found |= {int(number) for number in task.read_text().split()}
    return found


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def until(holds: Any) -> None:
    async with asyncio.timeout(SECONDS):
        while not holds():
            await asyncio.sleep(0.05)


async def test_nothing_is_left_of_a_server_that_was_killed(tmp_path: Path) -> None:
    async with server_process(tmp_path / "journal.db", "--bot-processes", "2") as server:
        process = server.process.pid
        async with channel_to(server.address) as channel:
            tables = table_service_pb2_grpc.TableServiceStub(channel)
            created = await tables.CreateTable(
                table_service.CreateTableRequest(seats=2, start_when_full=True), metadata=OWNER
            )
            for _ in range(2):
                bot = table_pb2.BuiltinBot(name="expert")
                request = table_service.AddBotRequest(table=created.table.name, builtin=bot)
                await tables.AddBot(request, metadata=OWNER)
            await until(lambda: len(children(process)) >= 2)  # one that thinks, and one that keeps track of resources
            started = children(process)
            server.signal(signal.SIGKILL)
            await server.process.wait()

        await until(lambda: not any(map(is_running, started)))
