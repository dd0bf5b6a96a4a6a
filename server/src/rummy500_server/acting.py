"""What requests about a game hold, read for its table."""

from __future__ import annotations

from collections.abc import Sequence

from rummy500.v1 import action_pb2
from rummy500_engine.actions import Action
from rummy500_engine.refusals import Refused
from rummy500_engine.rules import Rules
from rummy500_server.status import bad_request
from rummy500_server.translate.actions import action_from

MOST_ACTIONS = 64


def actions_from(messages: Sequence[action_pb2.Action], rules: Rules) -> list[Action | Refused]:
    """The actions; a text that cannot be read stands as its refusal in its place. Raises Failure BAD_REQUEST."""
    if not 1 <= len(messages) <= MOST_ACTIONS:
        raise bad_request("actions", f"{len(messages)}: 1 to {MOST_ACTIONS}")
    actions: list[Action | Refused] = []
    for index, message in enumerate(messages):
        try:
            actions.append(action_from(message, rules, f"actions[{index}]"))
        except Refused as refused:
            actions.append(refused)
    return actions
