"""Import a file: observe its messages a run of one session at a time, load its facts and items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

from ingest.readers import Found, Incoming, IncomingRecord, Rejected, read
from ingest.readers.records import Entry, Statement
from ingest.readers.values import slug
from semantic_memory.domain.dating import is_ahead
from semantic_memory.domain.errors import (
    InvalidInputError,
    LogFullError,
    RecordRefusedError,
    SessionClosedError,
)
from semantic_memory.domain.fields import FORMATS, Format
from semantic_memory.domain.messages import Message, Receipt
from semantic_memory.domain.ports import Progress
from semantic_memory.domain.scope import Scope
from semantic_memory.domain.trust import Trust

_BATCH = 200
_MOST_REJECTIONS = 100  # that are kept one by one


class Observing(Protocol):
    """Takes messages in: a memory, or the client of one."""

    def observe(self, messages: Iterable[Message], *, user_id: str, session_id: str) -> Receipt:
        """Take in messages of one session.

        Raises InvalidInputError, and SessionClosedError for a closed one; nothing is kept then.
        """
        ...

    def flush(self) -> None:
        """Extract everything observed."""
        ...


class Loading(Protocol):
    """Loads records: the group `transfer` of a memory, or of a client."""

    def load(self, records: Iterable[Mapping[str, Any]], *, user_id: str) -> int:
        """Load records of an export; return the number of new ones.

        Raises RecordRefusedError for one that can't be used; those before it are kept.
        """
        ...


class Importing(Observing, Protocol):
    """Takes messages, facts and items in: a memory, or the client of one."""

    @property
    def transfer(self) -> Loading:
        """Takes facts and items in."""
        ...


@dataclass
class Imported:
    """The outcome of an import so far."""

    accepted: int = 0
    duplicates: int = 0
    rejected: int = 0
    ahead: int = 0
    """Messages and facts that were dated more than a day ahead, and got the time of the import."""
    rejections: list[Rejected] = field(default_factory=list)
    """The first of the rejected parts."""

    @property
    def is_empty(self) -> bool:
        """True if nothing could be used."""
        return not self.accepted + self.duplicates

    def count(self, offered: int, accepted: int) -> None:
        """Count the items offered, and how many were new."""
        self.accepted += accepted
        self.duplicates += offered - accepted

    def recount(self, kept: int) -> None:
        """Count as accepted what was kept at a first try, and counted as known at the second."""
        self.accepted += kept
        self.duplicates -= kept

    def reject(self, rejected: Rejected) -> None:
        """Count a rejected part, and keep it if there aren't many yet."""
        self.rejected += 1
        if len(self.rejections) < _MOST_REJECTIONS:
            self.rejections.append(rejected)


def import_file(
    memory: Importing,
    file: Path,
    *,
    form: str = "auto",
    user_id: str | None = None,
    session_id: str | None = None,
    agent_id: str | None = None,
    run_id: str | None = None,
    progress: Progress | None = None,
    now: datetime | None = None,
) -> Imported:
    """Take in all that `file` holds; parts that can't be used are counted and left out.

    Messages are observed; facts and items of other systems' memories are loaded, with the trust of
    an import. `user_id` replaces the users that the file names; `agent_id` and `run_id` are those
    of messages and facts that name none. Messages of no session go to `session_id`, by
    default the file's name. Importing a file again adds only what is new. What is
    dated more than a day ahead of `now`, by default the system's time, are counted and get `now`.

    Raises NotFoundError without the file, InvalidInputError if its format is unknown or if neither
    it nor `user_id` names a user.
    """
    session = session_id or slug(file.name.partition(".")[0])
    imported = Imported()
    at = now or datetime.now(UTC)
    scope = Scope(agent_id, run_id)
    found = read(file, known_format(form), session, progress)
    for user, run in groupby(_usable(found, user_id, imported), key=lambda one: one.user_id):
        for of_session, batch in _batches(run):
            if of_session is None:
                records = [one for one in batch if isinstance(one, IncomingRecord)]
                _load_run(memory, records, user or "", scope, imported, at)
            else:
                said = [one.message for one in batch if isinstance(one, Incoming)]
                imported.ahead += sum(is_ahead(message.created_at, at) for message in said)
                messages = [_from_elsewhere(message, at).within(scope) for message in said]
                observe_run(memory, messages, user or "", of_session, imported)
    return imported


