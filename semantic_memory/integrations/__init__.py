"""Memories for the frameworks that agents are built with, each with the extra of its name."""
