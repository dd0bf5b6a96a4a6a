"""What people are shown of installed variants and presets, also of those that cannot be used."""

from __future__ import annotations

from dataclasses import dataclass

from rummy500_engine.rules import Preset
from rummy500_engine.terms import Option


@dataclass(frozen=True, slots=True)
class ListedVariant:
    """`problem` says why it cannot be used; empty: it can. `prefix` stands before its options' names in flat keys."""

    name: str
    version: str
    distribution: str
    sentence: str = ""
    options: tuple[Option, ...] = ()
    prefix: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ListedPreset:
    """`missing` are the distributions that would have to be installed; `problem` says why else it cannot be used."""

    preset: Preset
    distribution: str
    missing: tuple[str, ...] = ()
    problem: str = ""

    @property
    def name(self) -> str:
        return self.preset.name

    @property
    def is_available(self) -> bool:
        return not self.missing and not self.problem
