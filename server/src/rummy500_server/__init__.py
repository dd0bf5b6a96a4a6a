"""The game server: tables, clocks, journal and services around the engine."""
