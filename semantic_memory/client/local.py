"""Finding the service that owns a data directory."""

from __future__ import annotations

import json
from pathlib import Path

from semantic_memory.client import Client

ADDRESS_FILE = "service.json"
"""In the data directory while a service owns it: its pid, its URL, and a token of its own."""
_OWNER_FILE = "owner.pid"


def find_service(data_dir: Path) -> Client | None:
    """Return a client of the service that has `data_dir` open; None if something else has."""
    try:
        service = json.loads((data_dir / ADDRESS_FILE).read_text(encoding="utf-8"))
        owner = (data_dir / _OWNER_FILE).read_text(encoding="ascii").strip()
        if str(service["pid"]) != owner:  # left behind by a service that was killed
            return None
        return Client(service["url"], api_key=service["token"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
