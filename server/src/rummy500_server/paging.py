"""Pages of a list: `page_size` and an opaque `page_token`."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import TypeVar

from rummy500_server.status import bad_request

Item = TypeVar("Item")


def page_of(
    items: Sequence[Item], *, page_size: int, page_token: str, default: int = 50, most: int = 100
) -> tuple[list[Item], str]:
    """The page and the token of the next one, empty for the last. Raises Failure BAD_REQUEST."""
    if page_size > most:
        raise bad_request("page_size", f"{page_size}: at most {most}")
    start = read_token(page_token) if page_token else 0
    end = start + (page_size or default)
    return list(items[start:end]), write_token(end) if end < len(items) else ""


def write_token(position: int) -> str:
    return base64.urlsafe_b64encode(b"at:%d" % position).decode()


def read_token(token: str) -> int:
    """Raises Failure BAD_REQUEST when the token is none of ours."""
    try:
        text = base64.urlsafe_b64decode(token.encode()).decode()
    except (binascii.Error, ValueError):
        text = ""
    if not text.startswith("at:") or not text[3:].isdecimal():
        raise bad_request("page_token", "this is no token of a page: leave it empty for the first page")
    return int(text[3:])
