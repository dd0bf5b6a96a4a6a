"""Who may call which method: the matrix of docs/protocol.md.

What the token alone says is checked here, around every method; whose table or match it is, where that is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from rummy500_server.identity import Principal, Role, unknown_token
from rummy500_server.status import Failure, Reason


class Who(Enum):
    """Each value says it for people."""

    ANYONE = "anyone, without a token too"
    TOKEN = "anyone with a token, which becomes the owner's, the bot's or the player's"
    SEAT = "the seat: who sends the secret that it was joined with"
    OWNER = "the owner: who sends the token that made the table or the match; the host"


class AtTable(Enum):
    """What else a token may be that serves without being registered where the server asks for tokens that it knows."""

    NOTHING = ""
    SEAT = "a seat's"
    SEAT_OR_INVITATION = "a seat's, an invitation"
    INVITATION = "an invitation that lets join"
    SEAT_OR_BOT = "a seat's, a match's bot"


@dataclass(frozen=True, slots=True)
class Access:
    """`who` holds at every server; `roles` are those of registered tokens that may call it."""

    who: Who
    roles: frozenset[Role]
    at_table: AtTable = AtTable.NOTHING


_EVERYBODY = frozenset(Role)
_PLAYERS = frozenset({Role.PLAYER, Role.BOT, Role.HOST})
_PEOPLE = frozenset({Role.PLAYER, Role.HOST})
_BOTS = frozenset({Role.BOT, Role.HOST})

_LOOK = Access(Who.ANYONE, _EVERYBODY)
_LOOK_AT_TABLE = Access(Who.ANYONE, _EVERYBODY, AtTable.SEAT_OR_INVITATION)
_MAKE, _MANAGE = Access(Who.TOKEN, _PEOPLE), Access(Who.OWNER, _PEOPLE)
_SEAT = Access(Who.SEAT, _PLAYERS, AtTable.SEAT)

PACKAGE = "rummy500.v1"
METHODS: dict[str, dict[str, Access]] = {
    "RulesService": {
        "ListVariants": _LOOK,
        "GetVariant": _LOOK,
        "ListPresets": _LOOK,
        "ResolveRules": _LOOK,
    },
    "TableService": {
        "CreateTable": _MAKE,
        "GetTable": _LOOK_AT_TABLE,
        "ListTables": _LOOK,
        "JoinTable": Access(Who.ANYONE, _PLAYERS, AtTable.INVITATION),
        "LeaveTable": _SEAT,
        "RemoveSeat": _MANAGE,
        "AddBot": _MANAGE,
        "StartTable": _MANAGE,
        "CloseTable": _MANAGE,
        "InviteToTable": _MANAGE,
        "RevokeInvitation": _MANAGE,
    },
    "PlayService": {
        "Act": _SEAT,
        "Watch": _LOOK_AT_TABLE,
        "Play": Access(Who.TOKEN, _BOTS, AtTable.SEAT_OR_BOT),
        "ListLegalActions": _SEAT,
    },
    "MatchService": {
        "PlanMatch": _LOOK,
        "CreateMatch": _MAKE,
        "GetMatch": _LOOK,
        "ListMatches": _LOOK,
        "WatchMatch": _LOOK,
        "CancelMatch": _MANAGE,
        "PauseMatch": _MANAGE,
        "ReportBot": _MANAGE,
        "ListGames": _LOOK_AT_TABLE,
        "GetRecord": _LOOK_AT_TABLE,
    },
    "PlayerService": {
        "RegisterPlayer": _MAKE,
        "GetPlayer": _LOOK,
        "GetLeaderboard": _LOOK,
    },
}

_BY_PATH = {
    f"/{PACKAGE}.{service}/{method}": access
    for service, methods in METHODS.items()
    for method, access in methods.items()
}
_OF_GRPC = Access(Who.ANYONE, _EVERYBODY)
"""Reflection."""
_OPEN_TO_ALL = "/grpc.health."


def verify_may_call(path: str, principal: Principal, *, is_token_required: bool) -> None:
    """Whether the token alone keeps the caller from the method of that path, `/package.Service/Method`.

    Raises Failure NO_TOKEN, UNKNOWN_TOKEN or WRONG_ROLE.
    """
    if path.startswith(_OPEN_TO_ALL):
        return
    access = _BY_PATH.get(path, _OF_GRPC)
    if is_token_required or access.who is not Who.ANYONE:
        principal.required()
    if principal.is_stranger and access.at_table is AtTable.NOTHING:
        raise unknown_token()
    if principal.role is not None and principal.role not in access.roles:
        needed = role_words(access.roles)
        sentence = (
            f"this method needs the role {needed}; the token of {principal.name} has the role {principal.role.value}"
        )
        raise Failure(Reason.WRONG_ROLE, sentence, role=principal.role.value, needed=needed)


def role_words(roles: frozenset[Role]) -> str:
    return " or ".join(role.value for role in Role if role in roles)
