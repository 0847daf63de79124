"""Profile fields and history tiers, derived from facts, and their roll-up."""
