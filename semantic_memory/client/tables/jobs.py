"""The verbs of `memory.jobs`."""

from __future__ import annotations

from semantic_memory.client.calls import Verb, many
from semantic_memory.domain.reports import JobRun
from semantic_memory.domain.requests import MaintainRequest, RunsRequest

run = Verb(MaintainRequest.of, "POST", "/v1/jobs/run", many(JobRun))
runs = Verb(RunsRequest.of, "GET", "/v1/jobs/runs", many(JobRun))
