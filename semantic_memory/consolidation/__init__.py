"""Consolidation of facts: duplicates, conflicts and fading."""
