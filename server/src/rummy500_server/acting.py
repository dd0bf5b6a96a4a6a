"""What a seat answers, read for its table, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from rummy500.v1 import action_pb2, play_service_pb2
from rummy500_engine.actions import Action
from rummy500_engine.events import DrewFromStock, StockRecycled, VariantEvent
from rummy500_engine.refusals import Refused
from rummy500_engine.rules import Rules
from rummy500_server.names import LONGEST_NAME
from rummy500_server.status import bad_request
from rummy500_server.table_events import TableEvent
from rummy500_server.translate.actions import action_from

MOST_ACTIONS = 64


class Stop(Enum):
    """Why an answer with several actions stopped; the names are those of the contract."""

    ALL_APPLIED = "all actions were applied"
    REFUSED = "an action was refused"
    REVEALED = "something new was revealed to the seat"
    TURN_ENDED = "the seat's turn, the round or the game ended"


@dataclass(slots=True)
class Acting:
    """What became of an answer: how many actions were applied, and the table's sequence before and after.

    A value, to be read only; it is not frozen because a frozen one takes five times as long to make."""

    applied: int
    stop: Stop
    before: int
    after: int
    refused: Refused | None = None


def actions_from(messages: Sequence[action_pb2.Action], rules: Rules) -> list[Action | Refused]:
    """The actions; a text that cannot be read stands as its refusal in its place. Raises Failure BAD_REQUEST."""
    if not 1 <= len(messages) <= MOST_ACTIONS:
        raise bad_request("actions", f"{len(messages)}: 1 to {MOST_ACTIONS}")
    actions: list[Action | Refused] = []
    for index, message in enumerate(messages):
        try:
            actions.append(action_from(message, rules, f"actions[{index}]"))
        except Refused as refused:
            actions.append(refused.with_traceback(None))
    return actions


def verify_play_request(request: play_service_pb2.PlayRequest) -> None:
    """Of a request after the first. Raises Failure BAD_REQUEST."""
    if request.HasField("hello"):
        raise bad_request("hello", "is for the first message of a stream only")
    if len(request.decisions) > 1_024:
        raise bad_request("decisions", f"{len(request.decisions)}: at most 1,024")
    if len(request.rules_wanted) > 64:
        raise bad_request("rules_wanted", f"{len(request.rules_wanted)}: at most 64")
    for at, decision in enumerate(request.decisions):
        if len(decision.table) > LONGEST_NAME:
            raise bad_request(f"decisions[{at}].table", f"at most {LONGEST_NAME} characters")
    for at, table in enumerate(request.rules_wanted):
        if len(table) > LONGEST_NAME:
            raise bad_request(f"rules_wanted[{at}]", f"at most {LONGEST_NAME} characters")


def reveals(event: TableEvent, seat: int) -> bool:
    """Whether the event shows the seat what it could not know when it chose its actions."""
    match event:
        case DrewFromStock(drawer):
            return drawer == seat
        case VariantEvent() | StockRecycled():
            return True
    return False
