"""Bad inputs below gRPC: what a hostile or broken peer does with TCP, HTTP/2 and the frames of gRPC."""

from __future__ import annotations

import random
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import h2.exceptions
from tests.server.raw_http2 import RawConnection, framed, raw_connection
from tests.torture.fuzz_calls import Tally
from tests.torture.grounds import OWNER

from rummy500_server.access import PACKAGE

LIST = f"/{PACKAGE}.TableService/ListTables"
WATCH = f"/{PACKAGE}.PlayService/Watch"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 4, 6, 8, 9
SECONDS = 15.0
IMPATIENT = 1.0
"""How long an answer to half a message is waited for: there may be none."""
CALLERS_FAULT = {"0", "3", "4", "5", "7", "8", "9", "10", "12", "16"}
"""Numbers of gRPC statuses; 4: the time-out that the peer named is over; 12: the method is not known."""
OF_GRPC = {"1", "13"}
"""CANCELLED and INTERNAL, which the gRPC library answers by itself where its own headers and frames are wrong."""

Attack = Callable[["BadPeer"], Iterator[str]]
"""Answers what came of each input: a status, or how the connection ended."""


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


class BadPeer:
    """`size`: how many inputs one attack is, about."""

    def __init__(self, address: str, dice: random.Random, *, size: int) -> None:
        self.address, self.dice, self.size = address, dice, size

    @contextmanager
    def plain_socket(self) -> Iterator[socket.socket]:
        host, _, port = self.address.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=SECONDS) as plain:
            yield plain

    def http(self) -> RawConnection:
        return RawConnection(self.address, seconds=SECONDS)


def go_on(address: str, tally: Tally, dice: random.Random, *, size: int) -> None:
    """One attack after the other until the tally is full. Blocking: for a thread."""
    peer = BadPeer(address, dice, size=size)
    while not tally.is_full:
        attack = dice.choice(ATTACKS)
        name = attack.__name__.replace("_", " ")
        for outcome in attack(peer):
            tally.note(name, outcome)
            allowed = CALLERS_FAULT | OF_GRPC if attack in REFUSED_BY_GRPC else CALLERS_FAULT
            if outcome.startswith("grpc-status ") and outcome.split()[1] not in allowed:
                tally.wrong.append(f"{name}: {outcome}")


def _outcome(connection: RawConnection, stream: int) -> str:
    try:
        ended = connection.until_ended(stream)
    except TimeoutError:
        return "no answer"
    except (h2.exceptions.ProtocolError, OSError) as error:
        return type(error).__name__
    if "grpc-status" in ended:
        return f"grpc-status {ended['grpc-status']}"
    return " ".join(
        f"{name} {value}" for name, value in sorted(ended.items()) if name in (":status", "reset", "closed")
    )


# --- HTTP/2


def rapid_reset(peer: BadPeer) -> Iterator[str]:
    """Calls that are cancelled as soon as they are begun."""
    with raw_connection(peer.address, seconds=SECONDS) as connection:
        for _ in range(peer.size):
            with suppress(h2.exceptions.ProtocolError):
                path = peer.dice.choice((LIST, WATCH))
                stream = connection.call(path, b"", token=OWNER, ends=peer.dice.random() < 0.5)
                connection.http.reset_stream(stream)
                connection.flush()
            yield "reset"


