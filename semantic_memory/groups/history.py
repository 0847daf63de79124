"""The versions of memories and the review of changes, `memory.history`.

for one in memory.history.retired(user_id="maya"):
    print(one.fact.content, one.cause.reason, one.cause.quote)
memory.history.undo(user_id="maya", decision=one.fact.id)
"""

from __future__ import annotations

from semantic_memory.domain.requests import (
    AcceptRequest,
    AuditRequest,
    ExplainRequest,
    HistoryRequest,
    LabelsRequest,
    RejectRequest,
    RequestsRequest,
    RestoreRequest,
    RetiredRequest,
    SettleRequest,
    ToConfirmRequest,
    UndoRequest,
)
from semantic_memory.groups.binding import Group, verb


class History(Group):
    """The history of a memory's facts, and their review. Thread-safe.

    A newer statement ends a fact where a rule or a model is sure of it, and is linked to it as
    perhaps having changed it where that is only likely.
    """

    versions = verb(HistoryRequest.of, lambda use: use.lookup.history)
    explain = verb(ExplainRequest.of, lambda use: use.explain.explain)
    restore = verb(RestoreRequest.of, lambda use: use.edits.restore)
    audit = verb(AuditRequest.of, lambda use: use.trail.audit)
    retired = verb(RetiredRequest.of, lambda use: use.review.retired)
    undo = verb(UndoRequest.of, lambda use: use.review.undo)
    to_confirm = verb(ToConfirmRequest.of, lambda use: use.review.to_confirm)
    accept = verb(AcceptRequest.of, lambda use: use.review.accept)
    reject = verb(RejectRequest.of, lambda use: use.review.reject)
    labels = verb(LabelsRequest.of, lambda use: use.review.labels)
    requests = verb(RequestsRequest.of, lambda use: use.asking.requests)
    settle = verb(SettleRequest.of, lambda use: use.asking.settle)
