import json

import pytest
from pydantic import BaseModel

from semantic_memory import Candidate, Category
from semantic_memory.context.tokens import TiktokenCounter
from semantic_memory.domain.errors import (
    ConfigurationError,
    InvalidInputError,
    PromptTooLongError,
    ProviderError,
)
from semantic_memory.domain.events import (
    CompactionFailed,
    ContextPacked,
    Searched,
    WindowCompacted,
)
from semantic_memory.session.counting import RequestCounter
from semantic_memory.testing import ScriptedExtractor
from tests.structure import check_anthropic, check_openai

COUNTER = RequestCounter(TiktokenCounter(), "openai")
PLACE = {"user_id": "u1", "session_id": "s1"}


def opened(memory, **options):
    defaults = {"system_prompt": "Be kind.", "model": "gpt-4o", "memory_directories": ()}
    return memory.sessions.open(**PLACE, **{**defaults, **options})


def call(number: int, name: str = "look", arguments: str = "{}"):
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": f"c{number}",
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
        ],
    }


def result(number: int, text: str = "done"):
    return {"role": "tool", "tool_call_id": f"c{number}", "content": text}


def talk(session, turns: int, start: int = 0, words: int = 60) -> None:
    for n in range(start, start + turns):
        session.push(user=f"Fact {n}: " + f"detail{n} " * words, assistant=f"Noted number {n}.")


def levels(events) -> list[str]:
    return [event.step for event in events if isinstance(event, WindowCompacted)]


def every_message(messages):
    """Extract a fact from every message of the user."""
    return [
        Candidate(
            content=f"The user told {' '.join(m.content.split()[:2])}",
            category=Category.FINDING,
            confidence=0.9,
            message_ids=(m.id,),
        )
        for m in messages
        if m.role == "user"
    ]


def test_a_turn_takes_three_lines(memory):
    with opened(memory) as session:
        payload = session.payload("What did we decide?")
        session.push(user="What did we decide?", assistant="Nothing yet.")
    assert payload == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "What did we decide?"},
    ]
    assert json.loads(json.dumps(payload)) == payload
    assert payload.tokens == COUNTER.request(payload)
    assert [m.text for m in session.messages] == ["What did we decide?", "Nothing yet."]


def test_what_other_sessions_said_is_recalled_before_the_question(memory):
    with memory.sessions.open(user_id="u1", session_id="s0", model="gpt-4o") as earlier:
        earlier.push(user="We decided to use Postgres for the schema.", assistant="Noted.")
    with opened(memory) as session:
        session.push(user="Good morning", assistant="Good morning!")
        payload = session.payload("What did we decide about the schema?")
    assert [wire["content"] for wire in payload[:3]] == [
        "Be kind.",
        "Good morning",
        "Good morning!",
    ]
    assert payload[3]["content"].startswith("<memory>")
    assert payload[3]["content"].endswith("</memory>\n\nWhat did we decide about the schema?")
    assert "Postgres" in payload[3]["content"]
    assert payload.memory.hits


def test_what_a_payload_recalls_is_counted_and_reported_as_a_context_is(memory, events):
    fact = memory.add("The schema is in Postgres", user_id="u1")
    with opened(memory) as session:
        recalled = session.payload("Where is the schema?").memory
        session.push([{"role": "user", "content": "Where is the schema?"}, call(1), result(1)])
        session.payload()  # a step of the same turn
    assert [hit.fact.id for hit in recalled.hits] == [fact.id]
    (searched,) = [event for event in events if isinstance(event, Searched)]
    assert (searched.user_id, searched.hits) == ("u1", 1)
    (packed,) = [event for event in events if isinstance(event, ContextPacked)]
    assert (packed.user_id, packed.tokens, packed.hits) == ("u1", recalled.tokens, 1)
    memory.jobs.run(["usage"])
    assert memory.get(fact.id).use_count == 1


def test_what_is_in_the_window_is_not_recalled_again(memory):
    with opened(memory) as session:
        session.push(user="We decided to use Postgres for the schema.", assistant="Noted.")
        memory.flush()
        payload = session.payload("What did we decide about the schema?")
    assert json.dumps(payload).count("Postgres") == 1


def test_the_steps_of_a_turn_share_one_beginning(memory):
    memory.add("The schema is in Postgres", user_id="u1")
    with opened(memory) as session:
        asked = "Where is the schema?"
        first = session.payload(asked)
        assert "Postgres" in first[-1]["content"]
        session.push([{"role": "user", "content": asked}, call(1), result(1)])
        second = session.payload()
    assert second[: len(first)] == first
    assert [wire["role"] for wire in second[len(first) :]] == ["assistant", "tool"]


