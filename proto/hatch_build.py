"""Generates the protocol stubs whenever the wheel, editable or not, is built, and ships the contract with them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class GenerateStubs(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        subprocess.run([sys.executable, str(Path(self.root) / "proto" / "generate.py")], check=True)
        if version == "editable":
            return  # a copy of the contract beside the checkout would go stale
        for proto in Path(self.root, "proto").glob("rummy500/**/*.proto"):
            build_data["force_include"][str(proto)] = proto.relative_to(Path(self.root, "proto")).as_posix()
