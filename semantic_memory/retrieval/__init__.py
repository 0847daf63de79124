"""Which memories help with a question, and why."""
