"""Finds the installed variants and presets and composes rules from them."""

from rummy500_catalog.catalog import Catalog, ChoiceRefused
from rummy500_catalog.listing import ListedPreset, ListedVariant
from rummy500_catalog.offers import Offer, installed
from rummy500_catalog.sheet import sheet

__all__ = ["Catalog", "ChoiceRefused", "ListedPreset", "ListedVariant", "Offer", "installed", "sheet"]
