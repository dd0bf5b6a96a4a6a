"""TableService: making, finding and leaving tables."""

from __future__ import annotations

from typing import Any

import grpc

from rummy500.v1 import table_service_pb2 as pb
from rummy500.v1 import table_service_pb2_grpc
from rummy500_bots import BotSpec
from rummy500_engine.fair import ENTROPY_BYTES
from rummy500_server import admission, seating
from rummy500_server.bot_wire import read_bot
from rummy500_server.connected import Connected
from rummy500_server.door import Door
from rummy500_server.drain import Drain
from rummy500_server.entries import Invited, SeatKind
from rummy500_server.identity import Principal, caller, read_secret
from rummy500_server.keeper import Keeper
from rummy500_server.listing import Listing
from rummy500_server.lobby import Lobby
from rummy500_server.names import read_name, read_table_name
from rummy500_server.players import Players
from rummy500_server.requests import Keep
from rummy500_server.results import Termination
from rummy500_server.rules_messages import RulesMessages
from rummy500_server.services.waiting import durable
from rummy500_server.status import Failure, Reason, bad_request
from rummy500_server.table import TableState
from rummy500_server.table_wire import broken_table_message, read_wish, table_message

MOST_STATES = 16
_Context = grpc.aio.ServicerContext[Any, Any]


