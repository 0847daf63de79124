"""One embedding backend a module."""
