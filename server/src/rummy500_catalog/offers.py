"""What installed distributions offer under an entry-point group, not yet loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points

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
        Offer(
            name=point.name,
            distribution=point.dist.name if point.dist else point.value,
            version=point.dist.version if point.dist else "0",
            load=point.load,
        )
        for point in entry_points(group=group)
    ]
    return tuple(sorted(offers, key=lambda offer: (offer.name, offer.distribution)))
