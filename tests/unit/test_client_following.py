"""Following the feed by a client: frames in pieces, ends in the middle, and wrong answers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import httpx
import pytest
from fastapi.sse import format_sse_event

from semantic_memory.client.following import AsyncClientSubscription, ClientSubscription
from semantic_memory.client.frames import Frame, Framing
from semantic_memory.concurrency import Backoff
from semantic_memory.domain.errors import ServiceError
from semantic_memory.domain.feed import EventKind, MemoryEvent
from semantic_memory.entrypoints.api.feed import _frame
from tests.conftest import NOW, eventually

STREAM = {"content-type": "text/event-stream; charset=utf-8"}
AT_ONCE = Backoff(0.001, 0.001)
NEVER = Backoff(3_600, 3_600)
LINE_ENDS_OF_TEXTS = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\x1dh\x1ei"


def event(number: int, reason: str = "") -> MemoryEvent:
    return MemoryEvent(id=number, kind=EventKind.FORGOTTEN, at=NOW, user_id="maya", reason=reason)


def unescaped(*events: MemoryEvent) -> bytes:
    return b"".join(
        format_sse_event(data_str=one.model_dump_json(), id=str(one.id)) for one in events
    )


def answering(*bodies: bytes) -> tuple[list[int], Callable[[int], httpx.Response]]:
    """Return the places that were asked for, and what answers with one body after the other."""
    places: list[int] = []

    def connect(after: int) -> httpx.Response:
        places.append(after)
        return httpx.Response(200, headers=STREAM, content=bodies[len(places) - 1])

    return places, connect


def followed(connect: Callable[[int], httpx.Response], count: int) -> list[MemoryEvent]:
    with ClientSubscription(connect, 0, AT_ONCE) as feed:
        return [next(feed) for _ in range(count)]


def followed_async(connect: Callable[[int], httpx.Response], count: int) -> list[MemoryEvent]:
    async def connect_async(after: int) -> httpx.Response:
        return connect(after)

    async def follow() -> list[MemoryEvent]:
        async with AsyncClientSubscription(connect_async, 0, AT_ONCE) as feed:
            return [await anext(feed) for _ in range(count)]

    return asyncio.run(follow())


FOLLOWING = pytest.mark.parametrize("follow", [followed, followed_async])


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"], ids=repr)
@pytest.mark.parametrize("length", [1, 2, 3, 100])
def test_frames_are_the_same_in_pieces_of_any_length(end, length):
    lines = [": comment", "id: 7", "", "event: added", "data: Zoë", "data:", "id:8", "", "data: x"]
    stream = (end.join(lines) + end).encode()
    framing = Framing()
    pieces = (stream[at : at + length] for at in range(0, len(stream), length))
    frames = [frame for piece in pieces for frame in framing.take(piece)]
    assert frames == [Frame("7", ""), Frame("8", "Zoë\n")]


@FOLLOWING
def test_characters_that_end_a_line_of_a_text_end_none_of_a_stream(follow):
    events = [event(1, LINE_ENDS_OF_TEXTS), event(2)]
    _, connect = answering(unescaped(*events))
    assert follow(connect, 2) == events


@FOLLOWING
def test_an_event_that_broke_off_is_asked_for_again(follow):
    whole = unescaped(event(1), event(2))
    places, connect = answering(whole[:-1], unescaped(event(2)))
    assert follow(connect, 2) == [event(1), event(2)]
    assert places == [0, 1]


@FOLLOWING
def test_the_place_of_a_sign_of_life_resumes(follow):
    places, connect = answering(b": \nid: 7\n\n", unescaped(event(9)))
    assert follow(connect, 1) == [event(9)]
    assert places == [0, 7]


@FOLLOWING
@pytest.mark.parametrize("headers", [{"content-type": "text/html"}, {}], ids=str)
def test_an_answer_that_is_no_stream_is_an_error(follow, headers):
    with pytest.raises(ServiceError, match="text/event-stream"):
        follow(lambda after: httpx.Response(200, headers=headers, content=b"<html>"), 1)


def test_connections_that_bring_nothing_are_made_after_pauses_that_closing_ends():
    places, connect = answering(*[b": cut off"] * 10)
    feed = ClientSubscription(connect, 0, NEVER)
    thread = threading.Thread(target=lambda: list(feed))
    thread.start()
    assert eventually(lambda: bool(places))
    feed.close()
    thread.join(60)
    assert not thread.is_alive()
    assert places == [0]


def test_connections_that_bring_nothing_are_made_after_pauses_in_an_event_loop_too():
    places, connect = answering(*[b": cut off"] * 10)

    async def connect_async(after: int) -> httpx.Response:
        return connect(after)

    async def follow() -> None:
        feed = AsyncClientSubscription(connect_async, 0, NEVER)
        waiting = asyncio.ensure_future(anext(feed, None))
        while not places:
            await asyncio.sleep(0)
        await feed.close()
        assert await asyncio.wait_for(waiting, 60) is None

    asyncio.run(follow())
    assert places == [0]


def test_a_connection_that_brought_a_frame_is_followed_by_another_at_once():
    places, connect = answering(*(unescaped(event(number)) for number in range(1, 4)))
    with ClientSubscription(connect, 0, NEVER) as feed:
        assert [next(feed).id for _ in range(3)] == [1, 2, 3]
    assert places == [0, 1, 2]


def test_a_stream_is_written_in_ascii():
    frame = _frame(event(1, LINE_ENDS_OF_TEXTS))
    assert frame.isascii()
    assert len(frame.decode().splitlines()) == 4
    assert followed(answering(frame)[1], 1)[0].reason == LINE_ENDS_OF_TEXTS
