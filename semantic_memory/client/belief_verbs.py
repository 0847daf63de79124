"""The verbs of beliefs as HTTP requests, as `semantic_memory.client.verbs` has the others."""

from __future__ import annotations

from semantic_memory.client.verbs import Verb, many, written, written_items
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.requests import (
    AcceptRequest,
    LabelsRequest,
    RejectRequest,
    RetiredRequest,
    ToConfirmRequest,
    UndoRequest,
)
from semantic_memory.domain.review import LabelledPair, Retirement, Unconfirmed

retired = Verb(RetiredRequest.of, "GET", "/v1/beliefs/retired", many(Retirement))
undo = Verb(UndoRequest.of, "POST", "/v1/beliefs/undo", written_items)
to_confirm = Verb(ToConfirmRequest.of, "GET", "/v1/beliefs/to-confirm", many(Unconfirmed))
accept = Verb(AcceptRequest.of, "POST", "/v1/beliefs/accept", written(Fact))
reject = Verb(RejectRequest.of, "POST", "/v1/beliefs/reject", written(Fact))
labels = Verb(LabelsRequest.of, "GET", "/v1/beliefs/labels", many(LabelledPair))
