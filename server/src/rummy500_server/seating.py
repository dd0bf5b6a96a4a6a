"""Who sits where: joining, leaving, and the bots that an owner seats."""

from __future__ import annotations

from rummy500_bots import BotSpec
from rummy500_server.connected import Connected
from rummy500_server.entries import Joined, SeatKind
from rummy500_server.identity import Principal, Role, unknown_token
from rummy500_server.keeper import Keeper
from rummy500_server.status import Failure, Reason, bad_request
from rummy500_server.table import Table, TableState


def seat_of(keeper: Keeper, principal: Principal) -> int:
    """The caller's seat. Raises Failure NOT_SEATED, or UNKNOWN_TOKEN for a stranger."""
    seat = keeper.table.seat_of(principal.required())
    if seat is None and principal.is_stranger:
        raise unknown_token()
    if seat is None:
        raise Failure(Reason.NOT_SEATED, f"this token is not that of a seat at table {keeper.table.name}")
    return seat


def verify_owner(keeper: Keeper, principal: Principal) -> None:
    """Raises Failure NOT_THE_OWNER. The host may do what an owner may."""
    principal.required()
    if not principal.owns(keeper.table.creation.owner):
        raise Failure(Reason.NOT_THE_OWNER, f"this token is not that of the owner of table {keeper.table.name}")


def verify_unranked(table: Table) -> None:
    """Raises Failure RANKED_TABLE."""
    if table.creation.ranked:
        sentence = f"table {table.name} is ranked: who plays there is settled, and LeaveTable gives the game up"
        raise Failure(Reason.RANKED_TABLE, sentence)


def verify_open(table: Table) -> None:
    """Raises Failure WRONG_TABLE_STATE."""
    if table.state is not TableState.OPEN:
        raise Failure(Reason.WRONG_TABLE_STATE, f"table {table.name} is {table.state.value}", state=table.state.value)


def sit(keeper: Keeper, *, name: str, who: str, kind: SeatKind, wanted: int | None, entropy: bytes = b"") -> int:
    """Takes a seat; who has one already keeps it as it is. `entropy` counts where deals are committed to. Raises
    Failure."""
    table = keeper.table
    taken = table.seat_of(who) if kind is not SeatKind.BUILTIN_BOT else None
    if taken is not None:
        if wanted not in (None, taken):
            raise Failure(Reason.SEAT_TAKEN, f"this token has seat {taken} already, and one seat is all it can have")
        return taken
    verify_open(table)
    seat = _free_seat(table, name, wanted)
    places = table.place_names()
    added = entropy if table.creation.is_fair else b""
    keeper.enter(Joined(seat, kind, places[seat] if places else name, who, added))
    return seat


def _free_seat(table: Table, name: str, wanted: int | None) -> int:
    if wanted is not None and wanted >= len(table.seats):
        raise bad_request("seat", f"{wanted}: the table has seats 0 to {len(table.seats) - 1}")
    places = table.place_names()
    if places and name:
        if name not in places:
            raise bad_request("name", f"{name!r}: the position's players are {', '.join(places)}")
        if wanted not in (None, places.index(name)):
            raise bad_request("seat", f"{wanted}: the position has {name} in seat {places.index(name)}")
        wanted = places.index(name)
    free = [seat.number for seat in table.seats if seat.kind is None]
    if not free:
        raise Failure(Reason.TABLE_FULL, f"all seats of table {table.name} are occupied")
    if wanted is None:
        return free[0]
    if wanted not in free:
        raise Failure(Reason.SEAT_TAKEN, f"seat {wanted} of table {table.name} is occupied")
    return wanted


def seat_builtin(keeper: Keeper, spec: BotSpec, *, name: str, wanted: int | None) -> int:
    """Raises Failure as `sit` does."""
    label = name or ("" if keeper.table.place_names() else spec.name)
    return sit(keeper, name=label, who=str(spec), kind=SeatKind.BUILTIN_BOT, wanted=wanted)


def seat_connected(keeper: Keeper, connected: Connected, bot: str, *, name: str, wanted: int | None) -> int:
    """Raises Failure NO_SUCH_BOT, or TOO_MANY_TABLES when the bot plays as many games as it can."""
    stream = connected.named(bot)
    if stream is None:
        raise Failure(Reason.NO_SUCH_BOT, f"no bot named {bot!r} is connected")
    if stream.is_full:
        limit = stream.most_games
        raise Failure(Reason.TOO_MANY_TABLES, f"{bot} plays {limit} games already, which is its limit", limit=limit)
    if keeper.table.seat_of(stream.who) is not None:
        raise Failure(Reason.SEAT_TAKEN, f"{bot} has a seat at this table already, and one seat is all it can have")
    label = name or ("" if keeper.table.place_names() else bot)
    seat = sit(keeper, name=label, who=stream.who, kind=SeatKind.CONNECTED_BOT, wanted=wanted)
    connected.seated(keeper, seat)  # so that it finds the seat again when it was dropped
    return seat


def verify_seat(table: Table, seat: int) -> None:
    """Whether there is such a seat, and somebody has it. Raises Failure BAD_REQUEST."""
    if seat >= len(table.seats):
        raise bad_request("seat", f"{seat}: the table has seats 0 to {len(table.seats) - 1}")
    if table.seats[seat].kind is None:
        raise bad_request("seat", f"{seat} is free")


def remove(keeper: Keeper, seat: int, principal: Principal) -> None:
    """Takes a seat away: before the start it is free again, afterwards it forfeits, and only the host may do that, for
    an owner may be an opponent. Raises Failure."""
    table = keeper.table
    if table.is_over or principal.role is not Role.HOST:
        verify_open(table)
    keeper.leave(seat)


def start(keeper: Keeper) -> None:
    """Raises Failure TABLE_NOT_FULL or WRONG_TABLE_STATE."""
    verify_open(keeper.table)
    if not keeper.table.is_full:
        free = [str(seat.number) for seat in keeper.table.seats if seat.kind is None]
        raise Failure(Reason.TABLE_NOT_FULL, f"free seats: {', '.join(free)}", free=",".join(free))
    keeper.start()


def start_if_ready(keeper: Keeper) -> None:
    table = keeper.table
    if table.creation.start_when_full and table.is_full and table.state is TableState.OPEN:
        keeper.start()
