"""Chroma in a process of its own, and how its damage is found."""
