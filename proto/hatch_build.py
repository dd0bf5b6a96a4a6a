"""Generates the protocol stubs whenever the wheel, editable or not, is built, and ships the contract with them.

With RUMMY500_COMPILE=1 the wheel also carries the compiled rooms of engine and server, for this interpreter and machine
only.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class GenerateStubs(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    @property
    def compiles(self) -> bool:
        return self.target_name == "wheel" and os.environ.get("RUMMY500_COMPILE") == "1"

    def dependencies(self) -> list[str]:
        return ["mypy[mypyc]>=1.15", "setuptools"] if self.compiles else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        subprocess.run([sys.executable, str(Path(self.root) / "proto" / "generate.py")], check=True)
        if version == "editable":
            return  # a copy of the contract beside the checkout would go stale
        for proto in Path(self.root, "proto").glob("rummy500/**/*.proto"):
            build_data["force_include"][str(proto)] = proto.relative_to(Path(self.root, "proto")).as_posix()
        if self.compiles:
            self._compile_rooms(build_data)

    def _compile_rooms(self, build_data: dict[str, Any]) -> None:
        self._scratch = tempfile.TemporaryDirectory()
        out = Path(self._scratch.name, "compiled")
        subprocess.run([sys.executable, str(Path(self.root, "server", "compile_rooms.py")), str(out)], check=True)
        for library in (*out.glob("**/*.so"), *out.glob("**/*.pyd")):
            build_data["force_include"][str(library)] = library.relative_to(out).as_posix()
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable" and self.compiles:
            self._scratch.cleanup()
