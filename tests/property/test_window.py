"""No tool traffic, however odd, leads to a request that an API would reject."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_memory.session.anthropic_form import from_anthropic, to_anthropic
from semantic_memory.session.compaction import (
    cap_results,
    drop_oldest,
    micro_compact,
    older_half,
    snip,
    split_recent,
)
from semantic_memory.session.openai_form import from_openai, to_openai
from semantic_memory.session.pairs import NO_RESULT, complete, units
from semantic_memory.session.parts import (
    ChatMessage,
    Image,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    from_log,
    readable,
    to_log,
)
from tests.structure import check_anthropic, check_openai
from tests.support.effort import rounds

WORDS = st.sampled_from(["ok", "What is it?", "The build failed at step 3", "x" * 400, "thanks"])
TEXTS = WORDS.map(lambda text: Text(text=text))
PICTURE = Image(url="data:image/png;base64,AAAA")


@st.composite
def turns(draw, number: int) -> list[ChatMessage]:
    """Draw a turn: text, perhaps thinking and parallel calls, with results in any order."""
    messages = [
        ChatMessage(role="user", parts=(draw(TEXTS), *draw(st.sampled_from([(), (PICTURE,)]))))
    ]
    for step in range(draw(st.integers(0, 2))):
        group = draw(st.sampled_from([None, f"msg-{number}-{step}"]))
        calls = [
            # some models give the same ids again in every turn
            ToolCall(id=draw(st.sampled_from([f"c{n}", f"c{number}.{step}.{n}"])), name="look",
                     arguments=draw(st.sampled_from(["{}", '{"q": 1}', "not json"])))
            for n in range(draw(st.integers(1, 3)))
        ]  # fmt: skip
        thought = Thinking(text="hm", signature="s")
        if group is not None and draw(st.booleans()):
            messages.append(ChatMessage(role="assistant", parts=(thought,), group=group))
            messages += [ChatMessage(role="assistant", parts=(c,), group=group) for c in calls]
        else:
            messages.append(ChatMessage(role="assistant", parts=(thought, *calls), group=group))
        answered = draw(st.permutations(calls))[: draw(st.sampled_from([len(calls), 0, 1]))]
        content = (Text(text=draw(WORDS) * draw(st.sampled_from([1, 50]))),)
        results = [
            ToolResult(call_id=c.id, content=content, failed=draw(st.booleans())) for c in answered
        ]
        if draw(st.booleans()) and results:
            messages.append(ChatMessage(role="tool", parts=tuple(results)))
        else:
            messages += [ChatMessage(role="tool", parts=(result,)) for result in results]
    messages.append(ChatMessage(role="assistant", parts=(draw(TEXTS),)))
    return messages


@st.composite
def conversations(draw, *, torn: bool = False) -> list[ChatMessage]:
    messages = [m for number in range(draw(st.integers(1, 5))) for m in draw(turns(number))]
    if torn:  # whatever was lost on the way
        gone = draw(st.sets(st.integers(0, len(messages) - 1)))
        messages = [message for place, message in enumerate(messages) if place not in gone]
    return [m.model_copy(update={"id": f"m{n}"}) for n, m in enumerate(messages)]


def tokens(message: ChatMessage) -> int:
    return 3 + len(readable(message)) // 4


def links(messages) -> list[tuple[str, str]]:
    """Return every call with its result, as the ids of their messages."""
    calling: dict[str, str] = {}
    found: list[tuple[str, str]] = []
    for message in messages:
        found += [(calling[r.call_id], message.id) for r in message.results if r.call_id in calling]
        calling.update((call.id, message.id) for call in message.calls)
    groups: dict[str, str] = {}
    for message in messages:
        if message.group:
            found.append((groups.setdefault(message.group, message.id), message.id))
    return found


def check_nothing_parted(before, after) -> None:
    kept = {message.id for message in after}
    for one, other in links(before):
        assert (one in kept) == (other in kept)


@settings(deadline=None, max_examples=rounds(full=60, quick=20))
@given(conversations(torn=True))
def test_any_conversation_becomes_a_request_that_is_taken(messages):
    check_openai(to_openai("Be kind.", complete(messages)))
    check_anthropic(to_anthropic(complete(messages)))


@settings(deadline=None, max_examples=rounds(full=60, quick=20))
@given(conversations(), st.integers(0, 3_000))
def test_every_result_stays_behind_its_call(messages, enough):
    for kept in (messages, drop_oldest(messages, enough, tokens).messages):
        given_results = [result for message in kept for result in message.results]
        sent = complete(kept)
        for calling, answering in pairwise(sent):
            if calling.calls:
                called = [call.id for call in calling.calls]
                assert called == [result.call_id for result in answering.results]
        answers = [result for message in sent for result in message.results]
        assert sorted(map(repr, given_results)) == sorted(
            repr(one) for one in answers if one.content != (Text(text=NO_RESULT),)
        )


@settings(deadline=None, max_examples=rounds(full=60, quick=20))
@given(conversations(), st.integers(0, 3_000))
def test_no_level_parts_what_belongs_together(messages, enough):
    size = sum(map(tokens, messages))
    for shorter in (
        cap_results(messages, 1_000, enough, tokens),
        snip(messages, enough, tokens),
        micro_compact(messages, enough, tokens),
        drop_oldest(messages, enough, tokens),
        older_half(messages, tokens),
    ):
        check_nothing_parted(messages, shorter.messages)
        check_openai(to_openai("", complete(shorter.messages)))
        check_anthropic(to_anthropic(complete(shorter.messages)))
        assert shorter.saved == size - sum(map(tokens, shorter.messages)) >= 0
        ids = [message.id for message in messages]
        gone = {message.id for message in shorter.dropped}
        assert [m.id for m in shorter.messages] == [i for i in ids if i not in gone]
    assert drop_oldest(messages, enough, tokens).saved >= min(enough, size)


@settings(deadline=None, max_examples=rounds(full=60, quick=20))
@given(conversations(torn=True), st.integers(1, 12))
def test_the_last_messages_stay_with_all_that_belongs_to_them(messages, number):
    old, recent = split_recent(messages, number)
    assert [*old, *recent] == messages
    assert len(recent) >= min(number, len(messages))
    check_nothing_parted(messages, recent)
    assert [message for unit in units(messages) for message in unit] == messages


@settings(deadline=None, max_examples=rounds(full=60, quick=20))
@given(conversations())
def test_what_was_sent_comes_back_the_same_through_the_log(messages):
    for message in messages:
        kept = from_log(to_log(message, {"id": message.id}))
        assert kept == message
    for encode, decode in (
        (lambda m: to_openai("", m), from_openai),
        (to_anthropic, from_anthropic),
    ):
        wires = encode(complete(messages))
        again = [message for wire in wires for message in decode(wire)]
        assert encode(complete(again)) == wires
