"""Many memories at once, `memory.transfer`: export, load, add.

records = memory.transfer.export(user_id="maya")
other.transfer.load(records, user_id="maya")
"""

from __future__ import annotations

from semantic_memory.domain.requests import (
    AddManyRequest,
    ExportRequest,
    FromDictRequest,
    LoadRequest,
    ToDictRequest,
)
from semantic_memory.groups.binding import Group, verb


class Transfers(Group):
    """The transfer of memories into a store and out of it. Thread-safe."""

    add_many = verb(AddManyRequest.of, lambda use: use.edits.add_many)
    export = verb(ExportRequest.of, lambda use: use.transfer.export)
    load = verb(LoadRequest.of, lambda use: use.transfer.load)
    to_dict = verb(ToDictRequest.of, lambda use: use.transfer.to_dict)
    from_dict = verb(FromDictRequest.of, lambda use: use.transfer.from_dict)
