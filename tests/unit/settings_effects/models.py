"""Effects of the settings of models: embedding, extraction, judging of beliefs."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from typing import Any

from semantic_memory import SemanticMemory
from semantic_memory.domain.errors import ConfigurationError, ProviderError, StoreClosedError
from semantic_memory.domain.events import BreakerOpened, ModelCalled
from semantic_memory.testing import HashEmbedder
from tests.conftest import say
from tests.support.openai_server import Reply, answer, completion, fact, failure, shown
from tests.unit.settings_effects.case import S, Trial, U, effect, facts

ENDPOINT = {"openai__base_url": lambda run: run.server.url, "extraction__max_retries": 0}
EMBEDDING = {**ENDPOINT, "embedding__provider": "openai"}
EXTRACTING = {**ENDPOINT, "extraction__provider": "openai"}
JUDGING = {**ENDPOINT, "beliefs__judge": "openai"}


def heard(request: dict[str, Any]) -> Reply:
    """Reply with a fact for each message."""
    messages = shown(request)["messages"]
    return answer(*(fact(f"Heard: {m['text']}", m["n"]) for m in messages))


def said(run: Trial, *script: Any) -> SemanticMemory:
    """Return a store that waits to extract a message, through an endpoint with this script."""
    run.server.script = [*script] or [heard]
    run.server.requests.clear()
    memory = run.open()
    memory.observe(say("I own a boat"), **S)
    return memory


def extracts(memory: SemanticMemory) -> bool:
    """Return True if the extraction of what waits succeeds."""
    try:
        memory.flush()
    except ProviderError:
        return False
    return facts(memory) != []


# ---------------------------------------------------------------- embedding


def named(run: Trial) -> tuple[str, bool]:
    """Return the first word of the embedder's name, and whether it works in full precision."""
    name = run.open(embedder=None).stats().embedder
    return name.split()[0], "fp32" in name


_MINILM = "all-MiniLM-L6-v2"
effect(
    "embedding.provider",
    "openai",
    was=(_MINILM, False),
    becomes=("text-embedding-3-small", True),
    **ENDPOINT,
)(named)
effect("embedding.precision", "fp32", was=(_MINILM, False), becomes=(_MINILM, True))(named)


@effect(
    "embedding.model",
    "other-model",
    was={"text-embedding-3-small"},
    becomes={"other-model"},
    **EMBEDDING,
    embedding__dimension=8,
)
def models_that_embed(run: Trial) -> set[str]:
    run.server.embedded.clear()
    run.open(embedder=None).add("Likes tea", **U)
    return {request["model"] for request in run.server.embedded}


@effect("embedding.dimension", 8, was=False, becomes=True, **EMBEDDING)
def found_by_meaning_in_eight_dimensions(run: Trial) -> bool:
    memory = run.open(embedder=None)
    memory.add("Likes tea", **U)
    with suppress(ProviderError):
        memory.flush()
    return memory.search("beverages", **U)[0].parts.dense > 0.99


# ---------------------------------------------------------------- the endpoint


@effect("openai.api_key", "sk-1", was={"Bearer none"}, becomes={"Bearer sk-1"}, **EXTRACTING)
def keys_that_are_sent(run: Trial) -> set[str]:
    run.server.keys.clear()
    said(run).flush()
    return set(run.server.keys)


@effect(
    "openai.base_url",
    lambda run: run.server.url,
    was="refused",
    becomes="asked",
    extraction__provider="openai",
)
def extraction_without_a_key(run: Trial) -> str:
    try:
        memory = said(run)
    except ConfigurationError:
        return "refused"
    memory.flush()
    return "asked" if run.server.requests else "not asked"


# ---------------------------------------------------------------- extraction


@effect("extraction.provider", "openai", was=0, becomes=1, **ENDPOINT)
def requests_of_extraction(run: Trial) -> int:
    said(run).flush()
    return len(run.server.requests)


