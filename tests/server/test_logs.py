"""Log lines are facts with fields, in two forms, and never hold a card or a token."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.server.running import environment

from rummy500_server.logs import SECRET, without_secrets

PROGRAM = """
import logging, structlog
from grpc._cython.cygrpc import ExecuteBatchError
from rummy500_server.logs import configure_logs
configure_logs({form!r}, "info")
log = structlog.stdlib.get_logger("rummy500")
structlog.contextvars.bind_contextvars(table="t1", seat=0)
log.info("action.refused", reason="NOT_A_MELD", hand="AS KD")
log.debug("never.shown")
logging.getLogger("grpc").warning("from another library")
try:
    raise ExecuteBatchError("a caller was gone before its answer was sent")
except ExecuteBatchError:
    logging.getLogger("grpc._cython.cygrpc").exception("raised in core by servicer method")
try:
    1 / 0
except ZeroDivisionError as error:
    log.error("request.failed", exc_info=error)
"""


def run(form: str) -> list[str]:
    program = PROGRAM.format(form=form)
    run = subprocess.run([sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True)
    assert run.stdout == ""
    return run.stderr.splitlines()


def test_json_lines_carry_their_fields() -> None:
    refused, foreign, failed = map(json.loads, run("json"))

    assert (refused["event"], refused["level"], refused["table"], refused["seat"], refused["reason"]) == (
        "action.refused",
        "info",
        "t1",
        0,
        "NOT_A_MELD",
    )
    assert refused["hand"] == "(withheld)"
    assert foreign["event"] == "from another library"
    assert failed["exception"][0]["exc_type"] == "ZeroDivisionError"


def test_console_lines_are_for_people() -> None:
    lines = run("console")

    assert "action.refused" in lines[0]
    assert "AS KD" not in lines[0]
    assert "from another library" in lines[1]
    assert any("ZeroDivisionError" in line for line in lines)


@pytest.mark.parametrize("name", sorted(SECRET))
def test_a_secret_field_is_withheld(name: str) -> None:
    assert without_secrets(None, "info", {name: "x", "event": "y"}) == {name: "(withheld)", "event": "y"}
