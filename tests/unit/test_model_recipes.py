"""The recipes in `docs/how-to/models` work with a server that answers as theirs does.

Each server stands on loopback. It has the provider's path, its way of naming the key, the form of
its answers and of its refusals; no provider is asked.
"""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from semantic_memory import Category
from semantic_memory.domain.errors import ProviderError
from semantic_memory.domain.events import ExtractionFellBack, ModelCalled
from semantic_memory.settings import IngestSettings, Settings
from tests.conftest import say
from tests.support.openai_server import Reply, fact, quoting, serve, shown

ROOT = Path(__file__).parents[2] / "docs" / "how-to" / "models"
SAID = ("I own a boat.", "I play the cello.")
JSON = {"Content-Type": "application/json", "retry-after-ms": "1"}


def reply(status: int, **body: Any) -> Reply:
    return Reply(json.dumps(body).encode(), status, JSON)


def error(status: int, message: str, **values: Any) -> Reply:
    return reply(status, error={"message": message, **values})


def chat(text: str | None, *, choice: Any = None, message: Any = None, **more: Any) -> Reply:
    """Return a chat completion with what a server adds to it."""
    said = {"role": "assistant", "content": text, **(message or {})}
    choices = [{"index": 0, "finish_reason": "stop", "message": said, **(choice or {})}]
    usage = {"prompt_tokens": 1_000, "completion_tokens": 100, "total_tokens": 1_100}
    return reply(200, id="x", object="chat.completion", choices=choices, usage=usage, **more)


def message(text: str, stop_reason: str = "end_turn") -> Reply:
    """Return a message in Anthropic's form."""
    usage = {"input_tokens": 1_000, "output_tokens": 100}
    content = [{"type": "thinking", "thinking": "{}"}, {"type": "text", "text": text}]
    return reply(
        200, type="message", role="assistant", content=content, stop_reason=stop_reason, usage=usage
    )


def azure_chat(text: str) -> Reply:
    fine = {"hate": {"filtered": False, "severity": "safe"}}
    filters = [{"prompt_index": 0, "content_filter_results": fine}]
    return chat(text, choice={"content_filter_results": fine}, prompt_filter_results=filters)


def openrouter_chat(text: str) -> Reply:
    said = chat(text, provider="Chutes", message={"reasoning": "Hm."})
    return Reply(b"\n         \n" + said.body, 200, JSON)


Options = Mapping[str, Any]


@dataclass(frozen=True)
class Provider:
    """The answers of a provider's server."""

    path: str
    key: Mapping[str, str]
    """The header by which it knows who asks; lower case."""
    answers: Callable[[str], Reply]
    query: str = ""
    waits: Mapping[str, Reply] = field(default_factory=dict)
    """Refusals after which messages wait for the model."""
    passes: Mapping[str, Reply] = field(default_factory=dict)
    """Failures that are tried again at once."""
    lacks: Mapping[str, tuple[Callable[[Options], bool], Reply]] = field(default_factory=dict)
    """Refusals of requests that have some option, by which it is left out."""
    too_long: tuple[Reply, ...] = ()
    unfit: Mapping[str, Reply] = field(default_factory=dict)
    """Refusals of a text, after which the rules extract from it."""
    module: str | None = None
    """Package that it needs."""


def has(option: str) -> Callable[[Options], bool]:
    return lambda request: option in request


def is_by_schema(request: Options) -> bool:
    return bool(request.get("response_format", {}).get("type") == "json_schema")


