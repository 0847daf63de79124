"""Keeping beliefs straight: duplicates, conflicts, fading. Pure rules on facts and vectors."""
