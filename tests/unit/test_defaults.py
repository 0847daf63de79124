"""The defaults that the documentation states: a changed one fails here, by its name.

`make mutants` changes fifty of them, one at a time, and shows that each change is noticed.
"""

from __future__ import annotations

import math
from datetime import timedelta
from operator import attrgetter
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from ingest.log_file import _TRIES
from semantic_memory import Category, InvalidInputError
from semantic_memory.bootstrap.write_path import pace_of
from semantic_memory.consolidation.beliefs import CONFIRMATION_GAIN, CONFIRMATION_SPACING
from semantic_memory.consolidation.fading import SPACING
from semantic_memory.domain import fields
from semantic_memory.domain.decay import HALF_LIFE_DAYS, LONGEST, PRIOR, confirmation
from semantic_memory.domain.values import MAX_CONTENT_BYTES, MAX_QUERY_BYTES, Identifier
from semantic_memory.retrieval.to_review import UNCONFIRMED
from semantic_memory.session.window import _MOST_FAILURES
from semantic_memory.settings import IngestSettings, LLMSettings, Settings, UpkeepSettings
from tests.conftest import NOW
from tests.unit.settings_effects.case import says

U: dict[str, Any] = {"user_id": "u1"}

SETTINGS: dict[str, Any] = {
    # extraction and the gate
    "ingest.background": True,
    "ingest.min_confidence": 0.7,
    "ingest.personal_data": "mask",
    "ingest.secrets": "mask",
    "ingest.forget_requests": "ask",
    "ingest.retry_seconds": 60.0,
    "extraction.temperature": 0.1,
    "extraction.stand_in_hours": 24.0,
    # persistence
    "log.secrets": "mask",
    "log.most_bytes": 10_000_000,
    "log.refuse_at": 1.0,
    "log.patience_seconds": 1.0,
    "lock_seconds": 1.0,
    "index.exact": True,
    "index.exact_limit": 30_000,
    # fading and upkeep
    "upkeep.schedule": True,
    "upkeep.loss_per_week": 0.01,
    "upkeep.floor": 0.3,
    "upkeep.cap": 5_000,
    "upkeep.events": 1_000_000,
    "upkeep.sweep_minutes": 60,
    "upkeep.relevance_minutes": 60,
    "upkeep.decay_hours": 24,
    "upkeep.rollup_hours": 24,
    "upkeep.compact_hours": 168,
    "relevance.floor": 0.1,
    "relevance.boost": 0.5,
    "relevance.boost_half_life_days": 7.0,
    "relevance.use_share": 0.5,
    # ranking
    "retrieval.dense": 0.55,
    "retrieval.sentence": 0.8,
    "retrieval.neighbour": 0.3,
    "retrieval.answer": 0.15,
    "retrieval.session": 0.35,
    "retrieval.speaker": 0.2,
    "retrieval.voice": 0.12,
    "retrieval.time": 0.3,
    "retrieval.asks": 0.03,
    "retrieval.outdated": 0.5,
    "retrieval.relevance": 0.07,
    "rerank.provider": "packaged",
    "rerank.timeout_seconds": 2.0,
    # blocks
    "context.model": "gpt-4o",
    "context.candidates": 100,
    "context.template": "xml",
    "context.floor": 0.12,
    "context.weakest": 0.1,
    "context.diversity": 0.5,
    "context.core": 150,
    "context.history": 0.15,
    "context.memory_files": 0.5,
    "context.audit": 200,
    "trace.share": 1.0,
    "trace.days": 7.0,
    # the window
    "window.response_reserve": 13_000,
    "window.trigger": 0.85,
    "window.target": 0.6,
    "window.summary_reserve": 20_000,
    "window.memory_tokens": 2_000,
    "window.keep_last": 10,
    "window.result_characters": 10_000,
    "window.summarizer": "extractive",
    "window.memory_file_lines": 200,
    "window.memory_file_bytes": 25_000,
    # profile and history
    "profile.facts": 6,
    "profile.recent_days": 30,
    "profile.earlier_days": 180,
    "profile.recent_sentences": 30,
    "profile.earlier_sentences": 10,
    "profile.long_term_sentences": 6,
    # judging, the service
    "beliefs.judge": "packaged",
    "beliefs.pairs_per_hour": 200,
    "service.host": "127.0.0.1",
    "service.requests_per_minute": 60_000,
    "service.body_bytes": 4_000_000,
    "service.header_seconds": 10.0,
}
LLM: dict[str, Any] = {
    "max_retries": 4,
    "breaker_failures": 3,
    "breaker_seconds": 60.0,
    "timeout_seconds": 60.0,
}
HALF_LIVES = {
    "preference": math.inf,
    "personal": math.inf,
    "feedback": math.inf,
    "project": 60,
    "technical": 90,
    "decision": 30,
    "finding": 14,
    "reference": 180,
    "conversation": 7,
}
CONSTANTS: dict[str, tuple[Any, Any]] = {
    "bytes of a content": (MAX_CONTENT_BYTES, 1_000_000),
    "bytes of a query": (MAX_QUERY_BYTES, 8_192),
    "tokens of a block": (fields.BUDGET.default, 2_000),
    "hits of a search": (fields.HITS.default, 10),
    "memories of a page": (fields.PAGE.default, 100),
    "confidence of a fact that is added": (fields.CONFIDENCE.default, 1.0),
    "importance of a fact": (fields.IMPORTANCE.default, 0.5),
    "weight of a finding": (PRIOR[Category.FINDING], 0.5),
    "factor by which uses lengthen a half-life": (LONGEST, 4.0),
    "gain of relevance by confirmation": (float(confirmation(100)), 1.3),
    "gain of confidence by confirmation": (CONFIRMATION_GAIN, 0.02),
    "least time between confirmations": (CONFIRMATION_SPACING, timedelta(days=1)),
    "least time between uses": (SPACING, timedelta(hours=1)),
    "age of a preference to confirm": (UNCONFIRMED, timedelta(days=183)),
    "attempts of a write": (_TRIES, 3),
    "failed summaries that stop summaries": (_MOST_FAILURES, 3),
}


