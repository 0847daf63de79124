"""A case: a probe that is run with a setting's default and with another value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

from semantic_memory import Fact, SemanticMemory
from semantic_memory.domain.events import Event
from semantic_memory.domain.extraction import Candidate
from semantic_memory.settings import Settings
from semantic_memory.testing import FrozenClock, HashEmbedder, InMemoryIndex, ScriptedExtractor
from tests.conftest import NOW, eventually
from tests.support.openai_server import OpenAIServer

U: dict[str, Any] = {"user_id": "u1"}
S: dict[str, Any] = {**U, "session_id": "s1"}
UNATTENDED = {"ingest.background": False, "upkeep.schedule": False}
"""Nothing runs by itself, so that a probe sees what it asks for."""
_SECONDS = 20.0
_NEVER_SECONDS = 0.4
Kind = TypeVar("Kind")


@dataclass
class Trial:
    """One run of a probe: settings, and the parts of a store without model and Chroma."""

    settings: Settings
    directory: Path
    """Of this run alone; the store is `directory / "store"`."""
    server: OpenAIServer
    resources: ExitStack
    expected: Any
    patch: pytest.MonkeyPatch
    clock: FrozenClock = field(default_factory=lambda: FrozenClock(NOW))
    events: list[Event] = field(default_factory=list)

    def open(self, settings: Settings | None = None, **parts: Any) -> SemanticMemory:
        """Open the store by the settings; it is closed after the probe.

        A part that is None is made by the settings.
        """
        given = {
            "embedder": HashEmbedder(),
            "index": InMemoryIndex(),
            "clock": self.clock,
            "observer": self.events.append,
            **parts,
        }
        memory = SemanticMemory.open(settings=settings or self.settings, **given)
        self.resources.callback(memory.close)
        return memory

    def eventually(self, condition: Callable[[], bool]) -> bool:
        """Wait for a condition: long if the probe should see something, else not for long."""
        return eventually(condition, self.patience)

    @property
    def patience(self) -> float:
        """Seconds to wait for what the probe should see, or shouldn't."""
        return _SECONDS if self.expected else _NEVER_SECONDS

    def seen(self, kind: type[Kind]) -> list[Kind]:
        """Return the events of a kind so far."""
        return [event for event in self.events if isinstance(event, kind)]


Probe = Callable[[Trial], Any]
Given = Callable[[Trial], Any]
"""A value that depends on the trial's directory or server."""


@dataclass(frozen=True)
class Case:
    """A setting, another value for it, and what a probe returns with the default and with that."""

    name: str
    probe: Probe
    value: Any
    was: Any
    becomes: Any
    given: Mapping[str, Any]
    """Settings that hold in both runs."""


CASES: dict[str, Case] = {}


def effect(
    name: str, value: Any, *, was: Any, becomes: Any, **given: Any
) -> Callable[[Probe], Probe]:
    """Register a probe as the case of a setting, with other settings in their dotted names.

    `given` is added to `UNATTENDED`; a value may be a function of the trial.
    """
    others = {key.replace("__", "."): one for key, one in given.items()}

    def register(probe: Probe) -> Probe:
        assert name not in CASES, name
        assert was != becomes, name
        CASES[name] = Case(name, probe, value, was, becomes, {**UNATTENDED, **others})
        return probe

    return register


@contextmanager
def trial(case: Case, directory: Path, server: OpenAIServer, *, changed: bool) -> Iterator[Trial]:
    """Prepare a run of a case's probe, with the default or the other value."""
    directory.mkdir()
    named = {key: one for key, one in case.given.items() if key != case.name}
    named = {"data_dir": directory / "store"} | named
    if changed:
        named[case.name] = case.value
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        expected = case.becomes if changed else case.was
        run = Trial(Settings(), directory, server, stack, expected, patch)
        run.settings = Settings(
            **nested({k: v(run) if callable(v) else v for k, v in named.items()})
        )
        yield run


def nested(named: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings by their dotted names as sections."""
    sections: dict[str, Any] = {}
    for name, value in named.items():
        *path, key = name.split(".")
        section = sections
        for part in path:
            section = section.setdefault(part, {})
        section[key] = value
    return sections


def says(*contents: str, **values: Any) -> ScriptedExtractor:
    """Return an extractor that proposes each of these facts once, from the first message."""
    waiting = list(contents)

    def script(messages: Any) -> list[Candidate]:
        proposed, waiting[:] = list(waiting), []
        defaults = {"category": "personal", "confidence": 0.9, "message_ids": (messages[0].id,)}
        return [Candidate(content=one, **{**defaults, **values}) for one in proposed]

    return ScriptedExtractor(script)


def facts(memory: SemanticMemory) -> list[Fact]:
    """Return the user's facts, without messages."""
    return [f for f in memory.list(**U, limit=None) if f.category.value != "conversation"]
