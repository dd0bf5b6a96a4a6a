"""Ranked games over the wire for tests: a player, its tables, and play by one of the built-in bots in its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import grpc
from tests.server.at_table import Client, secret_of
from tests.server.running import bearer

from rummy500.v1 import action_pb2, play_service_pb2, player_pb2, rules_pb2, table_service_pb2
from rummy500.v1 import player_service_pb2 as pb
from rummy500.v1.player_service_pb2_grpc import PlayerServiceStub
from rummy500_bots import Decision, built_in
from rummy500_engine.notation import write_action
from rummy500_engine.view import seat_view
from rummy500_server.app import App

ANNA, BEN = "the-token-of-anna-herself", "the-token-of-ben-himself"


@dataclass(slots=True)
class Players:
    """Who plays ranked games; `token` says as whom."""

    client: Client
    stub: Any

    @classmethod
    def on(cls, channel: grpc.aio.Channel) -> Players:
        return cls(Client.on(channel), PlayerServiceStub(channel))

    async def register(self, name: str, token: str = ANNA) -> player_pb2.Player:
        answer = await self.stub.RegisterPlayer(pb.RegisterPlayerRequest(name=name), metadata=bearer(token))
        assert isinstance(answer, pb.RegisterPlayerResponse)
        return answer.player

    async def shown(self, token: str = ANNA) -> pb.GetPlayerResponse:
        answer = await self.stub.GetPlayer(pb.GetPlayerRequest(), metadata=bearer(token))
        assert isinstance(answer, pb.GetPlayerResponse)
        return answer

    async def board(self) -> list[str]:
        answer = await self.stub.GetLeaderboard(pb.GetLeaderboardRequest())
        return [player.name for player in answer.players]

    async def create(self, *levels: str, token: str = ANNA, **fields: Any) -> str:
        request = table_service_pb2.CreateTableRequest(ranked=levels or ["easy"], **fields)
        return (await self.client.tables.CreateTable(request, metadata=bearer(token))).table.name

    async def sit(self, table: str, *, token: str = ANNA, secret: str = "", **fields: Any) -> int:
        request = table_service_pb2.JoinTableRequest(
            table=table, name="anna", seat_secret=secret or secret_of(table), **fields
        )
        return (await self.client.tables.JoinTable(request, metadata=bearer(token))).seat

    async def leave(self, table: str) -> None:
        request = table_service_pb2.LeaveTableRequest(table=table)
        await self.client.tables.LeaveTable(request, metadata=bearer(secret_of(table)))

    async def play_out(self, app: App, table: str, *, as_bot: str) -> None:
        """Plays the seat that was sat down at, over Act, to the end of the game."""
        bot, keeper = built_in(as_bot, seed=1), await app.lobby.table(table)
        while not keeper.table.is_over:
            while keeper.table.to_act() != (0,) and not keeper.table.is_over:
                await keeper.scribe.durable()
            if keeper.table.is_over:
                return
            answer = bot.act(Decision(seat_view(keeper.table.game, 0), keeper.table.rules))
            chosen = answer if isinstance(answer, Sequence) else (answer,)
            actions = [action_pb2.Action(text=write_action(action)) for action in chosen]
            request = play_service_pb2.ActRequest(table=table, actions=actions)
            await self.client.plays.Act(request, metadata=bearer(secret_of(table)))


def rules(preset: str = "", *variants: str, **options: str) -> rules_pb2.RulesChoice:
    chosen = [rules_pb2.Option(name=name, value=value) for name, value in options.items()]
    return rules_pb2.RulesChoice(preset=preset, variants=variants, options=chosen)
