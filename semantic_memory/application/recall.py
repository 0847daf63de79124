"""What goes into prompts: recalled blocks, and sessions with their windows."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semantic_memory.bootstrap import Service
from semantic_memory.context.choose import Policy
from semantic_memory.context.pack import Packer
from semantic_memory.context.tokens import counter_for, encoding_name
from semantic_memory.domain.changes import Cursor
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.messages import Message, Receipt, SessionKey
from semantic_memory.domain.ports import Ledger, Summarizer, TokenCounter
from semantic_memory.domain.profile import PROFILE_FIELDS, TIERS, as_fact
from semantic_memory.domain.recall import Context, Hit
from semantic_memory.session.limits import Budget, WindowPolicy, form_of, window_of
from semantic_memory.session.memory_files import standard_directories
from semantic_memory.session.parts import Form
from semantic_memory.session.session import LogRecord, Session, state_path
from semantic_memory.session.window import WindowState
from semantic_memory.settings import Settings

STANDING_IMPORTANCE = 0.8
"""Facts at least this important are shown whatever the question."""

_STANDING = frozenset(Category) - {Category.CONVERSATION}
_LAYERS = (*PROFILE_FIELDS, *TIERS)
_LINES_LOOKED_AT = 24  # of profile and history; the standing share has no room for more
_STANDING_LOOKED_AT = 32  # the newest, of which the important ones are shown
_FACTS_OF_A_SESSION = 500


def make_packer(settings: Settings, counter: TokenCounter) -> Packer:
    """A packer as the settings have it."""
    context = settings.context
    policy = Policy(
        shares=context.shares,
        diversity=context.diversity,
        floor=context.floor,
        weakest=context.weakest,
        overview=context.overview,
    )
    return Packer(counter, context.template, policy)


def recall(
    service: Service,
    packer: Packer,
    hits: Sequence[Hit],
    user_id: str,
    budget: int,
    filters: Filters = NO_FILTERS,
    without: Collection[str] = (),
) -> Context:
    """The block of `hits` and of what stands whatever the question."""
    categories = _STANDING & (filters.categories or _STANDING)
    newest = service.ledger.find(
        user_id, filters.model_copy(update={"categories": categories}), limit=_STANDING_LOOKED_AT
    )
    standing = [fact for fact in newest if fact.importance >= STANDING_IMPORTANCE]
    told = _told(service.ledger, user_id, filters)
    return packer.pack(hits, budget=budget, standing=standing, overview=told, without=without)


def _told(ledger: Ledger, user_id: str, filters: Filters) -> list[tuple[Fact, str]]:
    """What profile and history rest on, the profile first and what was said last before the rest.

    A derived line is shown as its facts, so that none of them is shown twice; a written one as a
    fact that says it, if nothing narrows what is asked for. Each with its section.
    """
    lines = ledger.lines(user_id, filters.as_of)
    lines.sort(key=lambda line: line.at, reverse=True)
    lines.sort(key=lambda line: _LAYERS.index(line.layer))
    lines = lines[:_LINES_LOOKED_AT]
    ids = [one for line in lines if line.origin == "derived" for one in line.fact_ids]
    facts = {fact.id: fact for fact in ledger.get(ids, user_id) if filters.admits(fact)}
    narrowed = filters.model_copy(update={"as_of": None}) != NO_FILTERS
    told: list[tuple[Fact, str]] = []
    for line in lines:
        section = "history" if line.layer in TIERS else "profile"
        if line.origin == "derived":
            told += [(facts[one], section) for one in line.fact_ids if one in facts]
        elif not narrowed:
            told.append((as_fact(line), section))
    return told


def forget_state(service: Service, user_id: str, session_id: str | None) -> None:
    """Delete the windows and checkpoints of a session, or of all of a user's."""
    names = [user_id] if session_id is None else [user_id, session_id]
    shutil.rmtree(state_path(_states(service.settings), *names), ignore_errors=True)


def _states(settings: Settings) -> Path:
    return settings.data_dir / "working"


def open_session(
    service: Service,
    key: SessionKey,
    *,
    system_prompt: str,
    model: str | None,
    window: int | None,
    form: Form | None,
    tools: Sequence[Mapping[str, Any]],
    summarizer: Summarizer | None,
    memory_directories: Sequence[Path] | None,
) -> Session:
    """The session, its window refilled from its log. Raises ConfigurationError."""
    settings = service.settings
    name = model or settings.context.model
    counter = service.token_counter if model is None else counter_for(name)
    policy = WindowPolicy(**settings.window.model_dump())
    directories = standard_directories() if memory_directories is None else memory_directories
    return Session(
        key,
        _LongTerm(service, make_packer(settings, counter), key),
        system_prompt=system_prompt,
        form=form or form_of(name),
        budget=Budget(window or window_of(name), policy),
        counter=counter,
        older=encoding_name(name) == "cl100k_base",
        tools=tools,
        summarizer=summarizer,
        memory_directories=directories,
        state_directory=_states(settings),
        clock=service.clock,
        observe=service.observe,
    )


@dataclass(frozen=True, slots=True)
class _LongTerm:
    """The memory, bound to one session."""

    service: Service
    packer: Packer
    key: SessionKey

    def observe(self, messages: Sequence[Message]) -> Receipt:
        return self.service.pipeline.observe(messages, *self.key)

    def read(self, state: WindowState) -> Iterator[LogRecord]:
        after = Cursor(*self.key, "stored", state.position, state.offset, state.message_id)
        return self.service.log.read(*self.key, after)

    def promote(self) -> None:
        self.service.pipeline.flush()

    def recall(self, query: str, budget: int, without: frozenset[str]) -> Context:
        user_id = self.key.user_id
        number = self.service.settings.context.candidates
        hits = self.service.searcher.search(query, user_id, number)
        return recall(self.service, self.packer, hits, user_id, budget, without=without)

    def facts(self, message_ids: frozenset[str]) -> list[str]:
        filters = Filters(categories=_STANDING, session_id=self.key.session_id)
        found = self.service.ledger.find(self.key.user_id, filters, limit=_FACTS_OF_A_SESSION)
        said = [fact for fact in found if not message_ids.isdisjoint(fact.message_ids)]
        return [_line(fact) for fact in sorted(said, key=lambda fact: (fact.created_at, fact.id))]


def _line(fact: Fact) -> str:
    return f"- {fact.created_at.date().isoformat()} {' '.join(fact.content.split())}"
