"""Tell whether a store that can't be opened to write may be opened to read."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

from semantic_memory.domain.errors import StoreUnavailableError

_REFUSED = {errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT}
_REFUSED_BY_SQLITE = {
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
}


def why_only_read(directory: Path, error: StoreUnavailableError) -> str:
    """Return why a store, which opening failed with `error`, can only be read.

    Empty if there is no store to read, or the disk failed in another way.
    """
    cause = error.__cause__
    code = getattr(cause, "sqlite_errorcode", None)
    refused = (
        code & 0xFF in _REFUSED_BY_SQLITE  # the primary code of an extended one
        if code is not None
        else getattr(cause, "errno", None) in _REFUSED
    )
    ledger = directory / "ledger.sqlite3"
    try:
        if not refused or not ledger.stat().st_size:
            return ""
    except OSError:
        return ""
    return (
        f"the store in {directory} is open to read only, and takes no change: {error}."
        " Mend that, and open it again"
    )
