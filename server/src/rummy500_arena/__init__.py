"""Match plans, statistics and reports."""
