"""Effects of the settings of a session's window."""

from __future__ import annotations

import re
from typing import Any

import pytest

from semantic_memory.domain.errors import PromptTooLongError
from semantic_memory.domain.events import WindowCompacted
from semantic_memory.session.session import Session
from tests.unit.settings_effects.case import S, Trial, U, effect, says

WINDOW = 8_000  # tokens, of which a response takes a quarter


TIGHT = {"window__trigger": 0.1, "window__target": 0.05}


class Summarizer:
    """A summarizer that notes the lengths it is given."""

    def __init__(self) -> None:
        self.limits: list[int] = []

    def summarize(self, text: str, *, most_tokens: int) -> str:
        """Return a short summary."""
        self.limits.append(most_tokens)
        return f"They talked at length: {len(text)} characters."


def opened(run: Trial, **options: Any) -> Session:
    """Return a session with a small window, of which no facts are extracted."""
    memory = run.open(extractor=says())
    memory.add("Maya likes green tea", **U)
    return memory.sessions.open(
        **S, model="gpt-4o", window=WINDOW, memory_directories=(), **options
    )


def talk(session: Session, turns: int) -> None:
    """Say turns of about 250 tokens."""
    for turn in range(turns):
        session.push(
            user=f"Report {turn}: " + f"line{turn} " * 80, assistant=f"Noted {turn}, thanks."
        )


def steps(run: Trial) -> list[str]:
    """Return the steps of compaction so far."""
    return [event.step for event in run.seen(WindowCompacted)]


@effect("window.response_reserve", 0, was="6,000", becomes="8,000")
def tokens_of_a_prompt(run: Trial) -> str:
    with pytest.raises(PromptTooLongError) as caught:
        opened(run).payload("word " * 9_000)
    found = re.search(r"may take ([\d,]+)", str(caught.value))
    return found[1] if found else ""


@effect("window.trigger", 0.3, was=False, becomes=True, window__target=0.2)
def compacted_at_half_the_window(run: Trial) -> bool:
    session = opened(run)
    talk(session, 11)
    session.payload("And now?")
    return steps(run) != []


@effect("window.target", 0.3, was=False, becomes=True)
def compacted_to_a_third(run: Trial) -> bool:
    session = opened(run)
    talk(session, 25)
    payload = session.payload("And now?")
    assert steps(run) != []
    return payload.tokens < 0.35 * 6_000


@effect("window.summary_reserve", 100, was=750, becomes=100)
def tokens_of_a_summary(run: Trial) -> int:
    summarizer = Summarizer()
    session = opened(run, summarizer=summarizer)
    talk(session, 25)
    session.payload("And now?")
    return summarizer.limits[0]


@effect("window.memory_tokens", 0, was=True, becomes=False)
def with_memories(run: Trial) -> bool:
    return "green tea" in opened(run).payload("Does Maya like green tea?").memory.text


@effect("window.keep_last", 2, was=10, becomes=2, window__target=0.01)
def messages_that_stay_whole(run: Trial) -> int:
    session = opened(run)
    talk(session, 25)
    session.payload("And now?")
    return sum(message.text.startswith(("Report", "Noted")) for message in session.messages)


@effect("window.result_characters", 500, was=False, becomes=True, **TIGHT)
def old_results_are_cut(run: Trial) -> bool:
    session = opened(run)
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    session.push(
        [
            {"role": "user", "content": "Look it up"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "figure " * 800},
        ]
    )
    talk(session, 6)
    session.payload("And now?")
    return "results" in steps(run)
