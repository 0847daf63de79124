"""The maintenance jobs of a memory, `memory.jobs`.

memory.jobs.run(["dedup", "decay"], dry_run=True)
"""

from __future__ import annotations

from semantic_memory.domain.requests import MaintainRequest, RunsRequest
from semantic_memory.groups.binding import Group, verb


class Jobs(Group):
    """The maintenance jobs of a memory. Thread-safe."""

    run = verb(MaintainRequest.of, lambda use: use.maintenance.maintain)
    runs = verb(RunsRequest.of, lambda use: use.maintenance.runs)