def known_format(form: str) -> Format:
    """Return `form` if it is the name of a format. Raises InvalidInputError."""
    found = next((one for one in FORMATS if one == form), None)
    if found is None:
        raise InvalidInputError(f"unknown format {form!r}; known: {', '.join(FORMATS)}")
    return found


ItemT = TypeVar("ItemT", Message, IncomingRecord)


def observe_run(
    memory: Observing,
    messages: Sequence[Message],
    user_id: str,
    session_id: str,
    imported: Imported,
) -> None:
    """Observe messages of a session; one that is refused costs none of the others."""

    def put(batch: Sequence[Message]) -> int:
        observe = partial(memory.observe, batch, user_id=user_id, session_id=session_id)
        try:
            return observe().accepted
        except LogFullError:
            memory.flush()  # extraction has fallen behind; what is extracted can be removed
            return observe().accepted

    try:
        _offer(messages, put, lambda message: f"message {message.id}", imported)
    except SessionClosedError as error:
        for message in messages:
            imported.reject(Rejected(f"message {message.id}", str(error)))


def _load_run(
    memory: Importing,
    found: Sequence[IncomingRecord],
    user_id: str,
    scope: Scope,
    imported: Imported,
    now: datetime,
) -> None:
    """Load facts and items of a user; one that is refused costs none of the others."""

    def put(batch: Sequence[IncomingRecord]) -> int:
        contents = (_within(one.content, scope) for one in batch)
        return memory.transfer.load((one.record(user_id, now) for one in contents), user_id=user_id)

    imported.ahead += sum(is_ahead(one.content.created_at, now) for one in found)
    _offer(found, put, lambda one: one.place, imported)


def _within(content: Statement | Entry, scope: Scope) -> Statement | Entry:
    return content.within(scope) if isinstance(content, Statement) else content


def _offer(
    batch: Sequence[ItemT],
    put: Callable[[Sequence[ItemT]], int],
    place: Callable[[ItemT], str],
    imported: Imported,
) -> None:
    """Put the items of a batch that aren't refused; `put` returns how many were new."""
    try:
        imported.count(len(batch), put(batch))
    except InvalidInputError as error:
        if len(batch) == 1:
            imported.reject(Rejected(place(batch[0]), str(error)))
            return
        for one in batch:
            _offer([one], put, place, imported)
        imported.recount(error.loaded if isinstance(error, RecordRefusedError) else 0)


def _usable(
    found: Iterator[Found], user_id: str | None, imported: Imported
) -> Iterator[Incoming | IncomingRecord]:
    """Yield what belongs to a user, `user_id` before all; rejected parts go to `imported`."""
    for one in found:
        if isinstance(one, Rejected):
            imported.reject(one)
        elif one.user_id is None and user_id is None:
            raise InvalidInputError("this file doesn't say whose memory it is: give --user")
        else:
            yield one._replace(user_id=user_id or one.user_id)


def _batches(
    run: Iterable[Incoming | IncomingRecord],
) -> Iterator[tuple[str | None, list[Incoming | IncomingRecord]]]:
    """Yield messages of one session together; facts and items belong to none."""
    for session_id, part in groupby(
        run, key=lambda one: one.session_id if isinstance(one, Incoming) else None
    ):
        while batch := [*islice(part, _BATCH)]:
            yield session_id, batch


def _from_elsewhere(message: Message, now: datetime) -> Message:
    at = now if is_ahead(message.created_at, now) else message.created_at
    return message.model_copy(update={"trust": Trust.IMPORTED, "created_at": at})
