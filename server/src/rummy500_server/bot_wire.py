"""Bots of the server's own on the wire."""

from __future__ import annotations

from rummy500.v1 import rules_pb2, table_pb2
from rummy500_bots import BotRefused, BotSpec, built_in, kinds
from rummy500_server.names import LONGEST_NAME, read_name
from rummy500_server.status import Failure, Reason, bad_request

MOST_BOT_SETTINGS = 16


def read_bot(message: table_pb2.BuiltinBot, field: str = "builtin") -> BotSpec:
    """A bot that there is. Raises Failure NO_SUCH_BOT, or BAD_REQUEST naming the field."""
    if len(message.settings) > MOST_BOT_SETTINGS:
        raise bad_request(f"{field}.settings", f"at most {MOST_BOT_SETTINGS}")
    for at, setting in enumerate(message.settings):
        for part, text in (("name", setting.name), ("value", setting.value)):
            if not 1 <= len(text) <= LONGEST_NAME:
                raise bad_request(f"{field}.settings[{at}].{part}", f"1 to {LONGEST_NAME} characters")
    name = read_name(message.name, f"{field}.name")
    spec = BotSpec(name, tuple((setting.name, setting.value) for setting in message.settings))
    try:
        built_in(spec, seed=0)
    except BotRefused as error:
        if spec.name not in kinds():
            raise Failure(Reason.NO_SUCH_BOT, str(error)) from error
        raise bad_request(f"{field}.settings", str(error)) from error
    return spec


def bot_message(spec: BotSpec) -> table_pb2.BuiltinBot:
    settings = [rules_pb2.Option(name=name, value=value) for name, value in spec.settings]
    return table_pb2.BuiltinBot(name=spec.name, settings=settings)
