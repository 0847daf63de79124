"""An agent that starts `semantic-memory mcp` and talks to it, as Claude Desktop and Cursor do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

_PROGRAM = (sys.executable, "-m", "semantic_memory.entrypoints.cli")
_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


class Agent:
    """A process of the server, and JSON-RPC over its pipes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._ids = count(1)

    @property
    def pid(self) -> int:
        return self.process.pid

    def initialize(self) -> None:
        assert "serverInfo" in self._ask("initialize", _HELLO)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool: str, **arguments: Any) -> Any:
        """Return a tool's answer; an AssertionError shows what it said otherwise."""
        result = self._ask("tools/call", {"name": tool, "arguments": arguments})
        assert not result.get("isError"), result["content"]
        return result["content"][0]["text"]

    def contents(self) -> set[str]:
        """The texts of all memories that the agent lists."""
        lines = self.call("list_memories", limit=50).splitlines()[1:]
        return {line.split(" ", 3)[-1] for line in lines}

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def _ask(self, method: str, parameters: dict[str, Any]) -> Any:
        asked = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": parameters}
        self._send(asked)
        assert self.process.stdout is not None
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == asked["id"]:
                return answer["result"]
        raise AssertionError(f"no answer to {method}")

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()


@contextmanager
def agent(store: Path, **environment: str) -> Iterator[Agent]:
    """Start the server of an agent whose user is maya; end it by closing its input."""
    with subprocess.Popen(
        [*_PROGRAM, "mcp", "--tools", "all", "--user", "maya", "--data-dir", str(store)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **environment},
    ) as process:
        try:
            started = Agent(process)
            started.initialize()
            yield started
        finally:
            assert process.stdin is not None
            with suppress(BrokenPipeError):
                process.stdin.close()
            process.wait(60)
