"""The rights that API keys give, apart from the keys so that the command line loads quickly."""

from __future__ import annotations

from enum import StrEnum


class Right(StrEnum):
    """A right of a key's holder; none includes another."""

    READ = "read"
    """See the memories of the key's users."""
    WRITE = "write"
    """Add to, change and delete them."""
    ADMIN = "admin"
    """Run maintenance, and see counts of the whole store."""
