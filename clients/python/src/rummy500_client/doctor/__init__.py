"""The examination of a bot: what `rummy500 bot doctor` does."""
