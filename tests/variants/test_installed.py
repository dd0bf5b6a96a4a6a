"""What installed distributions offer, found by their real metadata."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import json
from rummy500_catalog import Catalog
catalog = Catalog()
print(json.dumps({each.name: [each.distribution, each.version, each.problem] for each in catalog.variants()}))
"""


def install(site: Path, distribution: str, entry_points: str, *, version: str = "9.8", **modules: str) -> None:
    """Lays a distribution down as pip would, in the place of an older version."""
    name = distribution.replace("-", "_")
    for older in site.glob(f"{name}-*.dist-info"):
        shutil.rmtree(older)
    metadata = site / f"{name}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
    (metadata / "entry_points.txt").write_text(f"[rummy500.variants]\n{entry_points}\n")
    for module, text in modules.items():
        (site / f"{module}.py").write_text(text)


def listed(site: Path) -> dict[str, list[str]]:
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, list[str]] = json.loads(run.stdout)
    return found


def test_a_strangers_variant_is_found_with_its_distribution_and_version(tmp_path: Path) -> None:
    install(tmp_path, "strange-rules", "strange = strange_rules", strange_rules="")

    assert listed(tmp_path)["strange"] == ["strange-rules", "9.8", ""]


def test_a_broken_one_is_named_and_does_not_hide_the_others(tmp_path: Path) -> None:
    install(tmp_path, "broken-rules", "broken = broken_rules", broken_rules="import nothing_of_that_name")
    install(tmp_path, "absent-rules", "absent = absent_rules")

    found = listed(tmp_path)
    assert found["queen-of-spades"][2] == ""
    for name in ("broken", "absent"):
        assert found[name][0] == f"{name}-rules"
        assert found[name][2].startswith(
            f"variant '{name}' (distribution {name}-rules), hook entry point: cannot be loaded"
        )


def test_one_that_has_lost_its_metadata_is_named_by_its_module(tmp_path: Path) -> None:
    install(tmp_path, "strange-rules", "strange = strange_rules\nqueen-of-spades = strange_rules", strange_rules="")
    (tmp_path / "strange_rules-9.8.dist-info" / "METADATA").unlink()

    found = listed(tmp_path)
    assert found["strange"] == ["strange_rules", "0", ""]
    assert "strange_rules" in found["queen-of-spades"][0]


def test_two_that_claim_one_name_are_both_named(tmp_path: Path) -> None:
    install(tmp_path, "one-rules", "twice = strange_rules", strange_rules="")
    install(tmp_path, "other-rules", "twice = strange_rules")

    distribution, _, problem = listed(tmp_path)["twice"]
    assert distribution == "one-rules and other-rules"
    assert "claimed by more than one" in problem
