"""Vector index in a PostgreSQL database with the extension pgvector."""
