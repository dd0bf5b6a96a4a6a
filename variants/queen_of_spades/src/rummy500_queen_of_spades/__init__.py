"""The queen that is worth more, melded and caught."""
