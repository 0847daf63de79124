"""The driver, psycopg, and its errors in the words of this package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from semantic_memory.domain.errors import (
    MissingDependencyError,
    StoreClosedError,
    StoreError,
    StoreUnavailableError,
)

try:
    import psycopg
    import psycopg_pool
except ImportError:
    raise MissingDependencyError(
        'PostgreSQL needs the psycopg package: pip install "semantic-memory[postgres]"'
    ) from None

__all__ = ["CONTENDED", "psycopg", "psycopg_pool", "translated"]

CONTENDED = (
    psycopg.errors.SerializationFailure,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.UniqueViolation,
)
"""Errors of a transaction that met another one: nothing of it stands, and it can be run again."""

_REMEDIES: Mapping[type[psycopg.Error], str] = {
    psycopg.errors.DiskFull: "the server's disk is full: free some space and try again",
    psycopg.errors.ReadOnlySqlTransaction: "the server is a standby: connect to the primary",
    psycopg.errors.InsufficientPrivilege: "access is denied: grant the role all of the schema",
    psycopg.errors.TooManyConnections: "it has no connection left: raise max_connections",
    psycopg.errors.LockNotAvailable: "another process has held a lock for long: try again",
    psycopg.errors.IdleInTransactionSessionTimeout: "this process was paused meanwhile: try again",
    psycopg.errors.InvalidPassword: "the password is wrong: correct the URL",
    psycopg.errors.InvalidCatalogName: "the database doesn't exist: create it",
}
_UNREACHABLE = "it can't be reached: see that the server runs and takes connections"


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Translate the driver's errors into StoreErrors that say what to do."""
    try:
        yield
    except psycopg_pool.PoolClosed as error:
        raise StoreClosedError("this memory has been closed") from error
    except psycopg_pool.PoolTimeout as error:
        raise StoreUnavailableError(f"ledger {name}: {_UNREACHABLE} ({error})") from error
    except psycopg.OperationalError as error:
        raise StoreUnavailableError(f"ledger {name}: {_remedy(error)} ({_said(error)})") from error
    except psycopg.Error as error:
        if type(error) in _REMEDIES:
            remedy = _REMEDIES[type(error)]
            raise StoreUnavailableError(f"ledger {name}: {remedy} ({_said(error)})") from error
        raise StoreError(f"ledger {name}: {_said(error)}") from error


def _remedy(error: psycopg.Error) -> str:
    if isinstance(error, CONTENDED):
        return "other writers were in the way each time: try again"
    return _REMEDIES.get(type(error), _UNREACHABLE)


def _said(error: psycopg.Error) -> str:
    """Return the first line of an error; the next ones may quote values."""
    return (error.diag.message_primary or str(error)).partition("\n")[0]
