"""Does it play? Every phase, every preset, every size of table."""

from __future__ import annotations

from collections import Counter
from functools import partial

from rummy500.v1.rules_pb2 import Preset, RulesChoice
from rummy500.v1.rules_service_pb2 import ListVariantsRequest, ResolveRulesRequest
from rummy500_client.doctor.check import Check
from rummy500_client.doctor.examination import Examination, choice, verify_played
from rummy500_client.doctor.finding import Finding, ok, skip, warn
from rummy500_client.doctor.positions import Case, cases
from rummy500_client.errors import ServerRefused

GAME = "game"
MANY, MOST_SEATS = 32, 8


def check_game(examination: Examination) -> Finding:
    played = examination.play(rules=choice(options={"target": "150", "max_rounds": "10"}))
    verify_played(played)
    counts = Counter(played.actions)
    told = ", ".join(f"{count} {word}" for word, count in counts.most_common())
    assert played.over is not None
    return ok(f"{played.over.result.rounds} rounds in {played.seconds:.1f} s: {told}")


def _check_case(case: Case, examination: Examination) -> Finding:
    try:
        played = examination.play(position=case.text)
    except ServerRefused as refused:
        if refused.reason == "RULES_REFUSED":
            return skip(f"the server has not what it needs: {refused.sentence}")
        raise
    verify_played(played)
    return ok(f"answered {played.first}")


def _check_preset(preset: Preset, examination: Examination) -> Finding:
    if not preset.available:
        return skip(preset.problem or f"needs {', '.join(preset.missing_distributions)}")
    seats = min(preset.players) if preset.players else 2
    played = examination.play(seats=seats, rules=choice(preset.name))
    verify_played(played)
    return ok(f"a round of {seats} seats, {len(played.turns)} decisions")


def _choice_for(seats: int, examination: Examination) -> RulesChoice | None:
    """The first variant by which so many can play."""
    owner = examination.owner
    for variant in owner.ask(owner.rules.ListVariants, ListVariantsRequest()).variants:
        chosen = choice(variants=[variant.name])
        resolved = owner.ask(owner.rules.ResolveRules, ResolveRulesRequest(choice=chosen, players=seats))
        if not resolved.HasField("refused"):
            return chosen
    return None


def check_seats(examination: Examination) -> Finding:
    rules = _choice_for(MOST_SEATS, examination)
    if rules is None:
        return skip(f"the server has no variant by which {MOST_SEATS} can play")
    played = examination.play(seats=MOST_SEATS, rules=rules)
    verify_played(played)
    return ok(f"a round of {MOST_SEATS} seats, {len(played.turns)} decisions")


def check_many_tables(examination: Examination) -> Finding:
    bot = examination.bot()
    assert bot.welcome is not None
    most = bot.welcome.max_concurrent_games
    tables = [examination.table(rules=choice()) for _ in range(min(MANY, most))]
    played = examination.play_all(tables)
    for each in played:
        verify_played(each)
    decisions = sum(len(each.turns) for each in played)
    seconds = max(each.seconds for each in played)
    told = f"{len(played)} rounds at once, {decisions} decisions in {seconds:.1f} s"
    if most == 1:
        return warn(f"{told}: it takes one game at a time", "leave out Hello.max_concurrent_games, if you can")
    return ok(told)


def play_checks(examination: Examination) -> list[Check]:
    """With one for each preset that the server has."""
    return [
        Check(GAME, "plays a game to its end", check_game),
        *(Check(case.name, case.what, partial(_check_case, case), needs=GAME) for case in cases().values()),
        *(
            Check(
                f"preset:{preset.name}",
                f"plays {preset.name}: {preset.summary.rstrip('.')}",
                partial(_check_preset, preset),
                needs=GAME,
            )
            for preset in examination.presets
        ),
        Check("eight-seats", "plays at a table of eight", check_seats, needs=GAME),
        Check("many-tables", f"plays {MANY} games at once", check_many_tables, needs=GAME),
    ]