PROVIDERS = {
    "openai": Provider(
        "/v1/chat/completions",
        {"authorization": "Bearer sk-env"},
        chat,
        waits={
            "key": error(401, "Incorrect API key provided: sk-env.", code="invalid_api_key"),
            "model": error(404, "The model `x` does not exist", code="model_not_found"),
            "quota": error(
                429, "You exceeded your current quota", type="insufficient_quota", code=None
            ),
        },
        passes={
            "rate": error(429, "Rate limit reached for gpt-4o-mini", code="rate_limit_exceeded"),
            "server": error(500, "The server had an error", type="server_error"),
        },
        lacks={
            "temperature": (
                has("temperature"),
                error(
                    400,
                    "Unsupported value: 'temperature' does not support 0.1 with this model.",
                    param="temperature",
                    code="unsupported_value",
                ),
            ),
            "schema": (
                is_by_schema,
                error(
                    400,
                    "Invalid parameter: 'response_format' of type 'json_schema' is not supported",
                    param="response_format",
                ),
            ),
        },
        too_long=(error(400, "Too many tokens", code="context_length_exceeded"),),
        unfit={"refusal": chat(None, message={"refusal": "I can't help with that."})},
    ),
    "azure": Provider(
        "/openai/deployments/my-deployment/chat/completions",
        {"api-key": "..."},
        azure_chat,
        query="api-version=2024-10-21",
        waits={
            "key": error(401, "Access denied due to invalid subscription key", code="401"),
            "gateway": reply(401, statusCode=401, message="Unauthorized. Access token is missing"),
            "deployment": error(
                404, "The API deployment does not exist", code="DeploymentNotFound"
            ),
        },
        passes={"rate": error(429, "Requests have exceeded call rate limit", code="429")},
        lacks={
            "schema": (
                is_by_schema,
                error(
                    400,
                    "response_format value as json_schema is enabled only for api versions"
                    " 2024-08-01-preview and later",
                    code="BadRequest",
                ),
            )
        },
        unfit={
            "prompt": error(
                400,
                "The response was filtered due to the prompt triggering Azure's policy.",
                code="content_filter",
                innererror={"code": "ResponsibleAIPolicyViolation"},
            ),
            "answer": chat("", choice={"finish_reason": "content_filter"}),
        },
    ),
    "ollama": Provider(
        "/v1/chat/completions",
        {},
        lambda text: chat(f"<think>\nA boat.\n</think>\n\n{text}", system_fingerprint="fp_ollama"),
        waits={
            "model": error(404, "model 'qwen3:8b' not found", type="api_error", code=None),
            "an older form": reply(404, error="model 'qwen3:8b' not found, try pulling it first"),
        },
        passes={"loading": error(500, "llama runner process has terminated", type="api_error")},
        lacks={"format": (has("response_format"), error(400, "invalid format", type="api_error"))},
    ),
    "vllm": Provider(
        "/v1/chat/completions",
        {"authorization": "Bearer token-abc123"},
        lambda text: chat(text, message={"reasoning_content": "{}", "tool_calls": []}),
        waits={
            "key": reply(401, error="Unauthorized"),
            "model": error(404, "The model `x` does not exist.", type="NotFoundError", code=404),
            "an older form": reply(
                404, object="error", message="The model does not exist.", type="NotFoundError"
            ),
        },
        passes={"engine": error(500, "", type="InternalServerError", code=500)},
        lacks={
            "grammar": (
                has("response_format"),
                reply(
                    400,
                    object="error",
                    message="The provided JSON schema contains features not supported by xgrammar.",
                    type="BadRequestError",
                    param=None,
                    code=400,
                ),
            )
        },
        too_long=(
            error(
                400,
                "This model's maximum context length is 4096 tokens. However, you requested 5000",
                type="BadRequestError",
                code=400,
            ),
        ),
    ),
    "litellm": Provider(
        "/v1/chat/completions",
        {"authorization": "Bearer sk-1234"},
        lambda text: chat(f"Here is the JSON:\n```json\n{text}\n```"),
        waits={
            "key": error(
                401, "Authentication Error, Invalid proxy server token", type="auth_error"
            ),
            "budget": error(
                400,
                "Budget has been exceeded! Current cost: 1.2, Max budget: 1.0",
                type="budget_exceeded",
                code="400",
            ),
        },
        passes={
            "rate": error(429, "litellm.RateLimitError: No deployments available", code="429"),
            "connection": error(500, "litellm.APIConnectionError", code="500"),
        },
        lacks={
            "temperature": (
                has("temperature"),
                error(
                    400,
                    "litellm.UnsupportedParamsError: o3 doesn't support temperature=0.1. To drop"
                    " unsupported params set `litellm.drop_params = True`",
                    code="400",
                ),
            ),
            "format": (
                has("response_format"),
                error(400, "litellm.BadRequestError: GroqException - failed", code="400"),
            ),
        },
        too_long=(
            error(
                400,
                "litellm.ContextWindowExceededError: prompt is too long: 210000 tokens",
                code="400",
            ),
        ),
        unfit={"policy": error(400, "litellm.ContentPolicyViolationError", type="content_policy")},
    ),
    "openrouter": Provider(
        "/api/v1/chat/completions",
        {"authorization": "Bearer sk-or-...", "x-title": "my agent"},
        openrouter_chat,
        waits={
            "key": error(401, "No auth credentials found", code=401),
            "credits": error(402, "Insufficient credits. Add more", code=402),
            "key with status 200": reply(200, error={"code": 401, "message": "User not found."}),
        },
        passes={
            "rate": error(429, "Rate limit exceeded", code=429),
            "server with status 200": reply(200, error={"code": 502, "message": "Bad gateway"}),
            "server in a choice": chat(
                "", choice={"finish_reason": "error", "error": {"code": 502, "message": "gone"}}
            ),
        },
        lacks={
            "parameters": (
                has("response_format"),
                error(
                    404, "No endpoints found that can handle the requested parameters.", code=404
                ),
            ),
            "a server behind it": (
                has("temperature"),
                error(
                    400,
                    "Provider returned error",
                    code=400,
                    metadata={"raw": '{"detail": "temperature not allowed"}', "provider_name": "X"},
                ),
            ),
        },
        unfit={
            "moderation": error(
                403,
                "Your chosen model requires moderation and your input was flagged",
                code=403,
                metadata={"reasons": ["violence"], "flagged_input": "..."},
            )
        },
    ),
    "anthropic": Provider(
        "/v1/messages",
        {"authorization": "Bearer sk-env"},
        message,
        waits={
            "key": error(401, "invalid x-api-key", type="authentication_error"),
            "model": error(404, "model: claude-x", type="not_found_error"),
            "credit": error(
                400, "Your credit balance is too low to access", type="invalid_request_error"
            ),
        },
        passes={
            "rate": error(429, "This request would exceed", type="rate_limit_error"),
            "overloaded": error(529, "Overloaded", type="overloaded_error"),
        },
        lacks={
            "schema": (
                has("output_config"),
                error(
                    400,
                    "output_config: Extra inputs are not permitted",
                    type="invalid_request_error",
                ),
            ),
            "temperature": (
                has("temperature"),
                error(400, "`temperature` is deprecated for this model"),
            ),
        },
        too_long=(
            error(400, "prompt is too long: 210000 tokens > 200000 maximum"),
            error(413, "Request exceeds the maximum size", type="request_too_large"),
            message('{"facts": [{"st', "max_tokens"),
        ),
        unfit={"refusal": message("", "refusal")},
        module="anthropic",
    ),
}


