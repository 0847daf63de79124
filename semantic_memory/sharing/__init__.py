"""One store for several processes: its owner announces itself, and where it listens."""
