"""Commands that run the engine offline."""
