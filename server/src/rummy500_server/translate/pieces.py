"""Pieces of the wire format. Protobuf messages, written one after the other, are one message with all their fields; so
what comes again and again (a meld, a legal action, a count) is written once, and a view is joined from such pieces.
Setting its fields one by one from Python took most of the time of a decision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

_VARINT, _LENGTH_DELIMITED = 0, 2
_WITH_LENGTH = (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES, FieldDescriptor.TYPE_MESSAGE)

Key = TypeVar("Key")


class Remembered(dict[Key, bytes]):
    """The pieces of what was written before, by key; `most` of them, then it begins anew."""

    def __init__(self, write: Callable[[Key], bytes], most: int = 1 << 12) -> None:
        super().__init__()
        self._write, self._most = write, most

    def __missing__(self, key: Key) -> bytes:
        if len(self) >= self._most:
            self.clear()
        piece = self[key] = self._write(key)
        return piece


def varint(number: int) -> bytes:
    """A number from 0 up, as the wire has it."""
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)


VARINT: Remembered[int] = Remembered(varint)
"""The same for numbers that come again."""
_LOW_BITS = 14
_LOW: Remembered[int] = Remembered(lambda low: bytes((low & 0x7F | 0x80, low >> 7 | 0x80)), most=1 << _LOW_BITS)


def time_varint(milliseconds: int) -> bytes:
    """The same for a time: it never comes again, but all of it that is above its last 14 bits stays for 16 seconds."""
    high = milliseconds >> _LOW_BITS
    return _LOW[milliseconds & 0x3FFF] + VARINT[high] if high else VARINT[milliseconds]


def tag(message: type[Message], field: str) -> bytes:
    """What stands before the field's value; in a list of numbers, before its length."""
    descriptor = message.DESCRIPTOR.fields_by_name[field]
    kind = _LENGTH_DELIMITED if descriptor.is_repeated or descriptor.type in _WITH_LENGTH else _VARINT
    return varint(descriptor.number << 3 | kind)


def numbers(message: type[Message], field: str) -> Remembered[int]:
    """The pieces of a number from 0 up in its field."""
    before = tag(message, field)
    return Remembered(lambda number: before + varint(number))


def lists(message: type[Message], field: str) -> Remembered[tuple[int, ...]]:
    """The pieces of a packed list of numbers from 0 up; nothing for an empty one."""
    before = tag(message, field)
    return Remembered(lambda values: block(before, b"".join(map(varint, values))) if values else b"")


def block(before: bytes, content: bytes) -> bytes:
    """A message, a text or a packed list in its field."""
    return before + VARINT[len(content)] + content
