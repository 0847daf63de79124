"""Rules stand in for a model that refuses, until it returns and reads again what they read.

    the model refuses      since when is noted; messages wait, as for any failure
    ... for a day          the rules extract, and from which message on is noted for each session
    the model is back      each session's cursor goes back to that message; the model extracts, and
                           what the rules found there is archived unless the model found it too

All of it is in the ledger, so that another process continues with it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from semantic_memory.consolidation.fading import archived
from semantic_memory.domain.changes import Advance, Change, Update
from semantic_memory.domain.extraction import Extraction, proposed_by
from semantic_memory.domain.facts import PINNED, Fact, Status
from semantic_memory.domain.ports import Clock, Extractor, Ledger
from semantic_memory.domain.values import normalised
from semantic_memory.pipeline.reading import PortionReader, Stretch
from semantic_memory.pipeline.session_records import (
    StandInMark,
    read_stand_in,
    stand_ins,
    write_stand_in,
)
from semantic_memory.pipeline.stage import EXTRACT, REREAD, WHOLE, Hint, Outlook, Whole

_SINCE = "model refuses since"  # key in the ledger's meta
_PROBE_SECONDS = 600.0
_BY_HAND = frozenset({"updated", "restored"})


class StandIn:
    """The rules in the place of a model that refuses every request. Thread-safe."""

    def __init__(
        self,
        ledger: Ledger,
        reader: PortionReader,
        rules: Extractor,
        clock: Clock,
        patience: timedelta,
        hint: Hint,
    ) -> None:
        """Have `rules` extract once the model has refused for as long as `patience`."""
        self._ledger = ledger
        self._reader = reader
        self._rules = rules
        self._clock = clock
        self._patience = patience
        self._hint = hint

    @property
    def needed(self) -> bool:
        """Tell whether the model refuses, as far as is known."""
        return bool(self._ledger.meta(_SINCE))

    def due(self) -> bool:
        """Note that the model refuses; return True once it has for too long."""
        now = self._clock.now()
        stored = self._ledger.meta(_SINCE)
        if not stored:
            self._ledger.set_meta(_SINCE, now.isoformat())
        since = datetime.fromisoformat(stored) if stored else now
        return now - since >= self._patience

    def extract(self, stretch: Stretch) -> Extraction:
        """Extract by the rules, and note that the model has yet to read the stretch."""
        with self._ledger.exclusive(stretch.key.user_id):
            if read_stand_in(self._ledger, stretch.key) is None:
                mark = StandInMark(start=stretch.portion.start.position)
                write_stand_in(self._ledger, stretch.key, mark)
        self._hint(REREAD, WHOLE)
        found = self._rules.extract(stretch.messages, stretch.known)
        return proposed_by(self._rules.name, found)

    def returned(self) -> None:
        """Have the model, which is back, read what the rules read in its place."""
        if not self.needed:
            return
        for key, mark in stand_ins(self._ledger):
            if mark.end is not None:
                continue
            start = self._reader.extracted_to(key, mark.start)
            with self._ledger.exclusive(key.user_id):
                end = self._ledger.cursor(*key, "extracted").position
                write_stand_in(self._ledger, key, StandInMark(start=mark.start, end=end))
                self._ledger.apply([Advance(start)])
            self._hint(EXTRACT, key)
        self._ledger.set_meta(_SINCE, "")  # last, so that a kill before it leaves nothing undone

    def known(self, stretch: Stretch) -> Sequence[Fact]:
        """Return the facts known before a stretch: none that the rules found in it."""
        own = {fact.id for fact in self._found(stretch)}
        return [fact for fact in stretch.known if fact.id not in own]

    def retired(self, stretch: Stretch, contents: Collection[str]) -> Iterator[Change]:
        """Yield the changes that archive what the rules found in a stretch that the model read.

        `contents` are what the model found. Ask with the ledger held exclusively.
        """
        kept = {normalised(content) for content in contents}
        for fact in self._found(stretch):
            if normalised(fact.content) not in kept:
                yield Update(
                    archived(fact),
                    "archived",
                    self._clock.now(),
                    "the model read again what the rules had read in its place",
                )

    def reread(self, stretch: Stretch) -> None:
        """Note that the model has read a stretch, once it is committed."""
        mark = read_stand_in(self._ledger, stretch.key)
        if mark is None or mark.end is None or stretch.portion.end.position < mark.end:
            return
        write_stand_in(self._ledger, stretch.key, None)

    def _found(self, stretch: Stretch) -> Iterator[Fact]:
        """Yield what the rules alone found in a stretch that is read again."""
        mark = read_stand_in(self._ledger, stretch.key)
        if mark is None or mark.end is None:
            return
        user_id, session_id = stretch.key
        said = {(session_id, record.message.id) for record in stretch.portion.records}
        for fact in self._ledger.resting_on(user_id, said):
            rests_on = {
                (one.session_id, message) for one in fact.sources for message in one.message_ids
            }
            if (
                fact.source.extractor == self._rules.name
                and fact.status is Status.ACTIVE
                and rests_on <= said
                and PINNED not in fact.tags
                and not any(past.action in _BY_HAND for past in self._ledger.history(fact.id))
            ):
                yield fact


class Rereading:
    """Stage that asks a model that refused, from time to time, whether it is back."""

    name = REREAD

    def __init__(self, standing_in: StandIn, answers: Callable[[], bool]) -> None:
        """`answers` asks the model something."""
        self._standing_in = standing_in
        self._answers = answers

    def pending(self) -> Iterable[Whole]:
        """Yield `WHOLE` while the model refuses."""
        return [WHOLE] if self._standing_in.needed else []

    def run(self, item: Whole) -> float | None:
        """Ask the model; if it answers, have it read what the rules read."""
        del item
        if not self._standing_in.needed:
            return None
        if not self._answers():
            return _PROBE_SECONDS
        self._standing_in.returned()
        return None

    def outlook(self) -> Outlook:
        """Count the model that is waited for."""
        return Outlook("waiting for the model", int(self._standing_in.needed))
