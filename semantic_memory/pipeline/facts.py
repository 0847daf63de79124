"""The facts that follow from what was said, with ids that follow from it too."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from pydantic import JsonValue

from ingest.gate import Screened
from semantic_memory.consolidation.decided import midnight
from semantic_memory.domain.changes import Cursor, CursorStage
from semantic_memory.domain.extraction import Candidate
from semantic_memory.domain.facts import TYPED, Category, Fact, Source, Status
from semantic_memory.domain.logs import Record
from semantic_memory.domain.messages import Message, SessionKey
from semantic_memory.domain.ports import Ledger
from semantic_memory.domain.profile import TIERS, Layer, Line, TierAges
from semantic_memory.domain.retention import Expiry
from semantic_memory.domain.text import stems
from semantic_memory.domain.trust import Trust, of_lineage, of_role
from semantic_memory.domain.values import MAX_CONTENT_BYTES, derived_id, normalised
from semantic_memory.language.own_speech import own_speech_of

_RESTATED = 0.6  # of a fact's words, from which a text says what it says
HOLDS_UNTIL = "holds_until"
"""Key in a fact's metadata: the last day on which it holds, as its speaker said."""
TEMPORARY = "temporary"
"""Tag of a fact that its speaker said to hold for a time."""
VERBATIM = "verbatim"
"""The extractor of a memory that is a message as it was said."""


def verbatim(key: SessionKey, record: Record, screened: Screened, now: datetime) -> Fact:
    """The memory of a message as it was said, as far as it may be recalled."""
    message = record.message
    said = message.created_at or now
    return Fact(
        id=verbatim_id(key, message.id),
        user_id=key.user_id,
        agent_id=message.agent_id,
        run_id=message.run_id,
        content=_cut(screened.content),
        category=Category.CONVERSATION,
        status=_standing(message, screened),
        created_at=said,
        recorded_at=now,
        valid_from=said,
        expires_at=message.expires_at,
        source=Source(
            extractor=VERBATIM,
            session_id=key.session_id,
            message_ids=(message.id,),
            position=record.position,
            role=message.role,
            speaker=message.name,
        ),
        trust=own_speech_of(message).trust,
        metadata=message.metadata,
    )


def _standing(message: Message, screened: Screened) -> Status:
    if not message.recall:
        return Status.ARCHIVED
    return Status.QUARANTINED if screened.quarantined else Status.ACTIVE


def is_logged_only(fact: Fact) -> bool:
    """Return True for the memory of a message that was observed with `recall=False`.

    Nothing else archives the memory of a message.
    """
    return fact.source.extractor == VERBATIM and fact.status is Status.ARCHIVED


def _trust_in(content: str, message: Message) -> Trust:
    """Return the trust in what was drawn from a message: that of the words it rests on."""
    reading = own_speech_of(message)
    if not reading.material:
        return reading.trust
    said, own = set(stems(content)), set(stems(reading.own))
    foreign = {stem for text in reading.material for stem in stems(text)} - own
    rests_on_own = len(said & own) >= len(said & foreign)
    return reading.trust if rests_on_own else min(reading.trust, Trust.EXTERNAL)


def _cut(text: str) -> str:
    """As much of `text` as may be stored: "[secret]" can be longer than what it stands for."""
    return text.encode()[:MAX_CONTENT_BYTES].decode(errors="ignore")


def verbatim_id(key: SessionKey, message_id: str) -> str:
    """The id of the memory of a message."""
    return derived_id(key.user_id, key.session_id, message_id)


def forgotten(ledger: Ledger, key: SessionKey, message_ids: Iterable[str]) -> set[str]:
    """The messages of a session whose memories were forgotten."""
    ids = {verbatim_id(key, message_id): message_id for message_id in message_ids}
    known = ledger.known(list(ids))  # first: one that is stored between both reads is kept
    kept = {fact.id for fact in ledger.get(list(ids))}
    return {ids[one] for one in known - kept}


