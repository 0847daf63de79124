"""Extract facts from sessions that have gone quiet.

A stretch's facts and the cursor behind it are committed in one transaction, so it is extracted
again or not at all. Nothing is locked while the extractor thinks; what it found is committed only
if the stretch still stands, and without what rests on a message forgotten meanwhile.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from types import MappingProxyType

from ingest.gate import Gate
from semantic_memory.consolidation.beliefs import believed
from semantic_memory.domain.changes import Add, Advance, Change, Evict, Extracted, Update, Write
from semantic_memory.domain.errors import ProviderError, ProviderRefusedError, StoreError
from semantic_memory.domain.events import (
    Event,
    ExtractionFailed,
    ExtractionFellBack,
    FactsExtracted,
    MemoryQuarantined,
)
from semantic_memory.domain.extraction import Candidate, Extraction
from semantic_memory.domain.facts import PINNED, Category, Fact, Status
from semantic_memory.domain.logs import Record
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import Clock, Extractor, Ledger
from semantic_memory.domain.profile import Layer, TierAges
from semantic_memory.domain.retention import Expiry
from semantic_memory.llm.spending import charged_to
from semantic_memory.pipeline.facts import (
    extracted,
    forgotten,
    grounded,
    verbatim_id,
    written,
)
from semantic_memory.pipeline.faults import quarantining, readable
from semantic_memory.pipeline.reading import PortionReader, Stretch, StretchReader
from semantic_memory.pipeline.session_records import read_options
from semantic_memory.pipeline.stage import CONSOLIDATE, EMBED, EXTRACT, WHOLE, Hint, Outlook
from semantic_memory.pipeline.standing_in import StandIn


class Committer:
    """Commit what was found in stretches. Thread-safe."""

    def __init__(
        self,
        ledger: Ledger,
        reader: PortionReader,
        admission: Admission,
        observe: Callable[[Event], None],
        hint: Hint,
        standing_in: StandIn | None = None,
    ) -> None:
        self._ledger = ledger
        self._reader = reader
        self._standing_in = standing_in
        self._admission = admission
        self._observe = observe
        self._hint = hint

    def commit(
        self,
        stretch: Stretch,
        found: Extraction,
        start: float,
        unread: Mapping[str, str] = MappingProxyType({}),
    ) -> bool:
        """Keep what was found, and the cursor behind the stretch, in one transaction.

        `start` is when extraction began, by `time.perf_counter`; `unread` has the messages that
        can't be read, which are quarantined, with the errors. Returns False, and keeps nothing, if
        the stretch doesn't stand any more or its session is no longer to be extracted.
        """
        admitted = self._admission.admit(stretch, found)
        with self._ledger.exclusive(stretch.key.user_id):
            if not self._reader.stands(stretch.portion):
                return False
            if not read_options(self._ledger, stretch.key).extract:
                return False
            admitted = admitted.without(self._admission.forgotten(stretch))
            changes = self._admission.changes(stretch, admitted)
            changes += self._admission.quarantine(stretch.key, unread)
            if self._standing_in is not None:
                contents = [one.content for one in admitted.facts]
                changes += self._standing_in.retired(stretch, contents)
            done = self._admission.done(stretch, admitted)
            self._ledger.apply([*changes, done, Advance(stretch.portion.end)])
            if self._standing_in is not None:
                self._standing_in.reread(stretch)
        for message_id, error in unread.items():
            memory_id = verbatim_id(stretch.key, message_id)
            self._observe(MemoryQuarantined(stretch.key.user_id, memory_id, error))
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
        standing_in: StandIn | None = None,
    ) -> None:
        """Leave the sessions alone that are `held` by a batch under way.

        A model that refuses for long is replaced by `standing_in`.
        """
        self._standing_in = standing_in
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

        A message that can't be read is quarantined. Raises ProviderError for whatever else the
        extractor raises, which may be the caller's own code.
        """
        if self._held(item):
            return None  # the batch hints at it again when it ends
        start = time.perf_counter()
        stretch = self._stretches.first(item)
        if stretch is None:
            return None
        try:
            with charged_to(item.user_id):
                found, unread = self._extract(stretch)
        except StoreError:
            raise
        except ProviderRefusedError as error:
            if self._standing_in is None or not self._standing_in.due():
                self._observe(ExtractionFailed(*item, str(error)))
                raise
            self._observe(
                ExtractionFellBack(self._extractor.name, "unavailable", len(stretch.messages))
            )
            found, unread = self._standing_in.extract(stretch), {}
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            self._observe(ExtractionFailed(*item, reason))
            raise ProviderError(reason) from error
        else:
            if self._standing_in is not None and stretch.messages:
                self._standing_in.returned()
        self._committer.commit(stretch, found, start, unread)
        return 0.0

    def outlook(self) -> Outlook:
        """Count the sessions that wait."""
        return Outlook("extracting", sum(1 for _ in self.pending()))

    def _extract(self, stretch: Stretch) -> tuple[Extraction, dict[str, str]]:
        if not stretch.messages:
            return Extraction(), {}
        known = stretch.known
        if self._standing_in is not None:
            known = self._standing_in.known(stretch)
        return readable(stretch.messages, lambda part: self._extractor.extract(part, known))


