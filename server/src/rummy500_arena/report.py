"""A match as one page for people: HTML that needs nothing from elsewhere, its charts with their tables."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

from rummy500_arena import charts
from rummy500_arena.page import Table, details, page, section, table
from rummy500_arena.ratio import Interval, RatioSums
from rummy500_arena.results import Results, Seating, read_results
from rummy500_arena.statistics import MatchStatistics
from rummy500_arena.thinking import percentile

POINTS_OF_A_LINE = 120
MOST_PAIRS_IN_LINES = 6
SWINGING = 12
SHARES = (0.5, 0.9, 0.99, 1.0)
_ABOUT = (
    "The unit of chance is the deal: all games of one deal share their packs, so a deal counts as one observation. "
    "Intervals are 95 %, Student's over deals; Elo is from games won, with the variance between deals; ratings are "
    "Plackett-Luce in points of Elo, their intervals by bootstrap over deals."
)


def report_html(lines: Iterable[str], *, records: str) -> str:
    """The page of a results file. `records` is the way from the page to the file of records, empty: there is none.
    Raises ResultsUnreadable."""
    results = read_results(lines)
    statistics = results.statistics()
    parts = [_head(results, statistics), _standings(results, statistics)]
    if statistics.counted:
        parts += [
            _pairs(results, statistics),
            _progress(results),
            _distribution(results),
            _swinging(results, records),
        ]
    parts += [_thinking(results, statistics), _endings(results, statistics), section("About", f"<p>{_ABOUT}</p>")]
    return page(f"Rummy 500: match {results.head['match']}", parts)


def _head(results: Results, statistics: MatchStatistics) -> str:
    head, end = results.head, results.end
    unit = "games to the target" if head["unit"] == "game" else "deals"
    paired = "paired: the seatings of a deal share its packs" if head["is_paired"] else "unpaired"
    state = end["state"] if end is not None else "not over"
    facts = [
        f"{statistics.counted} of {head['deals']} {unit} counted, each in {head['seatings']} seatings",
        f"{statistics.left_out} left out" if statistics.left_out else "",
        f"{head['players']} seats, {head['schedule'].replace('-', ' ')}, {paired}",
        f"preset {head['plan']['rules']['preset'] or 'classic'}",
    ]
    sentence = f"<p><strong>{escape(end['sentence'])}</strong></p>" if end is not None and end["sentence"] else ""
    return (
        f"<h1>Match {escape(head['match'])}: {escape(state)}</h1>{sentence}"
        f"<p>{escape(' · '.join(fact for fact in facts if fact))}</p>"
    )


def _between(interval: Interval) -> str:
    return f"{interval.low:+z.2f} to {interval.high:+z.2f}"


def _standings(results: Results, statistics: MatchStatistics) -> str:
    order = sorted(range(len(results.bots)), key=lambda bot: -statistics.tallies[bot].points_per_round.mean)
    has_ratings = len(results.bots) > 2 and bool(statistics.pairs)
    heads = [
        "bot",
        "points/round",
        "95 % interval",
        "deals",
        "rounds",
        "games won",
        "drawn",
        "sets won",
        "luck",
        "adjusted",
    ]
    rows = []
    for bot in order:
        tally, adjusted = statistics.tallies[bot], statistics.adjusted(bot)
        points = tally.points_per_round
        rows.append(
            [
                results.bots[bot],
                f"{points.mean:+z.2f}",
                _between(points),
                str(tally.points.count),
                str(tally.rounds),
                str(tally.wins),
                str(tally.draws),
                str(tally.sets_won),
                f"{statistics.luck(bot):+z.2f}",
                f"{adjusted.mean:+z.2f} ({_between(adjusted)})",
            ]
        )
        if has_ratings:
            rating = statistics.ratings[bot]
            rows[-1].append(f"{rating.mean:+z.0f} ({rating.low:+z.0f} to {rating.high:+z.0f})")
    if has_ratings:
        heads.append("rating")
    shown = [
        (results.bots[bot], statistics.tallies[bot].points_per_round) for bot in order if statistics.tallies[bot].rounds
    ]
    chart = charts.intervals("Points a round with 95 % intervals", "points a round", shown) if shown else ""
    return section("Standings", chart + table(heads, rows))


def _pairs(results: Results, statistics: MatchStatistics) -> str:
    widest = max((abs(pair.difference.mean) for pair in statistics.pairs.values()), default=0) or 1
    grid = []
    for bot, name in enumerate(results.bots):
        cells = []
        for other in range(len(results.bots)):
            sums = statistics.difference_sums(bot, other) if bot != other else RatioSums()
            cells.append(_heat(sums, widest))
        grid.append(f"<tr><th scope='row'>{escape(name)}</th>{''.join(cells)}</tr>")
    heads = "".join(f"<th scope='col'>{escape(name)}</th>" for name in results.bots)
    heat = (
        "<div class='wide'><table class='heat'><caption>Points a round of the row less those of the column, where they "
        f"met</caption><tr><td></td>{heads}</tr>{''.join(grid)}</table></div>"
    )
    rows = [_pair_row(results, statistics, pair) for pair in sorted(statistics.pairs)]
    heads_of_pairs = [
        "pair",
        "difference",
        "95 % interval",
        "deals +/=/-",
        "0 ½ 1 1½ 2",
        "Elo",
        "95 % interval",
        "superior",
    ]
    return section("Head to head", heat + table(heads_of_pairs, rows))


def _heat(sums: RatioSums, widest: float) -> str:
    if not sums.count:
        return "<td>·</td>"
    strength = min(100, round(abs(sums.mean) / widest * 100))
    kind = "more" if sums.mean >= 0 else "less"
    return f"<td class='{kind}' style='--strength:{strength}%'>{sums.mean:+z.1f}</td>"


def _pair_row(results: Results, statistics: MatchStatistics, pair: tuple[int, int]) -> list[str]:
    tally = statistics.pairs[pair]
    difference, elo = tally.difference.interval, tally.elo
    is_pentanomial = tally.score.weights == 4 * tally.deals
    return [
        " less ".join(results.bots[bot] for bot in pair),
        f"{difference.mean:+z.2f}",
        _between(difference),
        f"{tally.deals_won}/{tally.deals_drawn}/{tally.deals_lost}",
        " ".join(str(tally.outcomes.get(half, 0)) for half in range(5)) if is_pentanomial else "",
        _number(elo.difference) if elo else "",
        f"{_number(elo.low)} to {_number(elo.high)}" if elo else "",
        f"{elo.superiority:.1%}" if elo else "",
    ]


def _number(value: float | None) -> str:
    return "∞" if value is None else f"{value:+z.0f}"


def _progress(results: Results) -> str:
    """The differences of the pairs over deals, or with many bots the points of each."""
    bots = len(results.bots)
    pairs = [(bot, other) for bot in range(bots) for other in range(bot + 1, bots)]
    deals = list(results.counted())
    if len(deals) < 2:
        return ""
    by_pair = len(pairs) <= MOST_PAIRS_IN_LINES
    keys: Sequence[tuple[int, int]] = pairs if by_pair else [(bot, bot) for bot in range(bots)]
    sums = {key: RatioSums() for key in keys}
    found: dict[tuple[int, int], list[tuple[int, Interval]]] = {key: [] for key in keys}
    every = max(1, len(deals) // POINTS_OF_A_LINE)
    for number, games in enumerate(deals, 1):
        for key in keys:
            value, weight = _of_deal(games, *key)
            if weight:
                sums[key].add(value, weight)
            if (number % every == 0 or number == len(deals)) and sums[key].count > 1:
                found[key].append((number, sums[key].interval))
    rows = [
        (" and ".join(results.bots[bot] for bot in dict.fromkeys(key)), points)
        for key, points in found.items()
        if points
    ]
    if not rows:
        return ""
    what = "difference, points a round" if by_pair else "points a round"
    heads = ["deals", *(name for name, _ in rows)]
    some = [at for at in range(len(rows[0][1])) if at % max(1, len(rows[0][1]) // 10) == 0]
    listed = [
        [
            str(rows[0][1][at][0]),
            *(f"{points[at][1].mean:+z.2f} ({_between(points[at][1])})" for _, points in rows if at < len(points)),
        ]
        for at in some
    ]
    drawn = charts.progress("Progress over deals with 95 % intervals", what, rows)
    note = "<p>Whoever stops when an interval looks good is misled: only the last one is one of 95 %.</p>"
    return section("Progress over deals", drawn + note + details("as a table", table(heads, listed)))


def _of_deal(games: Sequence[Seating], bot: int, other: int) -> tuple[int, int]:
    """Points and rounds of a bot on a deal, or its difference to another where they met."""
    value = weight = 0
    for each in games:
        seats, score = each.game.seats, each.score
        if bot not in seats or other not in seats:
            continue
        mine, theirs = seats.index(bot), seats.index(other)
        if bot == other:
            value += score.points[mine]
        elif score.is_one_side(mine, theirs):
            continue
        else:
            value += score.points[mine] - score.points[theirs]
        weight += score.rounds
    return value, weight


def _distribution(results: Results) -> str:
    points: dict[int, list[float]] = {bot: [] for bot in range(len(results.bots))}
    for games in results.counted():
        for each in games:
            if each.score.rounds:
                for seat, bot in enumerate(each.game.seats):
                    points[bot].append(each.score.points[seat] / each.score.rounds)
    everything = [value for values in points.values() for value in values]
    if not everything:
        return ""
    across = (min(everything), max(everything) + 1)
    drawn = "".join(
        f"<figure><figcaption>{escape(results.bots[bot])}</figcaption>"
        + charts.histogram(f"Points of {results.bots[bot]}", "points a round in a game", values, across, colour=bot)
        + "</figure>"
        for bot, values in points.items()
        if values
    )
    rows = [
        [results.bots[bot], *(f"{_quantile(values, share):+z.1f}" for share in (0, 0.05, 0.25, 0.5, 0.75, 0.95, 1))]
        for bot, values in points.items()
        if values
    ]
    heads = ["bot", "least", "5 %", "25 %", "median", "75 %", "95 %", "most"]
    return section(
        "Distribution of points", f"<div class='pairs'>{drawn}</div>" + details("as a table", table(heads, rows))
    )


def _quantile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, math.floor(share * len(values)))]


def _thinking(results: Results, statistics: MatchStatistics) -> str:
    rows = []
    for bot, name in enumerate(results.bots):
        effort = statistics.tallies[bot].effort
        mean = f"{effort.charged_ms / effort.decisions:.1f}" if effort.decisions else "-"
        spread = [str(percentile(effort.thinking, share)) for share in SHARES]
        rows.append([name, str(effort.decisions), mean, *spread, str(effort.refusals)])
    heads = ["bot", "decisions", "mean ms", "50 %", "90 %", "99 %", "most ms", "refused"]
    bars = "".join(_bars(results.bots[bot], statistics.tallies[bot].effort.thinking, bot) for bot in range(len(rows)))
    return section("Decision time", f"<div class='pairs'>{bars}</div>" + table(heads, rows))


def _bars(name: str, thinking: dict[int, int], bot: int) -> str:
    """The spread over doubling times."""
    if not thinking:
        return ""
    logs = [(math.log2(time + 1), count) for time, count in thinking.items()]
    values = [value for value, count in logs for _ in range(max(1, round(count * 2_000 / sum(thinking.values()))))]
    across = (0.0, max(values) + 1)
    drawn = charts.histogram(f"Decision times of {name}", "log₂ (ms + 1)", values, across, colour=bot)
    return f"<figure><figcaption>{escape(name)}</figcaption>{drawn}</figure>"


def _endings(results: Results, statistics: MatchStatistics) -> str:
    kinds = sorted({kind for tally in statistics.tallies for kind in tally.terminations})
    rows = [
        [name, *(str(statistics.tallies[bot].terminations.get(kind, 0)) for kind in kinds)]
        for bot, name in enumerate(results.bots)
    ]
    note = "<p>How games ended, for the bot to blame; NORMAL and ROUND_LIMIT count for every seat.</p>"
    return section("Terminations", note + table(["bot", *kinds], rows))


def _swinging(results: Results, records: str) -> str:
    """The deals on which bots came out furthest apart."""
    spreads = []
    for games in results.counted():
        totals: Counter[int] = Counter()
        rounds: Counter[int] = Counter()
        for each in games:
            for seat, bot in enumerate(each.game.seats):
                totals[bot] += each.score.points[seat]
                rounds[bot] += each.score.rounds
        means = {bot: totals[bot] / rounds[bot] for bot in totals if rounds[bot]}
        if means:
            spreads.append((max(means.values()) - min(means.values()), -games[0].game.deal, means, games))
    rows = []
    for spread, _, means, games in sorted(spreads, key=lambda each: each[:2], reverse=True)[:SWINGING]:
        deal = games[0].game.deal
        reached = ", ".join(
            f"{escape(results.bots[bot])} {means[bot]:+z.1f}" for bot in sorted(means, key=lambda b: -means[b])
        )
        rows.append(
            [str(deal), f"{spread:.1f}", reached, "<br>".join(_replay(results, each, records) for each in games[:8])]
        )
    note = (
        f"<p>Each game is in <a href='{escape(records)}'>the records</a>; the command shows it step by step.</p>"
        if records
        else ""
    )
    return section(
        "Most swinging deals", note + Table(["deal", "spread", "points a round", "games"], rows, is_html=True).html()
    )


def _replay(results: Results, seating: Seating, records: str) -> str:
    seats = ", ".join(
        f"{escape(results.bots[bot])} {points:+d}"
        for bot, points in zip(seating.game.seats, seating.score.points, strict=True)
    )
    if not records:
        return seats
    command = f"rummy500 replay {records} --game {seating.number + 1}"
    return f"<span id='{escape(seating.record)}'>{seats}</span>: <code>{escape(command)}</code>"
