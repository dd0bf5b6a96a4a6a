"""What installed distributions offer under an entry-point group, not yet loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points

VARIANTS, PRESETS = "rummy500.variants", "rummy500.presets"


@dataclass(frozen=True, slots=True)
class Offer:
    """One entry point: its name, who brings it, and how to load it."""

    name: str
    distribution: str
    version: str
    load: Callable[[], object]


def installed(group: str) -> tuple[Offer, ...]:
    """The offers of a group, by name and distribution. Nothing is imported."""
    offers = [
        Offer(point.name, brought_by(point), _told(point, "Version") or "0", point.load)
        for point in entry_points(group=group)
    ]
    return tuple(sorted(offers, key=lambda offer: (offer.name, offer.distribution)))


def brought_by(point: EntryPoint) -> str:
    """The distribution of an entry point; its module where that is half uninstalled and does not tell its name."""
    return _told(point, "Name") or point.value


def _told(point: EntryPoint, field: str) -> str:
    told = point.dist.metadata.get_all(field) if point.dist else None
    return told[0] if told else ""
