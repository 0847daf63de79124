"""Extract facts from sessions that have gone quiet.

A stretch's facts and the cursor behind it are committed in one transaction, so it is extracted
again or not at all. Nothing is locked while the extractor thinks; what it found is committed only
if the stretch still stands, and without what rests on a message forgotten meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from semantic_memory.domain.changes import Advance
from semantic_memory.domain.errors import ProviderError, StoreError
from semantic_memory.domain.events import Event, ExtractionFailed, FactsExtracted
from semantic_memory.domain.extraction import Extraction
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import Extractor, Ledger
from semantic_memory.pipeline.admission import Admission
from semantic_memory.pipeline.portions import PortionReader
from semantic_memory.pipeline.session_options import read_options
from semantic_memory.pipeline.stage import CONSOLIDATE, EMBED, EXTRACT, WHOLE, Hint, Outlook
from semantic_memory.pipeline.stretches import Stretch, StretchReader


class Committer:
    """Commit what was found in stretches. Thread-safe."""

    def __init__(
        self,
        ledger: Ledger,
        reader: PortionReader,
        admission: Admission,
        observe: Callable[[Event], None],
        hint: Hint,
    ) -> None:
        self._ledger = ledger
        self._reader = reader
        self._admission = admission
        self._observe = observe
        self._hint = hint

    def commit(self, stretch: Stretch, found: Extraction, start: float) -> bool:
        """Keep what was found, and the cursor behind the stretch, in one transaction.

        `start` is when extraction began, by `time.perf_counter`. Returns False, and keeps nothing,
        if the stretch doesn't stand any more or its session is no longer to be extracted.
        """
        admitted = self._admission.admit(stretch, found)
        with self._ledger.exclusive():
            if not self._reader.stands(stretch.portion):
                return False
            if not read_options(self._ledger, stretch.key).extract:
                return False
            admitted = admitted.without(self._admission.forgotten(stretch))
            changes = self._admission.changes(stretch, admitted)
            self._ledger.apply([*changes, Advance(stretch.portion.end)])
        if changes:
            self._hint(EMBED, WHOLE)
            self._hint(CONSOLIDATE, stretch.key.user_id)
        self._observe(
            FactsExtracted(
                *stretch.key,
                len(stretch.portion.records),
                len(admitted.facts),
                len(admitted.quarantined),
                admitted.refused,
                time.perf_counter() - start,
            )
        )
        return True


class Extracting:
    """Stage that extracts the next stretch of a session."""

    name = EXTRACT

    def __init__(
        self,
        stretches: StretchReader,
        extractor: Extractor,
        committer: Committer,
        observe: Callable[[Event], None],
        held: Callable[[SessionKey], bool],
    ) -> None:
        """Leave the sessions alone that are `held` by a batch under way."""
        self._stretches = stretches
        self._extractor = extractor
        self._committer = committer
        self._observe = observe
        self._held = held

    def pending(self) -> Iterator[SessionKey]:
        """Yield the sessions with messages that extraction hasn't come to."""
        return (key for key in self._stretches.sessions() if not self._held(key))

    def run(self, item: SessionKey) -> float | None:
        """Extract the next stretch of a session.

        Raises ProviderError for whatever the extractor raises, which may be the caller's own code.
        """
        if self._held(item):
            return None  # the batch hints at it again when it ends
        start = time.perf_counter()
        stretch = self._stretches.first(item)
        if stretch is None:
            return None
        try:
            found = self._extract(stretch)
        except StoreError:
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            self._observe(ExtractionFailed(*item, reason))
            raise ProviderError(reason) from error
        self._committer.commit(stretch, found, start)
        return 0.0

    def outlook(self) -> Outlook:
        """Count the sessions that wait."""
        return Outlook("extracting", sum(1 for _ in self.pending()))

    def _extract(self, stretch: Stretch) -> Extraction:
        if not stretch.messages:
            return Extraction()
        return self._extractor.extract(stretch.messages, stretch.known)
