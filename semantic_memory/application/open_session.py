"""Open sessions: conversations with a model that recall from the memory and are kept in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from semantic_memory.application.recall import Recall
from semantic_memory.context.pack import Packer
from semantic_memory.context.tokens import counter_for, encoding_name
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.forget_requests import Asked
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import (
    Clock,
    Ledger,
    Observer,
    SessionLog,
    Summarizer,
    TokenCounter,
)
from semantic_memory.domain.ports.states import States
from semantic_memory.domain.scope import Scope
from semantic_memory.pipeline.pipeline import Pipeline
from semantic_memory.session.limits import Budget, WindowPolicy, form_of, window_of
from semantic_memory.session.long_term import BoundMemory
from semantic_memory.session.memory_files import MemoryFiles
from semantic_memory.session.parts import Form
from semantic_memory.session.session import Session


class OpenSession:
    """Open the sessions of a store. Thread-safe.

    `model` is the one whose tokens `counter` counts; `packer_for` makes a packer for another, and
    `summarizer_for` the summarizer of a window. `files_in` finds the memory files of directories,
    or of the usual ones.
    """

    def __init__(
        self,
        ledger: Ledger,
        log: SessionLog,
        pipeline: Pipeline,
        recall: Recall,
        packer_for: Callable[[TokenCounter], Packer],
        model: str,
        counter: TokenCounter,
        policy: WindowPolicy,
        states: States,
        clock: Clock,
        observe: Observer,
        summarizer_for: Callable[[TokenCounter], Summarizer | None],
        files_in: Callable[[Sequence[Path] | None], MemoryFiles],
        waiting: Callable[[SessionKey], dict[str, Asked]],
    ) -> None:
        self._ledger = ledger
        self._log = log
        self._pipeline = pipeline
        self._recall = recall
        self._packer_for = packer_for
        self._model = model
        self._counter = counter
        self._policy = policy
        self._states = states
        self._clock = clock
        self._observe = observe
        self._summarizer_for = summarizer_for
        self._files_in = files_in
        self._waiting = waiting

    def open(
        self,
        key: SessionKey,
        *,
        scope: Scope,
        system_prompt: str,
        model: str | None,
        window: int | None,
        form: Form | None,
        tools: Sequence[Mapping[str, Any]],
        summarizer: Summarizer | None,
        memory_directories: Sequence[Path] | None,
    ) -> Session:
        """Open a session, its window refilled from its log; it observes and recalls in `scope`.

        First finishes a forgetting of this session: done later, it would delete checkpoints saved
        now. Raises ConfigurationError, SessionClosedError for a closed session, and
        StoreUnavailableError.
        """
        self._pipeline.check_open(key)
        self._pipeline.pay(key)
        name = model or self._model
        counter = self._counter if model is None else counter_for(name)
        memory = BoundMemory(
            key,
            self._pipeline,
            self._log,
            self._ledger,
            partial(
                self._recall.pack,
                packer=self._packer_for(counter),
                session_id=key.session_id,
                filters=Filters(**scope.seen),
            ),
            self._waiting,
            scope,
        )
        return Session(
            key,
            memory,
            system_prompt=system_prompt,
            form=form or form_of(name),
            budget=Budget(window or window_of(name), self._policy),
            counter=counter,
            options=self._pipeline.options(key),
            older=encoding_name(name) == "cl100k_base",
            tools=tools,
            summarizer=summarizer or self._summarizer_for(counter),
            memory_files=self._files_in(memory_directories),
            states=self._states,
            clock=self._clock,
            observe=self._observe,
        )
