"""The rules of a table as one page to print, with a blank score sheet: a file of its own that needs no network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from rummy500.v1.rules_pb2 import Rules

SCORED_ROUNDS, FEWER_ROUNDS = 12, 8
STYLE = """
@page { size: A4; margin: 9mm }
* { box-sizing: border-box }
body { font: 8.2pt/1.32 Georgia, "Liberation Serif", serif; color: #111; margin: 0 auto; max-width: 192mm }
h1 { font-size: 15pt; margin: 0 0 2mm; border-bottom: 0.6mm solid #111; padding-bottom: 1mm }
h2 { font-size: 9.5pt; margin: 2.4mm 0 0.8mm; break-after: avoid }
ul { margin: 0; padding-left: 3.6mm }
li { margin-bottom: 0.5mm }
code { font: 7.2pt "Liberation Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere }
.rules { columns: 2; column-gap: 7mm }
.rules table { border-collapse: collapse; width: 100%; font-size: 7.2pt; line-height: 1.2 }
.rules th, .rules td { border-bottom: 0.15mm solid #bbb; padding: 0.25mm 1mm 0.25mm 0; text-align: left }
.rules th { border-bottom-color: #111 }
.rules tr { break-inside: avoid }
.dense { font-size: 7.3pt; line-height: 1.2 }
.dense .rules table, .dense code { font-size: 6.3pt; line-height: 1.1 }
.dense .scores td, .dense .scores th { height: 4.4mm }
.scores { border-collapse: collapse; width: 100%; margin-top: 1mm; table-layout: fixed; break-inside: avoid }
.scores td, .scores th { border: 0.2mm solid #444; height: 5.6mm; font-size: 7.5pt; text-align: center }
.scores .round { width: 15mm }
.scores tfoot td { border-top: 0.6mm solid #111; font-weight: bold }
section { break-inside: avoid }
footer { color: #555; font-size: 6.3pt; margin-top: 1mm }
"""
MANY_OPTIONS = 30
"""From so many on the page is set in smaller type, and has fewer rounds to score."""
LEFT_OUT = ("may be",)
"""Columns of the sheet that settle nothing."""


def rules_page(rules: Rules) -> str:
    """The page as HTML, from nothing but the server's answer."""
    title, *lines = rules.sheet.splitlines()
    heading = _text(title.removeprefix("# "))
    is_dense = len(rules.options) >= MANY_OPTIONS
    dense = ' class="dense"' if is_dense else ""
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f"<title>{heading}</title>\n<style>{STYLE}</style>\n</head>\n<body{dense}>",
            f'<h1>{heading}</h1>\n<div class="rules">',
            *_blocks(lines),
            "</div>",
            *_scores(rules.players, FEWER_ROUNDS if is_dense else SCORED_ROUNDS),
            f"<footer>Rules {escape(rules.digest[:16])}</footer>\n</body>\n</html>\n",
        )
    )


def _blocks(lines: list[str]) -> Iterator[str]:
    """The headings, lists and tables of the sheet's Markdown."""
    index = 0
    while index < len(lines):
        line = lines[index]
        start = index
        if line.startswith("- "):
            while index < len(lines) and lines[index].startswith("- "):
                index += 1
            yield "<ul>" + "".join(f"<li>{_text(item[2:])}</li>" for item in lines[start:index]) + "</ul>"
            continue
        if line.startswith("|"):
            while index < len(lines) and lines[index].startswith("|"):
                index += 1
            yield _table([_cells(row) for row in lines[start:index]])
            continue
        index += 1
        if line.startswith("## "):
            yield f"<h2>{_text(line[3:])}</h2>"
        elif line.strip():
            yield f"<p>{_text(line)}</p>"


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def _table(rows: list[list[str]]) -> str:
    heads, _, *body = rows
    kept = [column for column, head in enumerate(heads) if head not in LEFT_OUT]
    top = "".join(f"<th>{_text(heads[column])}</th>" for column in kept)
    told = "".join("<tr>" + "".join(f"<td>{_text(row[column])}</td>" for column in kept) + "</tr>" for row in body)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{told}</tbody></table>"


def _text(markdown: str) -> str:
    """A line with its bold and code parts, and nothing in it that is markup."""
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(markdown, quote=False))
    return re.sub(r"`(.+?)`", _code, text)


def _code(found: re.Match[str]) -> str:
    """An option's name, which may be broken at its marks."""
    return "<code>" + found[1].replace(".", "<wbr>.").replace("_", "<wbr>_") + "</code>"


def _scores(players: int, rounds: int) -> Iterator[str]:
    blank = "<td></td>" * players
    yield '<section><h2>Scores</h2><table class="scores">'
    yield f'<thead><tr><th class="round">Player</th>{"<th></th>" * players}</tr></thead><tbody>'
    for number in range(1, rounds + 1):
        yield f"<tr><td>{number}</td>{blank}</tr>"
    yield f"</tbody><tfoot><tr><td>Total</td>{blank}</tr></tfoot></table></section>"
