"""Take messages in, and carry them through the stages until their facts are found.

`observe` returns once the session log has the messages on disk, and of a log that processes share
once they are stored too; of another log, a query stores what its user has said since. Everything
after that is the work of stages, in the background or by `flush`:

    store         log -> ledger       a memory for each message, found by its words
    extract       quiet session -> extractor -> gate -> facts
    embed         memories -> vectors, found by their meaning too
    consolidate   duplicates merged, conflicts settled
    profile       profiles and histories brought level with the facts
    index         ledger -> Chroma
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Literal

from ingest.gate import Gate
from semantic_memory.concurrency import Calls
from semantic_memory.domain.changes import Redact
from semantic_memory.domain.errors import ProviderError, StoreError, StoreUnavailableError
from semantic_memory.domain.events import Event, MessagesObserved, SessionChanged
from semantic_memory.domain.messages import (
    Message,
    Receipt,
    SessionKey,
    SessionOptions,
    SessionState,
)
from semantic_memory.domain.ports import Ledger, Progress, SessionLog
from semantic_memory.pipeline.runner import Runner
from semantic_memory.pipeline.sessions import Sessions, Shortening
from semantic_memory.pipeline.stage import CONSOLIDATE, EMBED, EXTRACT, INDEX, STORE, WHOLE
from semantic_memory.pipeline.storing import Storing


class Pipeline:
    """The write path of a store. Thread-safe."""

    def __init__(
        self,
        ledger: Ledger,
        log: SessionLog,
        gate: Gate,
        storing: Storing,
        sessions: Sessions,
        shortening: Shortening,
        runner: Runner,
        observe: Callable[[Event], None],
    ) -> None:
        self._ledger = ledger
        self._log = log
        self._gate = gate
        self._storing = storing
        self._sessions = sessions
        self._shortening = shortening
        self._runner = runner
        self._observe = observe
        self._calls = Calls()
        self._owed: set[SessionKey] = set()

    def start(self) -> None:
        """Take up what an earlier process left, and continue in the background.

        Every message of the logs is in the ledger when this returns, and found by its words.
        """
        for item in self._storing.pending():
            self._storing.run(item)
        self._runner.start()

    def observe(self, messages: Sequence[Message], user_id: str, session_id: str) -> Receipt:
        """Append messages to a session's log; they are on disk when this returns.

        Raises SessionClosedError for a closed session, LogFullError if the log can't be shortened
        any more.
        """
        self._sessions.check_open(SessionKey(user_id, session_id))
        return self.take(messages, user_id, session_id)

    def take(self, messages: Sequence[Message], user_id: str, session_id: str) -> Receipt:
        """Append messages as `observe` does, also to a closed session, as an import may.

        Secrets in them are masked or refused by the settings.
        """
        start = time.perf_counter()
        key = SessionKey(user_id, session_id)
        self.pay(key)
        with self._calls.one():
            messages = [self._gate.logged(message) for message in messages]
            coming = sum(len(one.content.encode()) for one in messages)
            self._shortening.make_room(key, coming)
            begins = not self._log.size(*key)
            try:
                accepted = self._log.append(user_id, session_id, messages)
            except StoreUnavailableError:
                self._to_store(key)  # a disk that refuses to take them back has kept them
                raise
            if accepted and begins:
                self._observe(SessionChanged(*key, "begun"))
            if self._log.shared:
                self._store_now(key)
            elif accepted:
                self._to_store(key)
            if accepted:
                own = sum(message.role == "user" for message in messages)
                self._runner.hint(EXTRACT, key, min(own, accepted))
        duplicates = len(messages) - accepted
        seconds = time.perf_counter() - start
        self._observe(MessagesObserved(user_id, session_id, accepted, duplicates, seconds))
        return Receipt(accepted=accepted, duplicates=duplicates, session_id=session_id)

    def _to_store(self, key: SessionKey) -> None:
        self._storing.add(key)
        self._runner.hint(STORE, WHOLE)

    def _store_now(self, key: SessionKey) -> None:
        """Store a session, as the next query for its messages may come to another process.

        What this one leaves if it is killed is behind for all.
        """
        try:
            self._storing.store([key])
        except StoreError:
            self._runner.hint(STORE, WHOLE)
            raise

    def changed(self, user_id: str | None = None) -> None:
        """Have later stages take up changes that others made; of one user's facts, or of many's."""
        if user_id is not None:
            self._runner.hint(EMBED, WHOLE)
            self._runner.hint(CONSOLIDATE, user_id)
        self._runner.hint(INDEX, WHOLE)

    def flush(self, progress: Progress | None = None) -> None:
        """Run all stages until nothing that was observed before is pending.

        Raises ProviderError, after everything else is done, if a model couldn't be reached, and
        StoreError at once; what is pending remains pending, and is tried again.
        """
        with self._calls.one():
            failures = self._runner.flush(progress)
        if failures:
            raise ProviderError(
                f"not everything could be done ({'; '.join(dict.fromkeys(failures))}); all messages"
                " are kept and found by their words, and the rest will be tried again"
            )

    def extract_session(self, key: SessionKey) -> None:
        """Extract facts from all messages of one session, and of no other. Raises ProviderError.

        Where extraction is left to batches of a provider, nothing is extracted.
        """
        with self._calls.one():
            self._sessions.store(key)
            failures = self._runner.settle(EXTRACT, key)
        if failures:
            raise ProviderError(failures[0])

    def embed(self, progress: Progress | None = None) -> None:
        """Embed and index what has no vectors. Raises ProviderError."""
        with self._calls.one():
            failures = self._runner.drain(EMBED, progress) + self._runner.drain(INDEX, progress)
        if failures:
            raise ProviderError(failures[0])

    def store(self) -> None:
        """Make memories of all messages observed so far. Raises StoreError."""
        with self._calls.one():
            self._runner.drain(STORE)

    def store_user(self, user_id: str) -> None:
        """Make memories of all messages of one user. Raises StoreError."""
        with self._calls.one():
            self._storing.store_user(user_id)

    def store_for_query(self, user_ids: Iterable[str]) -> None:
        """Make memories of all messages of these users; those that can't be stored now wait."""
        if self._log.shared:  # they are stored as they are taken
            return
        for user_id in user_ids:
            with suppress(StoreError):
                self.store_user(user_id)

    def store_session(self, key: SessionKey) -> None:
        """Make memories of all messages of one session. Raises StoreError."""
        with self._calls.one():
            self._sessions.store(key)

    def session_ids(self, user_id: str) -> list[str]:
        """Return every session of a user, also one that has just begun."""
        self.store()
        return self._ledger.session_ids(user_id)

    @contextmanager
    def held(self, keys: Iterable[SessionKey]) -> Iterator[None]:
        """Hold the locks of sessions, so that no stage reads their logs meanwhile."""
        with self._calls.one(), self._sessions.held(keys):
            yield

    def owe(self, redacts: Iterable[Redact]) -> None:
        """Have sessions, whose locks are held, take no message before their logs are rewritten.

        Else a log that couldn't be deleted now would delete its new messages later.
        """
        self._owed.update(SessionKey(one.user_id, one.session_id) for one in redacts)

    def pay(self, key: SessionKey) -> None:
        """Finish a forgetting that is owed to a session. Raises StoreUnavailableError."""
        if key not in self._owed and not (self._log.shared and self._sessions.owed(key)):
            return
        with self.held([key]):
            for redact in self._sessions.owed(key):
                self.redact(redact)
        self._owed.discard(key)

    def redact(self, redact: Redact) -> None:
        """Erase forgotten messages from the log of a session, whose lock is held."""
        self._sessions.redact(redact)
        key = SessionKey(redact.user_id, redact.session_id)
        self._owed.discard(key)
        if not redact.message_ids:
            self._runner.drop(EXTRACT, key)
            self._observe(SessionChanged(*key, "forgotten"))

    def options(self, key: SessionKey) -> SessionOptions:
        """Return the options of a session."""
        return self._sessions.options(key)

    def configure(self, key: SessionKey, options: SessionOptions) -> None:
        """Set the options of a session."""
        with self._calls.one():
            self._sessions.configure(key, options)
        self._observe(SessionChanged(*key, "configured"))

    def state(self, key: SessionKey) -> SessionState:
        """Return when a session was created and closed, if that has been recorded."""
        return self._sessions.state(key)

    def mark(self, key: SessionKey, state: SessionState) -> None:
        """Record when a session was created and closed."""
        with self._calls.one():
            self._sessions.mark(key, state)
        change: Literal["opened", "closed"] = "closed" if state.closed_at else "opened"
        self._observe(SessionChanged(*key, change))

    def exists(self, key: SessionKey) -> bool:
        """Return True for a session that was created or has messages."""
        return self._sessions.exists(key)

    def check_open(self, key: SessionKey) -> None:
        """Raise SessionClosedError for a closed session."""
        self._sessions.check_open(key)

    def compact_session(self, key: SessionKey) -> int:
        """Rewrite a session's log without its forgotten messages; returns the bytes freed."""
        with self._calls.one():
            return self._sessions.compact(key)

    def close(self) -> None:
        """End after the runs under way; the next opening continues from there."""
        self._runner.stop()
        self._calls.close()
        self._runner.close()
