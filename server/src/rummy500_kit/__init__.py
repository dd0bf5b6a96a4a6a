"""Conformance checks that a variant's own tests import."""

from rummy500_kit.check import Checked, check_variant
from rummy500_kit.scenarios import check_scenarios

__all__ = ["Checked", "check_scenarios", "check_variant"]
