"""Turn what an extractor found in a stretch into changes of the ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from ingest.gate import Gate
from ingest.session_log import Record
from semantic_memory.consolidation.beliefs import believed
from semantic_memory.domain.changes import Add, Change, Update, Write
from semantic_memory.domain.decay import PINNED
from semantic_memory.domain.extraction import Candidate, Extraction
from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import Clock, Ledger
from semantic_memory.domain.profile import Layer
from semantic_memory.pipeline.facts import extracted, forgotten, grounded, written
from semantic_memory.pipeline.session_options import read_options
from semantic_memory.pipeline.stretches import Stretch


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

    def __init__(self, ledger: Ledger, gate: Gate, clock: Clock, extractor: str) -> None:
        """Name `extractor` as the source of candidates that don't say theirs."""
        self._ledger = ledger
        self._gate = gate
        self._clock = clock
        self._extractor = extractor

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
            Write(written(stretch.key, layer, candidate, records, known, now))
            for layer, candidate in admitted.lines
        ]
        return changes

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
        return self._ledger.same_content(fact.user_id, fact.content)


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
