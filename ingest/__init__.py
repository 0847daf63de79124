"""From conversations to candidate facts: the session log, readers, extractors and the gate.

Imports nothing but `semantic_memory.domain`; storing candidates is up to `semantic_memory`.
"""
