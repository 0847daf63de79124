"""Judges of the relation between two facts, one a module."""
