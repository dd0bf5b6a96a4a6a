"""Who may call which method: the matrix of docs/protocol.md.

That a token is there is checked here, around every method; whose it is, where the table or the match is known.
"""

from __future__ import annotations

from enum import Enum


class Who(Enum):
    """Each value says it for people."""

    ANYONE = "anyone, without a token too"
    TOKEN = "anyone with a token, which becomes the owner's or the bot's"
    SEAT = "the seat: who sends the secret that it was joined with"
    OWNER = "the owner: who sends the token that made the table or the match"


PACKAGE = "rummy500.v1"
METHODS: dict[str, dict[str, Who]] = {
    "RulesService": {
        "ListVariants": Who.ANYONE,
        "GetVariant": Who.ANYONE,
        "ListPresets": Who.ANYONE,
        "ResolveRules": Who.ANYONE,
    },
    "TableService": {
        "CreateTable": Who.TOKEN,
        "GetTable": Who.ANYONE,
        "ListTables": Who.ANYONE,
        "JoinTable": Who.ANYONE,
        "LeaveTable": Who.SEAT,
        "AddBot": Who.OWNER,
        "StartTable": Who.OWNER,
        "CloseTable": Who.OWNER,
    },
    "PlayService": {
        "Act": Who.SEAT,
        "Watch": Who.ANYONE,
        "Play": Who.TOKEN,
        "ListLegalActions": Who.SEAT,
    },
    "MatchService": {
        "CreateMatch": Who.TOKEN,
        "GetMatch": Who.ANYONE,
        "ListMatches": Who.ANYONE,
        "WatchMatch": Who.ANYONE,
        "CancelMatch": Who.OWNER,
        "ReportBot": Who.OWNER,
        "ListGames": Who.ANYONE,
        "GetRecord": Who.ANYONE,
    },
}


_NEED_A_TOKEN = frozenset(
    f"/{PACKAGE}.{service}/{method}"
    for service, methods in METHODS.items()
    for method, who in methods.items()
    if who is not Who.ANYONE
)


def needs_token(path: str) -> bool:
    """Whether the method of that path, `/package.Service/Method`, is for callers with a token only."""
    return path in _NEED_A_TOKEN
