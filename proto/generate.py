"""Regenerates the Python stubs from the .proto files. Run it after editing one."""

from __future__ import annotations

import os
import sys
import sysconfig
import tempfile
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent
OUT = ROOT / "python"


def generate(out: Path) -> int:
    """Write the stubs of all .proto files below `out`; returns the exit code of protoc."""
    protos = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("rummy500/**/*.proto"))
    # protoc looks for its mypy plugins on PATH, and the environment need not be active.
    os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    status: int = protoc.main(
        [
            "protoc",
            f"-I{ROOT}",
            f"-I{files('grpc_tools') / '_proto'}",
            f"--python_out={out}",
            f"--grpc_python_out={out}",
            f"--mypy_out=quiet:{out}",
            f"--mypy_grpc_out=quiet:{out}",
            *protos,
        ]
    )
    for path in out.glob("rummy500/**/*_pb2_grpc.py*"):
        if not path.name.endswith(("_service_pb2_grpc.py", "_service_pb2_grpc.pyi")):
            path.unlink()  # empty: services live in *_service.proto
    return status


def replace_stubs(fresh: Path) -> None:
    """Move the stubs below `fresh` into place, one atomic step a file, so that whoever imports meanwhile finds them."""
    names = {path.relative_to(fresh) for path in fresh.glob("rummy500/**/*_pb2*.py*")}
    for name in sorted(names):
        new, old = fresh / name, OUT / name
        if old.exists() and old.read_bytes() == new.read_bytes():
            continue
        old.parent.mkdir(parents=True, exist_ok=True)
        new.replace(old)
    for old in OUT.glob("rummy500/**/*_pb2*.py*"):
        if old.relative_to(OUT) not in names:
            old.unlink()


def main() -> int:
    with tempfile.TemporaryDirectory(dir=ROOT) as fresh:
        status = generate(Path(fresh))
        if status == 0:
            replace_stubs(Path(fresh))
    return status


if __name__ == "__main__":
    sys.exit(main())
