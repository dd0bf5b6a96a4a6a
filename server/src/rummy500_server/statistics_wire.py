"""What a match says about its bots, on the wire."""

from __future__ import annotations

from rummy500.v1 import match_pb2, result_pb2
from rummy500_arena.pairs import PairTally
from rummy500_arena.ratio import Interval
from rummy500_arena.score import Effort, GameScore
from rummy500_arena.statistics import MatchStatistics
from rummy500_server.results import Termination

GAMES_OF_A_PENTANOMIAL = 2
_TERMINATION = {each.name: result_pb2.Termination.Value(f"TERMINATION_{each.name}") for each in Termination}


def result_into(message: match_pb2.BotResult, statistics: MatchStatistics, bot: int) -> None:
    tally = statistics.tallies[bot]
    points, adjusted = tally.points_per_round, statistics.adjusted(bot)
    message.games, message.rounds, message.wins, message.draws = tally.games, tally.rounds, tally.wins, tally.draws
    message.points_per_round, message.interval_low, message.interval_high = points.mean, points.low, points.high
    message.deals, message.sets_won, message.sets_drawn = tally.points.count, tally.sets_won, tally.sets_drawn
    message.luck = statistics.luck(bot)
    message.adjusted, message.adjusted_low, message.adjusted_high = adjusted.mean, adjusted.low, adjusted.high
    effort = tally.effort
    message.decisions, message.refusals, message.charged_ms = effort.decisions, effort.refusals, effort.charged_ms
    message.thinking.extend(_thinking(effort))
    for name, number in _TERMINATION.items():
        if tally.terminations.get(name):
            message.terminations.add(termination=number, count=tally.terminations[name])


def _thinking(effort: Effort) -> list[match_pb2.ThinkingTime]:
    return [
        match_pb2.ThinkingTime(from_ms=time, count=count) for time, count in sorted(effort.thinking.items()) if count
    ]


def rating_into(message: match_pb2.BotResult, rating: Interval) -> None:
    message.rating, message.rating_low, message.rating_high = rating.mean, rating.low, rating.high


def pair_message(pair: tuple[int, int], tally: PairTally) -> match_pb2.PairResult:
    difference, elo = tally.difference.interval, tally.elo
    message = match_pb2.PairResult(
        bot=pair[0],
        other=pair[1],
        deals=tally.deals,
        rounds=round(tally.difference.weights),
        difference=difference.mean,
        difference_low=difference.low,
        difference_high=difference.high,
        deals_won=tally.deals_won,
        deals_drawn=tally.deals_drawn,
        score=tally.score.mean,
        elo=elo.difference if elo else None,
        elo_low=elo.low if elo else None,
        elo_high=elo.high if elo else None,
        superiority=elo.superiority if elo else 0.5,
    )
    if tally.score.weights == 2 * GAMES_OF_A_PENTANOMIAL * tally.deals:
        message.outcomes.extend(tally.outcomes.get(half, 0) for half in range(2 * GAMES_OF_A_PENTANOMIAL + 1))
    return message


def seat_message(score: GameScore, efforts: tuple[Effort, ...], seat: int) -> match_pb2.GameSeat:
    effort = efforts[seat]
    return match_pb2.GameSeat(
        points=score.points[seat],
        decisions=effort.decisions,
        refusals=effort.refusals,
        charged_ms=effort.charged_ms,
        thinking=_thinking(effort),
    )
