"""A player's standing in words."""

from __future__ import annotations

from rummy500.v1.player_pb2 import (
    RANKED_OUTCOME_DRAWN,
    RANKED_OUTCOME_LOST,
    RANKED_OUTCOME_WON,
    Player,
    RankedGame,
)

_OUTCOMES = {RANKED_OUTCOME_WON: "won", RANKED_OUTCOME_DRAWN: "drawn", RANKED_OUTCOME_LOST: "lost"}


def board_line(player: Player) -> str:
    """One line of the leaderboard."""
    rating = f"{player.rating:.0f} ± {player.rating_deviation:.0f}"
    return f"{player.place:>4}  {player.name:24} {player.points:>7}  {player.wins:>5} of {player.games:<6} {rating}"


BOARD_HEAD = f"{'':>4}  {'player':24} {'points':>7}  {'won':>5} of {'games':<6} rating"


def player_lines(player: Player, games: list[RankedGame]) -> list[str]:
    place = f"place {player.place}" if player.place else "no ranked game yet"
    rating = f"rating {player.rating:.0f} ± {player.rating_deviation:.0f}"
    counts = f"{player.wins} won, {player.draws} drawn of {player.games}"
    return [f"{player.name}: {player.points} points, {place}, {rating}, {counts}", *map(_game_line, games)]


def _game_line(game: RankedGame) -> str:
    outcome = _OUTCOMES.get(game.outcome, "not counted")
    against = ", ".join(game.levels)
    day = game.finished.ToDatetime().strftime("%Y-%m-%d")
    return f"  {day}  {outcome:11} {game.points:>4} points  {game.preset}, against {against}  {game.record}"


def settled_line(player: Player, game: RankedGame) -> str:
    """What one game was worth to its player."""
    if game.outcome not in _OUTCOMES:
        return f"this game does not count; {player.points} points, rating {player.rating:.0f}"
    earned = f"{_OUTCOMES[game.outcome]}: {game.points} points"
    return f"{earned}; {player.points} in all, place {player.place}, rating {player.rating:.0f}"
