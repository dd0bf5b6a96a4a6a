"""The Node example plays a game from the .proto files alone, is refused once and resumes once."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.clients.running import REPOSITORY

EXAMPLE = REPOSITORY / "clients" / "examples" / "node"
NODE, NPM = shutil.which("node"), shutil.which("npm")


@pytest.mark.skipif(NODE is None or NPM is None, reason="node and npm are not installed")
def test_the_node_bot_plays_a_game_is_refused_once_and_resumes_once(server: str, tmp_path: Path) -> None:
    assert NODE is not None
    assert NPM is not None
    for name in ("package.json", "bot.js"):
        shutil.copy(EXAMPLE / name, tmp_path / name)
    installed = subprocess.run(
        [NPM, "install", "--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    if installed.returncode != 0:
        pytest.skip(f"npm cannot fetch the two packages: {installed.stderr.strip().splitlines()[-1:]}")
    played = subprocess.run(
        [NODE, "bot.js", "--server", server, "--proto", str(REPOSITORY / "proto")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert played.returncode == 0, played.stdout + played.stderr
    told = json.loads(played.stdout.splitlines()[-1])
    assert told["termination"] == "TERMINATION_NORMAL"
    assert (told["refused"], told["resumed"]) == (1, 1)
    assert max(told["totals"]) >= 100