def frames_that_mean_nothing(peer: BadPeer) -> Iterator[str]:
    """Frames of any type, flags, stream and length, after a right beginning."""
    dice = peer.dice
    for _ in range(max(1, peer.size // 20)):
        with peer.plain_socket() as plain, suppress(OSError):
            plain.sendall(PREFACE + frame(SETTINGS, 0, 0, b""))
            for _ in range(20):
                payload = dice.randbytes(dice.choice((0, 1, 4, 5, 8, 100)))
                kind, stream = dice.randrange(12), dice.choice((0, 1, 2, 3, 2**31 - 1, 2**32 - 1))
                whole = frame(kind, dice.randrange(256), stream, payload)
                plain.sendall(whole if dice.random() < 0.9 else b"\xff\xff\xff" + whole[3:])
        yield from ["sent"] * 20


def floods(peer: BadPeer) -> Iterator[str]:
    """Settings, pings, window updates and continuations, as many as go."""
    setting = frame(SETTINGS, 0, 0, struct.pack(">HI", 4, peer.dice.choice((0, 1, 2**31 - 1, 2**31))))
    ping, window = frame(PING, 0, 0, bytes(8)), frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 2**31 - 1))
    headers = frame(1, 0, 1, b"\x82") + frame(CONTINUATION, 0, 1, b"\x00\x01a\x01b" * 20) * 50
    for flood in (setting, ping, window, headers):
        with peer.plain_socket() as plain, suppress(OSError):
            plain.sendall(PREFACE + frame(SETTINGS, 0, 0, b""))
            plain.sendall(flood * (peer.size // 4))
        yield from ["sent"] * (peer.size // 4)


def other_protocols(peer: BadPeer) -> Iterator[str]:
    """What is no HTTP/2 at all."""
    for sent in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00", b"\n" * 100, bytes(4_000)):
        with peer.plain_socket() as plain, suppress(OSError):
            plain.sendall(sent)
            plain.settimeout(0.05)
            plain.recv(100)
        yield "sent"


# --- connections


def connections_that_trickle(peer: BadPeer) -> Iterator[str]:
    """A call that comes byte by byte, and one that stops in the middle, on many connections at once."""
    count = max(2, peer.size // 20)
    opened = [socket.create_connection(_host_port(peer.address), timeout=SECONDS) for _ in range(count)]
    begin = PREFACE + frame(SETTINGS, 0, 0, b"") + frame(1, 4, 1, b"\x83\x86")
    try:
        for at in range(len(begin) - 1):
            for plain in opened:
                with suppress(OSError):
                    plain.sendall(begin[at : at + 1])
            time.sleep(0.002)
    finally:
        for plain in opened:
            plain.close()
    yield from ["sent"] * count


def connections_that_say_nothing(peer: BadPeer) -> Iterator[str]:
    """Half-open: they stay for a moment, and are gone without a word."""
    count = max(2, peer.size // 4)
    opened = [socket.create_connection(_host_port(peer.address), timeout=SECONDS) for _ in range(count)]
    for plain in opened:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # gone with a reset
        plain.close()
    yield from ["sent"] * count


def _host_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host, int(port)


# --- gRPC on HTTP/2


def headers_that_are_wrong(peer: BadPeer) -> Iterator[str]:
    """Wrong content types, methods, encodings, time-outs; and headers that are far too long."""
    wrong = (
        {"content-type": "application/json"},
        {"content-type": ""},
        {"te": "gzip"},
        {"grpc-encoding": "brotli"},
        {"grpc-timeout": "never"},
        {"grpc-timeout": "0n"},
        {"x-long": "x" * 7_000},
        {"x-longer": "x" * 60_000},
        {"authorization": "Bearer " + "\u00fc" * 20},
        {"x-bin": "this is not base64!"},
    )
    for headers in wrong:
        with raw_connection(peer.address, seconds=SECONDS) as connection:
            try:
                stream = connection.call(LIST, b"", headers=headers)
            except h2.exceptions.ProtocolError:
                yield "cannot be sent"
                continue
            yield _outcome(connection, stream)


def messages_in_wrong_frames(peer: BadPeer) -> Iterator[str]:
    """A length that lies, a message that is said to be compressed, two where there is one, none, and too long a one."""
    whole = framed(b"\x08\x05")
    wrong = (
        b"\0" + struct.pack(">I", 2**32 - 1) + b"\x08\x05",
        b"\0" + struct.pack(">I", 100) + b"\x08\x05",
        b"\1" + whole[1:],
        b"\7" + whole[1:],
        whole + whole,
        b"",
        whole[:3],
        b"\0" + struct.pack(">I", 70_000) + bytes(10_000),
    )
    for body in wrong:
        with raw_connection(peer.address, seconds=IMPATIENT) as connection:
            stream = connection.call(LIST, token=OWNER, ends=False)
            connection.http.send_data(stream, body, end_stream=True)
            connection.flush()
            yield _outcome(connection, stream)


def paths_that_lead_nowhere(peer: BadPeer) -> Iterator[str]:
    with raw_connection(peer.address, seconds=SECONDS) as connection:
        for path in ("/", "/x", f"/{PACKAGE}.TableService/", "/grpc.health.v1.Health/Nothing", "/" + "x" * 4_000, "x"):
            yield _outcome(connection, connection.call(path, b"", token=OWNER))


ATTACKS: tuple[Attack, ...] = (
    *(rapid_reset, rapid_reset, frames_that_mean_nothing, floods, other_protocols, connections_that_trickle),
    *(connections_that_say_nothing, headers_that_are_wrong, messages_in_wrong_frames, paths_that_lead_nowhere),
)
REFUSED_BY_GRPC = (headers_that_are_wrong, messages_in_wrong_frames)