@pytest.fixture
def server():
    with serve() as server:
        yield server


@pytest.fixture
def recipe(request, server, open_memory, monkeypatch):
    """Return what opens a store by the settings of a provider's page, moved to loopback."""
    name = request.param
    provider = PROVIDERS[name]
    if provider.module:
        pytest.importorskip(provider.module)
    page = (ROOT / f"{name}.md").read_text(encoding="utf-8")
    values = tomllib.loads(re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0])
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(variable, "sk-env")
    (endpoint,) = values["llm"].values()
    here = server.url.removesuffix("/v1")
    if "base_url" in endpoint:
        endpoint["base_url"] = here + urlsplit(endpoint["base_url"]).path
    else:
        monkeypatch.setattr(
            "semantic_memory.bootstrap.models._URLS",
            {"openai": f"{here}/v1", "anthropic": here},
        )
        monkeypatch.setattr(
            "semantic_memory.bootstrap.models._own_key", lambda *_: "sk-env", raising=True
        )
    endpoint["max_retries"] = 1

    def open_it():
        ingest = IngestSettings(background=False, retry_seconds=0.01)
        return open_memory(settings=Settings(**values, ingest=ingest))

    return provider, open_it


def heard(provider: Provider) -> Callable[[Any], Reply]:
    def script(request):
        if str(request["messages"][-1]["content"])[0] != "{":
            return provider.answers("Yes.")
        facts = [fact(f"Heard: {m['text']}", m["n"]) for m in shown(request)["messages"]]
        fields = dict.fromkeys(("work_context", "personal_context", "top_of_mind"))
        parts = {"facts": quoting(facts, request), "ends": [], "profile": fields}
        return provider.answers(json.dumps(parts))

    return script


