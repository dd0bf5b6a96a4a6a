"""The frame of a page: its style, its sections and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_STYLE = """
:root{color-scheme:light dark;--ink:#1c1c1e;--paper:#fff;--soft:#e3e3e8;--faint:#f4f4f7;--more:#1f77b4;--less:#c0531a;
--c0:#1f6fb4;--c1:#c8571b;--c2:#2b8a3e;--c3:#8a3ab9;--c4:#a3711a;--c5:#00808a;--c6:#b3225c;--c7:#5c5f66}
@media (prefers-color-scheme:dark){:root{--ink:#ececf1;--paper:#16161a;--soft:#3b3b44;--faint:#222228;--more:#4aa3e8;
--less:#f08a4b;--c0:#5aa9e6;--c1:#f0905a;--c2:#69c97c;--c3:#c792ea;--c4:#e0b050;--c5:#4fd0d8;--c6:#f277a5;--c7:#a5a8b0}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:1000px;margin:2rem auto;
padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.2rem;border-bottom:1px solid var(--soft)}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.6rem 0}
th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid var(--soft)}
th:first-child,td:first-child{text-align:left}thead th{background:var(--faint)}
.html td{text-align:left;vertical-align:top}.wide{overflow-x:auto}
.heat td{text-align:center;min-width:4rem}.heat caption{text-align:left;padding:.3rem 0}
.heat .more{background:color-mix(in srgb,var(--more) calc(var(--strength)*.7),transparent)}
.heat .less{background:color-mix(in srgb,var(--less) calc(var(--strength)*.7),transparent)}
svg{width:100%;max-width:760px;height:auto;display:block}svg text{font-size:12px;fill:var(--ink)}
.axis{stroke:var(--ink)}.grid{stroke:var(--soft)}.whisker{stroke-width:3}.path{fill:none;stroke-width:2}.band{opacity:.18}
.pairs{display:grid;grid-template-columns:repeat(auto-fit,minmax(320px,1fr));gap:.5rem}figure{margin:0}
code{font-size:.85em;background:var(--faint);padding:.1rem .3rem;border-radius:3px}
""" + "".join(f".f{at}{{fill:var(--c{at})}}.s{at}{{stroke:var(--c{at})}}" for at in range(8))


@dataclass(frozen=True, slots=True)
class Table:
    """`is_html`: the cells are HTML already."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    is_html: bool = False

    def html(self) -> str:
        heads = "".join(f"<th scope='col'>{escape(head)}</th>" for head in self.heads)
        rows = "".join(f"<tr>{''.join(f'<td>{self._cell(cell)}</td>' for cell in row)}</tr>" for row in self.rows)
        style = " class='html'" if self.is_html else ""
        return f"<div class='wide'><table{style}><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"

    def _cell(self, text: str) -> str:
        return text if self.is_html else escape(text)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return Table(heads, rows).html()


def section(title: str, body: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{body}</section>"


def details(title: str, body: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{body}</details>"


def page(title: str, parts: Sequence[str]) -> str:
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width,initial-scale=1'>"
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>\n{chr(10).join(parts)}\n</body></html>\n"
    )
