"""The command of coding agents' hooks: `python -m semantic_memory.entrypoints.hook`.

What an agent waits for, recall at a prompt, goes through the process that has the store open, with
the standard library alone: loading the command line takes longer than the answer. Everything
else, and whatever can't be done so, is the command line's `hook`.
"""

from __future__ import annotations

import http.client
import io
import json
import socket
import sys
from pathlib import Path
from typing import Any

from semantic_memory.domain.agent_hooks import BUDGET, HookEvent, answer, needed, read_event
from semantic_memory.domain.projects import project_of

_SECONDS = 5.0
_ANNOUNCEMENT = "service.json"


def main() -> None:
    """Answer an event of a hook, on standard output."""
    options, text = sys.argv[1:], sys.stdin.read()
    found = quick_answer(options, text)
    if found is not None:
        print(json.dumps(found))  # noqa: T201
        return
    from semantic_memory.entrypoints.cli import main as command_line

    sys.stdin = io.StringIO(text)
    sys.argv = ["semantic-memory", "hook", *options]
    command_line()


def quick_answer(options: list[str], text: str) -> dict[str, Any] | None:
    """Return the answer of the process that has the store open; None if it must be done otherwise.

    `options` are those of the command line's `hook`, each with a value of its own.
    """
    given = dict(zip(options[::2], options[1::2], strict=False))
    directory, user = given.get("--data-dir"), given.get("--user")
    if directory is None or user is None or "--budget" in given:
        return None
    try:
        event = read_event(text, given.get("--for", "claude-code"))
        if not event.recalls:
            return None
        owner = json.loads((Path(directory) / _ANNOUNCEMENT).read_bytes())
        return _asked(owner, event, user)
    except (OSError, ValueError, LookupError, http.client.HTTPException):
        return None  # the command line does it, or says why not


def _asked(owner: dict[str, Any], event: HookEvent, user: str) -> dict[str, Any]:
    """Return the answer to an event. Raises LookupError if the owner refuses."""
    whose = {"user_id": user, "agent_id": project_of(event.cwd or Path())}
    connection = _Connection(owner["socket"])
    try:
        block: dict[str, Any] = {}
        if event.query:
            asked = {**whose, "query": event.query, "budget": BUDGET[event.kind]}
            block = _sent(connection, owner, "/v1/context", asked)
        if event.observes_prompt:
            said = [{"role": "user", "content": event.prompt}]
            taken = {**whose, "session_id": event.session_id, "messages": said}
            _sent(connection, owner, "/v1/messages", taken)
    finally:
        connection.close()
    return answer(event, needed(event, block))


def _sent(
    connection: _Connection, owner: dict[str, Any], path: str, body: dict[str, Any]
) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {owner['token']}", "Content-Type": "application/json"}
    connection.request("POST", path, json.dumps(body).encode(), headers)
    response = connection.getresponse()
    content = response.read()
    if response.status >= http.HTTPStatus.BAD_REQUEST:
        raise LookupError(f"{path}: {response.status}")
    found: dict[str, Any] = json.loads(content)
    return found


class _Connection(http.client.HTTPConnection):
    """A connection over a Unix socket."""

    def __init__(self, path: str | None) -> None:
        super().__init__("localhost", timeout=_SECONDS)
        self._path = path

    def connect(self) -> None:
        """Connect. Raises OSError."""
        if self._path is None:
            raise OSError("the owner listens on no Unix socket")
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(_SECONDS)
        self.sock.connect(self._path)


if __name__ == "__main__":
    main()
