"""Named tables: presets are data."""
