import pytest

from semantic_memory.context.tokens import TiktokenCounter
from semantic_memory.session.counting import RequestCounter

JARGON = [
    {
        "role": "system",
        "content": "You are a helpful, pattern-following assistant that translates corporate jargon"
        " into plain English.",
    },
    {
        "role": "system",
        "name": "example_user",
        "content": "New synergies will help drive top-line growth.",
    },
    {
        "role": "system",
        "name": "example_assistant",
        "content": "Things working well together will increase revenue.",
    },
    {
        "role": "system",
        "name": "example_user",
        "content": "Let's circle back when we have more bandwidth to touch base on opportunities"
        " for increased leverage.",
    },
    {
        "role": "system",
        "name": "example_assistant",
        "content": "Let's talk later when we're less busy about how to do better.",
    },
    {
        "role": "user",
        "content": "This late pivot means we don't have time to boil the ocean for the client"
        " deliverable.",
    },
]
WEATHER = [
    {
        "role": "system",
        "content": "You are a helpful assistant that can answer to questions about the weather.",
    },
    {"role": "user", "content": "What's the weather like in San Francisco?"},
]
TOOL = {
    "type": "function",
    "function": {
        "name": "get_current_weather",
        "description": "Get the current weather in a given location",
        "parameters": {
            "type": "object",
            "properties": {
                "location": {
                    "type": "string",
                    "description": "The city and state, e.g. San Francisco, CA",
                },
                "unit": {
                    "type": "string",
                    "description": "The unit of temperature to return",
                    "enum": ["celsius", "fahrenheit"],
                },
            },
            "required": ["location"],
        },
    },
}
NEWER = RequestCounter(TiktokenCounter("o200k_base"), "openai")
OLDER = RequestCounter(TiktokenCounter("cl100k_base"), "openai", older=True)


# What the API answered, as the OpenAI cookbook publishes it for these very requests.
@pytest.mark.parametrize(
    ("counter", "messages", "tokens"), [(NEWER, JARGON, 124), (OLDER, JARGON, 129)]
)
def test_messages_are_counted_as_published(counter, messages, tokens):
    assert counter.request(messages) == tokens


@pytest.mark.parametrize(("counter", "tokens"), [(NEWER, 101), (OLDER, 105)])
def test_tools_are_counted_as_published(counter, tokens):
    assert counter.request(WEATHER) + counter.tools([TOOL]) == tokens


def test_a_system_prompt_apart_counts_like_one_among_the_messages():
    anthropic = RequestCounter(TiktokenCounter(), "anthropic")
    assert anthropic.request(WEATHER[1:], WEATHER[0]["content"]) == NEWER.request(WEATHER)


def test_all_of_a_tool_call_counts():
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    bare = {"role": "assistant", "content": None}
    longer = {**call, "function": {"name": "look", "arguments": '{"where": "everywhere"}'}}
    one, two, long = (
        NEWER.message({**bare, "tool_calls": calls}) for calls in ([call], [call, call], [longer])
    )
    assert NEWER.message(bare) < one < two
    assert one < long


def test_pictures_and_documents_count_for_what_they_may_cost():
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    file = {"type": "file", "file": {"filename": "a.pdf", "file_data": "x" * 200_000}}
    words = {"type": "text", "text": "Look at this"}
    plain = NEWER.message({"role": "user", "content": [words]})
    assert plain == NEWER.message({"role": "user", "content": "Look at this"})
    assert NEWER.message({"role": "user", "content": [words, picture]}) >= plain + 1_445
    assert NEWER.message({"role": "user", "content": [words, file]}) >= plain + 3 * 3_000


def test_nested_schemas_count():
    function = {"name": "f", "parameters": {"properties": {"a": {"type": "object"}}}}
    deep = {"type": "object", "properties": {"b": {"type": "string", "description": "Of b"}}}
    deeper = {"name": "f", "parameters": {"properties": {"a": deep}}}
    flat, nested = (NEWER.tools([{"function": f}]) for f in (function, deeper))
    assert flat < nested
