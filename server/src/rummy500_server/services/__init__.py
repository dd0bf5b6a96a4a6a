"""The services of the contract: each method says who, reads, does and answers."""
