"""Files of partitions: one a user, derived from the ledger and read in place of most of it."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Collection
from pathlib import Path

from semantic_memory.domain.errors import StoreUnavailableError
from semantic_memory.domain.files import digest_of
from semantic_memory.domain.ports import KeyValues
from semantic_memory.domain.ports.disk import Disk
from semantic_memory.retrieval import sealed
from semantic_memory.retrieval.partition import FORM, Kept, Partition

_MARK = "partition "
"""With a user's digest, the key in the ledger's meta of the token of the file that it believes."""


class PartitionFiles:
    """The files of a store's partitions, in a directory of their own. Thread-safe.

    The ledger notes a random token for each file that is written: one of another ledger, or of an
    older or newer copy of this one, doesn't have it and isn't read.
    """

    def __init__(
        self, directory: Path, ledger: KeyValues, disk: Disk, *, reading: bool = False
    ) -> None:
        """Keep files in `directory`; with `reading` nothing is written or deleted."""
        self._directory = directory
        self._ledger = ledger
        self._disk = disk
        self._reading = reading
        self._lock = threading.Lock()
        self._purges = 0

    @property
    def moment(self) -> int:
        """The present moment; `keep` refuses what was read before the latest `purge`."""
        with self._lock:
            return self._purges

    def read(self, user_id: str) -> Partition | None:
        """Return a user's partition as it was kept; None if there is no file to be believed."""
        name = digest_of(user_id)
        token = self._ledger.meta(_MARK + name)
        if not token:
            return None
        try:
            found = sealed.read(self._directory / name, self._disk)
            if found is None:
                return None
            head, arrays = found
            if (head["token"], head["form"], head["user_id"]) != (token, FORM, user_id):
                return None
            return Partition.restored(head, arrays)
        except (LookupError, OSError, TypeError, ValueError):
            return None  # of another form, or damaged

    def keep(self, user_id: str, kept: Kept, moment: int) -> bool:
        """Write a user's file; return False if it was purged since, or the disk refuses.

        `moment` is when reading `kept` began. Raises StoreError.
        """
        if self._reading:
            return False
        name, token = digest_of(user_id), uuid.uuid4().hex
        head = {**kept.head, "token": token, "form": FORM, "user_id": user_id}
        with self._lock:
            if self._purges != moment:
                return False
            try:
                if not self._directory.exists():
                    self._disk.make_directory(self._directory)
                sealed.write(self._directory / name, head, kept.arrays, self._disk)
            except OSError:
                return False  # searches do without
        self._ledger.set_meta(_MARK + name, token)
        return True

    def purge(self, users: Collection[str] | None = None) -> None:
        """Delete the files of `users`, or all. Raises StoreUnavailableError."""
        if self._reading:
            return
        patterns = (
            ["*"] if users is None else [f"{digest_of(one)}*" for one in users]
        )  # with drafts
        with self._lock:
            self._purges += 1
            try:
                for pattern in patterns:
                    for path in self._directory.glob(pattern):
                        self._disk.remove(path)
            except OSError as error:
                raise StoreUnavailableError(f"can't delete {self._directory}: {error}") from error
