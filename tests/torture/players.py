"""Who plays while the server is killed: people over Act and Watch, bots over Play."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Sequence

import grpc
from tests.bench.bot import choose
from tests.server.running import bearer
from tests.torture.callers import Caller
from tests.torture.witness import Contradiction, Witness

from rummy500.v1 import action_pb2, view_pb2
from rummy500.v1 import play_service_pb2 as pb

_SEVERAL = 0.3
"""How often a person sends two actions at once."""
_CALLED = 0.5
"""How often "Rummy!" is called where it may be."""


async def look_on(caller: Caller, witness: Witness, viewer: int | None, token: str) -> None:
    """Watches a game to its end, from the first event on."""
    await _Watching(caller, witness, viewer, token).go_on()


class _Watching:
    def __init__(self, caller: Caller, witness: Witness, viewer: int | None, token: str) -> None:
        self._caller, self._witness, self._viewer, self._token = caller, witness, viewer, token
        self._after = 0

    async def go_on(self) -> None:
        while True:
            try:
                if await self._watch():
                    return
            except grpc.aio.AioRpcError as error:
                await self._caller.pause(error)

    async def _watch(self) -> bool:
        """Until the stream ends; whether the game is over."""
        request = pb.WatchRequest(table=self._witness.table, after_sequence=self._after, with_views=True)
        metadata = bearer(self._token)
        async for response in self._caller.plays.Watch(request, metadata=metadata):
            match response.WhichOneof("kind"):
                case "game_over":
                    if response.game_over.sequence != self._after:
                        raise Contradiction(f"{self._witness.table}: over at {response.game_over}, not {self._after}")
                    return True
                case "events":
                    self._after = self._witness.goes_on(self._viewer, self._after, response.events.events)
                    view = response.events.view
                case _:
                    view = response.snapshot
            self._witness.sees(self._viewer, view)
            if view.sequence != self._after:
                raise Contradiction(f"{self._witness.table}: a view of {view.sequence} after event {self._after}")
            await self.seen(view)
        return False

    async def seen(self, view: view_pb2.View) -> None:
        """The table as it stands."""


class Person(_Watching):
    """A seat that watches, and acts with a request id until it is answered."""

    def __init__(self, caller: Caller, witness: Witness, seat: int, token: str) -> None:
        super().__init__(caller, witness, seat, token)
        self._seat, self._acted = seat, 0

    async def seen(self, view: view_pb2.View) -> None:
        if view.sequence < self._acted or not _may_act(view):
            return
        dice = self._caller.dice
        actions = [choose(view, dice) for _ in range(2 if dice.random() < _SEVERAL else 1)]
        request = pb.ActRequest(
            table=view.table,
            actions=actions,
            expected_sequence=view.sequence,
            request_id=self._caller.request_id(),
            with_view=dice.random() < 0.5,
        )
        answer = await self._caller.once("Act", request, self._token)
        self._witness.acts(self._seat, answer.events)
        self._acted = answer.sequence


def _may_act(view: view_pb2.View) -> bool:
    legal = view.legal_actions
    return bool(legal.can_draw or legal.can_pass or legal.discards or legal.takes or legal.melds or legal.lay_offs)


class Bot:
    """One stream for all its games, opened again whenever it breaks."""

    def __init__(self, caller: Caller, name: str, token: str) -> None:
        self.name, self.token = name, token
        self._caller = caller
        self._witnesses: dict[str, Witness] = {}
        self._after: dict[str, int] = {}
        self._seats: dict[str, int] = {}
        self._over: set[str] = set()
        self.connections = self.decided = 0

    def expects(self, witness: Witness) -> None:
        """It may be seated at that table."""
        self._witnesses[witness.table] = witness

    def open_games(self) -> Sequence[str]:
        return [table for table in self._seats if table not in self._over]

    async def play(self) -> None:
        """Until it is cancelled."""
        while True:
            with contextlib.suppress(asyncio.TimeoutError):
                try:
                    await self._stream()
                except grpc.aio.AioRpcError as error:
                    await self._caller.pause(error)

    async def _stream(self) -> None:
        call = self._caller.plays.Play(metadata=bearer(self.token))
        resume = [pb.ResumePoint(table=table, after_sequence=self._after.get(table, 0)) for table in self.open_games()]
        try:
            await call.write(pb.PlayRequest(hello=pb.Hello(name=self.name, resume=resume)))
            async for response in call:
                decisions = self._hear(response)
                if decisions:
                    await call.write(pb.PlayRequest(decisions=decisions))
        except asyncio.InvalidStateError:  # a write to a stream that is over: reading it tells why
            async for _ in call:
                pass
        finally:
            call.cancel()

    def _hear(self, response: pb.PlayResponse) -> list[pb.Decision]:
        self.connections += response.HasField("welcome")
        for started in response.games_started:
            self._seats[started.table] = started.seat
        for resumed in response.resumed:
            self._resumed(resumed)
        for refused in response.refusals:
            if not self._witness(refused.table).may_be_late(refused.status):
                raise Contradiction(f"{self.name} was refused: {refused}")
        decisions = [self._decide(request) for request in response.decision_requests]
        for over in response.games_over:
            self._over.add(over.table)
            self._witness(over.table).hears(self._seats[over.table], over.events)
        return decisions

    def _witness(self, table: str) -> Witness:
        return self._witnesses.setdefault(table, Witness(table))

    def _resumed(self, resumed: pb.Resumed) -> None:
        witness, seat = self._witness(resumed.table), self._seats[resumed.table]
        if resumed.HasField("view"):
            raise Contradiction(f"{resumed.table}: events after {self._after[resumed.table]} cannot be resumed")
        after = self._after.get(resumed.table, 0)
        self._after[resumed.table] = witness.goes_on(seat, after, resumed.events.events)

    def _decide(self, request: pb.DecisionRequest) -> pb.Decision:
        witness = self._witness(request.table)
        witness.hears(request.seat, request.events)
        witness.sees(request.seat, request.view)
        self._after[request.table] = request.sequence
        action = _call_or(request.view, self._caller.dice)
        witness.decides(request.seat, request.sequence)
        self.decided += 1
        return pb.Decision(table=request.table, sequence=request.sequence, actions=[action])


def _call_or(view: view_pb2.View, dice: random.Random) -> action_pb2.Action:
    """A call now and then where one may be made, else any action."""
    if view.legal_actions.calls and dice.random() < _CALLED:
        return action_pb2.Action(call=dice.choice(view.legal_actions.calls))
    return choose(view, dice)


def token_from(dice: random.Random) -> str:
    return f"{dice.getrandbits(160):040x}"
