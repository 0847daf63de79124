"""Committing changes, and following them by revision."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import islice

from semantic_memory.domain.changes import (
    Add,
    Advance,
    Change,
    Cut,
    DropItem,
    Embed,
    EmbedItem,
    EraseItems,
    EraseLines,
    EraseReasons,
    Evict,
    Extracted,
    Forget,
    Keyed,
    Mark,
    PutItem,
    Redact,
    Redacted,
    RefreshItems,
    Retire,
    Touch,
    Unquote,
    Update,
    Weigh,
    Write,
)
from semantic_memory.domain.facts import Fact, FactVersion, Status
from semantic_memory.domain.fields import Sort
from semantic_memory.domain.messages import SessionKey
from semantic_memory.ledger import rules
from semantic_memory.ledger.memory import events, items, lines
from semantic_memory.ledger.memory.store import Part, Row, Tables
from semantic_memory.ledger.memory.words import counted


class ChangeWriter(Part):
    """The role `ChangeLog`."""

    def exclusive(self, *user_ids: str) -> AbstractContextManager[None]:
        """Keep other writers out, of all users, so that changes can depend on reads. Reentrant."""
        del user_ids
        return self._store.exclusive()

    def apply(self, changes: Sequence[Change]) -> int:
        """Commit all of `changes` or none; return how many had an effect."""
        with self._store.transaction() as tables:
            effects = sum(_write(tables, change) for change in changes)
        self._store.bell.ring()
        return effects

    def revision(self, user_id: str) -> int:
        """Return the number of the user's latest change; 0 before any."""
        return self._store.snapshot().revisions.get(user_id, 0)

    def changed(self, user_id: str, since: int, limit: int, *, messages: bool = True) -> set[str]:
        """Return the ids of at most `limit` of the user's facts that changed after `since`."""
        found = (
            row.fact.id
            for row in self._store.snapshot().of(user_id)
            if row.revision > since and (messages or not row.verbatim)
        )
        return set(islice(found, limit))


def _write(tables: Tables, change: Change) -> bool:
    """Write a change; return True if it had an effect."""
    match change:
        case Add():
            return _add(tables, change)
        case Update() | Forget() | Cut() | EraseReasons() | Unquote():
            return _replace(tables, change)
        case Evict():
            return _evict(tables, change)
        case Touch():
            return _touch(tables, change)
        case Embed():
            return _embed(tables, change)
        case Keyed() | Weigh():
            return _put_beside(tables, change)
        case Write() | Retire() | EraseLines():
            return lines.write(tables, change)
        case PutItem() | DropItem() | RefreshItems() | EmbedItem() | EraseItems():
            return items.write(tables, change)
        case Mark() | Advance() | Extracted() | Redact() | Redacted():
            return _note_progress(tables, change)


def _replace(tables: Tables, change: Update | Forget | Cut | EraseReasons | Unquote) -> bool:
    """Replace the state of a memory, or of several."""
    match change:
        case Update():
            return _update(tables, change)
        case Forget():
            return _forget(tables, change)
        case Cut():
            return _cut(tables, change)
        case EraseReasons(user_id):
            return _erase_reasons(tables, user_id)
        case Unquote():
            return _unquote(tables, change)


def _note_progress(tables: Tables, change: Mark | Advance | Extracted | Redact | Redacted) -> bool:
    match change:
        case Extracted():
            events.note_extraction(tables, change)
        case Redact(user_id, session_id, message_ids):
            key = SessionKey(user_id, session_id)
            known = tables.redactions.get(key)
            if known is not None:  # a whole log stays a whole log
                whole = not (known.message_ids and message_ids)
                message_ids = frozenset() if whole else known.message_ids | message_ids
            tables.redactions[key] = Redact(*key, message_ids)
        case Redacted(user_id, session_id):
            tables.redactions.pop(SessionKey(user_id, session_id), None)
        case Mark(job, user_id, revision):
            seen = tables.revisions.get(user_id, 0) if revision is None else revision
            tables.marks[job, user_id] = replace(change, revision=seen)
        case Advance(cursor):
            tables.cursors[cursor.user_id, cursor.session_id, cursor.stage] = cursor
    return True


def _next(tables: Tables, user_id: str) -> int:
    tables.changes += 1
    tables.revisions[user_id] = tables.revisions.get(user_id, 0) + 1
    return tables.revisions[user_id]


def _kept(tables: Tables, fact_id: str) -> Row | None:
    row = tables.facts.get(fact_id)
    return row if row is not None and row.kept else None


def _add(tables: Tables, change: Add) -> bool:
    fact = change.fact
    if fact.id in tables.facts:
        return False
    tables.put(
        Row(
            num=len(tables.facts) + 1,
            fact=fact,
            action="added",
            reason="",
            changed_at=fact.recorded_at,
            by=None,
            words=counted(fact),
            revision=_next(tables, fact.user_id),
            vectors=change.vectors,
        )
    )
    events.note(tables, None, tables.facts[fact.id])
    return True


