"""Remedies for a ledger that is damaged or outdated, named in errors and checks."""

HOW_TO_MEND = (
    "put a backup of ledger.sqlite3 in its place, or move it away, and run `semantic-memory"
    " admin recover`, which reads the session logs again"
)
HOW_TO_RECOVER = (
    "put the newest copy of ledger.sqlite3 and ledger.sqlite3-wal back, or run `semantic-memory"
    " admin recover`, which goes on with this one and reads the session logs again"
)
