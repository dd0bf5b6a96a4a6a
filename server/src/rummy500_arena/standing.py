"""What a game is worth to its seats when it ends, also when it ends before its round could be scored."""

from __future__ import annotations

from rummy500_engine.game import Game


def final_points(game: Game, *, at_fault: int | None = None) -> tuple[tuple[int, ...], int]:
    """By seat the points of all rounds together, and how many rounds they are.

    A round that was broken off is scored as it stands, cards placed less cards held, but so that nobody gains by
    breaking it off: the seat at fault scores 0 at most, the others 0 at least.
    """
    points = list(game.totals)
    broken_off = game.round
    if broken_off is None or broken_off.over:
        return tuple(points), game.rounds_played
    sides = game.rules.sides
    for seat, score in enumerate(broken_off.scores()):
        standing = score.points
        if at_fault is not None:
            standing = min(standing, 0) if seat == at_fault else max(standing, 0)
        for partner, side in enumerate(sides):
            if side == sides[seat]:
                points[partner] += standing
    return tuple(points), game.rounds_played + 1
