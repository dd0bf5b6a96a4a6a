"""PlayerService: registered players, their ranked games and the leaderboard."""

from __future__ import annotations

from typing import Any

import grpc

from rummy500.v1 import player_service_pb2 as pb
from rummy500.v1 import player_service_pb2_grpc
from rummy500_server.drain import Drain
from rummy500_server.identity import caller
from rummy500_server.journal import JournalError
from rummy500_server.names import LONGEST_NAME, read_name
from rummy500_server.paging import page_of
from rummy500_server.play_stream import lost
from rummy500_server.player_wire import game_messages, player_message
from rummy500_server.players import Player, Players
from rummy500_server.status import Failure, Reason, bad_request

_Context = grpc.aio.ServicerContext[Any, Any]


class PlayerServicer(player_service_pb2_grpc.PlayerServiceServicer):
    def __init__(self, players: Players, drain: Drain) -> None:
        self._players, self._drain = players, drain

    async def RegisterPlayer(self, request: pb.RegisterPlayerRequest, context: _Context) -> pb.RegisterPlayerResponse:
        who, name = caller().required(), read_name(request.name, "name")
        self._drain.verify_off()
        try:
            player = await self._players.register(who, name)
        except JournalError as error:
            raise lost() from error
        return pb.RegisterPlayerResponse(player=player_message(player, place=self._players.place(player)))

    async def GetPlayer(self, request: pb.GetPlayerRequest, context: _Context) -> pb.GetPlayerResponse:
        player = self._named(request.name) if request.name else self._own()
        message = player_message(player, place=self._players.place(player))
        return pb.GetPlayerResponse(player=message, games=game_messages(player))

    async def GetLeaderboard(self, request: pb.GetLeaderboardRequest, context: _Context) -> pb.GetLeaderboardResponse:
        board = list(enumerate(self._players.board(), 1))
        page, token = page_of(board, "leaderboard", page_size=request.page_size, page_token=request.page_token)
        shown = [player_message(player, place=place) for place, player in page]
        return pb.GetLeaderboardResponse(players=shown, next_page_token=token)

    def _named(self, name: str) -> Player:
        if len(name) > LONGEST_NAME:
            raise bad_request("name", f"at most {LONGEST_NAME} characters")
        player = self._players.named(name)
        if player is None:
            raise Failure(Reason.NO_SUCH_PLAYER, f"there is no player {name!r}")
        return player

    def _own(self) -> Player:
        player = self._players.of_token(caller().required())
        if player is None:
            raise Failure(Reason.NO_SUCH_PLAYER, "this token is no player's: RegisterPlayer makes it one")
        return player