@pytest.mark.parametrize(
    ("model", "check"), [("gpt-4o", check_openai), ("claude-x", check_anthropic)]
)
def test_a_new_process_goes_on_exactly_where_the_old_one_was(open_memory, model, check):
    memory = open_memory()
    session = opened(memory, model=model, window=6_000)
    talk(session, 40)
    if model == "gpt-4o":
        session.push([call(1), call(2), result(2), result(1)])
    else:
        session.push(
            [
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "Hm", "signature": "s"},
                        {"type": "tool_use", "id": "c1", "name": "look", "input": {"q": "ü"}},
                    ],
                },
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "done"}],
                },
            ]
        )
    before = session.payload("And now?")
    check(before)
    talk(session, 2, start=40)
    window = session.messages
    expected = session.payload("And then?")
    memory.close()
    again = opened(open_memory(), model=model, window=6_000)
    assert again.messages == window
    assert again.payload("And then?") == expected


def test_a_task_goes_on_at_its_step(open_memory):
    class Task(BaseModel):
        step: str
        done: tuple[str, ...] = ()

    memory = open_memory()
    opened(memory).checkpoint("import", Task).save(Task(step="fetch", done=("a",)))
    memory.close()
    session = opened(open_memory())
    assert session.checkpoint("import", Task).load() == Task(step="fetch", done=("a",))
    assert session.checkpoint("another", Task).load() is None


def test_a_call_that_was_cut_off_is_answered_for(memory):
    session = opened(memory)
    session.push([{"role": "user", "content": "Look"}, call(1)])
    payload = session.payload("Are you there?")
    check_openai(payload)
    assert "cut off" in payload[3]["content"]


def test_pictures_and_documents_come_back_and_are_named_in_memory(memory):
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    file = {"type": "file", "file": {"filename": "plan.pdf", "file_data": "data:application/pdf,x"}}
    said = {"role": "user", "content": [{"type": "text", "text": "See"}, picture, file]}
    session = opened(memory)
    session.push(said)
    assert session.payload()[1] == said
    memory.flush()
    (kept,) = memory.list(user_id="u1")
    assert kept.content == "See\n[image]\n[document: plan.pdf]"


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"role": "system", "content": "x"}, "system prompt belongs"),
        ({"role": "user"}, "neither content nor tool calls"),
        ({"role": "user", "content": 7}, "must be a text or a list"),
        ({"role": "user", "content": [{}]}, "has no type"),
        ({"role": "tool", "content": "x"}, "tool_call_id"),
        ({"role": "assistant", "tool_calls": [{"id": "c"}]}, "must have an id and a function"),
        ("text", "must be a mapping"),
    ],
)
def test_what_can_not_be_kept_is_refused_with_its_reason(memory, message, reason):
    session = opened(memory)
    with pytest.raises(InvalidInputError, match=reason):
        session.push([{"role": "user", "content": "fine"}, message])
    assert session.messages == ()


def test_hostile_characters_are_replaced(memory):
    session = opened(memory)
    session.push([call(1), result(1, "a\x00b\ud800c")])
    assert session.payload("x\x00")[2]["content"] == "a\ufffdb?c"


def test_the_cheapest_levels_come_first_and_only_as_many_as_needed(memory, events):
    session = opened(memory, window=20_000)
    talk(session, 3, words=10)
    session.push([call(1, "read"), result(1, "line of a file\n" * 2_500)])
    talk(session, 8, start=10, words=300)
    payload = session.payload("Go on")
    assert levels(events) == ["results", "micro"]
    check_openai(payload)
    assert not any(e.dropped for e in events if isinstance(e, WindowCompacted))
    talk(session, 20, start=30, words=300)
    session.payload("Go on")
    order = ["results", "snip", "micro", "memory", "summary", "drop", "recent"]
    used = levels(events)[2:]
    assert used == sorted(used, key=order.index)
    assert used[-1] in ("memory", "summary")


def test_facts_are_promoted_before_anything_is_dropped(open_memory, events):
    memory = open_memory(extractor=ScriptedExtractor(every_message))
    session = opened(memory, window=6_000)
    talk(session, 40)
    payload = session.payload("Go on")
    assert payload.tokens <= 4_500
    (dropping,) = [e for e in events if isinstance(e, WindowCompacted) and e.dropped > 5]
    assert dropping.step == "memory"
    assert "<earlier messages=" in payload[1]["content"]
    assert "The user told Fact 0:" in payload[1]["content"]
    (found, *_) = memory.search("Fact 0", user_id="u1", filters={"categories": ["finding"]})
    assert found.fact.content == "The user told Fact 0:"
    assert [m.text for m in session.messages[-2:]][1] == "Noted number 39."


