"""The verbs as HTTP requests: one module for the memory's own, one for each group.

Names, arguments and results are those of `SemanticMemory`.
"""
