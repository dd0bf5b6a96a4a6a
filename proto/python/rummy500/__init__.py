"""The protocol of Rummy 500, generated from proto/rummy500."""
