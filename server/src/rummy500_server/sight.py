"""What a viewer is shown of a table, as a message."""

from __future__ import annotations

from rummy500.v1 import view_pb2
from rummy500_server.keeper import Keeper
from rummy500_server.translate.views import empty_view_into, view_into


def view_of(keeper: Keeper, seat: int | None, message: view_pb2.View | None = None) -> view_pb2.View:
    """The table as the seat sees it, written into `message` if there is one."""
    message = view_pb2.View() if message is None else message
    table, game = keeper.table, keeper.table.game
    if game.round is None:
        empty_view_into(message, table=table.name, sequence=table.sequence, seat=seat, players=len(table.seats))
    else:
        keeper.verify_view(seat)
        legal, clock = keeper.legal_actions(seat), keeper.clock_face(seat, keeper.clock.moment())
        table = keeper.table
        view_into(
            message,
            table.game,
            seat,
            legal,
            public=keeper.public,
            sequence=table.sequence,
            clock=clock,
            with_variants=not table.is_broken,
        )
    return message
