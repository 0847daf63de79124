"""Import a file of messages: read it, and observe the messages a run of one session at a time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby, islice
from pathlib import Path
from typing import Protocol

from ingest.readers import Incoming, Rejected, read
from semantic_memory.domain.dating import is_ahead
from semantic_memory.domain.errors import InvalidInputError, LogFullError, SessionClosedError
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


@dataclass
class Imported:
    """The outcome of an import so far."""

    accepted: int = 0
    duplicates: int = 0
    rejected: int = 0
    ahead: int = 0
    """Messages that were dated more than a day ahead, and got the time of the import."""
    rejections: list[Rejected] = field(default_factory=list)
    """The first of the rejected parts."""

    @property
    def is_empty(self) -> bool:
        """True if no message could be used."""
        return not self.accepted + self.duplicates

    def reject(self, rejected: Rejected) -> None:
        """Count a rejected part, and keep it if there aren't many yet."""
        self.rejected += 1
        if len(self.rejections) < _MOST_REJECTIONS:
            self.rejections.append(rejected)


def import_file(
    memory: Observing,
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
    """Observe every message of `file`; parts that can't be used are counted and left out.

    `user_id` replaces the users that the file names; `agent_id` and `run_id` are those of messages
    that name none. Messages of no session go to `session_id`, by
    default the file's name. Importing a file again adds only the messages that are new. Messages
    dated more than a day ahead of `now`, by default the system's time, are counted and get `now`.

    Raises NotFoundError without the file, InvalidInputError if its format is unknown or if neither
    it nor `user_id` names a user.
    """
    session = session_id or _identifier(file.name.partition(".")[0])
    imported = Imported()
    incoming = read(file, known_format(form), session, progress)
    scope = Scope(agent_id, run_id)
    for user, of_session, messages in _runs(incoming, user_id, imported, now or datetime.now(UTC)):
        scoped = [message.within(scope) for message in messages]
        observe_run(memory, scoped, user, of_session, imported)
    return imported


def known_format(form: str) -> Format:
    """Return `form` if it is the name of a format. Raises InvalidInputError."""
    found = next((one for one in FORMATS if one == form), None)
    if found is None:
        raise InvalidInputError(f"unknown format {form!r}; known: {', '.join(FORMATS)}")
    return found


def observe_run(
    memory: Observing,
    messages: Sequence[Message],
    user_id: str,
    session_id: str,
    imported: Imported,
) -> None:
    """Observe messages of a session; one that is refused costs none of the others."""
    try:
        try:
            receipt = memory.observe(messages, user_id=user_id, session_id=session_id)
        except LogFullError:
            memory.flush()  # extraction has fallen behind; what is extracted can be removed
            receipt = memory.observe(messages, user_id=user_id, session_id=session_id)
    except SessionClosedError as error:
        for message in messages:
            imported.reject(Rejected(f"message {message.id}", str(error)))
    except InvalidInputError as error:
        if len(messages) == 1:
            imported.reject(Rejected(f"message {messages[0].id}", str(error)))
            return
        for message in messages:
            observe_run(memory, [message], user_id, session_id, imported)
    else:
        imported.accepted += receipt.accepted
        imported.duplicates += receipt.duplicates


def _runs(
    incoming: Iterator[Incoming | Rejected],
    user_id: str | None,
    imported: Imported,
    now: datetime,
) -> Iterator[tuple[str, str, list[Message]]]:
    """Yield runs of messages of one session with its user; rejected parts go to `imported`."""

    def usable() -> Iterator[Incoming]:
        for item in incoming:
            if isinstance(item, Rejected):
                imported.reject(item)
            elif item.user_id is None and user_id is None:
                raise InvalidInputError("this file doesn't say whose memory it is: give --user")
            else:
                yield item

    for (user, session_id), run in groupby(
        usable(), key=lambda item: (user_id or item.user_id or "", item.session_id)
    ):
        while batch := [item.message for item in islice(run, _BATCH)]:
            imported.ahead += sum(is_ahead(message.created_at, now) for message in batch)
            yield user, session_id, [_from_elsewhere(message, now) for message in batch]


def _from_elsewhere(message: Message, now: datetime) -> Message:
    at = now if is_ahead(message.created_at, now) else message.created_at
    return message.model_copy(update={"trust": Trust.IMPORTED, "created_at": at})


def _identifier(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.@:+-]+", "-", text).strip("-")[:128] or "import"