def said(fact: Fact) -> Message:
    """The message that a memory of category `conversation` is of."""
    return Message(
        id=fact.source.message_ids[0],
        role=fact.source.role or "user",
        content=fact.content,
        name=fact.source.speaker,
        agent_id=fact.agent_id,
        run_id=fact.run_id,
        created_at=fact.created_at,
        expires_at=fact.expires_at,
        trust=fact.trust if fact.trust < of_role(fact.source.role, fact.source.speaker) else None,
        recall=not is_logged_only(fact),
        metadata=fact.metadata,
    )


def extracted(
    key: SessionKey,
    candidate: Candidate,
    records: Mapping[str, Record],
    extractor: str,
    now: datetime,
    *,
    decided: bool = False,
) -> Fact:
    """Return the fact that a candidate proposes. It expires with the first of its messages.

    `records` holds, by id, all messages that the candidate names, which are of one scope. What the
    extractor `decided` isn't compared again.
    """
    first = records[candidate.message_ids[0]]
    said = first.message.created_at or now
    begins = candidate.holds_from and midnight(candidate.holds_from)
    until = candidate.holds_until
    ends = [records[one].message.expires_at for one in candidate.message_ids]
    metadata: dict[str, JsonValue] = {} if until is None else {HOLDS_UNTIL: until.isoformat()}
    if candidate.typed:
        metadata[TYPED] = dict(candidate.typed)
    return Fact(
        id=derived_id(
            key.user_id, key.session_id, *candidate.message_ids, normalised(candidate.content)
        ),
        user_id=key.user_id,
        agent_id=first.message.agent_id,
        run_id=first.message.run_id,
        content=candidate.content,
        category=candidate.category,
        confidence=candidate.confidence,
        created_at=said,
        recorded_at=now,
        valid_from=min(said, begins or said),
        expires_at=min((end for end in ends if end is not None), default=None),
        tags=(*candidate.tags, TEMPORARY) if candidate.temporary else candidate.tags,
        reading=candidate.reading,
        metadata=metadata,
        source=Source(
            extractor=extractor,
            session_id=key.session_id,
            message_ids=candidate.message_ids,
            position=first.position,
            role=first.message.role,
            speaker=first.message.name,
            decided=decided,
        ),
        trust=of_lineage(
            (message.role, _trust_in(candidate.content, message))
            for message in (records[one].message for one in candidate.message_ids)
        ),
    )


def written(
    key: SessionKey,
    layer: Layer,
    candidate: Candidate,
    records: Mapping[str, Record],
    facts: Sequence[Fact],
    ages: TierAges,
    now: datetime,
) -> Line:
    """Return the line that a model wrote; it rests on its messages and on `facts` it restates."""
    said = [records[one].message.created_at or now for one in candidate.message_ids]
    at = min(said) if layer in TIERS else max(said)
    restated = [fact.id for fact in facts if restates(candidate.content, fact)]
    return Line(
        id=derived_id(*key, layer, *candidate.message_ids, normalised(candidate.content)),
        user_id=key.user_id,
        layer=ages.tier_of(at, now) if layer in TIERS else layer,
        text=candidate.content,
        origin="model",
        at=at,
        valid_from=now,
        fact_ids=tuple(dict.fromkeys(restated)),
        said_in=tuple(f"{key.session_id}/{one}" for one in candidate.message_ids),
    )


def restated(ledger: Ledger, expiry: Expiry, fact: Fact) -> Fact | None:
    """Return the active memory that says what a new fact does, unless it has expired."""
    found = ledger.same_content(fact.user_id, fact.content, fact.scope)
    return found if found is not None and expiry.now.holds(found) else None


def restates(text: str, fact: Fact) -> bool:
    """Check that a text restates a fact: most of the fact's words are in it."""
    own = set(stems(fact.content))
    return bool(own) and len(own & set(stems(text))) >= _RESTATED * len(own)


def grounded(candidates: Sequence[Candidate], message_ids: Collection[str]) -> list[Candidate]:
    """Return the candidates that name an existing message, without unknown ids."""
    found = []
    for candidate in candidates:
        real = tuple(one for one in candidate.message_ids if one in message_ids)
        if real:
            found.append(candidate.model_copy(update={"message_ids": real}))
    return found


def behind(key: SessionKey, stage: CursorStage, record: Record) -> Cursor:
    """A session's cursor, once everything up to `record` is done at `stage`."""
    return Cursor(*key, stage, record.position + 1, record.end, record.message.id)
