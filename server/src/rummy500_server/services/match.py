"""MatchService: matches between bots, and the records of all games."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack
from typing import Any

import grpc

from rummy500.v1 import match_pb2, match_service_pb2_grpc
from rummy500.v1 import match_service_pb2 as pb
from rummy500_server.admission import visible_table
from rummy500_server.door import Door
from rummy500_server.drain import Drain
from rummy500_server.games import FinishedGame, Games, game_message
from rummy500_server.identity import Principal, caller, is_secret, read_secret, unknown_token
from rummy500_server.journal import JournalError, Put
from rummy500_server.lobby import Lobby
from rummy500_server.match import Match
from rummy500_server.match_plan import MOST_STREAMS, planned_message, read_spec
from rummy500_server.match_wire import full_match_message, match_message, progress_message, read_report
from rummy500_server.matches import Matches
from rummy500_server.names import read_table_name
from rummy500_server.paging import read_size, read_token, write_token
from rummy500_server.play_stream import lost
from rummy500_server.requests import Keep
from rummy500_server.status import Failure, Reason, bad_request

_Context = grpc.aio.ServicerContext[Any, Any]

BETWEEN_PROGRESS = 0.1
"""Seconds between two messages of WatchMatch."""
CHUNK_BYTES = 256 << 10
LONGEST_MATCH, LONGEST_RECORD = 64, 128
_NOT_YET = "it is when its match is over, and to the match's owner when all seatings of the deal are"


class MatchServicer(match_service_pb2_grpc.MatchServiceServicer):
    def __init__(self, matches: Matches, games: Games, lobby: Lobby, drain: Drain, door: Door) -> None:
        self._matches, self._games, self._lobby = matches, games, lobby
        self._drain, self._door = drain, door

    async def PlanMatch(self, request: pb.PlanMatchRequest, context: _Context) -> pb.PlanMatchResponse:
        spec = read_spec(request.plan, usual_clock=self._lobby.usual_clock, may_be_nameless=True)
        return planned_message(spec, digest=self._matches.rules_of(spec).digest)

    async def CreateMatch(self, request: pb.CreateMatchRequest, context: _Context) -> pb.CreateMatchResponse:
        owner = caller().required()
        bots = _read_bots(request.bot_secrets)

        async def create(keep: Keep) -> pb.CreateMatchResponse:
            spec = read_spec(request.plan, usual_clock=self._lobby.usual_clock)
            match = self._matches.make(spec, owner=owner, bots=bots)
            answer = pb.CreateMatchResponse(match=match_message(match))
            try:
                await self._kept(match, *keep(answer))
            except Failure:
                self._matches.forget(match.name)
                raise
            match.begin()
            return answer

        return await self._lobby.memory.once(
            "CreateMatch", owner, request.request_id, request=request, answer=pb.CreateMatchResponse, do=create
        )

    async def GetMatch(self, request: pb.GetMatchRequest, context: _Context) -> pb.GetMatchResponse:
        return pb.GetMatchResponse(match=await full_match_message(self._named(request.match)))

    async def ListMatches(self, request: pb.ListMatchesRequest, context: _Context) -> pb.ListMatchesResponse:
        size, before = read_size(request.page_size), read_token(request.page_token, "matches")
        found = self._matches.newest(before=before, most=size + 1)
        token = write_token(found[size - 1][0], "matches") if len(found) > size else ""
        return pb.ListMatchesResponse(
            matches=[match_message(match) for _, match in found[:size]], next_page_token=token
        )

    async def WatchMatch(
        self, request: pb.WatchMatchRequest, context: _Context
    ) -> AsyncIterator[pb.WatchMatchResponse]:
        match, principal = self._named(request.match), caller()
        if request.attend:
            self._verify_may_attend(match, request.attend)
        draining = asyncio.ensure_future(self._drain.begun.wait())
        failed: asyncio.Future[Failure] = asyncio.get_running_loop().create_future()

        def fail(failure: Failure) -> None:
            if not failed.done():
                failed.set_result(failure)

        try:
            with ExitStack() as standing:
                standing.enter_context(self._door.standing(principal, fail))
                if request.attend:
                    standing.enter_context(match.attended(request.attend, fail))
                while True:
                    change = match.change()
                    try:
                        is_last = match.is_settled
                        if is_last or not match.is_over:
                            yield pb.WatchMatchResponse(match=await progress_message(match))
                        if is_last:
                            return
                        await asyncio.wait((change, draining, failed), return_when=asyncio.FIRST_COMPLETED)
                    finally:
                        change.cancel()
                    if failed.done():
                        raise failed.result()
                    self._drain.verify_off()
                    await asyncio.sleep(BETWEEN_PROGRESS)
        finally:
            draining.cancel()

    async def CancelMatch(self, request: pb.CancelMatchRequest, context: _Context) -> pb.CancelMatchResponse:
        match = self._owned(request.match)
        match.cancel("its owner cancelled it")
        await self._kept(match)
        return pb.CancelMatchResponse(match=match_message(match))

    async def PauseMatch(self, request: pb.PauseMatchRequest, context: _Context) -> pb.PauseMatchResponse:
        match = self._owned(request.match)
        if not match.spec.attended:
            raise bad_request("match", f"match {match.name} is not attended: cancel it, or let it go on")
        match.pause()
        await self._kept(match)
        return pb.PauseMatchResponse(match=match_message(match))

    async def ReportBot(self, request: pb.ReportBotRequest, context: _Context) -> pb.ReportBotResponse:
        match = self._owned(request.match)
        match.report(read_report(request.report, match))
        await self._kept(match)
        return pb.ReportBotResponse(match=match_message(match))

    async def ListGames(self, request: pb.ListGamesRequest, context: _Context) -> pb.ListGamesResponse:
        principal, size = caller(), read_size(request.page_size, default=100, most=1_000)
        match = self._named(request.match) if request.match else None
        if request.table:
            games, token = await self._game_of_table(request, principal), ""
        elif principal.is_stranger:
            raise unknown_token()
        elif match is not None:
            of = f"games of {match.name}"
            games = await self._games.page_of_match(match.name, after=read_token(request.page_token, of), most=size + 1)
            token = write_token(games[size - 1].key, of) if len(games) > size else ""
        else:
            before = read_token(request.page_token, "games")
            found = await self._games.newest(principal.reader, before=before, most=size + 1)
            games = [game for _, game in found[:size] if game is not None]
            token = write_token(found[size - 1][0], "games") if len(found) > size else ""
        told = filter(self._is_told, games[:size])
        shown = [self._game_message(game, principal) for game in told]
        return pb.ListGamesResponse(games=shown, next_page_token=token)

    async def _game_of_table(self, request: pb.ListGamesRequest, principal: Principal) -> list[FinishedGame]:
        """None when it is not over, not known, or not of the match that was asked for. Raises Failure."""
        table = read_table_name(request.table)
        await self._verify_may_know(table, principal)
        game = await self._games.of_table(table)
        return [game] if game is not None and request.match in ("", game.match) else []

    async def _verify_may_know(self, table: str, principal: Principal) -> None:
        """Raises Failure as `visible_table`."""
        if principal.is_stranger or not await self._lobby.is_listed(table, principal):
            await visible_table(self._lobby, table, principal)

    async def GetRecord(self, request: pb.GetRecordRequest, context: _Context) -> AsyncIterator[pb.GetRecordResponse]:
        waiting = b""
        async for game in self._wanted(request, caller()):
            match = self._matches.find(game.match)
            text = await self._games.record(
                game, match.spec.place(game.deal, game.seating) if match is not None else None
            )
            waiting += text.encode()
            while len(waiting) >= CHUNK_BYTES:
                yield pb.GetRecordResponse(chunk=waiting[:CHUNK_BYTES])
                waiting = waiting[CHUNK_BYTES:]
        if waiting:
            yield pb.GetRecordResponse(chunk=waiting)

    # --- who may see what

    def _named(self, name: str) -> Match:
        if not 1 <= len(name) <= LONGEST_MATCH:
            raise bad_request("match", f"1 to {LONGEST_MATCH} characters")
        return self._matches.named(name)

    def _verify_may_attend(self, match: Match, run: str) -> None:
        _verify_owner(match)
        if not match.spec.attended:
            raise bad_request("attend", f"the plan of match {match.name} does not say that it is attended")
        if not is_secret(run):
            raise bad_request("attend", "16 to 64 printable ASCII characters without spaces")

    def _owned(self, name: str) -> Match:
        """The match, if it is the caller's and not over. Raises Failure."""
        match = self._named(name)
        _verify_owner(match)
        if match.is_over:
            raise Failure(Reason.MATCH_OVER, f"match {match.name} is {match.document.state.value}")
        return match

    def _is_open(self, game: FinishedGame, principal: Principal) -> bool:
        """Whether the caller may know all of a game: while its match goes on its owner only, when the deal is over."""
        match = self._matches.find(game.match)
        if match is None or match.is_revealed:
            return True
        return principal.is_same(match.document.owner) and match.is_deal_over(game.deal)

    def _game_message(self, game: FinishedGame, principal: Principal) -> match_pb2.Game:
        match = self._matches.find(game.match)
        message = game_message(game, with_table=self._is_open(game, principal))
        if match is not None:
            planned = match.plan.game(game.deal * match.plan.seatings + game.seating)
            message.bots.extend(planned.seats)
            message.pairing = planned.pairing
        return message

    def _is_told(self, game: FinishedGame) -> bool:
        """Whether it may be told how a game ended: while others play the same packs, it would say what they hold."""
        match = self._matches.find(game.match)
        return match is None or match.is_deal_over(game.deal)

    async def _wanted(self, request: pb.GetRecordRequest, principal: Principal) -> AsyncIterator[FinishedGame]:
        """Raises Failure NO_SUCH_MATCH, NO_SUCH_RECORD, RECORD_NOT_OPEN, or as `visible_table`."""
        match request.WhichOneof("source"):
            case "match" if principal.is_stranger:
                raise unknown_token()
            case "match":
                wanted = self._named(request.match)
                if not wanted.is_revealed and not principal.is_same(wanted.document.owner):
                    raise Failure(Reason.RECORD_NOT_OPEN, f"the records of {wanted.name} are open when it is over")
                async for game in self._games.of_match(wanted.name):
                    if self._is_open(game, principal):
                        yield game
            case "record":
                if not 1 <= len(request.record) <= LONGEST_RECORD:
                    raise bad_request("record", f"1 to {LONGEST_RECORD} characters")
                known = await self._games.named(request.record)
                await self._verify_may_know(request.record if known is None else known.table, principal)
                if known is None:
                    raise self._not_there(request.record)
                if not self._is_open(known, principal):
                    raise Failure(Reason.RECORD_NOT_OPEN, f"the record of {known.record} is not open yet: {_NOT_YET}")
                yield known
            case None:
                raise bad_request("source", "set record or match")

    def _not_there(self, record: str) -> Failure:
        if self._lobby.is_unfinished(record):
            return Failure(Reason.RECORD_NOT_OPEN, f"the game of {record} is not over")
        return Failure(Reason.NO_SUCH_RECORD, f"there is no record {record!r}")

    async def _kept(self, match: Match, *writes: Put) -> None:
        """Returns when the match as it stands is durable. Raises Failure."""
        try:
            await self._matches.keep(match, *writes)
        except JournalError as error:
            raise lost() from error


def _verify_owner(match: Match) -> None:
    """Raises Failure."""
    principal = caller()
    principal.required()
    if not principal.owns(match.document.owner):
        raise Failure(Reason.NOT_THE_OWNER, f"this token is not that of the owner of match {match.name}")


def _read_bots(secrets: Sequence[str]) -> list[str]:
    """The digests of the tokens of a match's bots. Raises Failure BAD_REQUEST."""
    if len(secrets) > MOST_STREAMS:
        raise bad_request("bot_secrets", f"{len(secrets)}: at most {MOST_STREAMS}")
    return [read_secret(secret, f"bot_secrets[{at}]") for at, secret in enumerate(secrets)]
