"""Add the changes that messages made to facts, and of which nothing was extracted.

Messages are compared with facts as soon as they are stored, mostly before their session is
extracted. Extraction then adds what they changed; otherwise consolidation does, by `is_read`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from semantic_memory.consolidation.renewal import renewal
from semantic_memory.consolidation.renewing import EXTRACTOR
from semantic_memory.consolidation.retelling import ENDED, SURE, renewing, retold, touched
from semantic_memory.domain.extraction import Candidate, Extraction
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.messages import Message, SessionKey
from semantic_memory.domain.ports import Ledger
from semantic_memory.language.own_speech import own_speech_of, speaker_name
from semantic_memory.pipeline.facts import verbatim_id
from semantic_memory.pipeline.reading import Stretch
from semantic_memory.pipeline.session_records import read_options

_WITHIN = 1  # of the user's messages, in which a correction may refer to the fact


def is_read(ledger: Ledger, message: Fact) -> bool:
    """Return whether facts have been extracted from the message that a memory is of."""
    session_id, position = message.source.session_id, message.source.position
    if session_id is None or position is None:
        return False
    key = SessionKey(message.user_id, session_id)
    if not read_options(ledger, key).extract:
        return False
    return ledger.cursor(*key, "extracted").position > position


def with_changes(ledger: Ledger, stretch: Stretch, found: Extraction) -> Extraction:
    """Return what was found in a stretch, with the changes that its messages tell of facts."""
    added: list[Candidate] = []
    is_chat = all(one.name and one.role != "assistant" for one in stretch.messages)
    for message in stretch.messages:
        if message.role == "user" and message.created_at is not None:
            drawn = [one.content for one in found.candidates if message.id in one.message_ids]
            telling = _Telling(message, own_speech_of(message).own, drawn, message.created_at)
            ended = ledger.replaced(verbatim_id(stretch.key, message.id), stretch.key.user_id)
            changes = [*islice(telling.changes(ended, stretch.key), 1)]
            if not (changes or is_chat):  # among people most is talk
                changes += telling.touching(stretch.known)
            added += changes
    if not added:
        return found
    return found.model_copy(update={"candidates": (*found.candidates, *added)})


class _Telling(NamedTuple):
    """A message, and the facts drawn from it."""

    message: Message
    text: str
    drawn: list[str]
    said: datetime

    @property
    def name(self) -> str:
        return speaker_name(self.message.name) or "The user"

    def changes(self, ended: Iterable[Fact], key: SessionKey) -> Iterator[Candidate]:
        """Yield what the message says anew of facts that it has ended."""
        for older in ended:
            is_message = older.category is Category.CONVERSATION
            if is_message or renewing(older.content, self.drawn) is not None:
                continue
            apart = _WITHIN if older.source.session_id == key.session_id else None
            found = renewal(older.content, self.text, apart)
            reason = found.reason if found else ENDED
            changed = retold(
                older.content, self.text, reason, self.drawn, name=self.name, said=self.said
            )
            if changed:
                yield self._candidate(changed, older.category)

    def touching(self, known: Sequence[Fact]) -> Iterator[Candidate]:
        """Yield the changes of what known facts are about, that nothing was drawn of."""
        about = [one.content for one in known]
        for changed in touched(self.text, about, self.drawn, name=self.name, said=self.said):
            yield self._candidate(changed, Category.PERSONAL)

    def _candidate(self, content: str, category: Category) -> Candidate:
        self.drawn.append(content)
        return Candidate(
            content=content,
            category=category,
            confidence=SURE,
            message_ids=(self.message.id,),
            extractor=EXTRACTOR,
        )
