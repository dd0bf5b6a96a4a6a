"""Names in requests: how long they may be, and of what."""

from __future__ import annotations

from rummy500_server.status import bad_request

LONGEST_NAME = 64


def read_name(name: str, field: str, *, may_be_empty: bool = False) -> str:
    """A name that is shown to others: 1 to 64 printable characters. Raises Failure BAD_REQUEST."""
    if not name and may_be_empty:
        return name
    if not 1 <= len(name) <= LONGEST_NAME:
        raise bad_request(field, f"1 to {LONGEST_NAME} characters")
    if not name.isprintable() or name != " ".join(name.split()):
        raise bad_request(field, "printable characters, single spaces only between words")
    return name


def read_table_name(name: str, field: str = "table") -> str:
    if not 1 <= len(name) <= LONGEST_NAME:
        raise bad_request(field, f"1 to {LONGEST_NAME} characters")
    return name
