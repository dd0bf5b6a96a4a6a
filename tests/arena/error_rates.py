"""How often the sequential test is wrong, by simulation: python -m tests.arena.error_rates --matches 4000"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable

from rummy500_arena.ratio import RatioSums
from rummy500_arena.stopping import StoppingRule, Verdict

DEVIATION = 40.0
LONGEST = 20_000
EFFECTS = (1.0, 0.5, 0.25, 0.1)


def _normal(dice: random.Random) -> float:
    return dice.gauss(0, 1)


def _heavy(dice: random.Random) -> float:
    """Student's t with four degrees of freedom, its variance 1."""
    return dice.gauss(0, 1) / math.sqrt(2 * dice.gammavariate(2, 0.5))


def _skewed(dice: random.Random) -> float:
    """An exponential, its mean 0: nothing that a paired difference looks like."""
    return dice.expovariate(1) - 1


SHAPES: dict[str, Callable[[random.Random], float]] = {"normal": _normal, "heavy tails": _heavy, "skewed": _skewed}


def verdict_of(rule: StoppingRule, true: float, draw: Callable[[], float]) -> tuple[Verdict, int]:
    """What the rule says of deals with this true difference, and after how many."""
    sums = RatioSums()
    for deal in range(1, LONGEST + 1):
        sums.add(true + DEVIATION * draw(), 1)
        verdict = rule.verdict(sums)
        if verdict is not Verdict.UNDECIDED:
            return verdict, deal
    return Verdict.UNDECIDED, LONGEST


def rates(shape: str, effect: float, *, matches: int, seed: int = 1) -> tuple[float, float, float, float]:
    """How often it says 1 where 0 is true and 0 where 1 is, and the deals that it takes in each case."""
    dice = random.Random(f"{shape} {effect} {seed}")
    rule = StoppingRule(0, effect * DEVIATION)
    found = []
    for true, wrong in ((rule.difference0, Verdict.DIFFERENCE1), (rule.difference1, Verdict.DIFFERENCE0)):
        ends = [verdict_of(rule, true, lambda: SHAPES[shape](dice)) for _ in range(matches)]
        found.append(
            (sum(verdict is wrong for verdict, _ in ends) / matches, sum(deals for _, deals in ends) / matches)
        )
    (alpha, deals0), (beta, deals1) = found
    return alpha, beta, deals0, deals1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=4_000, metavar="N")
    matches: int = parser.parse_args().matches
    print(
        "| differences are | effect | wrong where 0 is true | wrong where 1 is true | deals, 0 true | deals, 1 true |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    for shape in SHAPES:
        for effect in EFFECTS:
            alpha, beta, deals0, deals1 = rates(shape, effect, matches=matches)
            print(f"| {shape} | {effect:g} | {alpha:.3f} | {beta:.3f} | {deals0:.0f} | {deals1:.0f} |", flush=True)


if __name__ == "__main__":
    main()
