"""Bots written with the SDK, on a real server: seated, asked, refused, cut off, resumed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from tests.clients.running import server_process
from tests.tcp_proxy import TcpProxy, proxy_to

from rummy500.v1.play_service_pb2 import GameStarted
from rummy500.v1.result_pb2 import TERMINATION_NORMAL, GameResult
from rummy500.v1.rules_pb2 import Option, RulesChoice
from rummy500.v1.table_pb2 import BuiltinBot
from rummy500.v1.table_service_pb2 import AddBotRequest, CreateTableRequest
from rummy500_client import Bot, Request
from rummy500_client.bot import Answer
from rummy500_client.bot_games import BotFailed
from rummy500_client.connection import Connection, new_secret
from rummy500_client.errors import ServerRefused
from rummy500_client.examples.easy import EasyBot
from rummy500_client.play_stream import BotPlayer

SHORT = RulesChoice(options=[Option(name="target", value="1")])


@pytest.fixture
def proxy(server: str) -> Iterator[TcpProxy]:
    with proxy_to(server) as proxy:
        yield proxy


class Seated(EasyBot):
    """A bot that has itself seated as soon as it is connected."""

    def __init__(self, owner: Connection, name: str, *, tables: int = 1) -> None:
        self._owner = owner
        self._name = name
        self._tables = tables
        self.results: list[GameResult] = []
        self.started: list[str] = []

    def seat(self) -> None:
        for _ in range(self._tables):
            request = CreateTableRequest(seats=2, rules=SHORT, start_when_full=True)
            table = self._owner.ask(self._owner.tables.CreateTable, request).table.name
            for seat in (AddBotRequest(connected=self._name), AddBotRequest(builtin=BuiltinBot(name="easy"))):
                seat.table = table
                self._owner.ask(self._owner.tables.AddBot, seat)

    def connected(self) -> None:
        if not self.started:
            self.seat()

    def game_started(self, game: GameStarted) -> None:
        self.started.append(game.table)

    def game_over(self, table: str, result: GameResult) -> None:
        self.results.append(result)


def play(bot: Seated, address: str, owner: Connection, name: str, games: int) -> list[str]:
    """Plays so many games; answers what it reported but for its connections."""
    told: list[str] = []
    with Connection(address, token=new_secret()) as connection:
        player = BotPlayer(bot, connection, name, games=games, report=told.append)
        assert player.play() == games
    return [sentence for sentence in told if "connected" not in sentence]


def test_a_bot_plays_many_tables_on_one_stream(server: str) -> None:
    with Connection(server, token=new_secret()) as owner:
        bot = Seated(owner, "many", tables=5)
        told = play(bot, server, owner, "many", 5)
    assert told == []
    assert [result.termination for result in bot.results] == [TERMINATION_NORMAL] * 5


class Cut(Seated):
    """Loses its connection at its third decision, and at every seventh after that if it is `unlucky`."""

    proxy: TcpProxy
    unlucky = False
    decisions = 0

    def __init__(self, owner: Connection, name: str, *, tables: int = 1) -> None:
        super().__init__(owner, name, tables=tables)
        self.seen: dict[str, set[int]] = {}

    def act(self, request: Request) -> Answer | Sequence[Answer]:
        self.decisions += 1
        self.seen.setdefault(request.table, set()).update(event.sequence for event in request.events)
        if self.decisions == 3 or (self.unlucky and self.decisions % 7 == 3):
            self.lose()
        return super().act(request)

    def lose(self) -> None:
        self.proxy.cut()


def test_a_bot_that_is_cut_off_comes_back_and_goes_on(server: str, proxy: TcpProxy) -> None:
    with Connection(server, token=new_secret()) as owner:
        bot = Cut(owner, "cut")
        bot.proxy = proxy
        told = play(bot, proxy.address, owner, "cut", 1)
    assert len(told) == 1
    assert "trying again" in told[0]
    assert len(bot.started) == 2, "the game is told again after the connection was lost"
    assert bot.results[0].termination == TERMINATION_NORMAL


def test_a_bot_plays_many_tables_over_a_bad_connection(server: str, proxy: TcpProxy) -> None:
    proxy.delay = 0.003
    with Connection(server, token=new_secret()) as owner:
        bot = Cut(owner, "unlucky", tables=4)
        bot.proxy, bot.unlucky = proxy, True
        play(bot, proxy.address, owner, "unlucky", 4)
    assert proxy.connections > 5
    assert [result.termination for result in bot.results] == [TERMINATION_NORMAL] * 4
    for seen in bot.seen.values():
        assert sorted(seen) == list(range(min(seen), max(seen) + 1)), "no event was left out"


class Stalled(Cut):
    """Its connection stays open, and nothing comes through any more."""

    def lose(self) -> None:
        self.proxy.stall()


def test_a_bot_whose_connection_is_half_open_notices_and_goes_on(state: Path) -> None:
    with (
        server_process(state / "server.db", "--keepalive-ms", "400") as (address, _),
        proxy_to(address) as proxy,
        Connection(address, token=new_secret()) as owner,
        Connection(proxy.address, token=new_secret(), keepalive=0.4) as connection,
    ):
        bot = Stalled(owner, "stalled")
        bot.proxy = proxy
        told: list[str] = []
        assert BotPlayer(bot, connection, "stalled", games=1, report=told.append).play() == 1
    assert [sentence for sentence in told if "trying again" in sentence] == [told[1]]
    assert bot.results[0].termination == TERMINATION_NORMAL
    assert proxy.connections == 2


class Restarted(Seated):
    """Its server is stopped and started again while it thinks about its third decision."""

    decisions = 0

    def __init__(self, owner: Connection, name: str, *, restart: Callable[[], None]) -> None:
        super().__init__(owner, name)
        self._restart = restart

    def act(self, request: Request) -> Answer | Sequence[Answer]:
        self.decisions += 1
        if self.decisions == 3:
            self._restart()
        return super().act(request)


def test_a_bot_goes_on_when_its_server_was_drained_and_started_again(state: Path) -> None:
    database = state / "server.db"
    with contextlib.ExitStack() as servers:
        address, process = servers.enter_context(server_process(database))

        def restart() -> None:
            process.terminate()
            process.wait()
            servers.enter_context(server_process(database, port=int(address.rpartition(":")[2])))

        with Connection(address, token=new_secret()) as owner:
            bot = Restarted(owner, "restarted", restart=restart)
            told = play(bot, address, owner, "restarted", 1)
    assert "restarted: the server is about to stop; the games go on when it is back" in told
    assert bot.results[0].termination == TERMINATION_NORMAL


class Stubborn(Seated):
    """Answers its first question wrongly, then as it should."""

    refused: list[str]

    def act(self, request: Request) -> Answer | Sequence[Answer]:
        if request.refusal is not None:
            self.refused.append(request.refusal.code)
        if not self.refused:
            return ["discard 2C", "discard 3C"]
        return super().act(request)


def test_a_refused_bot_is_told_why_and_asked_again(server: str) -> None:
    with Connection(server, token=new_secret()) as owner:
        bot = Stubborn(owner, "stubborn")
        bot.refused = []
        told = play(bot, server, owner, "stubborn", 1)
    assert bot.refused[0] in ("CARD_NOT_IN_HAND", "WRONG_PHASE")
    assert bot.refused[0] in told[0]
    assert bot.results[0].termination == TERMINATION_NORMAL


class Broken(Seated):
    def act(self, request: Request) -> Answer | Sequence[Answer]:
        raise KeyError(request.hand[0])


class Silent(Seated):
    def act(self, request: Request) -> Answer | Sequence[Answer]:
        return None  # type: ignore[return-value]


@pytest.mark.parametrize(("kind", "told"), [(Broken, "KeyError"), (Silent, "Silent.act returned None")])
def test_a_bot_whose_code_fails_ends_with_a_sentence(kind: type[Seated], told: str, server: str) -> None:
    with Connection(server, token=new_secret()) as owner:
        bot = kind(owner, kind.__name__)
        with pytest.raises(BotFailed, match=told):
            play(bot, server, owner, kind.__name__, 1)


def test_a_name_that_another_bot_has_is_refused(server: str) -> None:
    class Late(Seated):
        def connected(self) -> None:
            with Connection(server, token=new_secret()) as other, pytest.raises(ServerRefused) as raised:
                BotPlayer(Bot(), other, "taken", games=1).play()
            assert raised.value.reason == "BOT_NAME_TAKEN"
            self.seat()

    with Connection(server, token=new_secret()) as owner:
        play(Late(owner, "taken"), server, owner, "taken", 1)
