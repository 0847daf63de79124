"""Reports of a run: tables in the terminal, JSON, and an HTML page with plots."""
