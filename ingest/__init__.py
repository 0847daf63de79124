"""From conversation to candidate facts: the session log, readers, extractors and the gate.

Knows no store: what becomes of a message or a candidate is decided by the package above.
"""
