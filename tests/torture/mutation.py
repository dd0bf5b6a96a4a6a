"""Messages that are nearly right: a valid message, field by field made wrong, and bytes that mean nothing."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator
from typing import cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

VARINT, FIXED64, DELIMITED, GROUP, GROUP_END, FIXED32 = 0, 1, 2, 3, 4, 5
NUMBERS = (0, 1, 2, 52, 53, 54, 64, 65, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1)
BAD_TEXTS = (
    b"\xff\xfe",
    b"abc\x80",
    b"\xed\xa0\x80",  # half of a surrogate pair
    b"\xc0\xaf",  # longer than need be
    b"\xf4\x90\x80\x80",  # beyond the last character
    "\u202egnirts".encode(),
    "\U0001f0cf".encode() * 65,
    b"\0",
    b"a\nb\tc",
    b" ",
    b"x" * 64,
    b"x" * 65,
    b"x" * 5_000,
)
DEEP = 300
"""Levels of messages within messages; protobuf reads a hundred."""
MOST_CHANGES = 4
MOST_BYTES = 1 << 20
"""What is repeated stays below this, more than a server reads: repeating what was repeated would fill the memory."""


def varint(number: int) -> bytes:
    number &= 2**64 - 1
    parts = bytearray()
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def tag(number: int, wire: int) -> bytes:
    return varint(number << 3 | wire)


def block(number: int, content: bytes) -> bytes:
    return tag(number, DELIMITED) + varint(len(content)) + content


def garbled_bytes(whole: bytes, dice: random.Random) -> bytes:
    """The bytes with some of them changed, left out, put in or repeated."""
    some = bytearray(whole)
    for _ in range(dice.randint(1, 3)):
        at = dice.randrange(len(some) + 1)
        match dice.randrange(4):
            case 0 if some:
                some[at % len(some)] = dice.randrange(256)
            case 1:
                del some[at:]
            case 2:
                some[at:at] = dice.randbytes(dice.randint(1, 8))
            case _:
                some += some[at:]
    return bytes(some)


class Mutator:
    """`text` makes up a text for a string field of that name: some of them should be right."""

    def __init__(self, dice: random.Random, text: Callable[[str], str]) -> None:
        self._dice, self._text = dice, text

    def mutated(self, message: Message) -> bytes:
        """The message with one to four changes, in any depth; some in the bytes alone."""
        dice = self._dice
        whole = self._changed(message, dice.randint(1, MOST_CHANGES))
        return garbled_bytes(whole, dice) if dice.random() < 0.15 else whole

    def drawn(self, kind: type[Message]) -> bytes:
        """A message of that kind whose fields are drawn at random."""
        return b"".join(self._drawn(cast(Descriptor, kind.DESCRIPTOR), 0))

    # --- changes

    def _changed(self, message: Message, changes: int) -> bytes:
        pieces = [self._piece(field, value) for field, value in _values(message)]
        for _ in range(changes):
            self._change(message, pieces)
        return b"".join(pieces)

    def _piece(self, field: FieldDescriptor, value: object) -> bytes:
        single = value.SerializeToString() if isinstance(value, Message) else None
        return block(field.number, single) if single is not None else _scalar(field, value)

    def _change(self, message: Message, pieces: list[bytes]) -> None:
        dice, fields = self._dice, cast(Descriptor, message.DESCRIPTOR).fields
        at = dice.randrange(len(pieces) + 1)
        match dice.randrange(10):
            case 0 if pieces:
                del pieces[at % len(pieces)]
            case 1 if pieces:
                piece = dice.choice(pieces)
                pieces.insert(at, piece * min(dice.choice((1, 2, 70, 700)), 1 + MOST_BYTES // (len(piece) + 1)))
            case 2:
                pieces.insert(at, self._unknown())
            case 3 if fields:
                pieces.insert(at, self._of_a_wrong_type(dice.choice(fields)))
            case 4 | 5 if pieces:
                self._change_within(message, pieces)
            case _ if fields:
                pieces.insert(at, self._value(dice.choice(fields), 0))

    def _change_within(self, message: Message, pieces: list[bytes]) -> None:
        inner = [(field, value) for field, value in _values(message) if isinstance(value, Message)]
        if inner:
            field, value = self._dice.choice(inner)
            pieces.append(block(field.number, self._changed(value, 1)))

    def _unknown(self) -> bytes:
        dice = self._dice
        number = dice.choice((0, 15, 999, 19_000, 2**29 - 1, 2**29))
        match dice.randrange(6):
            case 0:
                return tag(number, VARINT) + varint(dice.choice(NUMBERS))
            case 1:
                return block(number, dice.randbytes(dice.choice((0, 3, 300))))
            case 2:
                return tag(15, GROUP) * DEEP + tag(15, GROUP_END) * dice.choice((0, DEEP))
            case 3:
                return tag(number, FIXED64) + bytes(8)
            case 4:
                return tag(number, dice.choice((6, 7)))
            case _:
                return tag(number, DELIMITED) + varint(dice.choice((2**31 - 1, 2**32, 2**63)))

    def _of_a_wrong_type(self, field: FieldDescriptor) -> bytes:
        match self._dice.randrange(4):
            case 0:
                return tag(field.number, VARINT) + varint(self._dice.choice(NUMBERS))
            case 1:
                return tag(field.number, VARINT) + b"\xff" * 10 + b"\x01"
            case 2:
                return block(field.number, self._dice.randbytes(9))
            case _:
                return tag(field.number, FIXED32) + bytes(4)

    # --- values

    def _drawn(self, kind: Descriptor, depth: int) -> Iterator[bytes]:
        for field in kind.fields:
            if self._dice.random() < 0.5:
                yield self._value(field, depth)

    def _value(self, field: FieldDescriptor, depth: int) -> bytes:
        dice = self._dice
        if field.message_type is not None:
            return block(field.number, self._message(field.message_type, depth))
        match field.type:
            case FieldDescriptor.TYPE_STRING:
                return block(field.number, self._string(field.name))
            case FieldDescriptor.TYPE_BYTES:
                return block(field.number, dice.randbytes(dice.choice((0, 1, 31, 32, 33, 1_000))))
            case FieldDescriptor.TYPE_DOUBLE:
                number = dice.choice((0.0, -1.5, 1e308, float("nan"), float("inf")))
                return tag(field.number, FIXED64) + struct.pack("<d", number)
        number = dice.choice(NUMBERS) if dice.random() < 0.7 else dice.randrange(8)
        return tag(field.number, VARINT) + varint(number)

    def _string(self, name: str) -> bytes:
        if self._dice.random() < 0.25:
            return self._dice.choice(BAD_TEXTS)
        return self._text(name).encode(errors="surrogatepass")

    def _message(self, kind: Descriptor, depth: int) -> bytes:
        if kind.full_name == "google.protobuf.Struct" and self._dice.random() < 0.3:
            return _deep_struct()
        return b"".join(self._drawn(kind, depth + 1)) if depth < 6 else b""


def _values(message: Message) -> Iterator[tuple[FieldDescriptor, object]]:
    """Each value that is set, of repeated fields one after the other."""
    for field, value in message.ListFields():
        if field.is_repeated:
            yield from ((field, each) for each in value)
        else:
            yield field, value


def _scalar(field: FieldDescriptor, value: object) -> bytes:
    if isinstance(value, str | bytes):
        return block(field.number, value.encode() if isinstance(value, str) else value)
    if isinstance(value, float):
        return tag(field.number, FIXED64) + struct.pack("<d", value)
    assert isinstance(value, int)
    is_zigzag = field.type in (FieldDescriptor.TYPE_SINT32, FieldDescriptor.TYPE_SINT64)
    return tag(field.number, VARINT) + varint(value << 1 ^ value >> 63 if is_zigzag else value)


def _deep_struct() -> bytes:
    """A google.protobuf.Struct within a Struct within …"""
    content = b""
    for _ in range(DEEP):
        content = block(1, block(1, b"a") + block(2, block(5, content)))
    return content
