"""Is it fit? What all games together show, and what its process does to the machine."""

from __future__ import annotations

import statistics
from collections import Counter

from rummy500_client.doctor.check import Check
from rummy500_client.doctor.checks_play import GAME
from rummy500_client.doctor.checks_start import START
from rummy500_client.doctor.examination import Examination, choice, verify_played
from rummy500_client.doctor.finding import Finding, fail, ok, skip, warn
from rummy500_client.notation import action_text

MEGABYTE = 1 << 20
AT_ONCE = 8
WARN_GROWTH, FAIL_GROWTH = 100 * 1024, MEGABYTE
"""Bytes a game by which its memory may grow."""
STOP_SECONDS = 3.0
LOUD = 200
"""Bytes of standard error for each decision."""
SEED = bytes(range(32))


def check_deadline(examination: Examination) -> Finding:
    if not examination.turns:
        verify_played(examination.play(rules=choice()))
    times = sorted(turn.seconds for turn in examination.turns)
    worst = times[-1]
    if worst > examination.clock:
        late = sum(seconds > examination.clock for seconds in times)
        told = f"{late} of {len(times)} decisions took longer than {examination.clock:g} s, the slowest {worst:.1f} s"
        return fail(told, "stop thinking before deadline_unix_ms, with a margin for the way")
    if worst > examination.clock / 2:
        told = f"the slowest of {len(times)} decisions took {worst:.1f} s of {examination.clock:g} s"
        return warn(told, "leave a margin: a busy machine is slower")
    return ok(f"the slowest of {len(times)} decisions took {worst * 1000:.0f} ms of {examination.clock:g} s")


def check_speed(examination: Examination) -> Finding:
    tables = [examination.table(rules=choice()) for _ in range(AT_ONCE)]
    played = examination.play_all(tables)
    for each in played:
        verify_played(each)
    turns = sorted((turn for each in played for turn in each.turns), key=lambda turn: turn.answered_at)
    took = turns[-1].answered_at - turns[0].answered_at
    cuts = statistics.quantiles((turn.seconds * 1000 for turn in turns), n=100, method="inclusive")
    return ok(
        f"{len(turns) / took:.0f} decisions a second at {AT_ONCE} tables; "
        f"ms a decision: {cuts[49]:.1f} median, {cuts[89]:.1f} p90, {cuts[98]:.1f} p99"
    )


def check_legal(examination: Examination) -> Finding:
    if not examination.refusals:
        return ok(f"none of {len(examination.turns)} answers was refused")
    counts = Counter(refused.refusal.code for refused in examination.refusals)
    told = ", ".join(f"{count} {code}" for code, count in counts.most_common())
    return fail(f"{len(examination.refusals)} answers were refused: {told}", "send only what view.legal_actions lists")


def check_asked_for(examination: Examination) -> Finding:
    unasked = [decision for each in examination.real_conversations for decision in each.unasked]
    if not unasked:
        return ok("every answer was to a request that was open")
    some = unasked[0]
    said = "; ".join(map(action_text, some.actions)) or "nothing"
    told = f"{len(unasked)} answers to nothing that was asked: {said!r:.60} at {some.table!r}, sequence {some.sequence}"
    return fail(told, "answer each request once, with the table and the sequence that it names")


def check_readable(examination: Examination) -> Finding:
    garbled = [message for each in examination.desk.conversations for message in each.garbled]
    if not garbled:
        return ok("every message was a PlayRequest")
    told = f"{len(garbled)} messages cannot be read; one begins with {garbled[0][:16].hex(' ')}"
    return fail(told, "write messages with the code that is generated from proto/rummy500/v1")


def check_own_business(examination: Examination) -> Finding:
    """Whether it asks the server for more than it is sent."""
    if not examination.desk.others:
        return ok("called nothing but Play")
    counts = Counter(examination.desk.others)
    told = ", ".join(f"{method} {count} times" for method, count in counts.most_common())
    if all(method.startswith("rummy500.v1.RulesService/") for method in counts):
        return ok(f"called {told} beside Play")
    advice = "play from the requests alone: they are complete, and hands of others are never shown"
    return fail(f"looked for more than it is sent: {told}", advice)


