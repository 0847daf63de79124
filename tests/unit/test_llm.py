"""The client of language models, over HTTP: what servers do, and what callers get to know of it."""

import doctest
import gzip
import json

import pytest

from ingest.extract import guidance
from semantic_memory.domain.errors import (
    AnswerUnusableError,
    InputRefusedError,
    InputTooLongError,
    ProviderError,
    ProviderRefusedError,
)
from semantic_memory.domain.events import BreakerOpened, ModelCalled
from semantic_memory.llm import dialect, json_text, refusals, transport
from semantic_memory.llm.chat import ChatRequest, in_halves
from semantic_memory.llm.endpoint import Price
from tests.support.chat_models import model_at
from tests.support.openai_server import Reply, completion, failure, serve

SCHEMA = {
    "type": "object",
    "properties": {"facts": {"type": "array", "items": {"type": "string"}}},
    "required": ["facts"],
    "additionalProperties": False,
}
ASKED = ChatRequest("test", "Extract.", '{"messages": []}', schema=SCHEMA, most_tokens=500)
GOOD = completion('{"facts": []}')
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def server():
    with serve() as server:
        server.script = [GOOD]
        yield server


def body(**values) -> Reply:
    return Reply(json.dumps(values).encode())


def said(content, **message) -> Reply:
    choice = {"index": 0, "finish_reason": "stop", "message": {"content": content, **message}}
    return body(choices=[choice])


# ---------------------------------------------------------------- answers in many forms

DOCUMENT = '{"facts": ["a"]}'
ANSWERS = {
    "plain": DOCUMENT,
    "fenced": f"```json\n{DOCUMENT}\n```",
    "fenced in tildes, with prose": f"Sure!\n~~~\n{DOCUMENT}\n~~~\nAnything else?",
    "after thoughts": f"<think>Is {{}} enough? {{'facts': 1}}</think>\n{DOCUMENT}",
    "after thoughts without a beginning": f'Let me see. {{"facts": ["b"]}}?</think>{DOCUMENT}',
    "after reasoning in capitals": f"<REASONING>\nHm\n</REASONING>{DOCUMENT}",
    "in channels": "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final"
    f"<|message|>{DOCUMENT}",
    "before prose with braces": f"{DOCUMENT}\nI used {{this}} form, and {{}}.",
    "after a draft": f'{{"facts": []}} No, better:\n{DOCUMENT}',
    "with a byte order mark": f"\ufeff{DOCUMENT}",
    "in a list of parts": [
        {"type": "thinking", "thinking": []},
        {"type": "text", "text": DOCUMENT},
    ],
}


@pytest.mark.parametrize("content", ANSWERS.values(), ids=ANSWERS)
def test_the_document_is_found_in_what_a_model_says(server, content):
    server.script = [said(content)]
    with model_at(server) as model:
        assert model.complete(ASKED).text == DOCUMENT


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<think>It has no end, and {", ""),
        ("I can't.", "I can't."),
        (None, ""),
        ('```\n{"facts": ["a", "b', '{"facts": ["a", "b'),
        ('{"facts": [{"a": {"b": 1}}, {"a', '{"facts": [{"a": {"b": 1}}, {"a'),
        ('Here: [{"statement": 1}]', '[{"statement": 1}]'),
    ],
)
def test_what_is_no_document_stays_as_it_is(server, content, text):
    server.script = [said(content)]
    with model_at(server) as model:
        assert model.complete(ASKED).text == text


def test_a_text_full_of_brackets_is_read_as_fast_as_another(server):
    server.script = [said("{[" * 100_000)]
    with model_at(server) as model:
        assert model.complete(ASKED).text == "{[" * 100_000


def test_a_text_without_a_schema_comes_without_thoughts(server):
    server.script = [said("<thinking>Hm.</thinking>\nThey met.")]
    with model_at(server) as model:
        assert model.complete(ChatRequest("summary", "Tell.", "{}")).text == "They met."


# ---------------------------------------------------------------- answers that are too large


BIG = b'{"choices": [{"message": {"content": "' + b"x" * 20_000_000 + b'"}}]}'
LARGE = {
    "20 MB": Reply(BIG),
    "20 MB that are compressed": Reply(gzip.compress(BIG), headers={"Content-Encoding": "gzip"}),
    "without an end": Reply(b"", endless=b'{"choices": [' + b" " * 100_000),
    "a long text": said("x" * 300_000),
}


@pytest.mark.parametrize("reply", LARGE.values(), ids=LARGE)
def test_an_answer_without_measure_is_refused_before_it_is_parsed(server, reply):
    server.script = [reply, GOOD]
    with model_at(server, max_retries=3) as model:
        with pytest.raises(AnswerUnusableError):
            model.complete(ASKED)
        assert len(server.requests) == 1
        assert model.complete(ASKED).text == '{"facts": []}'