def test_the_last_ten_stay_whole(memory):
    session = opened(memory, window=8_000)
    talk(session, 60)
    payload = session.payload("Go on")
    last = [wire["content"] for wire in payload[-11:-1]]
    assert last[-1] == "Noted number 59."
    assert last[0] == "Fact 55: " + "detail55 " * 60


class Teller:
    """A summarizer that fails a given number of times."""

    def __init__(self, failures: int = 0) -> None:
        self.failures = failures
        self.told: list[str] = []

    def summarize(self, transcript: str, *, most_tokens: int) -> str:
        self.told.append(transcript)
        if len(self.told) <= self.failures:
            raise ProviderError("the endpoint is down")
        return f"They spoke {len(self.told)} times."


def test_a_model_summarizes_the_older_half_where_memory_knows_nothing(open_memory, events):
    memory = open_memory(extractor=ScriptedExtractor(lambda messages: []))
    teller = Teller()
    session = opened(memory, window=6_000, summarizer=teller)
    session.push(
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "See 1"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            ],
        }
    )
    talk(session, 40)
    payload = session.payload("Go on")
    assert f"They spoke {len(teller.told)} times." in payload[1]["content"]
    assert "[image]" in teller.told[0]
    assert "AAAA" not in "".join(teller.told)
    assert "summary" in levels(events)


def test_three_failures_in_a_row_stop_the_summaries(open_memory, events):
    memory = open_memory(extractor=ScriptedExtractor(lambda messages: []))
    teller = Teller(failures=100)
    session = opened(memory, window=6_000, summarizer=teller)
    for start in range(0, 240, 40):
        talk(session, 40, start=start)
        assert session.payload("Go on").tokens <= 4_500
    assert len(teller.told) == 3
    assert [e.failures for e in events if isinstance(e, CompactionFailed)] == [1, 2, 3]


def test_a_success_closes_the_breaker(open_memory, events):
    memory = open_memory(extractor=ScriptedExtractor(lambda messages: []))
    teller = Teller(failures=2)
    session = opened(memory, window=6_000, summarizer=teller)
    for start in range(0, 200, 40):
        talk(session, 40, start=start)
        session.payload("Go on")
    assert [e.failures for e in events if isinstance(e, CompactionFailed)] == [1, 2]
    assert len(teller.told) >= 5
    assert levels(events).count("summary") == 3


def test_what_can_not_fit_is_an_error_with_the_figures(memory):
    session = opened(memory, window=4_000)
    with pytest.raises(PromptTooLongError, match=r"takes 5,\d{3} tokens and may take 3,000"):
        session.payload("word " * 5_000)
    assert session.payload("Hello").tokens < 3_000


class TooLongError(Exception):
    status_code = 400
    code = "context_length_exceeded"


def test_an_api_that_finds_it_too_long_gets_it_shorter_once(memory):
    session = opened(memory, window=16_000)
    talk(session, 60)
    first = session.payload("Go on")
    error = TooLongError(
        "This model's maximum context length is 8000 tokens. However, your messages resulted in"
        " 10000 tokens."
    )
    second = session.shorten(error)
    check_openai(second)
    assert second.tokens <= first.tokens * 0.8
    assert second[-1]["content"].endswith("Go on")
    with pytest.raises(TooLongError):
        session.shorten(error)
    assert session.payload("Go on").tokens <= first.tokens * 0.8  # it has learned


def test_any_other_error_of_the_api_comes_back(memory):
    session = opened(memory)
    session.payload("Go on")
    with pytest.raises(ValueError, match="rate limit"):
        session.shorten(ValueError("rate limit"))


def test_an_unknown_model_needs_its_window(memory):
    with pytest.raises(ConfigurationError, match="window=32_768"):
        opened(memory, model="my-model")
    assert opened(memory, model="my-model", window=8_000).payload("Hi").tokens > 0


def test_tools_and_memory_files_count(memory, tmp_path):
    plain = opened(memory).payload("Hi").tokens
    (tmp_path / "AGENT.md").write_text("Always answer in French.", encoding="utf-8")
    schema = {"type": "function", "function": {"name": "f", "description": "Does it"}}
    payload = opened(memory, tools=[schema], memory_directories=[tmp_path]).payload("Hi")
    assert "Always answer in French." in payload[0]["content"]
    assert payload.tokens == COUNTER.request(payload) + COUNTER.tools([schema]) > plain
