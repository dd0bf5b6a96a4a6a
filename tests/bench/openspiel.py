"""A worker that plays OpenSpiel's gin rummy at random, the same way: list, choose, apply; chance nodes too."""

from __future__ import annotations

import random
import time
from typing import Any

import pyspiel
from tests.bench.workers import serve_lines


class RandomPlay:
    def __init__(self) -> None:
        self._game = pyspiel.load_game("gin_rummy")
        self._choose = random.Random(1).random

    def play(self, cpu_seconds: float) -> tuple[int, float]:
        """The players' decisions, and the processor time that they and the deals took."""
        choose, decisions = self._choose, 0
        begin = time.process_time()
        spent = 0.0
        while spent < cpu_seconds:
            state = self._game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    outcomes = state.chance_outcomes()
                    state.apply_action(outcomes[int(choose() * len(outcomes))][0])
                else:
                    legal = state.legal_actions()
                    state.apply_action(legal[int(choose() * len(legal))])
                    decisions += 1
            spent = time.process_time() - begin
        return decisions, spent


def main() -> None:
    play = RandomPlay()

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        decisions, spent = play.play(request["seconds"])
        return {"rate": decisions / spent}

    serve_lines(answer)


if __name__ == "__main__":
    main()
