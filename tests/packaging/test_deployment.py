"""The files that put a server into service lint clean and name what is there."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from rummy500_server.settings import Settings, add_flags, read_settings

ROOT = Path(__file__).resolve().parents[2]
UNIT = ROOT / "deploy/rummy500.service"
BIN = Path(sys.executable).parent
MOST_EXPOSED = 2.0
"""On the scale of `systemd-analyze security`, 0 to 10; below 2 is its best grade."""


def installed(command: str) -> str:
    found = shutil.which(command, path=str(BIN)) or shutil.which(command)
    if found is None:
        pytest.skip(f"{command} is not installed")
    return found


def linted(*command: str | Path) -> str:
    run = subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout + run.stderr


def test_the_dockerfile_lints_clean() -> None:
    assert linted(installed("hadolint"), "--failure-threshold", "style", "Dockerfile") == ""


def test_the_compose_file_lints_clean() -> None:
    linted(installed("compose-lint"), "check", "--fail-on", "low", "compose.yaml")


def test_the_image_is_built_from_files_that_are_there() -> None:
    text = (ROOT / "Dockerfile").read_text()
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    copied = [word for line in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE) for word in line.split()]
    assert copied
    for word in copied:
        assert (ROOT / word).exists()
        assert f"!{word}" in ignored
    base = {line.split()[1] for line in text.splitlines() if line.startswith("FROM")}
    assert base == {"python:3.12-slim"}


def test_the_container_runs_a_command_that_there_is() -> None:
    service = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["server"]
    command, *flags = service["command"]
    assert command == "serve"
    settings = _read(flags)
    assert "./secrets:/run/secrets:ro" in service["volumes"]  # the directory, so that an edited token file is seen
    assert {settings.tls_cert, settings.tls_key, settings.tokens} == {
        f"/run/secrets/{name}" for name in ("tls.crt", "tls.key", "tokens.json")
    }
    assert f"127.0.0.1:{settings.admin_port}:{settings.admin_port}" in service["ports"]
    assert _seconds(service["stop_grace_period"]) > settings.drain_ms / 1000 + 10


def _read(flags: list[str]) -> Settings:
    import argparse

    parser = argparse.ArgumentParser()
    add_flags(parser)
    return read_settings(vars(parser.parse_args(flags)), {})


def _seconds(text: str) -> float:
    return float(text.removesuffix("s"))


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit, with this environment's server in the place of that of a real host."""
    command = BIN / "rummy500-server"
    copy = tmp_path / UNIT.name
    copy.write_text(UNIT.read_text().replace("/opt/rummy500/bin/rummy500-server", shlex.quote(str(command))))
    return copy


def test_the_unit_is_one_that_systemd_takes(unit: Path) -> None:
    assert linted(installed("systemd-analyze"), "verify", unit) == ""


def test_the_unit_leaves_little_open(unit: Path) -> None:
    told = linted(installed("systemd-analyze"), "security", "--offline=true", "--no-pager", unit)
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", told)
    assert found is not None
    assert float(found[1]) < MOST_EXPOSED


def test_the_unit_gives_a_draining_server_its_time() -> None:
    text = UNIT.read_text()
    stop = re.search(r"^TimeoutStopSec=(\d+)$", text, re.MULTILINE)
    assert stop is not None
    assert int(stop[1]) > Settings().drain_ms / 1000 + 10
