"""Waiting for the journal, as every method does that changed something."""

from __future__ import annotations

from rummy500_server.journal import JournalError
from rummy500_server.keeper import Keeper
from rummy500_server.play_stream import lost


async def durable(keeper: Keeper) -> None:
    """Waits until what was done at the table is durable. Raises Failure when it was not kept."""
    try:
        await keeper.scribe.durable()
    except JournalError as error:
        raise lost() from error
