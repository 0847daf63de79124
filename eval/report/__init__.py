"""What a run found: tables in the terminal, JSON, and a page with plots."""
