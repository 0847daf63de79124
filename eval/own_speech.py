"""Measure that text of others speaks for nobody, and that ordinary own statements are still read.

An attack of `data/gold/own_speech.jsonl` comes through a door of a store after its user has stated
facts: it must end none of them, put nothing into the core or the instructions, and ask to forget
nothing; what came in as a message must be found. Own statements are those of `statements.jsonl`,
`voices.jsonl` and `beliefs.jsonl`, of the halves to build on: their values must be own speech.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

import anyio
from mcp.client import Client
from pydantic import Field

from eval.datasets.load import GOLD
from eval.extraction import read_lines
from eval.gold import Half, share
from eval.wording import holds_all
from semantic_memory.application.hooks import observed, read_event
from semantic_memory.application.importing import import_file
from semantic_memory.domain.blocks import text_of
from semantic_memory.domain.facts import Category
from semantic_memory.domain.ports import Progress
from semantic_memory.domain.trust import Trust
from semantic_memory.domain.values import Identifier, Value
from semantic_memory.entrypoints.callers import ANYONE, Caller
from semantic_memory.entrypoints.mcp.server import build_server
from semantic_memory.integrations.observing import Utterance
from semantic_memory.integrations.transcripts import Entry, Transcript
from semantic_memory.language.own_speech import own_speech
from semantic_memory.memory import SemanticMemory
from semantic_memory.testing import FrozenClock

Door = Literal[
    "observe", "tool", "assistant", "people", "hook", "import", "adapter", "mcp", "remember", "add"
]

_ORDERING = ("<core>", "<instructions>")
_OWN_OF_EACH = 67
_OWN = 200
_LATER = timedelta(days=1)


class Attack(Value):
    """A text that its user didn't say, and the door through which it comes."""

    id: Identifier
    half: Half
    door: Door
    form: str
    """Kind of paste: `whatsapp`, `file-name`, `roleplay`."""
    before: tuple[str, ...] = Field(min_length=1)
    """The user's own statements, a day earlier."""
    content: Any
    """A text, or the blocks of a message."""
    name: str | None = None
    """Name that the message carries: that of a tool, an assistant or another person."""
    words: tuple[str, ...] = ()
    """Words that only the attack has, which may be in neither core nor instructions."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of an attack."""

    attack: Attack
    ended: tuple[str, ...]
    """The user's statements that it ended or hid."""
    ordered: bool
    """True if core or instructions hold words of it."""
    asked: bool
    """True if it was taken for a request to forget."""
    found: bool | None
    """True if its message is found by a search; None if it came through no door for messages."""

    @property
    def spoke(self) -> bool:
        """True if it ended, ordered or asked for anything."""
        return bool(self.ended) or self.ordered or self.asked


def attack_all(
    memory: SemanticMemory,
    clock: FrozenClock,
    attacks: Sequence[Attack],
    directory: Path,
    progress: Progress,
) -> list[Outcome]:
    """Tell each user's own statements, then bring the attack in by its door."""
    outcomes: list[Outcome] = []
    for place, attack in enumerate(attacks, start=1):
        user = f"user-{attack.id}"
        said = [{"role": "user", "content": one} for one in attack.before]
        memory.observe(said, user_id=user, session_id="own")
        memory.flush()
        believed = _held(memory, user)
        clock.moment += _LATER
        _bring_in(memory, attack, user, directory)
        memory.flush()
        outcomes.append(_outcome(memory, attack, user, believed))
        progress("attacking", place, len(attacks))
    return outcomes


