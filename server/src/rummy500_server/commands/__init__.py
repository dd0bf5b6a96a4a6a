"""The commands of `rummy500-server` beside `serve`: each module has `add(commands)`, which adds one subcommand."""