class TableServicer(table_service_pb2_grpc.TableServiceServicer):
    def __init__(
        self,
        *,
        lobby: Lobby,
        players: Players,
        listing: Listing,
        connected: Connected,
        rules: RulesMessages,
        drain: Drain,
        door: Door,
    ) -> None:
        self._lobby, self._players, self._listing, self._connected = lobby, players, listing, connected
        self._rules, self._drain, self._door = rules, drain, door

    async def CreateTable(self, request: pb.CreateTableRequest, context: _Context) -> pb.CreateTableResponse:
        owner = caller().required()
        wish = read_wish(request, owner, usual_clock=self._lobby.usual_clock)

        async def create(keep: Keep) -> pb.CreateTableResponse:
            self._drain.verify_off()
            if wish.ranked:
                self._players.verify_may_play(wish, self._lobby)
            keeper = self._lobby.make(wish)
            for seat, level in enumerate(wish.ranked, 1):
                seating.seat_builtin(keeper, BotSpec(level), name="", wanted=seat)
            answer = pb.CreateTableResponse(table=table_message(keeper), rules=self._rules.message(keeper.table))
            keeper.scribe.keep(keep(answer))
            await durable(keeper)
            return answer

        return await self._lobby.memory.once(
            "CreateTable", owner, request.request_id, request=request, answer=pb.CreateTableResponse, do=create
        )

    async def GetTable(self, request: pb.GetTableRequest, context: _Context) -> pb.GetTableResponse:
        principal = caller()
        try:
            keeper = await admission.visible_table(self._lobby, request.table, principal)
        except Failure as failure:
            if failure.reason is not Reason.TABLE_BROKEN or principal.is_stranger:
                raise
            if not await self._lobby.is_listed(request.table, principal):
                raise
            creation = await self._lobby.creation(request.table)
            return pb.GetTableResponse(table=broken_table_message(creation, failure.sentence))
        answer = pb.GetTableResponse(table=table_message(keeper), rules=self._rules.message(keeper.table))
        await durable(keeper)
        return answer

    async def ListTables(self, request: pb.ListTablesRequest, context: _Context) -> pb.ListTablesResponse:
        if len(request.states) > MOST_STATES:
            raise bad_request("states", f"{len(request.states)}: at most {MOST_STATES}")
        page, token = await self._listing.page(
            frozenset(request.states), principal=caller(), page_size=request.page_size, page_token=request.page_token
        )
        await self._lobby.commits.durable()
        return pb.ListTablesResponse(tables=page, next_page_token=token)

    async def JoinTable(self, request: pb.JoinTableRequest, context: _Context) -> pb.JoinTableResponse:
        name, who = read_name(request.name, "name"), read_secret(request.seat_secret, "seat_secret")
        if len(request.entropy) not in (0, ENTROPY_BYTES):
            raise bad_request("entropy", f"{len(request.entropy)} bytes; it is {ENTROPY_BYTES} bytes or empty")
        wanted = request.seat if request.HasField("seat") else None
        principal = caller()
        keeper = await admission.known_table(self._lobby, request.table, principal)

        async def join(keep: Keep) -> pb.JoinTableResponse:
            admission.verify_may_join(keeper.table, principal, who)
            is_new = keeper.table.seat_of(who) is None
            player = self._players.of_token(keeper.table.creation.owner) if keeper.table.creation.ranked else None
            seat = seating.sit(
                keeper,
                name=player.name if player else name,
                who=who,
                kind=SeatKind.JOINED,
                wanted=wanted,
                entropy=request.entropy,
            )
            if is_new:
                admission.count_use(keeper, principal)
            self._connected.seated(keeper, seat)
            seating.start_if_ready(keeper)
            rules = self._rules.message(keeper.table)
            answer = pb.JoinTableResponse(seat=seat, table=table_message(keeper), rules=rules)
            keeper.scribe.keep(keep(answer))
            await durable(keeper)
            return answer

        return await self._lobby.memory.once(
            "JoinTable", who, request.request_id, request=request, answer=pb.JoinTableResponse, do=join
        )

    async def LeaveTable(self, request: pb.LeaveTableRequest, context: _Context) -> pb.LeaveTableResponse:
        keeper = await admission.known_table(self._lobby, request.table, caller())
        seat = seating.seat_of(keeper, caller())
        if keeper.table.is_over:
            state = keeper.table.state.value
            raise Failure(Reason.WRONG_TABLE_STATE, f"table {keeper.table.name} is {state}", state=state)
        who = keeper.table.seats[seat].who
        keeper.leave(seat)
        self._left(keeper, who)
        await durable(keeper)
        return pb.LeaveTableResponse(table=table_message(keeper))

    async def RemoveSeat(self, request: pb.RemoveSeatRequest, context: _Context) -> pb.RemoveSeatResponse:
        keeper, principal = await self._owned(request.table)
        if principal.is_same(keeper.table.creation.owner):
            seating.verify_unranked(keeper.table)
        seating.verify_seat(keeper.table, request.seat)
        who = keeper.table.seats[request.seat].who
        seating.remove(keeper, request.seat, principal)
        self._left(keeper, who)
        await durable(keeper)
        return pb.RemoveSeatResponse(table=table_message(keeper))

    def _left(self, keeper: Keeper, who: str) -> None:
        if keeper.table.seat_of(who) is None:
            self._connected.left(keeper, who)

    async def AddBot(self, request: pb.AddBotRequest, context: _Context) -> pb.AddBotResponse:
        keeper, owner = await self._owned(request.table)
        seating.verify_unranked(keeper.table)
        name = read_name(request.name, "name", may_be_empty=True)
        wanted = request.seat if request.HasField("seat") else None
        bot = _bot_of(request)

        async def add(keep: Keep) -> pb.AddBotResponse:
            self._drain.verify_off()
            seating.verify_open(keeper.table)
            if isinstance(bot, BotSpec):
                self._lobby.verify_another_bot(keeper.table.creation.owner)
                seat = seating.seat_builtin(keeper, bot, name=name, wanted=wanted)
            else:
                seat = seating.seat_connected(keeper, self._connected, bot, name=name, wanted=wanted)
            seating.start_if_ready(keeper)
            answer = pb.AddBotResponse(seat=seat, table=table_message(keeper))
            keeper.scribe.keep(keep(answer))
            await durable(keeper)
            return answer

        return await self._lobby.memory.once(
            "AddBot", owner.required(), request.request_id, request=request, answer=pb.AddBotResponse, do=add
        )

    async def StartTable(self, request: pb.StartTableRequest, context: _Context) -> pb.StartTableResponse:
        keeper, _ = await self._owned(request.table)
        self._drain.verify_off()
        seating.start(keeper)
        await durable(keeper)
        return pb.StartTableResponse(table=table_message(keeper))

    async def CloseTable(self, request: pb.CloseTableRequest, context: _Context) -> pb.CloseTableResponse:
        keeper, principal = await self._owned(request.table)
        if keeper.table.is_over:
            state = keeper.table.state.value
            raise Failure(Reason.WRONG_TABLE_STATE, f"table {keeper.table.name} is {state} already", state=state)
        if keeper.table.state is TableState.PLAYING and principal.is_same(keeper.table.creation.owner):
            seating.verify_unranked(keeper.table)
        keeper.close(Termination.CANCELLED, "its owner closed the table")
        await durable(keeper)
        return pb.CloseTableResponse(table=table_message(keeper))

    async def InviteToTable(self, request: pb.InviteToTableRequest, context: _Context) -> pb.InviteToTableResponse:
        keeper, _ = await self._owned(request.table)
        who = read_secret(request.secret, "secret")
        may_join = request.role == pb.INVITATION_ROLE_PLAYER
        if not may_join and request.role != pb.INVITATION_ROLE_SPECTATOR:
            raise bad_request("role", "INVITATION_ROLE_PLAYER or INVITATION_ROLE_SPECTATOR")
        most = admission.MOST_USES if may_join else 0
        if request.uses > most:
            raise bad_request("uses", f"{request.uses}: at most {most}; 0: any number")
        admission.invite(keeper, Invited(who, may_join=may_join, uses=request.uses))
        await durable(keeper)
        return pb.InviteToTableResponse(table=table_message(keeper))

    async def RevokeInvitation(
        self, request: pb.RevokeInvitationRequest, context: _Context
    ) -> pb.RevokeInvitationResponse:
        keeper, _ = await self._owned(request.table)
        revoked = admission.revoke(keeper, read_secret(request.secret, "secret") if request.secret else None)
        await durable(keeper)
        name = keeper.table.name
        for who in revoked:
            if keeper.table.seat_of(who) is None:  # whose own seat's secret it is, stays
                self._door.turn_out(who, name, f"the invitation to table {name} was taken back")
        return pb.RevokeInvitationResponse(revoked=len(revoked))

    async def _owned(self, table: str) -> tuple[Keeper, Principal]:
        """The table, if it is the caller's. Raises Failure."""
        principal = caller()
        keeper = await self._lobby.table(read_table_name(table))
        seating.verify_owner(keeper, principal)
        return keeper, principal


def _bot_of(request: pb.AddBotRequest) -> BotSpec | str:
    """A built-in bot, or the name of a connected one. Raises Failure BAD_REQUEST."""
    match request.WhichOneof("source"):
        case "builtin":
            return read_bot(request.builtin)
        case "connected":
            return read_name(request.connected, "connected")
    raise bad_request("source", "set builtin or connected")
