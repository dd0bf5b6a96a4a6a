"""The tables of docs/protocol.md and docs/run-a-server.md, made from the code that they describe.

`python -m tests.server.protocol_tables` writes them into the pages, between their marks; a test compares.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path

from prometheus_client.metrics_core import Metric

from rummy500_engine.cards import FACES, JOKER, cards_text
from rummy500_engine.fair import commitment, round_secret, round_seed
from rummy500_engine.refusals import Refusal
from rummy500_engine.shuffle import seed_for, shuffle
from rummy500_server.access import METHODS, role_words
from rummy500_server.app import open_app
from rummy500_server.identity import Role
from rummy500_server.metrics import ServerMetrics
from rummy500_server.settings import Settings, flag, text_of, variable
from rummy500_server.status import Reason

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE, OPERATORS_PAGE = DOCS / "protocol.md", DOCS / "run-a-server.md"


def errors() -> str:
    rows = [
        f"| `{reason.name}` | {reason.kind.code.name} | {reason.kind.meaning} | {reason.kind.remedy} |"
        for reason in Reason
    ]
    return "\n".join(["| reason | status | meaning | what to do |", "| --- | --- | --- | --- |", *rows])


def refusals() -> str:
    rows = [f"| `{refusal.name}` | {refusal.value} |" for refusal in Refusal]
    return "\n".join(["| code | meaning |", "| --- | --- |", *rows])


def access() -> str:
    rows = [
        f"| `{service}` | `{method}` | {access.who.value} | {_roles(access.roles)} | {access.at_table.value} |"
        for service, methods in METHODS.items()
        for method, access in methods.items()
    ]
    head = "| service | method | who | roles of registered tokens | else, where a token is required |"
    return "\n".join([head, "| --- | --- | --- | --- | --- |", *rows])


def _roles(roles: frozenset[Role]) -> str:
    return "every role" if roles == frozenset(Role) else role_words(roles).replace(" or ", ", ")


def settings() -> str:
    rows = [
        f"| `{flag(each.name)}` | `{variable(each.name)}` | {_default(each.default)} | {each.metadata['sentence']} |"
        for each in fields(Settings)
    ]
    return "\n".join(["| flag | variable | default | what it is |", "| --- | --- | --- | --- |", *rows])


def _default(value: object) -> str:
    return f"`{text_of(value)}`" if value != "" else "none"


def vectors() -> str:
    counted = bytes(range(32))
    given = [
        ("52 cards", bytes(32), 0, FACES),
        ("52 cards", seed_for(counted, "round", 1), 0, FACES),
        ("52 cards and 2 jokers", counted, 1, (*FACES, JOKER, JOKER)),
    ]
    blocks = [
        "\n".join(
            (
                f"    seed   {seed.hex()}",
                f"    stream {stream}",
                f"    pack   {pack}",
                f"    order  {cards_text(shuffle(seed, cards, stream=stream))}",
            )
        )
        for pack, seed, stream, cards in given
    ]
    return "\n\n".join(blocks)


def fair() -> str:
    secret, place = bytes(range(32)), "t-0123456789ab"
    whole = f"    round      0\n    secret     {secret.hex()}\n    commitment {commitment(secret, place, 0).hex()}"
    blocks = [whole]
    for round, entropy in ((1, ()), (2, (b"\xaa" * 32, b"", b"\xcc" * 32))):
        seed = round_seed(secret, round, entropy)
        blocks.append(
            "\n".join(
                (
                    f"    round      {round}",
                    f"    secret     {round_secret(secret, round).hex()}",
                    f"    commitment {commitment(secret, place, round).hex()}",
                    f"    seed       {seed.hex()}",
                    f"    order      {cards_text(shuffle(seed, FACES))}",
                )
            )
        )
    return "\n\n".join(blocks)


def metrics() -> str:
    """Of a server that nobody has used yet."""

    async def collected() -> list[Metric]:
        with tempfile.TemporaryDirectory() as directory:
            app = await open_app(Settings(port=0, database=f"{directory}/games.db"))
            found = list(ServerMetrics(app, "1").collect())
            await app.stop(drain_seconds=0)
            return found

    rows = []
    for metric in asyncio.run(collected()):
        suffix = {"counter": "_total", "info": "_info"}.get(metric.type, "")
        rows.append(f"| `{metric.name}{suffix}` | {metric.type} | {metric.documentation} |")
    return "\n".join(["| metric | type | what it is |", "| --- | --- | --- |", *rows])


TABLES = {
    "errors": errors,
    "refusals": refusals,
    "access": access,
    "settings": settings,
    "vectors": vectors,
    "fair": fair,
}


OPERATORS_TABLES = {"metrics": metrics}


def filled(page: str, tables: Mapping[str, Callable[[], str]]) -> str:
    """The page with each table between its marks."""
    for name, make in tables.items():
        mark, end = f"<!-- {name} -->", "<!-- end -->"
        assert page.count(mark) == 1, f"the page must have the mark of {name} once"
        start = page.index(mark) + len(mark)
        page = f"{page[:start]}\n\n{make()}\n\n{page[page.index(end, start) :]}"
    return page


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(), TABLES))
    OPERATORS_PAGE.write_text(filled(OPERATORS_PAGE.read_text(), OPERATORS_TABLES))