def request(run: Trial) -> dict[str, Any]:
    """Return the request that extraction sends."""
    said(run).flush()
    return run.server.requests[0]


effect("extraction.model", "m2", was="gpt-4o-mini", becomes="m2", **EXTRACTING)(
    lambda run: request(run)["model"]
)
effect("extraction.temperature", 0.7, was=0.1, becomes=0.7, **EXTRACTING)(
    lambda run: request(run)["temperature"]
)


@effect("extraction.timeout_seconds", 0.1, was=True, becomes=False, **EXTRACTING)
def slow_answer_is_taken(run: Trial) -> bool:
    body = answer(fact("Heard of a boat", 1)).body
    return extracts(said(run, Reply(body, delay=0.5)))


@effect("extraction.max_retries", 0, was=True, becomes=False, **EXTRACTING)
def first_failure_is_repeated(run: Trial) -> bool:
    return extracts(said(run, failure(500), heard))


@effect("extraction.breaker_failures", 1, was=False, becomes=True, **EXTRACTING)
def one_failure_opens_the_breaker(run: Trial) -> bool:
    extracts(said(run, failure(500)))
    return run.seen(BreakerOpened) != []


@effect(
    "extraction.breaker_seconds",
    0,
    was=False,
    becomes=True,
    **EXTRACTING,
    extraction__breaker_failures=1,
)
def asked_again_after_a_failure(run: Trial) -> bool:
    memory = said(run, failure(500), heard)
    assert not extracts(memory)
    return extracts(memory)


@effect(
    "extraction.batch", True, was=0, becomes=1, **EXTRACTING, extraction__batch_poll_seconds=0.02
)
def batches_at_the_endpoint(run: Trial) -> int:
    memory = said(run)
    memory.flush()
    assert facts(memory) != []
    return len(run.server.batches)


@effect(
    "extraction.batch_poll_seconds",
    0.02,
    was=False,
    becomes=True,
    **EXTRACTING,
    extraction__batch=True,
)
def batch_is_back_soon(run: Trial) -> bool:
    run.server.batch_status = ["validating", "in_progress", "completed"]
    memory = said(run)

    def flush() -> None:
        with suppress(StoreClosedError):
            memory.flush()

    waiting = threading.Thread(target=flush)
    waiting.start()
    try:
        return run.eventually(lambda: facts(memory) != [])
    finally:
        memory.close()
        waiting.join()


@effect("extraction.usd_per_million_tokens", {}, was=0.00021, becomes=None, **EXTRACTING)
def cost_of_a_call(run: Trial) -> float | None:
    said(run).flush()
    (called,) = run.seen(ModelCalled)
    return None if called.cost_usd is None else round(called.cost_usd, 6)


# ---------------------------------------------------------------- beliefs


def same(request: dict[str, Any]) -> Reply:
    """Reply that the facts of each pair are the same."""
    verdict = {"relation": "same", "reason": "habit", "certainty": 0.9}
    pairs = [{"pair": pair["pair"], **verdict} for pair in shown(request)]
    return completion(json.dumps({"answers": pairs}))


def judged_by(run: Trial) -> list[str]:
    """Return the models that a sweep asks about two facts which the rules are unsure of."""
    run.server.script = [same]
    run.server.requests.clear()
    memory = run.open(embedder=HashEmbedder(256))
    for content in (
        "I write my notes in Obsidian at night",
        "I take my notes in Obsidian at night",
    ):
        memory.add(content, **U)
    memory.flush()
    memory.maintain(["dedup"])
    assert len(facts(memory)) == (1 if run.server.requests else 2)
    return [request["model"] for request in run.server.requests]


effect("beliefs.judge", "openai", was=[], becomes=["gpt-4o-mini"], **ENDPOINT)(judged_by)
effect("beliefs.model", "m2", was=["gpt-4o-mini"], becomes=["m2"], **JUDGING)(judged_by)
effect("beliefs.pairs_per_hour", 0, was=["gpt-4o-mini"], becomes=[], **JUDGING)(judged_by)
