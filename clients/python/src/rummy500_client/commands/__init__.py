"""One module a subcommand: `add` declares it, `run` does it."""
