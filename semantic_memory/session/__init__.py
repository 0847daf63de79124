"""Short-term and working memory: the context window, compaction, checkpoints, memory files."""
