"""`rummy500 verify`: plays records again through the engine, names the first line that differs, proves the deals."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from typing import Any

from rummy500_arena.verification import Proof, Record, RecordUnreadable, RulesFor, verify
from rummy500_tools.record_file import DIFFERS, HOLDS, NoRecord, fail, installed_rules, read_records


def add(subparsers: Any) -> None:
    """Adds the subcommand to the parser of `rummy500`."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "verify",
        help="play game records again through the engine",
        description="Plays game records again through the engine, without a server. Prints one line for each file: how "
        "many records hold and what they prove of their deals, or the first line at which a record and the engine "
        "differ. A fair deal is proven when every pack follows from the secret that the server had committed to and "
        "from what the players added. Exit code 0 when all hold, 1 when one differs, 2 when a file is no record.",
    )
    parser.add_argument("--each", action="store_true", help="a line for each record too, with its commitment")
    parser.add_argument(
        "--commitment",
        action="append",
        type=_commitment,
        default=[],
        metavar="HEX",
        help="the commitment that you were told before the deal; a record under none of these does not hold",
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="JSON lines as `rummy500 match` writes them; - for stdin"
    )
    parser.set_defaults(run=run)


def _commitment(text: str) -> str:
    if not re.fullmatch("[0-9a-fA-F]{64}", text):
        raise argparse.ArgumentTypeError("a commitment is 64 hexadecimal digits")
    return text.lower()


def run(arguments: argparse.Namespace) -> int:
    rules_for = installed_rules()
    told = frozenset(arguments.commitment)
    return max(_verify_file(path, rules_for, told=told, each=arguments.each) for path in arguments.files)


def _verify_file(path: str, rules_for: RulesFor, *, told: frozenset[str], each: bool) -> int:
    try:
        records = read_records(path)
        for record in records:
            difference = verify(record, rules_for)
            if difference is not None:
                print(f"{path}: line {difference.line}{_where(record)}: {difference.sentence}")
                return DIFFERS
            if told and record.commitment not in told:
                named = record.commitment or "none"
                print(f"{path}: line {record.first}{_where(record)}: its commitment is {named}, none that was told")
                return DIFFERS
            if each:
                print(f"{path}: line {record.first}{_where(record)}: {_proven(record)}")
    except NoRecord as error:
        return fail("verify", str(error))
    except RecordUnreadable as unreadable:
        return fail("verify", f"{path}: {unreadable}")
    counts = Counter(record.proof for record in records)
    proofs = [proof.value if len(counts) == 1 else f"{counts[proof]} {proof.value}" for proof in Proof if counts[proof]]
    held = "1 record holds" if len(records) == 1 else f"{len(records)} records hold"
    print(f"{path}: {held}: {', '.join(proofs)}")
    return HOLDS


def _proven(record: Record) -> str:
    """The proof of a record that holds."""
    if record.proof is not Proof.FAIR:
        return str(record.proof.value)
    game = record.lines[0]
    added = [name for name, entropy in zip(game["players"], game["fair"]["entropy"], strict=True) if entropy]
    by = f", with chance added by {' and '.join(added)}" if added else ""
    return f"{Proof.FAIR.value}{by}, under the commitment {record.commitment}"


def _where(record: Record) -> str:
    match record.lines[0].get("match"):
        case {"deal": deal, "rotation": rotation}:
            return f" (deal {deal}, rotation {rotation})"
        case _:
            return ""
