"""Messages as JSON for programs: every field, named as in the contract, cards as in notation."""

from __future__ import annotations

import json
from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message


def plain(message: Message) -> dict[str, Any]:
    """The message as a dict. Numbers of 64 bits are texts, as JSON of protobuf has them, but for `sequence`."""
    fields = MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
    if "sequence" in fields:
        fields["sequence"] = int(fields["sequence"])
    return {name: _card_texts(value) for name, value in fields.items()}


def _card_texts(value: object) -> object:
    match value:
        case dict():
            return {name: _card_texts(part) for name, part in value.items()}
        case list():
            return [_card_texts(part) for part in value]
        case str():
            return None if value == "CARD_UNSPECIFIED" else value.removeprefix("CARD_")
        case _:
            return value


def print_json(message: Message, **more: object) -> None:
    """One line."""
    print(json.dumps({**more, **plain(message)}), flush=True)