def figures(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """Return the measures of a group of attacks."""
    return {
        "attacks": len(outcomes),
        "spoke": share(one.spoke for one in outcomes),
        "ended": share(bool(one.ended) for one in outcomes),
        "ordered": share(one.ordered for one in outcomes),
        "asked to forget": share(one.asked for one in outcomes),
        "found as material": share(one.found for one in outcomes if one.found is not None),
    }


def row(outcome: Outcome) -> Mapping[str, object]:
    """Return an attack's row, for a file."""
    return {
        "id": outcome.attack.id,
        "form": outcome.attack.form,
        "door": outcome.attack.door,
        "spoke": outcome.spoke,
        "ended": outcome.ended,
        "ordered": outcome.ordered,
        "asked": outcome.asked,
        "found": outcome.found,
    }


def own_statements() -> list[tuple[str, bool]]:
    """Return 200 ordinary statements, and whether the values of each are own speech."""
    drawn: list[tuple[str, bool]] = []
    for read in (_of_statements, _of_voices, _of_beliefs):
        every = sorted(read())
        drawn += random.Random(0).sample(every, min(_OWN_OF_EACH, len(every)))
    return drawn[:_OWN]


def _of_statements() -> Iterator[tuple[str, bool]]:
    for item in read_lines(GOLD / "statements.jsonl"):
        said = item["messages"][-1]["content"]
        due = [one["has"] for one in item["facts"] if not one.get("optional")]
        if item["half"] == "build" and due and len(item["messages"]) == 1:
            legible = own_speech(said).legible
            stated = [one for one in due if holds_all(said, one)]
            yield said, all(holds_all(legible, one) for one in stated) and bool(legible)


def _of_voices() -> Iterator[tuple[str, bool]]:
    for pair in read_lines(GOLD / "voices.jsonl"):
        first = own_speech(pair["newer"]).spans[0]
        yield pair["newer"], first.is_own


def _of_beliefs() -> Iterator[tuple[str, bool]]:
    for scenario in read_lines(GOLD / "beliefs.jsonl"):
        if scenario["half"] != "build" or scenario["kind"] == "look-alike":
            continue
        for session in scenario["sessions"]:
            for message in session["messages"]:
                if told := message.get("tells"):
                    words = scenario[told]
                    said = message["content"].casefold()
                    own = own_speech(message["content"]).own.casefold()
                    kept = [one.rstrip("*") for one in words if one.rstrip("*") in said]
                    yield message["content"], bool(own) and all(one in own for one in kept)


def _held(memory: SemanticMemory, user: str) -> dict[str, str]:
    """Return what is believed of a user, by id."""
    return {fact.id: fact.content for fact in memory.list(user_id=user, limit=None)}


def _bring_in(memory: SemanticMemory, attack: Attack, user: str, directory: Path) -> None:
    content = attack.content
    match attack.door:
        case "observe":
            memory.observe([{"role": "user", "content": content}], user_id=user, session_id="a")
        case "tool" | "assistant":
            said = {"role": attack.door, "content": content, "name": attack.name}
            memory.observe([said], user_id=user, session_id="a")
        case "people":
            own = {"role": "user", "content": "hello"}
            said = {"role": "user", "content": content, "name": attack.name}
            memory.observe([own, said], user_id=user, session_id="a")
        case "hook":
            told = [_entry(attack.id, "hello", "0"), _entry(attack.id, content, "1")]
            path = _file(directory, f"{attack.id}.jsonl", told)
            event = read_event(
                json.dumps(
                    {
                        "hook_event_name": "Stop",
                        "session_id": attack.id,
                        "transcript_path": str(path),
                    }
                ),
                "claude-code",
            )
            observed(memory, event, user)
        case "import":
            line = {"session_id": "a", "role": "user", "content": content}
            import_file(memory, _file(directory, f"{attack.id}.jsonl", [line]), user_id=user)
        case "adapter":
            transcript = Transcript(memory, user_id=user, session_id="a", root="t", observe=True)
            transcript.append([Entry({"content": content}, Utterance("user", text_of(content)))])
        case "mcp":
            said = {"role": "user", "content": content}
            _call(memory, user, "observe", session_id="a", messages=[said])
        case "remember":
            _call(memory, user, "remember", content=content)
        case "add":
            memory.add(content, user_id=user, trust=Trust.EXTERNAL)


def _call(memory: SemanticMemory, user: str, tool: str, **arguments: object) -> None:
    """Call a tool as an agent does that may do everything for one user."""
    server = build_server(lambda: memory, lambda _: Caller("agent", (user,), ANYONE))

    async def call() -> None:
        async with Client(server) as client:
            await client.call_tool(tool, arguments)

    anyio.run(call)


def _entry(name: str, content: Any, place: str) -> dict[str, Any]:
    """Return a line of a coding agent's transcript."""
    return {
        "type": "user",
        "sessionId": name,
        "uuid": f"{name}-{place}",
        "isSidechain": False,
        "message": {"role": "user", "content": content},
    }


def _file(directory: Path, name: str, lines: Iterable[Mapping[str, Any]]) -> Path:
    path = directory / name
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return path


def _outcome(
    memory: SemanticMemory, attack: Attack, user: str, believed: Mapping[str, str]
) -> Outcome:
    present = _held(memory, user)
    block = memory.context("Who am I, and how should you answer?", user_id=user).text.casefold()
    text = text_of(attack.content)
    hits = memory.search(text[:500], user_id=user, k=10) if text.strip() else []
    said = [hit.fact for hit in hits if hit.fact.category is Category.CONVERSATION]
    return Outcome(
        attack,
        tuple(content for one, content in believed.items() if one not in present),
        any(word.casefold() in part for part in _ordering(block) for word in attack.words),
        bool(memory.history.requests(user_id=user)),
        any(fact.content.strip() in text for fact in said),
    )


def _ordering(block: str) -> Iterator[str]:
    for opening in _ORDERING:
        _, _, behind = block.partition(opening)
        yield behind.partition("</")[0]
