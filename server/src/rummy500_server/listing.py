"""The list of tables, without folding those that are over."""

from __future__ import annotations

from collections.abc import Sequence

from rummy500.v1 import table_pb2
from rummy500_server.creation import Creation
from rummy500_server.identity import Principal
from rummy500_server.journal import Journal, Put, Write
from rummy500_server.keeper import Keeper
from rummy500_server.lobby import Lobby
from rummy500_server.paging import page_of
from rummy500_server.status import Failure
from rummy500_server.table_wire import broken_table_message, table_message

ENDED_TABLE = "ended_table"
"""Kind of document: a table as it is listed once it is over."""


class Listing:
    def __init__(self, lobby: Lobby, journal: Journal) -> None:
        self._lobby, self._journal = lobby, journal
        self._ended: dict[str, bytes] = {}
        """Each table that is over, serialized as it is listed."""
        self._states: dict[str, int] = {}
        """The state of each of them."""
        self._ending: dict[str, table_pb2.Table] = {}
        """Tables whose end is not durable yet."""
        lobby.when_over.append(self._keep)
        lobby.after_over.append(self._kept)

    async def open(self) -> None:
        self._ended = dict(await self._journal.documents(ENDED_TABLE))
        self._states = {name: table_pb2.Table.FromString(ended).state for name, ended in self._ended.items()}

    async def page(
        self, states: frozenset[int], *, principal: Principal, page_size: int, page_token: str
    ) -> tuple[list[table_pb2.Table], str]:
        """Those in these states (none: all) that the caller may know of, newest first, and the token of the next page.
        Raises Failure."""
        listed = self._lobby.listed(principal)
        if states:
            listed = [creation for creation in listed if await self._state(creation) in states]
        page, token = page_of(listed, page_size=page_size, page_token=page_token)
        return [await self._message(creation) for creation in page], token

    def forget(self, creation: Creation) -> None:
        """The table is not in the journal any more."""
        self._ended.pop(creation.name, None)
        self._states.pop(creation.name, None)

    def _keep(self, keeper: Keeper) -> Sequence[Write]:
        if not keeper.table.creation.is_listed:
            return ()
        message = self._ending[keeper.table.name] = table_message(keeper)
        return (Put(ENDED_TABLE, message.name, message.SerializeToString()),)

    def _kept(self, keeper: Keeper) -> None:
        message = self._ending.pop(keeper.table.name, None)
        if message is not None:
            self._ended[message.name], self._states[message.name] = message.SerializeToString(), message.state

    async def _state(self, creation: Creation) -> int:
        state = self._states.get(creation.name)
        return (await self._message(creation)).state if state is None else state

    async def _message(self, creation: Creation) -> table_pb2.Table:
        if creation.name in self._ended:
            return table_pb2.Table.FromString(self._ended[creation.name])
        try:
            return table_message(await self._lobby.table(creation.name))
        except Failure as failure:
            return broken_table_message(creation, failure.sentence)
