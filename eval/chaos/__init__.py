"""Several workers over one database, killed at random under load, and what must hold meanwhile."""
