"""What the wheel carries: a client author gets the contract and typed stubs without this checkout."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROTOS = sorted(path.name for path in (ROOT / "proto/rummy500/v1").glob("*.proto"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (built,) = out.glob("*.whl")
    return built


def test_the_wheel_carries_the_contract_and_its_stubs(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())

    for proto in PROTOS:
        stem = proto.removesuffix(".proto")
        assert {f"rummy500/v1/{proto}", f"rummy500/v1/{stem}_pb2.py", f"rummy500/v1/{stem}_pb2.pyi"} <= names
        if stem.endswith("_service"):
            assert {f"rummy500/v1/{stem}_pb2_grpc.py", f"rummy500/v1/{stem}_pb2_grpc.pyi"} <= names
    assert "rummy500/py.typed" in names


def test_the_stubs_import_from_an_unpacked_wheel(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    modules = [f"rummy500.v1.{proto.removesuffix('.proto')}_pb2" for proto in PROTOS]
    modules += [f"{module}_grpc" for module in modules if module.endswith("_service_pb2")]
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n" + "".join(f"import {name}\n" for name in modules)
    program += f"import rummy500; assert rummy500.__file__.startswith({str(tmp_path)!r}), rummy500.__file__\n"

    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
