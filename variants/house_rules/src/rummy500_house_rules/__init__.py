"""House rules, one module each; every module is a variant of its own."""
