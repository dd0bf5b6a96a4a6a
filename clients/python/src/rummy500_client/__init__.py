"""The bot SDK and the rummy500 command: they know the protocol only."""
