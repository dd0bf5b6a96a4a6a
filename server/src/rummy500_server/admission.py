"""Who may look at a table, and who may sit down: private tables, and the invitations to any table."""

from __future__ import annotations

from rummy500_server.entries import Invited, Uninvited
from rummy500_server.identity import Principal, unknown_token
from rummy500_server.keeper import Keeper
from rummy500_server.lobby import Lobby
from rummy500_server.names import read_table_name
from rummy500_server.status import Failure, Reason
from rummy500_server.table import Table

MOST_INVITATIONS = 64
MOST_USES = 8
"""Seats that may be taken with one invitation, where it says how many."""


async def known_table(lobby: Lobby, name: str, principal: Principal) -> Keeper:
    """The table, for methods that its seats and its owner may call. A stranger learns of no table whether it is there.

    Raises Failure BAD_REQUEST, NO_SUCH_TABLE or UNKNOWN_TOKEN.
    """
    try:
        return await lobby.table(read_table_name(name))
    except Failure as failure:
        if principal.is_stranger and failure.reason is Reason.NO_SUCH_TABLE:
            raise unknown_token() from failure
        raise


async def visible_table(lobby: Lobby, name: str, principal: Principal) -> Keeper:
    """The table, if the caller may look at it. Raises Failure as `known_table`, and NO_TOKEN or NOT_INVITED."""
    keeper = await known_table(lobby, name, principal)
    verify_may_look(keeper.table, principal)
    return keeper


def verify_may_look(table: Table, principal: Principal) -> None:
    """Raises Failure UNKNOWN_TOKEN, NO_TOKEN or NOT_INVITED."""
    if principal.owns(table.creation.owner) or table.seat_of(principal.digest) is not None:
        return
    if principal.digest is not None and principal.digest in table.invitations:
        return
    if principal.is_stranger:
        raise unknown_token()
    if table.creation.private:
        principal.required()
        raise Failure(
            Reason.NOT_INVITED,
            f"table {table.name} is private: send the token of its owner, of a seat or of an invitation",
        )


def verify_may_join(table: Table, principal: Principal, who: str) -> None:
    """Whether the caller may take a seat for the secret of that digest; who has a seat already keeps it.

    Raises Failure UNKNOWN_TOKEN, NO_TOKEN, NOT_INVITED or RANKED_TABLE.
    """
    if table.seat_of(who) is not None:
        return
    if table.creation.ranked:
        if not principal.is_same(table.creation.owner):
            sentence = f"table {table.name} is ranked: only the player who made it sits down, with the same token"
            raise Failure(Reason.RANKED_TABLE, sentence)
        return
    if principal.owns(table.creation.owner):
        return
    invited = table.invitations.get(principal.digest or "")
    if invited is not None:
        if invited.may_join:
            return
        raise Failure(Reason.NOT_INVITED, f"this invitation to table {table.name} lets watch, not join")
    verify_may_look(table, principal)
    if principal.is_stranger or table.creation.private:
        raise Failure(Reason.NOT_INVITED, f"to join table {table.name} send an invitation that lets join as the token")


def count_use(keeper: Keeper, principal: Principal) -> None:
    """A seat was taken with the caller's token: an invitation for so many seats has one less."""
    invited = keeper.table.invitations.get(principal.digest or "")
    if invited is None or not invited.uses:
        return
    if invited.uses == 1:
        keeper.enter(Uninvited(invited.who))
    else:
        keeper.enter(Invited(invited.who, may_join=True, uses=invited.uses - 1))


def invite(keeper: Keeper, invited: Invited) -> None:
    """Raises Failure TOO_MANY_INVITATIONS."""
    invitations = keeper.table.invitations
    if invited.who not in invitations and len(invitations) >= MOST_INVITATIONS:
        raise Failure(
            Reason.TOO_MANY_INVITATIONS,
            f"table {keeper.table.name} has {MOST_INVITATIONS} invitations, which is the limit",
            limit=MOST_INVITATIONS,
        )
    if invitations.get(invited.who) != invited:
        keeper.enter(invited)


def revoke(keeper: Keeper, who: str | None) -> list[str]:
    """Takes the invitation of that digest back, None: all. Answers the digests."""
    revoked = [each for each in keeper.table.invitations if who in (None, each)]
    for each in revoked:
        keeper.enter(Uninvited(each))
    return revoked
