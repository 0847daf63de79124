"""Users as words of a full-text index."""

from __future__ import annotations

import hashlib
from functools import lru_cache


@lru_cache(maxsize=1_024)
def owner_token(user_id: str) -> str:
    """Return a user as one word of letters and digits that stemming leaves unchanged.

    No stem ends in `z`.
    """
    digest = hashlib.blake2b(user_id.encode(), digest_size=10).hexdigest()
    return f"u{digest}z"
