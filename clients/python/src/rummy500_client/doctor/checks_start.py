"""Does it come in? How the bot starts, connects and introduces itself."""

from __future__ import annotations

import time

from rummy500_client.doctor.check import Check
from rummy500_client.doctor.desk import FEATURES
from rummy500_client.doctor.examination import Examination
from rummy500_client.doctor.finding import Finding, fail, ok, warn
from rummy500_client.options import NAME, TOKEN

START = "start"
SLOW_START = 15.0
IDLE_SECONDS, IDLE_SHARE = 1.0, 0.2


def check_start(examination: Examination) -> Finding:
    conversation = examination.bot()
    took = conversation.opened_at - examination.patient.began
    if took > SLOW_START:
        return warn(f"connected after {took:.1f} s", "connect first and load later: a match waits 30 s for its bots")
    return ok(f"connected after {took:.1f} s")


def check_hello(examination: Examination) -> Finding:
    if examination.bot().first_is_hello:
        return ok("the first message has Hello")
    return fail("the first message has no Hello", "send Hello in the first message of each stream, and in no later one")


def check_name(examination: Examination) -> Finding:
    hello = examination.bot().hello
    assert hello is not None
    if hello.name == examination.name:
        return ok(f"goes by the name in {NAME}")
    return fail(f"calls itself {hello.name!r}, but {NAME} is {examination.name!r}", f"set Hello.name to {NAME}")


def check_token(examination: Examination) -> Finding:
    if examination.bot().token == examination.token:
        return ok(f"sends the token in {TOKEN}")
    return fail(f"sends another token than {TOKEN} has", f"send metadata `authorization: Bearer <{TOKEN}>`")


def check_program(examination: Examination) -> Finding:
    hello = examination.bot().hello
    assert hello is not None
    if hello.program:
        return ok(f"says that it is {hello.program}")
    return warn("does not say which program it is", "set Hello.program, for example to mybot/1.2: it helps in records")


def check_features(examination: Examination) -> Finding:
    hello = examination.bot().hello
    assert hello is not None
    unknown = sorted(set(hello.features) - set(FEATURES))
    if unknown:
        return fail(f"needs features that there are not: {', '.join(unknown)}", f"there are {', '.join(FEATURES)}")
    return ok(f"needs {', '.join(hello.features) or 'no feature in particular'}")


def check_idle(examination: Examination) -> Finding:
    """Whether it is quiet while nothing is asked."""
    examination.bot()
    before = examination.processes[-1].processor_seconds()
    began = time.monotonic()
    examination.wait(lambda: False, IDLE_SECONDS)
    after, took = examination.processes[-1].processor_seconds(), time.monotonic() - began
    if before is None or after is None:
        return ok("this system does not tell what a process uses")
    share = (after - before) / took
    if share > IDLE_SHARE:
        return warn(
            f"uses {share:.0%} of a processor while nothing is asked", "wait for messages, do not ask in a loop"
        )
    return ok(f"uses {share:.0%} of a processor while nothing is asked")


START_CHECKS = [
    Check(START, "starts and connects", check_start),
    Check("hello", "introduces itself first", check_hello, needs=START),
    Check("name", "goes by the name that it is given", check_name, needs=START, of_process=True),
    Check("token", "sends the token that it is given", check_token, needs=START, of_process=True),
    Check("program", "says which program it is", check_program, needs=START),
    Check("features", "needs no feature that there is not", check_features, needs=START),
    Check("idle", "waits without using the processor", check_idle, needs=START, of_process=True),
]
