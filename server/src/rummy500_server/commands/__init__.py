"""The commands of `rummy500-server`: each module has `add(commands)`, which adds one subcommand."""