def check_stdout(examination: Examination) -> Finding:
    size = sum(patient.stdout_bytes for patient in examination.processes)
    if not size:
        return ok("writes nothing to standard output")
    some = next(patient.stdout for patient in examination.processes if patient.stdout)
    line = some.decode("utf-8", errors="replace").splitlines()[0]
    return warn(
        f"wrote {size} bytes to standard output: {line!r:.80}", "write to standard error: a match keeps its end"
    )


def check_stderr(examination: Examination) -> Finding:
    size = sum(patient.stderr_bytes for patient in examination.processes)
    decisions = max(1, len(examination.turns))
    if size / decisions > LOUD:
        told = f"wrote {size / decisions:.0f} bytes to standard error for each decision"
        return warn(told, "a match keeps the last 8 KiB only: say less, so that the last words are the ones that count")
    return ok(f"wrote {size} bytes to standard error in {len(examination.turns)} decisions")


def check_memory(examination: Examination) -> Finding:
    games = max(AT_ONCE * 3, examination.memory_games)
    sizes: list[int] = []
    examination.bot()
    for _ in range(games // AT_ONCE):
        for played in examination.play_all([examination.table(rules=choice()) for _ in range(AT_ONCE)]):
            verify_played(played)
        size = examination.processes[-1].memory()
        if size is None:
            return skip("this system does not tell what a process holds")
        sizes.append(size)
    warm = len(sizes) // 3  # what it loads in its first games is no growth
    growth = (sizes[-1] - sizes[warm]) / max(1, (len(sizes) - 1 - warm) * AT_ONCE)
    told = f"holds {sizes[-1] / MEGABYTE:.0f} MB after {games} games, {growth / 1024:+.0f} kB a game"
    if growth > FAIL_GROWTH:
        return fail(told, "forget what belongs to a game at its GameOver")
    if growth > WARN_GROWTH:
        return warn(told, "forget what belongs to a game at its GameOver")
    return ok(told)


def check_same_again(examination: Examination) -> Finding:
    """Of interest to its author; a bot need not be deterministic."""
    games = [examination.play(rules=choice(), seed=SEED) for _ in range(2)]
    for played in games:
        verify_played(played)
    one, other = (
        [action_text(action) for turn in played.turns for action in turn.decision.actions] for played in games
    )
    if one == other:
        return ok(f"played the same {len(one)} actions from the same deal twice")
    at = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return ok(f"played the same deal otherwise the second time, from action {at + 1} on: it is not deterministic")


def check_terminated(examination: Examination) -> Finding:
    examination.bot()
    patient = examination.processes[-1]
    patient.terminate()
    if not patient.wait(STOP_SECONDS):
        return warn(f"still runs {STOP_SECONDS:.0f} s after SIGTERM", "end on SIGTERM; a match kills it otherwise")
    if patient.has_others():
        return warn("left processes behind when it ended", "end what you have started")
    return ok("ended on SIGTERM")


def check_stdin(examination: Examination) -> Finding:
    examination.bot()
    patient = examination.processes[-1]
    patient.close_stdin()
    if patient.wait(STOP_SECONDS):
        return ok("ended when its standard input was closed")
    advice = "end when standard input ends: then you do not outlive a runner that was killed"
    return warn(f"still runs {STOP_SECONDS:.0f} s after its standard input was closed", advice)


PROCESS_CHECKS = [
    Check("deadline", "answers in time", check_deadline, needs=START),
    Check("speed", "decisions a second", check_speed, needs=GAME),
    Check("memory", "does not grow from game to game", check_memory, needs=GAME, of_process=True),
    Check("same-again", "plays the same from the same deal", check_same_again, needs=GAME),
    Check("legal", "answers what is legal", check_legal, needs=START),
    Check("asked-for", "answers what is asked, once", check_asked_for, needs=START),
    Check("readable", "sends messages of the contract", check_readable),
    Check("own-business", "asks for nothing that is not its own", check_own_business),
    Check("stdin", "ends with its standard input", check_stdin, needs=START, of_process=True),
    Check("sigterm", "ends on SIGTERM", check_terminated, needs=START, of_process=True),
    Check("stdout", "is quiet on standard output", check_stdout, of_process=True),
    Check("stderr", "is not loud on standard error", check_stderr, of_process=True),
]