@dataclass(frozen=True, slots=True)
class Admitted:
    """Candidates of a stretch that passed the gate, and how many did not, by reason."""

    facts: Sequence[Candidate]
    quarantined: Sequence[Candidate]
    lines: Sequence[tuple[Layer, Candidate]]
    """Of profile and history."""
    refused: Counter[str]

    def without(self, gone: Set[str]) -> Admitted:
        """Return the candidates that rest on none of these messages; counts the others."""
        if not gone:
            return self
        refused = Counter(self.refused)

        def kept(candidates: Sequence[Candidate]) -> list[Candidate]:
            left = [one for one in candidates if gone.isdisjoint(one.message_ids)]
            refused["forgotten message"] += len(candidates) - len(left)
            return left

        lines = [(layer, one) for layer, one in self.lines if gone.isdisjoint(one.message_ids)]
        return Admitted(kept(self.facts), kept(self.quarantined), lines, +refused)


class Admission:
    """Pass candidates through the gate, and compare them with what is believed."""

    def __init__(
        self,
        ledger: Ledger,
        gate: Gate,
        clock: Clock,
        expiry: Expiry,
        cap: int,
        extractor: str,
        ages: TierAges,
    ) -> None:
        """Name `extractor` as the source of candidates that don't say theirs.

        `cap` is the largest number of a user's facts, `ages` are those of the history's tiers.
        """
        self._ledger = ledger
        self._gate = gate
        self._clock = clock
        self._expiry = expiry
        self._cap = cap
        self._extractor = extractor
        self._ages = ages

    def admit(self, stretch: Stretch, found: Extraction) -> Admitted:
        """Pass what was found in a stretch through the gate."""
        said = [record.message for record in stretch.portion.records]
        candidates = grounded(found.candidates, {message.id for message in said})
        facts, quarantined, refused = self._gate.admit(candidates, said)
        refused.update(found.refused)
        if len(candidates) < len(found.candidates):
            refused["unknown message"] += len(found.candidates) - len(candidates)
        lines = []
        for layer, candidate in _lines(stretch, found):
            ruling = self._gate.admit([candidate], stretch.messages)
            lines += [(layer, one) for one in ruling.admitted]
            refused.update(ruling.refused)
        return Admitted(facts, quarantined, lines, refused)

    def forgotten(self, stretch: Stretch) -> Set[str]:
        """Return the ids of the stretch's messages that have been forgotten by now."""
        ids = [record.message.id for record in stretch.portion.records]
        return forgotten(self._ledger, stretch.key, ids)

    def changes(self, stretch: Stretch, admitted: Admitted) -> list[Change]:
        """Return the changes that keep what was admitted; a known fact is confirmed.

        Ask with the ledger held exclusively, and apply before letting go.
        """
        records = {record.message.id: record for record in stretch.portion.records}
        now = self._clock.now()
        facts = self._facts(stretch.key, records, admitted.facts)
        changes = believed(facts, self._same, now).changes
        changes += [
            Add(fact.model_copy(update={"status": Status.QUARANTINED}))
            for fact in self._facts(stretch.key, records, admitted.quarantined)
        ]
        known = [*stretch.known, *_facts_of(changes)]
        changes += [
            Write(written(stretch.key, layer, candidate, records, known, self._ages, now))
            for layer, candidate in admitted.lines
        ]
        return [*changes, Evict(stretch.key.user_id, self._cap, now)] if changes else []

    def done(self, stretch: Stretch, admitted: Admitted) -> Extracted:
        """Return the record that the stretch was read."""
        read, drawn = len(stretch.portion.records), len(admitted.facts)
        return Extracted(*stretch.key, read, drawn, self._clock.now())

    def quarantine(self, key: SessionKey, unread: Mapping[str, str]) -> list[Change]:
        """Return the changes that quarantine the memories of messages; none for one that is gone.

        Ask with the ledger held exclusively.
        """
        now = self._clock.now()
        reasons = {verbatim_id(key, message_id): error for message_id, error in unread.items()}
        return [
            quarantining(fact, reasons[fact.id], now) for fact in self._ledger.get(list(reasons))
        ]

    def _facts(
        self, key: SessionKey, records: Mapping[str, Record], candidates: Iterable[Candidate]
    ) -> list[Fact]:
        now = self._clock.now()
        facts = [
            extracted(key, one, records, one.extractor or self._extractor, now)
            for one in candidates
        ]
        if read_options(self._ledger, key).fades:
            return facts
        return [fact.model_copy(update={"tags": (*fact.tags, PINNED)}) for fact in facts]

    def _same(self, fact: Fact) -> Fact | None:
        found = self._ledger.same_content(fact.user_id, fact.content, fact.scope)
        return found if found is not None and self._expiry.now.holds(found) else None


def _lines(stretch: Stretch, found: Extraction) -> list[tuple[Layer, Candidate]]:
    """Return the lines of profile and history as candidates.

    A field of the profile may rest on every message that was extracted from.
    """
    ids = tuple(message.id for message in stretch.messages if message.role != "system")
    fields: list[tuple[Layer, Candidate]] = [
        (layer, _line(text, ids)) for layer, text in found.profile.items() if ids
    ]
    history = grounded([_line(line.content, line.message_ids) for line in found.history], set(ids))
    return fields + [("recent_months", line) for line in history]


def _line(text: str, message_ids: tuple[str, ...]) -> Candidate:
    return Candidate(
        content=text, category=Category.PERSONAL, confidence=1.0, message_ids=message_ids
    )


def _facts_of(changes: Iterable[Change]) -> list[Fact]:
    return [change.fact for change in changes if isinstance(change, Add | Update)]
