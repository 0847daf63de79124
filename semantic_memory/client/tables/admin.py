"""The verbs of `memory.admin`."""

from __future__ import annotations

from semantic_memory.client.calls import Verb, many, number, one
from semantic_memory.domain.reports import Finding, Stats, Verified
from semantic_memory.domain.requests import (
    CheckRequest,
    IdsRequest,
    RebuildRequest,
    StatsRequest,
    UsersRequest,
    VerifyRequest,
)

users = Verb(UsersRequest, "GET", "/v1/admin/users", many(str))
ids = Verb(IdsRequest.of, "GET", "/v1/admin/ids", many(str))
stats = Verb(StatsRequest, "GET", "/v1/admin/stats", one(Stats))
check = Verb(CheckRequest, "GET", "/v1/admin/check", many(Finding))
rebuild = Verb(RebuildRequest.of, "POST", "/v1/admin/rebuild", number("indexed"))
verify_receipt = Verb(VerifyRequest.of, "POST", "/v1/admin/verify-receipt", one(Verified))
