"""Effects of the settings of models: embedding, extraction, judging of beliefs."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from semantic_memory import SemanticMemory
from semantic_memory.domain.errors import (
    ConfigurationError,
    MissingDependencyError,
    ProviderError,
    StoreClosedError,
)
from semantic_memory.domain.events import BreakerOpened, ModelCalled
from semantic_memory.testing import HashEmbedder
from tests.conftest import say
from tests.support.openai_server import Reply, answer, completion, fact, failure, shown
from tests.unit.settings_effects.case import S, Trial, U, effect, facts

ENDPOINT = {"llm__NAME__base_url": lambda run: run.server.url, "llm__NAME__max_retries": 0}
EMBEDDING = {"embedding__base_url": lambda run: run.server.url, "embedding__provider": "openai"}
EXTRACTING = {**ENDPOINT, "extraction__llm": "NAME"}
JUDGING = {**ENDPOINT, "beliefs__llm": "NAME"}


def heard(request: dict[str, Any]) -> Reply:
    """Reply with a fact for each message."""
    messages = shown(request)["messages"]
    return answer(*(fact(f"Heard: {m['text']}", m["n"]) for m in messages))(request)


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
    name = run.open(embedder=None).admin.stats().embedder
    return name.split()[0], "fp32" in name


_MINILM = "all-MiniLM-L6-v2"
effect(
    "embedding.provider",
    "openai",
    was=(_MINILM, False),
    becomes=("text-embedding-3-small", True),
    embedding__base_url="http://127.0.0.1:9/v1",
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


@effect("embedding.api_key", "sk-1", was={"Bearer none"}, becomes={"Bearer sk-1"}, **EMBEDDING)
def keys_of_embedding(run: Trial) -> set[str | None]:
    run.server.keys.clear()
    run.server.dimension = 1_536
    memory = run.open(embedder=None)
    memory.add("Likes tea", **U)
    memory.flush()
    return set(run.server.keys)


@effect(
    "embedding.base_url",
    lambda run: run.server.url,
    was=0,
    becomes=1,
    embedding__provider="openai",
    embedding__dimension=8,
)
def requests_of_embedding(run: Trial) -> int:
    run.server.embedded.clear()
    if "openai.com" in str(run.settings.embedding.base_url or "openai.com"):
        return 0  # no test asks OpenAI
    memory = run.open(embedder=None)
    memory.add("Likes tea", **U)
    memory.flush()
    return len(run.server.embedded)


@effect("llm.NAME.api_key", "sk-1", was={None}, becomes={"Bearer sk-1"}, **EXTRACTING)
def keys_that_are_sent(run: Trial) -> set[str | None]:
    run.server.keys.clear()
    said(run).flush()
    return set(run.server.keys)


@effect(
    "llm.NAME.base_url",
    lambda run: run.server.url,
    was="refused",
    becomes="asked",
    llm__NAME__max_retries=0,
    extraction__llm="NAME",
)
def extraction_without_a_key(run: Trial) -> str:
    try:
        memory = said(run)
    except ConfigurationError:
        return "refused"
    memory.flush()
    return "asked" if run.server.requests else "not asked"


@effect("llm.NAME.headers", {"X-Team": "memory"}, was=None, becomes="memory", **EXTRACTING)
def header_that_is_sent(run: Trial) -> str | None:
    said(run).flush()
    return run.server.headers[-1].get("X-Team")


@effect("llm.NAME.query", {"api-version": "1"}, was="", becomes="api-version=1", **EXTRACTING)
def query_that_is_sent(run: Trial) -> str:
    said(run).flush()
    return run.server.queries[-1]


@effect("llm.NAME.context_tokens", 1_000, was=1, becomes=0, **EXTRACTING)
def requests_longer_than_the_context(run: Trial) -> int:
    said(run).flush()
    return len(run.server.requests)


@effect(
    "llm.NAME.provider",
    "anthropic",
    was="asked",
    becomes="pip install 'semantic-memory[anthropic]'",
    **EXTRACTING,
    llm__NAME__model="m",
)
def endpoint_without_the_package_anthropic(run: Trial) -> str:
    run.patch.setitem(sys.modules, "anthropic", None)
    try:
        said(run).flush()
    except MissingDependencyError as error:
        return str(error).rpartition(": ")[2]
    return "asked"


# ---------------------------------------------------------------- extraction


@effect("extraction.llm", "NAME", was=0, becomes=1, **ENDPOINT)
def requests_of_extraction(run: Trial) -> int:
    said(run).flush()
    return len(run.server.requests)


def request(run: Trial) -> dict[str, Any]:
    """Return the request that extraction sends."""
    said(run).flush()
    return run.server.requests[0]


effect("llm.NAME.model", "m2", was="gpt-4o-mini", becomes="m2", **EXTRACTING)(
    lambda run: request(run)["model"]
)
effect("extraction.temperature", 0.7, was=0.1, becomes=0.7, **EXTRACTING)(
    lambda run: request(run)["temperature"]
)


@effect("llm.NAME.timeout_seconds", 0.1, was=True, becomes=False, **EXTRACTING)
def slow_answer_is_taken(run: Trial) -> bool:
    def slowly(asked: dict[str, Any]) -> Reply:
        return Reply(answer(fact("Heard of a boat", 1))(asked).body, delay=0.5)

    return extracts(said(run, slowly))


@effect("llm.NAME.max_retries", 0, was=True, becomes=False, **EXTRACTING)
def first_failure_is_repeated(run: Trial) -> bool:
    return extracts(said(run, failure(500), heard))


@effect("llm.NAME.breaker_failures", 1, was=False, becomes=True, **EXTRACTING)
def one_failure_opens_the_breaker(run: Trial) -> bool:
    extracts(said(run, failure(500)))
    return run.seen(BreakerOpened) != []


@effect(
    "llm.NAME.breaker_seconds",
    0,
    was=False,
    becomes=True,
    **EXTRACTING,
    llm__NAME__breaker_failures=1,
)
def asked_again_after_a_failure(run: Trial) -> bool:
    memory = said(run, failure(500), heard)
    assert not extracts(memory)
    return extracts(memory)


def in_the_instructions(words: str) -> Callable[[Trial], bool]:
    """Return a probe for words in the instructions that a model gets."""
    return lambda run: words in request(run)["messages"][0]["content"]


for _name, _value, _words in (
    ("instructions", "Keep what they train.", "Keep what they train."),
    ("include", ["training plans"], "these subjects only:\n- training plans"),
    ("exclude", ["health"], "Never write down anything about:\n- health"),
):
    effect(f"extraction.{_name}", _value, was=False, becomes=True, **EXTRACTING)(
        in_the_instructions(_words)
    )


effect(
    "extraction.categories.NAME.description",
    "Runs and rides",
    was=False,
    becomes=True,
    extraction__categories__NAME__half_life_days=30,
    **EXTRACTING,
)(in_the_instructions("- `name`: Runs and rides"))


@effect(
    "extraction.categories.NAME.half_life_days",
    30.0,
    was=None,
    becomes=30.0,
    extraction__categories__NAME__description="Runs and rides",
)
def half_life_of_an_own_category(run: Trial) -> float | None:
    memory = run.open()
    added = memory.add("Ran ten miles", **U, category="name")
    return memory.history.explain(added.id).half_life_days


@effect("extraction.stand_in_hours", 0, was=False, becomes=True, **EXTRACTING)
def rules_stand_in_for_a_model_that_refuses(run: Trial) -> bool:
    return extracts(said(run, failure(401)))


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


@effect("llm.NAME.usd_per_million_tokens", (0.15, 0.60), was=None, becomes=0.00021, **EXTRACTING)
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
    memory.jobs.run(["dedup"])
    assert len(facts(memory)) == (1 if run.server.requests else 2)
    return [request["model"] for request in run.server.requests]


effect("beliefs.llm", "NAME", was=[], becomes=["gpt-4o-mini"], **ENDPOINT)(judged_by)


def opened_with_a_judge(run: Trial) -> str:
    """Return the error of opening the store, up to its remedy."""
    try:
        run.open()
    except ConfigurationError as error:
        return str(error).partition(":")[0]
    return ""


effect("beliefs.judge", "nli", was="", becomes="beliefs.judge nli needs beliefs.model")(
    opened_with_a_judge
)
effect(
    "beliefs.model",
    "/nowhere",
    was="beliefs.judge nli needs beliefs.model",
    becomes="can't load the NLI model '/nowhere'",
    beliefs__judge="nli",
)(opened_with_a_judge)
effect("beliefs.pairs_per_hour", 0, was=["gpt-4o-mini"], becomes=[], **JUDGING)(judged_by)


@effect("beliefs.daily_budget_tokens", 1_000, was=2, becomes=1, **JUDGING)
def calls_on_a_day(run: Trial) -> int:
    """Count the calls of two sweeps; each takes 1,100 tokens."""
    run.server.script = [same]
    run.server.requests.clear()
    memory = run.open(embedder=HashEmbedder(256))
    for tool in ("Obsidian", "Zettlr"):
        for verb in ("write", "take"):
            memory.add(f"I {verb} my notes in {tool} at night", **U)
        memory.flush()
        memory.jobs.run(["dedup"])
    return len(run.server.requests)


effect(
    "beliefs.daily_budget_usd",
    0.0001,
    was=2,
    becomes=1,
    **JUDGING,
    llm__NAME__usd_per_million_tokens=(0.15, 0.60),
)(calls_on_a_day)
