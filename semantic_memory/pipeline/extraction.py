"""Extract facts from sessions that have gone quiet.

By rules, facts are proposed and compared later; a language model decides about known facts as well,
and its decisions are carried out here, with vetoes. A stretch's facts and the cursor behind it are
committed in one transaction, so it is extracted again or not at all. Nothing is locked while the
extractor thinks; what it found is committed only if the stretch still stands, and without what
rests on a message forgotten meanwhile.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import partial
from types import MappingProxyType

from ingest.extract.grounding import is_quoted
from ingest.gate import Gate
from semantic_memory.consolidation.beliefs import believed, quarantining
from semantic_memory.consolidation.decided import Decision, carried_out
from semantic_memory.domain.changes import (
    Add,
    Advance,
    Change,
    Evict,
    Extracted,
    FactVectors,
    Update,
    Write,
)
from semantic_memory.domain.errors import ProviderError, ProviderRefusedError, StoreError
from semantic_memory.domain.events import (
    Event,
    ExtractionFailed,
    ExtractionFellBack,
    FactsExtracted,
    MemoryQuarantined,
)
from semantic_memory.domain.extraction import Candidate, Ending, Extraction
from semantic_memory.domain.facts import PINNED, Category, Fact, Status
from semantic_memory.domain.logs import Record
from semantic_memory.domain.messages import Message, SessionKey
from semantic_memory.domain.ports import Clock, DecidingExtractor, Extractor, Ledger
from semantic_memory.domain.profile import Layer, Line, TierAges
from semantic_memory.domain.retention import Expiry
from semantic_memory.llm.spending import charged_to
from semantic_memory.pipeline.facts import (
    extracted,
    forgotten,
    grounded,
    restated,
    restates,
    verbatim_id,
    written,
)
from semantic_memory.pipeline.faults import readable
from semantic_memory.pipeline.grounding import Grounding
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
        standing_in: StandIn | None,
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
        standing_in: StandIn | None,
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
        stood = self._committer.commit(stretch, found, start, unread)
        # what has come since waits for its time
        return 0.0 if stretch.more or not stood else None

    def outlook(self) -> Outlook:
        """Count the sessions that wait."""
        return Outlook("extracting", sum(1 for _ in self.pending()))

    def _extract(self, stretch: Stretch) -> tuple[Extraction, dict[str, str]]:
        if not stretch.messages:
            return Extraction(), {}
        extractor, conversation = self._extractor, stretch.conversation
        if self._standing_in is not None:
            conversation = replace(conversation, known=self._standing_in.known(stretch))
        if isinstance(extractor, DecidingExtractor):
            decide = extractor.decide
            return readable(
                stretch.messages, lambda part: decide(replace(conversation, messages=part))
            )
        return readable(stretch.messages, lambda part: extractor.extract(part, conversation.known))


@dataclass(frozen=True, slots=True)
class Admitted:
    """Candidates of a stretch that passed the gate, and how many did not, by reason."""

    facts: Sequence[Candidate]
    quarantined: Sequence[Candidate]
    lines: Sequence[tuple[Layer, Candidate]]
    """Of profile and history."""
    endings: Sequence[Ending]
    refused: Counter[str]
    decided: bool = False
    vectors: Mapping[str, FactVectors] = field(default_factory=dict)
    """Vectors of its facts by their ids, so that the next stretch finds them at once."""

    def without(self, gone: Set[str]) -> Admitted:
        """Return the candidates that rest on none of these messages; counts the others."""
        if not gone:
            return self
        refused = Counter(self.refused)

        def kept(candidates: Sequence[Candidate]) -> list[Candidate]:
            left = [one for one in candidates if gone.isdisjoint(one.message_ids)]
            refused["forgotten message"] += len(candidates) - len(left)
            return left

        return Admitted(
            kept(self.facts),
            kept(self.quarantined),
            [(layer, one) for layer, one in self.lines if gone.isdisjoint(one.message_ids)],
            [one for one in self.endings if gone.isdisjoint(one.message_ids)],
            +refused,
            self.decided,
            self.vectors,
        )


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
        grounding: Grounding,
    ) -> None:
        """Name `extractor` as the source of candidates that don't say theirs.

        `cap` is the largest number of a user's facts, `ages` are those of the history's tiers. What
        a model says is compared with its messages by `grounding`.
        """
        self._ledger = ledger
        self._gate = gate
        self._clock = clock
        self._expiry = expiry
        self._cap = cap
        self._extractor = extractor
        self._ages = ages
        self._grounding = grounding

    def admit(self, stretch: Stretch, found: Extraction) -> Admitted:
        """Pass what was found in a stretch through the gate."""
        said = [record.message for record in stretch.portion.records]
        candidates = grounded(found.candidates, {message.id for message in said})
        refused = Counter(found.refused)
        refused["unknown message"] += len(found.candidates) - len(candidates)
        if found.decided:
            named = len(candidates)
            candidates = self._grounding.grounded(candidates, stretch.conversation)
            refused["far from its message"] += named - len(candidates)
        facts, quarantined, objections = self._gate.admit(candidates, said)
        refused.update(objections)
        endings = []
        for ending in found.endings:
            if self._is_held(ending, said):
                refused["veto: quarantined"] += 1
            else:
                endings.append(ending)
        lines = []
        for layer, candidate in _lines(stretch, found):
            ruling = self._gate.admit([candidate], stretch.messages)
            lines += [(layer, one) for one in ruling.admitted]
            refused.update(ruling.refused)
        vectors: Mapping[str, FactVectors] = {}
        if found.decided:
            records = {record.message.id: record for record in stretch.portion.records}
            drawn = self._facts(stretch.key, records, facts, decided=True)
            vectors = self._grounding.vectors(drawn)
        return Admitted(facts, quarantined, lines, endings, +refused, found.decided, vectors)

    def _is_held(self, ending: Ending, said: Iterable[Message]) -> bool:
        """Return True if the words that end a fact are none that may be recalled."""
        screened = [self._gate.screen(one) for one in said if one.id in ending.message_ids]
        return any(one.quarantined for one in screened) or not any(
            is_quoted(ending.quote, one.content) for one in screened
        )

    def forgotten(self, stretch: Stretch) -> Set[str]:
        """Return the ids of the stretch's messages that have been forgotten by now."""
        ids = [record.message.id for record in stretch.portion.records]
        return forgotten(self._ledger, stretch.key, ids)

    def changes(self, stretch: Stretch, admitted: Admitted) -> list[Change]:
        """Return the changes that keep what was admitted; a known fact is confirmed.

        What a model decided about known facts is carried out, unless it is vetoed: those are
        counted as refused. Ask with the ledger held exclusively, and apply before letting go.
        """
        key, now = stretch.key, self._clock.now()
        records = {record.message.id: record for record in stretch.portion.records}
        facts = self._facts(key, records, admitted.facts, decided=admitted.decided)
        new = believed(facts, partial(restated, self._ledger, self._expiry), now)
        changes: list[Change] = [
            Add(change.fact, admitted.vectors.get(change.fact.id))
            if isinstance(change, Add)
            else change
            for change in new.changes
        ]
        changes += [
            Add(fact.model_copy(update={"status": Status.QUARANTINED}))
            for fact in self._facts(key, records, admitted.quarantined, decided=admitted.decided)
        ]
        stored = {fact.id: fact for fact in _facts_of(changes)}
        stated = [
            fact.model_copy(update={"id": one}) for fact, one in zip(facts, new.ids, strict=True)
        ]
        outcome = carried_out(
            self._decisions(stretch, admitted, stated, stored), self._extractor, now
        )
        admitted.refused.update(outcome.vetoed)
        changes += outcome.updates
        changes += self._written(stretch, admitted, records, changes, now)
        return [*changes, Evict(key.user_id, self._cap, now)] if changes else []

    def _decisions(
        self,
        stretch: Stretch,
        admitted: Admitted,
        stated: Sequence[Fact],
        stored: Mapping[str, Fact],
    ) -> Iterator[Decision]:
        """Yield what a model decided about known facts, as they are now.

        `stated` are the facts of the candidates under the ids that they are stored with. One that
        the same answer states again isn't ended by it.
        """
        wanted = {one for candidate in admitted.facts for one in candidate.replaces}
        wanted |= {ending.fact_id for ending in admitted.endings}
        known = self._ledger.get(sorted(wanted - stored.keys()), stretch.key.user_id)
        standing = {fact.id: fact for fact in known}
        today = self._clock.now().date()
        for candidate, fact in zip(admitted.facts, stated, strict=True):
            for one in candidate.replaces:
                if one in standing:
                    yield replacement(standing[one], fact, candidate, today)
        records = {record.message.id: record for record in stretch.portion.records}
        for ending in admitted.endings:
            if ending.fact_id in standing:
                said = _line(ending.quote, ending.message_ids)
                newer = extracted(stretch.key, said, records, self._extractor, self._clock.now())
                place = verbatim_id(stretch.key, ending.message_ids[0])
                yield Decision(
                    standing[ending.fact_id],
                    newer.model_copy(update={"id": place}),
                    "said to be over",
                    ending.quote,
                    said.confidence,
                )

    def _written(
        self,
        stretch: Stretch,
        admitted: Admitted,
        records: Mapping[str, Record],
        changes: Sequence[Change],
        now: datetime,
    ) -> list[Change]:
        """Return the lines of profile and history; not a profile that drops what still holds."""
        if not admitted.lines:
            return []
        new = _facts_of(changes)
        known = [*stretch.conversation.known, *new]
        ended = {fact.id for fact in new if fact.status is not Status.ACTIVE}
        lines = self._ledger.lines(stretch.key.user_id)
        present = {line.layer: line for line in lines if line.origin != "derived"}
        found: list[Change] = []
        for layer, candidate in admitted.lines:
            line = written(stretch.key, layer, candidate, records, known, self._ages, now)
            standing = present.get(layer) if layer in _LASTING else None
            if standing is not None and self._drops(line, standing, ended):
                admitted.refused["profile drops what holds"] += 1
            else:
                found.append(Write(line))
        return found

    def _drops(self, line: Line, standing: Line, ended: Set[str]) -> bool:
        """Return True if a text leaves out most of the facts that the standing one rests on."""
        still = [
            fact
            for fact in self._ledger.get([*standing.fact_ids])
            if fact.status is Status.ACTIVE and fact.id not in ended
        ]
        kept = [fact for fact in still if restates(line.text, fact)]
        return 2 * len(kept) < len(still)

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
        self,
        key: SessionKey,
        records: Mapping[str, Record],
        candidates: Iterable[Candidate],
        *,
        decided: bool,
    ) -> list[Fact]:
        now = self._clock.now()
        facts = [
            extracted(
                key,
                one,
                records,
                one.extractor or self._extractor,
                now,
                decided=decided and one.extractor is None,
            )
            for one in candidates
        ]
        if read_options(self._ledger, key).fades:
            return facts
        return [fact.model_copy(update={"tags": (*fact.tags, PINNED)}) for fact in facts]


_LASTING: frozenset[Layer] = frozenset({"work_context", "personal_context"})
"""Fields of the profile of which nothing is left out that still holds."""


def replacement(older: Fact, newer: Fact, candidate: Candidate, today: date) -> Decision:
    """Return the decision of a model that a candidate, as the fact `newer`, replaces an older fact.

    It only marks the older fact if it was said with a doubt, for a time, or of a day to come.
    """
    since = candidate.holds_from
    doubt = None
    if candidate.certainty == "hedged":
        doubt = "said with a doubt"
    elif candidate.temporary:
        doubt = "said to hold for a time"
    elif since is not None and since > max(newer.created_at.date(), today):
        doubt = f"said to change on {since:%Y-%m-%d}"
    return Decision(
        older,
        newer,
        "replaced by what was said since",
        candidate.quote,
        candidate.confidence,
        doubt,
        since,
    )


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
