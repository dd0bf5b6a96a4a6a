"""Players and their ranked games on the wire."""

from __future__ import annotations

from google.protobuf.timestamp_pb2 import Timestamp

from rummy500.v1 import player_pb2
from rummy500_server.players import Player
from rummy500_server.ranked import Outcome

MOST_GAMES = 20
_OUTCOME = {each: player_pb2.RankedOutcome.Value(f"RANKED_OUTCOME_{each.name}") for each in Outcome}


def player_message(player: Player, *, place: int) -> player_pb2.Player:
    standing = player.standing
    return player_pb2.Player(
        name=player.name,
        points=standing.points,
        place=place,
        games=standing.games,
        wins=standing.wins,
        draws=standing.draws,
        rating=standing.rating,
        rating_deviation=standing.deviation,
        registered=_timestamp(player.registration.registered_ms),
    )


def game_messages(player: Player) -> list[player_pb2.RankedGame]:
    """The last ones, newest first."""
    games = list(zip(player.results, player.standing.ratings, strict=True))[-MOST_GAMES:]
    return [
        player_pb2.RankedGame(
            record=result.record,
            preset=result.preset,
            levels=result.levels,
            outcome=_OUTCOME[result.outcome],
            points=result.points,
            rating=rating,
            finished=_timestamp(result.finished_ms),
        )
        for result, rating in reversed(games)
    ]


def _timestamp(milliseconds: int) -> Timestamp:
    timestamp = Timestamp()
    timestamp.FromMilliseconds(milliseconds)
    return timestamp
