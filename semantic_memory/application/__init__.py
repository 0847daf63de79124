"""One module a use case."""
