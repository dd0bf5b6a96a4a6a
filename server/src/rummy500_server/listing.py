"""The list of tables: those that are not over from memory, the others from the journal, without folding them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import structlog
from google.protobuf.message import DecodeError

from rummy500.v1 import table_pb2
from rummy500_server.creation import Creation
from rummy500_server.identity import Principal
from rummy500_server.journal import Journal, Listed, Put, Write
from rummy500_server.keeper import Keeper
from rummy500_server.lobby import ENDED_TABLE, Lobby
from rummy500_server.paging import read_size, read_token, write_token
from rummy500_server.status import Failure
from rummy500_server.table_wire import broken_table_message, table_message

MOST_LOOKED_AT = 1_000
"""Tables that are looked at for one page; where few of them are in the states that are wanted, the page is short."""
STEP = 100
"""Tables that are read at a time."""
log = structlog.stdlib.get_logger("rummy500")
_GOING_ON = frozenset({table_pb2.TABLE_STATE_OPEN, table_pb2.TABLE_STATE_PLAYING})


class Listing:
    def __init__(self, lobby: Lobby, journal: Journal) -> None:
        self._lobby, self._journal = lobby, journal
        lobby.when_over.append(self._keep)

    async def page(
        self, states: frozenset[int], *, principal: Principal, page_size: int, page_token: str
    ) -> tuple[list[table_pb2.Table], str]:
        """Those in these states (none: all) that the caller may know of, newest first, and the token of the next page.
        Raises Failure."""
        size, last = read_size(page_size), read_token(page_token, "tables")
        page: list[table_pb2.Table] = []
        looked_at = 0
        async for at, table in self._newest(states, principal, before=last):
            if len(page) == size or looked_at == MOST_LOOKED_AT:
                return page, write_token(last, "tables")
            message = await self._message(table)
            if not states or message.state in states:
                page.append(message)
            last, looked_at = at, looked_at + 1
        return page, ""

    def _keep(self, keeper: Keeper) -> Sequence[Write]:
        creation = keeper.table.creation
        if not creation.is_listed:
            return ()
        told = table_message(keeper).SerializeToString()
        return (Put(ENDED_TABLE, creation.name, told, listed_at=creation.listed_at, listed_for=creation.listed_for),)

    async def _newest(
        self, states: frozenset[int], principal: Principal, *, before: str
    ) -> AsyncIterator[tuple[str, Creation | Listed]]:
        """The tables among which those in these states are, the newest first, and where each stands in the list. One
        that comes to its end meanwhile is there once."""
        going_on = [] if states and not states & _GOING_ON else self._lobby.unfinished(principal)
        rest = sorted(
            (each for each in going_on if not before or each.listed_at < before), key=lambda each: each.listed_at
        )
        if not states or states - _GOING_ON:
            while rows := await self._journal.listed(ENDED_TABLE, reader=principal.reader, before=before, most=STEP):
                for row in rows:
                    while rest and rest[-1].listed_at >= row.at:
                        newer = rest.pop()
                        if newer.listed_at > row.at:
                            yield newer.listed_at, newer
                    yield row.at, row
                before = rows[-1].at
        for each in reversed(rest):
            yield each.listed_at, each

    async def _message(self, table: Creation | Listed) -> table_pb2.Table:
        if isinstance(table, Creation):
            return await self._folded(table)
        try:
            if table.value:
                return table_pb2.Table.FromString(table.value)
        except DecodeError:
            log.error("document.damaged", kind=ENDED_TABLE, key=table.key)
        return await self._folded(await self._lobby.creation(table.key))

    async def _folded(self, creation: Creation) -> table_pb2.Table:
        try:
            return table_message(await self._lobby.table(creation.name))
        except Failure as failure:
            return broken_table_message(creation, failure.sentence)