def test_an_answer_that_trickles_is_given_up(server):
    server.script = [Reply(b"", endless=b" ", delay=0.02), GOOD]
    with model_at(server, seconds=0.3, max_retries=1) as model:
        assert model.complete(ASKED).text == '{"facts": []}'


def test_a_json_document_that_is_cut_off_asks_for_less(server):
    server.script = [completion('{"facts": ["a', finish_reason="length")]
    with model_at(server) as model:
        with pytest.raises(InputTooLongError):
            model.complete(ASKED)
        text = ChatRequest("summary", "Tell.", "{}")
        assert model.complete(text).text == '{"facts": ["a'


def test_items_are_asked_about_in_halves_until_they_are_few_enough():
    def ask(items):
        if len(items) > 2:
            raise InputTooLongError("too long")
        return list(items)

    assert in_halves(range(7), ask) == [[0], [1, 2], [3, 4], [5, 6]]
    with pytest.raises(InputTooLongError):
        in_halves(range(64), ask)
    with pytest.raises(InputTooLongError):
        in_halves(range(3), ask, most=0)


# ---------------------------------------------------------------- refusals


REFUSALS = {
    "wrong key": (failure(401), ProviderRefusedError),
    "no right": (failure(403), ProviderRefusedError),
    "no model": (failure(404, "The model `x` does not exist"), ProviderRefusedError),
    "no model, in Ollama's form": (
        Reply(b'{"error": "model \\"x\\" not found, try pulling it first"}', 404, JSON),
        ProviderRefusedError,
    ),
    "no credit": (failure(402, "Insufficient credits"), ProviderRefusedError),
    "quota": (failure(429, "quota", code="insufficient_quota"), ProviderRefusedError),
    "a wrong key with 400": (failure(400, "API key not valid"), ProviderRefusedError),
    "no credit with 400": (failure(400, "Your credit balance is too low"), ProviderRefusedError),
    "moved": (Reply(b"", 302, {"Location": "/login"}), ProviderRefusedError),
    "400 for everything": (failure(400, "请求无效"), ProviderRefusedError),
    "too long by code": (failure(400, "x", code="context_length_exceeded"), InputTooLongError),
    "too long in vLLM's words": (
        failure(400, "This model's maximum context length is 4096 tokens. However, you requested"),
        InputTooLongError,
    ),
    "too long by status": (failure(413), InputTooLongError),
    "filtered": (failure(400, "x", code="content_filter"), InputRefusedError),
    "moderated": (failure(403, "Your input was flagged"), InputRefusedError),
    "refused": (completion(None, refusal="No."), AnswerUnusableError),
    "filtered answer": (completion("", finish_reason="content_filter"), AnswerUnusableError),
    "429": (failure(429, "Rate limit reached; max_tokens too high"), ProviderError),
    "500": (failure(500), ProviderError),
    "529": (failure(529, "Overloaded"), ProviderError),
    "error with status 200": (body(error={"code": 503, "message": "busy"}), ProviderError),
    "error in a choice": (
        body(choices=[{"message": {}, "error": {"code": 502, "message": "gone"}}]),
        ProviderError,
    ),
    "refusal with status 200": (body(error={"code": 401, "message": "x"}), ProviderRefusedError),
    "a page": (Reply(b"<html>", headers={"Content-Type": "text/html"}), ProviderError),
    "nothing": (Reply(b""), ProviderError),
    "no choices": (body(choices=[]), ProviderError),
    "a list": (Reply(b"[]"), ProviderError),
    "not UTF-8": (Reply(b"\xff\xfe\x00"), ProviderError),
    "nested without end": (Reply(b"[" * 100_000), ProviderError),
    "events": (Reply(b'data: {"choices": []}\n\n'), ProviderError),
}


@pytest.mark.parametrize(("reply", "kind"), REFUSALS.values(), ids=REFUSALS)
def test_a_refusal_is_an_error_that_says_what_to_do_about_it(server, reply, kind):
    server.script = [reply]
    with model_at(server, max_retries=1) as model, pytest.raises(ProviderError) as raised:
        model.complete(ASKED)
    assert type(raised.value) is kind


def test_a_server_that_is_not_there_is_an_error(server):
    server.url = "http://127.0.0.1:9/v1"
    with model_at(server) as model, pytest.raises(ProviderError, match="can't be reached"):
        model.complete(ASKED)


def test_what_passes_is_tried_again_and_what_does_not_is_not(server):
    server.script = [failure(429), failure(500), Reply(b"{}" * 500, cut=True), GOOD]
    with model_at(server, max_retries=3) as model:
        assert model.complete(ASKED).text == '{"facts": []}'
        server.requests.clear()
        server.script = [failure(401)]
        with pytest.raises(ProviderRefusedError):
            model.complete(ASKED)
        assert len(server.requests) == 1


