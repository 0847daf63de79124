"""Ways in: each parses, calls the facade, and renders."""
