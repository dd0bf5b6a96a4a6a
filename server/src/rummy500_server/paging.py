"""Pages of a list: `page_size` and an opaque `page_token`."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import TypeVar

from rummy500_server.status import Failure, bad_request

LONGEST_TOKEN = 256
Item = TypeVar("Item")


def read_size(page_size: int, *, default: int = 50, most: int = 100) -> int:
    """Raises Failure BAD_REQUEST."""
    if page_size > most:
        raise bad_request("page_size", f"{page_size}: at most {most}")
    return page_size or default


def page_of(items: Sequence[Item], of: str, *, page_size: int, page_token: str) -> tuple[list[Item], str]:
    """The page of a list that stays as it is, and the token of the next one, empty for the last. Raises Failure
    BAD_REQUEST."""
    last = read_token(page_token, of)
    if last and not last.isdecimal():
        raise _no_token()
    start, size = int(last or 0), read_size(page_size)
    return list(items[start : start + size]), write_token(str(start + size), of) if start + size < len(items) else ""


def write_token(last: str, of: str) -> str:
    """`last` is where the last item of the page stands in the list `of` that name: the next page begins behind it, also
    when the list has changed, or the server was restarted."""
    return base64.urlsafe_b64encode(f"{of}:{last}".encode()).decode()


def read_token(token: str, of: str) -> str:
    """Behind what the page begins; empty: it is the first. Raises Failure BAD_REQUEST when the token is none of ours,
    or of another list."""
    if not token:
        return ""
    try:
        text = base64.urlsafe_b64decode(token.encode()).decode() if len(token) <= LONGEST_TOKEN else ""
    except (binascii.Error, ValueError):
        text = ""
    list_of, colon, last = text.partition(":")
    if not (colon and last and list_of == of):
        raise _no_token()
    return last


def _no_token() -> Failure:
    return bad_request("page_token", "this is no token of a page of this list: leave it empty for the first page")