def test_an_endpoint_is_waited_for_as_long_as_it_asks_but_not_for_hours(server):
    slept: list[float] = []
    server.script = [Reply(b"{}", 429, {"Retry-After": "7"}), GOOD]
    with model_at(server, max_retries=1, sleep=slept.append) as model:
        model.complete(ASKED)
        assert slept == [7.0]
        server.script = [Reply(b"{}", 429, {"Retry-After": "7200"})]
        with pytest.raises(ProviderError):
            model.complete(ASKED)
    assert slept == [7.0]


def test_a_text_that_alone_is_rejected_is_told_from_an_endpoint_that_rejects_all(server):
    def picky(request):
        return failure(400, "nope") if "messages" in request["messages"][1]["content"] else GOOD

    server.script = [picky]
    with model_at(server) as model:
        with pytest.raises(InputRefusedError):
            model.complete(ASKED)
        assert model.complete(ChatRequest("test", "s", "{}", schema=SCHEMA)).text == '{"facts": []}'
        assert model.dialect.form("format") == "json_schema"


def test_messages_quoted_by_an_endpoint_are_in_no_error(server):
    server.script = [lambda request: failure(401, "x" * 300 + json.dumps(request))]
    with model_at(server) as model, pytest.raises(ProviderError) as raised:
        model.complete(ASKED)
    assert "messages" not in str(raised.value)


# ---------------------------------------------------------------- options


def taking(*taken: str):
    """Reply that takes these options only, and says nothing of them."""

    def reply(request):
        form = request.get("response_format", {}).get("type")
        sent = {form} if form else set()
        sent |= request.keys() & {"temperature", "max_tokens", "max_completion_tokens"}
        return GOOD if sent <= set(taken) else failure(400, "Bad Request")

    return reply


@pytest.mark.parametrize(
    "taken",
    [
        (),
        ("json_object",),
        ("json_object", "temperature", "max_tokens"),
        ("json_schema", "max_completion_tokens"),
        ("json_schema", "temperature", "max_tokens"),
    ],
)
def test_what_an_endpoint_takes_is_learnt_without_a_word(server, taken):
    server.script = [taking(*taken)]
    with model_at(server) as model:
        for _ in range(6):
            assert model.complete(ASKED).text == '{"facts": []}'
        server.requests.clear()
        model.complete(ASKED)
    (last,) = server.requests
    form = last.get("response_format", {}).get("type")
    used = {form} if form else set()
    used |= last.keys() & {"temperature", "max_tokens", "max_completion_tokens"}
    assert used == set(taken)


def test_an_endpoint_that_enforces_no_schema_reads_it_in_the_instructions(server):
    server.script = [taking()]
    with model_at(server) as model:
        model.complete(ASKED)
    instructions = server.requests[-1]["messages"][0]["content"]
    assert json.dumps(SCHEMA) in instructions
    assert server.requests[0]["messages"][0]["content"] == "Extract."


# ---------------------------------------------------------------- costs and the breaker


def test_each_answer_is_reported_with_its_cost_even_if_it_is_of_no_use(server, events):
    server.script = [
        completion("{", tokens=(1_000, 10), finish_reason="length"),
        said('{"facts": []}'),
    ]
    with model_at(server, events.append, price=Price(1.0, 10.0)) as model:
        with pytest.raises(InputTooLongError):
            model.complete(ASKED)
        model.complete(ASKED)
    cut, untold = (event for event in events if isinstance(event, ModelCalled))
    assert (cut.purpose, cut.input_tokens, cut.output_tokens) == ("test", 1_000, 10)
    assert cut.cost_usd == pytest.approx(0.0011)
    assert untold.input_tokens == ASKED.estimated_tokens  # no endpoint's silence is free


def test_a_request_longer_than_the_context_is_not_sent(server):
    with model_at(server, context_tokens=1_000) as model:
        with pytest.raises(InputTooLongError):
            model.complete(ChatRequest("test", "s", "word " * 1_000))
        model.complete(ChatRequest("test", "s", "word " * 500))
    assert len(server.requests) == 1


def test_the_breaker_opens_for_an_endpoint_that_fails_and_not_for_texts(server, events):
    server.script = [failure(413)]
    with model_at(server, events.append, failures=2) as model:
        for _ in range(3):
            with pytest.raises(InputTooLongError):
                model.complete(ASKED)
        server.script = [failure(503)]
        for _ in range(3):
            with pytest.raises(ProviderError):
                model.complete(ASKED)
    assert len(server.requests) == 5
    assert [e for e in events if isinstance(e, BreakerOpened)] == [
        BreakerOpened("openai:gpt-4o-mini", 2, 60.0)
    ]


def test_every_example_in_the_client_is_true():
    for module in (dialect, json_text, refusals, transport, guidance):
        assert doctest.testmod(module).failed == 0
