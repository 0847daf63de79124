"""Rows, conditions and the parts whose statements are the same on SQLite and PostgreSQL."""
