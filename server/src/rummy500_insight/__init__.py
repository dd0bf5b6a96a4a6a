"""What a seat is sent, read back into the engine's terms: for bots that search, the server's own and others'."""

from rummy500_insight.reading import decision_from, events_from, rules_from, view_from

__all__ = ["decision_from", "events_from", "rules_from", "view_from"]
