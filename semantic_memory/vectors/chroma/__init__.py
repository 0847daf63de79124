"""Vector index on Chroma, in a process of its own, with checks for damage."""
