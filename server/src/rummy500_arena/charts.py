"""Charts as SVG in a page: colours come from the page's style, so that they suit light and dark; each has a title."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from rummy500_arena.ratio import Interval

WIDTH = 760
MOST_COLOURS = 8
_LEFT, _RIGHT, _TOP, _BOTTOM = 120, 20, 14, 34


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to places."""

    low: float
    high: float
    begin: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)

    def ticks(self, most: int = 7) -> list[float]:
        """Round values, 1, 2 or 5 times a power of ten apart."""
        least = (self.high - self.low) / most
        step = next(
            step * 10**power
            for power in range(math.floor(math.log10(least)), 20)
            for step in (1, 2, 5)
            if step * 10**power >= least
        )
        first = math.ceil(self.low / step)
        return [step * number for number in range(first, math.floor(self.high / step + 1e-9) + 1)]


def scale(values: Sequence[float], begin: float, end: float, *, with_zero: bool = False) -> Scale:
    """One that has room for all values, and a little more."""
    known = [value for value in (*values, *((0.0,) if with_zero else ())) if math.isfinite(value)] or [0.0]
    low, high = min(known), max(known)
    room = (high - low) * 0.05 or abs(high) * 0.1 or 1.0
    return Scale(low - room, high + room, begin, end)


def svg(title: str, parts: Sequence[str], *, height: float, width: float = WIDTH) -> str:
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def text(x: float, y: float, words: str, *, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def line(x: float, y: float, to_x: float, to_y: float, style: str) -> str:
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" class="{style}"/>'


def _below(across: Scale, height: float, label: str) -> list[str]:
    """The axis of a chart that is read from left to right."""
    base = height - _BOTTOM
    parts = [line(across.begin, base, across.end, base, "axis")]
    for tick in across.ticks():
        parts += [line(across(tick), _TOP, across(tick), base, "grid"), text(across(tick), base + 14, f"{tick:g}")]
    return [*parts, text((across.begin + across.end) / 2, height - 4, label)]


def intervals(title: str, label: str, rows: Sequence[tuple[str, Interval]]) -> str:
    """A point and its interval a row."""
    height = _TOP + 26 * len(rows) + _BOTTOM
    ends = [end for _, each in rows for end in (each.low, each.high)]
    across = scale(ends, _LEFT, WIDTH - _RIGHT)
    parts = _below(across, height, label)
    for at, (name, each) in enumerate(rows):
        y = _TOP + 26 * at + 13
        told = f"{name}: {each.mean:.2f}, {each.low:.2f} to {each.high:.2f}"
        parts += [
            f"<g><title>{escape(told)}</title>",
            text(_LEFT - 8, y + 4, shortened(name), anchor="end"),
            line(across(each.low), y, across(each.high), y, f"whisker s{at % MOST_COLOURS}"),
            f'<circle cx="{across(each.mean):.1f}" cy="{y}" r="4.5" class="f{at % MOST_COLOURS}"/></g>',
        ]
    return svg(title, parts, height=height)


def shortened(name: str, most: int = 16) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def progress(title: str, label: str, rows: Sequence[tuple[str, Sequence[tuple[int, Interval]]]]) -> str:
    """Each row a line over deals with the band of its interval."""
    height = 300.0
    base = height - _BOTTOM
    shown = [points[len(points) // 20 :] for _, points in rows]  # the first intervals are wider than any page
    ends = [end for points in shown for _, each in points for end in (each.low, each.high)]
    up = scale(ends, base, _TOP)
    most = max(deal for points in shown for deal, _ in points)
    across = Scale(0, max(most, 1), 60, WIDTH - 130)
    parts = [line(across.begin, base, across.end, base, "axis")]
    parts += [text(across(tick), base + 14, f"{tick:g}") for tick in across.ticks()]
    for tick in up.ticks():
        parts += [
            line(across.begin, up(tick), across.end, up(tick), "grid"),
            text(52, up(tick) + 4, f"{tick:g}", anchor="end"),
        ]
    lasts = _apart([up(points[-1][1].mean) for points in shown])
    for at, ((name, _), points) in enumerate(zip(rows, shown, strict=True)):
        colour = at % MOST_COLOURS
        above = " ".join(f"{across(deal):.1f},{up(each.high):.1f}" for deal, each in points)
        below = " ".join(f"{across(deal):.1f},{up(each.low):.1f}" for deal, each in reversed(points))
        middle = " ".join(f"{across(deal):.1f},{up(each.mean):.1f}" for deal, each in points)
        parts += [
            f'<polygon points="{above} {below}" class="band f{colour}"/>',
            f'<polyline points="{middle}" class="path s{colour}"/>',
            text(across.end + 8, lasts[at] + 4, shortened(name), anchor="start"),
        ]
    parts += [text((across.begin + across.end) / 2, height - 4, "deals"), text(12, _TOP - 2, label, anchor="start")]
    return svg(title, parts, height=height)


def _apart(places: Sequence[float], least: float = 14) -> list[float]:
    """Places of labels, moved so that none hides another."""
    moved = list(places)
    last = -math.inf
    for at in sorted(range(len(moved)), key=lambda at: moved[at]):
        moved[at] = last = max(moved[at], last + least)
    return moved


def histogram(title: str, label: str, values: Sequence[float], across: tuple[float, float], *, colour: int) -> str:
    """How often values lie in each of thirty parts of the range."""
    height, parts_count = 130.0, 30
    base = height - _BOTTOM
    place = Scale(across[0], across[1], 40, WIDTH / 2 - 20)
    counts = [0] * parts_count
    for value in values:
        counts[min(parts_count - 1, int((value - across[0]) / (across[1] - across[0]) * parts_count))] += 1
    up = Scale(0, max(counts) or 1, base, _TOP)
    width = (place.end - place.begin) / parts_count
    parts = [line(place.begin, base, place.end, base, "axis")]
    parts += [text(place(tick), base + 14, f"{tick:g}") for tick in place.ticks(5)]
    for at, count in enumerate(counts):
        if count:
            x = place.begin + at * width
            parts.append(
                f'<rect x="{x + 0.5:.1f}" y="{up(count):.1f}" width="{width - 1:.1f}" height="{base - up(count):.1f}" '
                f'class="f{colour % MOST_COLOURS}"><title>{count}</title></rect>'
            )
    parts += [text(34, up(max(counts)) + 4, str(max(counts)), anchor="end"), text(WIDTH / 4, height - 4, label)]
    return svg(title, parts, height=height, width=WIDTH / 2)