def _update(tables: Tables, change: Update) -> bool:
    row = tables.facts.get(change.fact.id)
    if row is None:
        raise rules.unknown(change.fact.id)
    old, new = row.fact, rules.updated(row.fact, change)
    same = old.text == new.text
    revision = _next(tables, new.user_id)
    tables.put(
        replace(
            row,
            fact=new,
            action=change.action,
            reason=change.reason,
            changed_at=change.at,
            by=change.by,
            words=row.words if rules.has_same_words(old, new) else counted(new),
            revision=revision,
            placings=_placings(row, new, revision),
            versions=(*row.versions, row.version),
            vectors=row.vectors if same else None,
            refused=row.refused and same,
        )
    )
    lines.follow(tables, old, new, change.at)
    events.note(tables, old, tables.facts[new.id])
    return True


def _forget(tables: Tables, change: Forget) -> bool:
    row = tables.facts.get(change.fact_id)
    if row is None:
        raise rules.unknown(change.fact_id)
    return _update(tables, rules.forgetting(row.fact, change))


def _erase_reasons(tables: Tables, user_id: str) -> bool:
    forgotten = [row for row in tables.of(user_id) if not row.kept and row.reason]
    for row in forgotten:
        tables.facts[row.fact.id] = replace(row, reason="")
    return bool(forgotten)


def _unquote(tables: Tables, change: Unquote) -> bool:
    effect = False
    for row in list(tables.of(change.user_id)):
        fact = rules.unquoted(row.fact, change.newer)
        versions = tuple(_unquoted(version, change.newer) for version in row.versions)
        if fact is not row.fact:
            revision = _next(tables, change.user_id)
            row = replace(row, fact=fact, reason="", revision=revision)
        elif versions == row.versions:
            continue
        tables.put(replace(row, versions=versions))
        effect = True
    return effect


def _unquoted(version: FactVersion, newer: Collection[str]) -> FactVersion:
    fact = rules.unquoted(version.fact, newer)
    if fact is version.fact:
        return version
    return version.model_copy(update={"fact": fact, "reason": ""})


def _cut(tables: Tables, change: Cut) -> bool:
    row = _kept(tables, change.fact_id)
    if row is None:
        raise rules.unknown(change.fact_id)
    old = row.fact
    if old.content == change.content:
        return False
    lines.follow(tables, old, old.model_copy(update={"status": Status.FORGOTTEN}), change.at)
    _update(tables, rules.cutting(old, change))
    tables.facts[old.id] = replace(tables.facts[old.id], versions=(), cut=True)
    return True


def _evict(tables: Tables, change: Evict) -> bool:
    held = [row for row in tables.of(change.user_id) if row.believed]
    movable = [row for row in held if not row.fact.is_pinned and row.fact.id != change.sparing]
    movable.sort(key=lambda row: (row.fact.confidence, row.fact.stated_at, row.num))
    for row in movable[: max(0, len(held) - change.cap)]:
        _update(tables, rules.archiving(row.fact, change))
    return False


def _touch(tables: Tables, change: Touch) -> bool:
    row = _kept(tables, change.fact_id)
    if row is None:
        return False
    fact = row.fact
    if change.confidence is not None:
        fact = fact.model_copy(update={"confidence": change.confidence})
    if change.used_at is not None:
        used = max(change.used_at, fact.last_used_at or change.used_at)
        fact = fact.model_copy(update={"last_used_at": used, "use_count": fact.use_count + 1})
    revision = _next(tables, fact.user_id)
    placings = _placings(row, fact, revision)
    tables.put(replace(row, fact=fact, revision=revision, placings=placings))
    return True


def _placings(row: Row, new: Fact, revision: int) -> tuple[tuple[int, Mapping[Sort, float]], ...]:
    """Return what a changed row was sorted by until now."""
    before = rules.placing(row.fact)
    if before == rules.placing(new):
        return row.placings
    return (*row.placings, (revision, before))[-rules.MOST_PLACINGS :]


def _embed(tables: Tables, change: Embed) -> bool:
    row = _kept(tables, change.fact_id)
    if row is None or row.fact.text != change.text:
        return False
    if change.vectors is None:
        if row.vectors is not None:
            return False
        tables.facts[change.fact_id] = replace(row, refused=True)
    else:
        revision = _next(tables, row.fact.user_id)
        tables.put(replace(row, refused=False, vectors=change.vectors, revision=revision))
    return True


def _put_beside(tables: Tables, change: Keyed | Weigh) -> bool:
    """Put what is derived from a fact and isn't part of it."""
    row = _kept(tables, change.fact_id)
    if row is None:
        return False
    if isinstance(change, Weigh):
        row = replace(row, retention=change.retention, recency=change.recency)
    else:
        row = replace(row, keys=change.keys)
    tables.facts[change.fact_id] = row
    return True
