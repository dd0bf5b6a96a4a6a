"""Bots to begin with: `mybot` is the one that the README shows."""
