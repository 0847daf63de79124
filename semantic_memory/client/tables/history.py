"""The verbs of `memory.history`."""

from __future__ import annotations

from semantic_memory.client.calls import Verb, many, one, written, written_items
from semantic_memory.domain.facts import Explanation, Fact, FactVersion
from semantic_memory.domain.forget_requests import RequestToForget
from semantic_memory.domain.prompts import PromptRecord
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
from semantic_memory.domain.review import LabelledPair, Retirement, Unconfirmed

_HISTORY = "/v1/history"

versions = Verb(HistoryRequest.of, "GET", f"{_HISTORY}/versions/{{fact_id}}", many(FactVersion))
explain = Verb(ExplainRequest.of, "GET", f"{_HISTORY}/explain/{{fact_id}}", one(Explanation))
restore = Verb(
    RestoreRequest.of, "POST", f"{_HISTORY}/restore/{{fact_id}}", written(Fact), ("user_id",)
)
audit = Verb(AuditRequest.of, "GET", f"{_HISTORY}/audit", many(PromptRecord))
retired = Verb(RetiredRequest.of, "GET", f"{_HISTORY}/retired", many(Retirement))
undo = Verb(UndoRequest.of, "POST", f"{_HISTORY}/undo", written_items)
to_confirm = Verb(ToConfirmRequest.of, "GET", f"{_HISTORY}/to-confirm", many(Unconfirmed))
accept = Verb(AcceptRequest.of, "POST", f"{_HISTORY}/accept", written(Fact))
reject = Verb(RejectRequest.of, "POST", f"{_HISTORY}/reject", written(Fact))
labels = Verb(LabelsRequest.of, "GET", f"{_HISTORY}/labels", many(LabelledPair))
requests = Verb(RequestsRequest.of, "GET", f"{_HISTORY}/requests", many(RequestToForget))
settle = Verb(SettleRequest.of, "POST", f"{_HISTORY}/settle", written(RequestToForget))