def facts(memory) -> set[str]:
    categories = frozenset(Category) - {Category.CONVERSATION}
    found = memory.list(user_id="u1", filters={"categories": categories})
    return {item.content for item in found}


def told(memory) -> None:
    memory.observe(say(*SAID), user_id="u1", session_id="s1")


BY_MODEL = {f"Heard: {text}" for text in SAID}
BY_RULES = {"The user owns a boat", "The user plays the cello"}


def cases(field_name: str) -> list[Any]:
    return [
        pytest.param(name, key, id=f"{name}: {key}")
        for name, provider in PROVIDERS.items()
        for key in (
            range(len(provider.too_long))
            if field_name == "too_long"
            else getattr(provider, field_name)
        )
    ]


def test_every_page_is_tested():
    assert {page.stem for page in ROOT.glob("*.md")} == set(PROVIDERS)


@pytest.mark.parametrize("recipe", PROVIDERS, indirect=True)
def test_a_recipe_extracts(recipe, server, events):
    provider, open_it = recipe
    server.script = [heard(provider)]
    memory = open_it()
    told(memory)
    memory.flush()
    assert facts(memory) == BY_MODEL
    assert (server.paths[-1], server.queries[-1]) == (provider.path, provider.query)
    sent = {name.lower(): value for name, value in server.headers[-1].items()}
    assert {name: sent.get(name) for name in provider.key} == dict(provider.key)
    if "authorization" not in provider.key:
        assert "authorization" not in sent
    (called,) = (event for event in events if isinstance(event, ModelCalled))
    assert (called.input_tokens, called.output_tokens, called.user_id) == (1_000, 100, "u1")


@pytest.mark.parametrize(("recipe", "case"), cases("waits"), indirect=["recipe"])
def test_messages_wait_while_a_provider_refuses(recipe, server, case):
    provider, open_it = recipe
    server.script = [provider.waits[case]]
    memory = open_it()
    told(memory)
    with pytest.raises(ProviderError, match="refuses every request"):
        memory.flush()
    assert facts(memory) == set()
    assert len(server.requests) == 1
    server.script = [heard(provider)]
    memory.flush()
    assert facts(memory) == BY_MODEL


@pytest.mark.parametrize(("recipe", "case"), cases("passes"), indirect=["recipe"])
def test_a_failure_that_passes_is_tried_again(recipe, server, case):
    provider, open_it = recipe
    server.script = [provider.passes[case], heard(provider)]
    memory = open_it()
    told(memory)
    memory.flush()
    assert facts(memory) == BY_MODEL


@pytest.mark.parametrize(("recipe", "case"), cases("lacks"), indirect=["recipe"])
def test_an_option_that_a_server_lacks_is_left_out(recipe, server, events, case):
    provider, open_it = recipe
    is_refused, refusal = provider.lacks[case]
    answering = heard(provider)
    server.script = [lambda request: refusal if is_refused(request) else answering(request)]
    memory = open_it()
    told(memory)
    memory.flush()
    assert facts(memory) == BY_MODEL
    assert [event for event in events if isinstance(event, ExtractionFellBack)] == []


@pytest.mark.parametrize(("recipe", "case"), cases("too_long"), indirect=["recipe"])
def test_what_is_too_long_is_halved(recipe, server, events, case):
    provider, open_it = recipe
    answering = heard(provider)

    def one_at_a_time(request):
        if len(shown(request)["messages"]) > 1:
            return provider.too_long[case]
        return answering(request)

    server.script = [one_at_a_time]
    memory = open_it()
    told(memory)
    memory.flush()
    assert facts(memory) == BY_MODEL
    assert [event for event in events if isinstance(event, ExtractionFellBack)] == []


@pytest.mark.parametrize(("recipe", "case"), cases("unfit"), indirect=["recipe"])
def test_a_text_that_is_refused_is_left_to_the_rules(recipe, server, events, case):
    provider, open_it = recipe
    server.script = [provider.unfit[case]]
    memory = open_it()
    told(memory)
    memory.flush()
    assert facts(memory) == BY_RULES
    fell_back = [event for event in events if isinstance(event, ExtractionFellBack)]
    assert sum(event.messages for event in fell_back) == 2
