"""Search: from a question to the best memories, with the parts of their scores."""
