"""State of a service in the files of its store, and in RAM: for one process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from semantic_memory.domain.ports import Clock
from semantic_memory.domain.ports.encryption import Encryption
from semantic_memory.entrypoints.state.file_keys import FileKeys

if TYPE_CHECKING:
    from semantic_memory.entrypoints.state.file_replies import FileReplies
    from semantic_memory.entrypoints.state.local_rates import LocalRates


class EmbeddedState:
    """`ServiceState` in files; the keys may be changed by other processes."""

    def __init__(self, data_dir: Path, encryption: Encryption | None) -> None:
        self._data_dir = data_dir
        self._encryption = encryption

    def keys(self) -> FileKeys:
        """Return the API keys of the store."""
        return FileKeys(self._data_dir, self._encryption)

    @contextmanager
    def replies(self, clock: Clock) -> Iterator[FileReplies]:
        """Lend the kept answers, whose file only the owner of the store may open."""
        from semantic_memory.entrypoints.state.file_replies import FileReplies

        keys = () if self._encryption is None else self._encryption.database_keys
        with closing(FileReplies(self._data_dir / "replies.sqlite3", clock, keys)) as replies:
            yield replies

    def rates(self, requests_per_minute: int) -> LocalRates:
        """Return the rates of callers."""
        from semantic_memory.entrypoints.state.local_rates import LocalRates

        return LocalRates(requests_per_minute)
