"""Conformance checks that a variant's own tests import."""
