"""Finds the installed variants and presets and composes rules from them."""
