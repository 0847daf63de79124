"""The command of coding agents' hooks: `python -m semantic_memory.entrypoints.hook`.

What an agent waits for, recall at a prompt, goes through the process that has the store open, with
little of the standard library: loading the command line takes longer than the answer, and loading
`http.client` as long. Everything else, and whatever can't be done so, is the command line's `hook`.
"""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path
from typing import Any

from semantic_memory.domain.agent_hooks import BUDGET, HookEvent, answer, needed, read_event
from semantic_memory.domain.projects import project_of

_SECONDS = 5.0
_REFUSED = 400  # and above: the status of an answer that is none
_ANNOUNCEMENT = "service.json"


def main() -> None:
    """Answer an event of a hook, on standard output."""
    options, text = sys.argv[1:], sys.stdin.read()
    found = quick_answer(options, text)
    if found is not None:
        print(json.dumps(found))  # noqa: T201
        return
    from io import StringIO

    from semantic_memory.entrypoints.cli import main as command_line

    sys.stdin = StringIO(text)
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
    except (OSError, ValueError, LookupError):
        return None  # the command line does it, or says why not


def _asked(owner: dict[str, Any], event: HookEvent, user: str) -> dict[str, Any]:
    """Return the answer to an event. Raises LookupError if the owner refuses."""
    whose = {"user_id": user, "agent_id": project_of(event.cwd or Path())}
    block: dict[str, Any] = {}
    if event.query:
        asked = {**whose, "query": event.query, "budget": BUDGET[event.kind]}
        block = _sent(owner, "/v1/context", asked)
    if event.observes_prompt:
        said = [{"role": "user", "content": event.prompt}]
        taken = {**whose, "session_id": event.session_id, "messages": said}
        _sent(owner, "/v1/messages", taken)
    return answer(event, needed(event, block))


def _sent(owner: dict[str, Any], path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Post a body to the owner's Unix socket; return the answer.

    By HTTP 1.0, in which an answer is whole and ends with the connection. Raises OSError,
    ValueError, LookupError.
    """
    content = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {owner['token']}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    if owner["socket"] is None:
        raise LookupError("the owner listens on no Unix socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_SECONDS)
        connection.connect(owner["socket"])
        connection.sendall(head.encode("ascii") + content)
        answered = b"".join(iter(lambda: connection.recv(65_536), b""))
    said, _, text = answered.partition(b"\r\n\r\n")
    status = int(said.split(None, 2)[1])
    if status >= _REFUSED:
        raise LookupError(f"{path}: {status}")
    found: dict[str, Any] = json.loads(text)
    return found


if __name__ == "__main__":
    main()
