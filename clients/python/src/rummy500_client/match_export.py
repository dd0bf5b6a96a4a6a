"""A results file as a table of one row for each seat of each seating, for spreadsheets and notebooks."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rummy500_client.errors import ClientError
from rummy500_client.files import whole_file

Row = dict[str, Any]
KINDS = {"csv": "comma-separated values", "json": "JSON lines", "parquet": "Parquet, which needs pyarrow"}
COLUMNS = (
    "match", "deal", "pairing", "seating", "seat", "bot", "side", "points", "rounds", "won", "termination", "at_fault",
    "counts", "decisions", "refusals", "charged_ms", "p50_ms", "p99_ms", "record", "finished",
)  # fmt: skip


def read_lines(path: Path) -> Iterator[Mapping[str, Any]]:
    """Raises ClientError naming the line."""
    try:
        with path.open(encoding="utf-8") as file:
            for number, text in enumerate(file, 1):
                if not text.endswith("\n"):
                    return  # what a crash left half written is appended when the match goes on
                try:
                    line = json.loads(text)
                    line["type"]
                except (ValueError, KeyError, TypeError):
                    raise ClientError(f"{path}, line {number}: no line of a results file (docs/results.md)") from None
                yield line
    except OSError as error:
        raise ClientError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ClientError(f"{path} is no results file: it is no UTF-8 text") from None


def rows_of(lines: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    for line in lines:
        if line["type"] == "seating":
            yield from (_row(line, seat) for seat in range(len(line["names"])))


def _row(line: Mapping[str, Any], seat: int) -> Row:
    of_seat = {name: line[name][seat] for name in ("points", "decisions", "refusals", "charged_ms")}
    thinking = line["thinking_ms"][seat]
    found = {
        **{name: line[name] for name in COLUMNS if name in line},
        **of_seat,
        "seat": seat,
        "bot": line["names"][seat],
        "side": line["sides"][seat],
        "won": seat in line["winners"],
        "at_fault": line["at_fault"] == seat,
        "p50_ms": percentile(thinking, 0.5),
        "p99_ms": percentile(thinking, 0.99),
    }
    return {name: found[name] for name in COLUMNS}


def percentile(thinking: Sequence[Sequence[int]], share: float) -> int | None:
    """The least time of the class that holds this share of the decisions. None: there were none."""
    wanted, seen = share * sum(count for _, count in thinking), 0
    for time, count in thinking:
        seen += count
        if seen >= wanted:
            return time
    return None


def export(rows: Iterable[Row], path: Path, *, kind: str) -> int:
    """Writes the rows, wholly or not at all, and says how many. Raises ClientError."""
    match kind:
        case "csv":
            return _write_csv(rows, path)
        case "json":
            return _write_json(rows, path)
        case _:
            return _write_parquet(rows, path)


def _write_csv(rows: Iterable[Row], path: Path) -> int:
    count = 0
    with whole_file(path) as write:
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            count += 1
            writer.writerow(row)
            write(text.getvalue().encode())
            text.seek(0)
            text.truncate()
        write(text.getvalue().encode())
    return count


def _write_json(rows: Iterable[Row], path: Path) -> int:
    count = 0
    with whole_file(path) as write:
        for row in rows:
            count += 1
            write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
    return count


def _write_parquet(rows: Iterable[Row], path: Path) -> int:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ClientError("--parquet needs pyarrow: pip install 'rummy500-client[parquet]'") from None
    table = pyarrow.Table.from_pylist(list(rows), schema=_schema(pyarrow))
    sink = pyarrow.BufferOutputStream()
    parquet.write_table(table, sink)
    with whole_file(path) as write:
        write(sink.getvalue().to_pybytes())
    return int(table.num_rows)


def _schema(pyarrow: Any) -> Any:
    texts, flags = {"match", "bot", "termination", "record", "finished"}, {"won", "at_fault", "counts"}
    kinds = [
        pyarrow.string() if name in texts else pyarrow.bool_() if name in flags else pyarrow.int64() for name in COLUMNS
    ]
    return pyarrow.schema(list(zip(COLUMNS, kinds, strict=True)))
