"""A store in a PostgreSQL database, which any number of processes have open."""

from __future__ import annotations

from contextlib import ExitStack

from ingest.log_line import LineFormat
from semantic_memory.application.reserve import NoRoom
from semantic_memory.bootstrap.storage import Storage, make_shared_home
from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.domain.ports import Observer, VectorIndex
from semantic_memory.ledger.ram_traces import RamTraces
from semantic_memory.settings import Settings


def open_database(
    settings: Settings,
    url: str,
    index: VectorIndex | None,
    observe: Observer,
    resources: ExitStack,
) -> Storage:
    """Open the store at `url`; `resources` closes its connections.

    Raises ConfigurationError for a URL or a setting that can't be used, MissingDependencyError
    without the extra `postgres`, StoreUnavailableError if the database can't be reached.
    """
    from semantic_memory.ledger.postgres import PostgresLedger
    from semantic_memory.ledger.postgres.leases import PostgresLeases
    from semantic_memory.ledger.postgres.place import Database
    from semantic_memory.ledger.postgres.states import PostgresStates

    if settings.encryption.key is not None or settings.encryption.key_file is not None:
        raise ConfigurationError(
            "encryption.key and encryption.key_file encrypt the files of a data directory: for"
            " store.url, encrypt the disks of the database's server, and take the key out"
        )
    ledger = PostgresLedger(url, observe)
    resources.callback(ledger.close)
    place = Database(ledger.connections)
    return Storage(
        ledger=ledger,
        log=ledger.session_log(LineFormat(None), observe),
        states=PostgresStates(ledger.connections),
        leases=PostgresLeases(ledger.connections),
        home=make_shared_home(settings, index, url),
        room=NoRoom(),
        size=place.size,
        contents=place.contents,
        check=place.check,
        traces=RamTraces(),
    )
