"""The states of windows and tasks in a table, so that any worker continues with them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from semantic_memory.domain.errors import SchemaTooNewError
from semantic_memory.domain.files import digest_of
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports.states import Saved
from semantic_memory.ledger.postgres.connections import Connections

_WINDOW = "window"
_PLACE = "user_id = ? AND session_id = ? AND name = ?"
_SAVE = """
    INSERT INTO states (user_id, session_id, name, version, data) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (user_id, session_id, name)
        DO UPDATE SET version = excluded.version, data = excluded.data
        WHERE states.version <= excluded.version
"""


class PostgresStates:
    """The `States` of all processes on one schema. Thread-safe."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def window(self, key: SessionKey) -> StateRow:
        """Return the row of a session's window."""
        return StateRow(self._connections, key, _WINDOW)

    def task(self, key: SessionKey, name: str) -> StateRow:
        """Return the row of a task's checkpoint."""
        return StateRow(self._connections, key, f"tasks/{digest_of(name)}")

    def sessions(self) -> list[SessionKey]:
        """Return the sessions that have a state."""
        with self._connections.snapshot() as db:
            rows = db.execute("SELECT DISTINCT user_id, session_id FROM states ORDER BY 1, 2")
            return [SessionKey(*row) for row in rows]

    def unnamed(self, known: Iterable[SessionKey]) -> int:
        """Return 0: every row names its session."""
        del known
        return 0

    def saved(self, key: SessionKey) -> Iterator[tuple[str, Saved]]:
        """Yield the states of a session, each with its name."""
        query = "SELECT name, version, data FROM states WHERE user_id = ? AND session_id = ?"
        with self._connections.snapshot() as db:
            rows = db.execute(f"{query} ORDER BY name", key).fetchall()
        for name, version, data in rows:
            yield name, Saved(version, json.loads(data))

    def restore(self, key: SessionKey, name: str, state: Saved) -> None:
        """Save a state under a name that `saved` gave."""
        StateRow(self._connections, key, name).save(state)

    def drop_window(self, key: SessionKey) -> None:
        """Delete the window of a session, which is filled from its log again."""
        self.window(key).clear()

    def drop(self, user_id: str, session_id: str | None = None) -> None:
        """Delete the windows and checkpoints of a user or of one session."""
        if session_id is None:
            self._delete("user_id = ?", (user_id,))
        else:
            self._delete("user_id = ? AND session_id = ?", (user_id, session_id))

    def _delete(self, condition: str, values: Sequence[str]) -> None:
        with self._connections.transaction() as db:
            db.execute(f"DELETE FROM states WHERE {condition}", values)


class StateRow:
    """The place of a state in the table; of two that are saved at once, one stays."""

    def __init__(self, connections: Connections, key: SessionKey, name: str) -> None:
        self._connections = connections
        self._values = (*key, name)

    @property
    def name(self) -> str:
        """The session and the state's name in it."""
        _, session_id, name = self._values
        return f"{name} of session {session_id}"

    def load(self) -> Saved | None:
        """Return the state saved last."""
        query = f"SELECT version, data FROM states WHERE {_PLACE}"
        with self._connections.snapshot() as db:
            row = db.execute(query, self._values).fetchone()
        return None if row is None else Saved(row[0], json.loads(row[1]))

    def save(self, state: Saved) -> None:
        """Replace the row."""
        values = (*self._values, state.version, json.dumps(state.data))
        with self._connections.transaction() as db:
            saved = db.execute(_SAVE, values).rowcount
        if not saved:
            raise SchemaTooNewError(
                f"{self.name} was saved by a newer version than {state.version}: upgrade the"
                " program, or `clear` the checkpoint to start again"
            )

    def clear(self) -> None:
        """Delete the row."""
        with self._connections.transaction() as db:
            db.execute(f"DELETE FROM states WHERE {_PLACE}", self._values)
