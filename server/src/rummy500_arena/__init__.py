"""Match plans, statistics, and game records with their verification."""
