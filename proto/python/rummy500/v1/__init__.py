"""Version 1 of the protocol: one module for each .proto file."""
