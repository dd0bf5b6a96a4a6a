"""Finds the installed variants and presets and composes rules from them."""

from rummy500_catalog.catalog import DEFAULT_PRESET, Catalog, ChoiceRefused
from rummy500_catalog.listing import ListedPreset, ListedVariant
from rummy500_catalog.offers import Offer, installed
from rummy500_catalog.sheet import sheet

__all__ = ["DEFAULT_PRESET", "Catalog", "ChoiceRefused", "ListedPreset", "ListedVariant", "Offer", "installed", "sheet"]
