"""What a match has come to, for people: a progress line while it runs, a table at its end."""

from __future__ import annotations

from rummy500.v1.match_pb2 import (
    MATCH_SCHEDULE_GAUNTLET,
    MATCH_SCHEDULE_POOL,
    MATCH_STATE_WAITING,
    MATCH_UNIT_GAME,
    BotResult,
    Match,
    MatchState,
    PairResult,
)
from rummy500.v1.result_pb2 import TERMINATION_NORMAL
from rummy500_client.bot_reports import bot_report_lines
from rummy500_client.describe import termination_text
from rummy500_client.screen import table_text

HEADS = ["bot", "points/round", "95 % interval", "rounds", "wins", "draws", "refused", "ms/decision", "ended"]


def state_text(match: Match) -> str:
    return MatchState.Name(match.state).removeprefix("MATCH_STATE_").lower()


def progress_text(match: Match, *, with_means: bool = True) -> str:
    if match.state == MATCH_STATE_WAITING:
        return f"match {match.name}: waiting for the bots to connect"
    paused = f"paused ({match.sentence}), " if state_text(match) == "paused" else ""
    done = f"{paused}{match.games_finished} of {match.games_planned} games"
    shown = [result for result in match.results if with_means and result.rounds]
    means = " · ".join(f"{result.name} {result.points_per_round:+z.1f}" for result in shown)
    return f"match {match.name}: {done}{f' · {means}' if means else ''}"


def deals_text(match: Match) -> str:
    """What its packs follow from."""
    if match.from_seed:
        return (
            f"reproducible from seed {match.plan.seed}" if match.plan.HasField("seed") else "reproducible from a seed"
        )
    return "fair deals"


def _schedule_text(match: Match) -> str:
    """Who plays a deal, where that is not everybody, and whether its seatings have packs of their own."""
    named = {MATCH_SCHEDULE_GAUNTLET: ", a gauntlet", MATCH_SCHEDULE_POOL: ", a pool"}
    return named.get(match.plan.schedule, "") + (", unpaired" if match.plan.unpaired else "")


def report_lines(match: Match) -> list[str]:
    """The result table with what belongs to it."""
    plural = "" if match.plan.deals == 1 else "s"
    unit = f"game{plural} to the target" if match.plan.unit == MATCH_UNIT_GAME else f"deal{plural}"
    played = f"{match.plan.deals} {unit}, each in {match.seatings} seatings{_schedule_text(match)}"
    lines = [f"match {match.name}: {played}, {deals_text(match)}, {state_text(match)}"]
    if match.games_finished:
        lines += table_text(HEADS, [result_row(result, is_one_deal=match.plan.deals == 1) for result in match.results])
    lines += pair_lines(match)
    if match.sentence:
        lines.append(match.sentence)
    if match.games_finished:
        lines += bot_report_lines(match)
    return lines


def pair_lines(match: Match) -> list[str]:
    """Of two bots how they stand to each other; of more, their ratings. With where the stopping rule stands."""
    names = [bot.name for bot in match.plan.bots]
    lines = [pair_text(pair, names) for pair in match.pairs if len(names) == 2 and pair.deals > 1]
    if any(result.HasField("rating") for result in match.results):
        rated = sorted(match.results, key=lambda result: -result.rating)
        texts = [f"{each.name} {each.rating:+z.0f} ± {each.rating_high - each.rating:.0f}" for each in rated]
        lines.append(f"ratings in Elo: {', '.join(texts)}")
    if match.HasField("stopping"):
        rule = match.stopping
        bounds = f"{rule.lower:+z.2f} to {rule.upper:+z.2f}"
        lines.append(f"sequential test: {rule.ratio:+z.2f} of {bounds}, {rule.deals} deals")
    return lines


def pair_text(pair: PairResult, names: list[str]) -> str:
    interval = f"{pair.difference_low:+z.2f} to {pair.difference_high:+z.2f}"
    parts = [f"{names[pair.bot]} less {names[pair.other]}: {pair.difference:+z.2f} points/round ({interval})"]
    parts.append(f"deals +{pair.deals_won} ={pair.deals_drawn} -{pair.deals - pair.deals_won - pair.deals_drawn}")
    if pair.outcomes:
        parts.append(f"seatings won 0, ½, 1, 1½, 2: {', '.join(map(str, pair.outcomes))}")
    if pair.HasField("elo"):
        low = f"{pair.elo_low:+z.0f}" if pair.HasField("elo_low") else "-∞"
        high = f"{pair.elo_high:+z.0f}" if pair.HasField("elo_high") else "∞"
        parts.append(f"Elo {pair.elo:+z.0f} ({low} to {high}), superior with {pair.superiority:.1%}")
    return "; ".join(parts)


def result_row(result: BotResult, *, is_one_deal: bool) -> list[str]:
    spent = f"{result.charged_ms / result.decisions:.1f}" if result.decisions else "-"
    has_interval = result.rounds and not is_one_deal  # one observation says nothing of its spread
    interval = f"{result.interval_low:+z.2f} to {result.interval_high:+z.2f}" if has_interval else "-"
    points = f"{result.points_per_round:+z.2f}" if result.rounds else "-"
    counts = [str(result.rounds), str(result.wins), str(result.draws), str(result.refusals)]
    return [result.name, points, interval, *counts, spent, _terminations(result)]


def _terminations(result: BotResult) -> str:
    parts = [
        f"{count.count} {termination_text(count.termination)}"
        for count in result.terminations
        if count.termination != TERMINATION_NORMAL
    ]
    parts += ["out of the match"] if result.out else []
    return ", ".join(parts) or ("all NORMAL" if result.rounds else "-")
