"""Short-term and working memory: the context window, its compaction, checkpoints, memory files."""
