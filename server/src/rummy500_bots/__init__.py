"""Built-in players: each gets what a remote bot gets, decoded, and nothing else."""
