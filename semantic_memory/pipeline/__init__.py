"""The stages from a message to facts that can be found, and their runner."""