def test_settings_have_their_documented_defaults():
    assert {name: attrgetter(name)(Settings()) for name in SETTINGS} == SETTINGS


def test_an_endpoint_has_its_documented_defaults():
    assert {name: getattr(LLMSettings(), name) for name in LLM} == LLM


def test_categories_have_their_documented_half_lives():
    assert {one.value: HALF_LIFE_DAYS[one] for one in Category} == HALF_LIVES


def test_limits_have_their_documented_values():
    assert {name: pair for name, pair in CONSTANTS.items() if pair[0] != pair[1]} == {}


@pytest.mark.parametrize(
    ("deciding", "seconds", "longest", "messages"),
    [(False, 30.0, 300.0, 50), (True, 300.0, 3_000.0, 10)],
    ids=["packaged", "model"],
)
def test_a_session_is_extracted_after_the_documented_time(deciding, seconds, longest, messages):
    pace = pace_of(IngestSettings(), deciding=deciding)
    assert (pace.quiet, pace.most_wait, pace.most_hints) == (seconds, longest, messages)


def test_an_id_has_at_most_128_characters():
    ids = TypeAdapter(Identifier)
    assert ids.validate_python("x" * 128)
    with pytest.raises(ValidationError):
        ids.validate_python("x" * 129)


def test_a_tag_has_at_most_64_characters(memory):
    assert memory.add("Likes tea", **U, tags=["x" * 64])
    with pytest.raises(InvalidInputError):
        memory.add("Likes rye", **U, tags=["x" * 65])


def test_the_gate_refuses_a_confidence_below_its_default(open_memory):
    kept = []
    for confidence in (0.69, 0.7):
        memory = open_memory(
            extractor=says("The user likes tea", confidence=confidence),
            settings=Settings(ingest=IngestSettings(background=False)),
        )
        memory.observe([{"role": "user", "content": "Tea, please"}], **U, session_id="s1")
        memory.flush()
        kept.append(len(memory.list(**U, filters="-category:conversation")))
        memory.forget(**U, everything=True)
        memory.close()
    assert kept == [0, 1]


def test_the_cap_archives_the_least_confident_then_the_oldest(open_memory):
    memory = open_memory(settings=Settings(upkeep=UpkeepSettings(cap=2, schedule=False)))
    for name, confidence, days in (("a", 0.9, 1), ("b", 0.8, 0), ("c", 0.9, 5), ("d", 0.95, 3)):
        at = NOW - timedelta(days=days)
        memory.add(f"Uses {name}", **U, confidence=confidence, created_at=at)
    archived = {one.content for one in memory.list(**U, status="archived")}
    assert archived == {"Uses b", "Uses c"}
