"""The window: the part of a conversation in the model's prompt, and its compaction."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from semantic_memory.domain.errors import ProviderError
from semantic_memory.domain.events import CompactionFailed, WindowCompacted
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import Observer, Summarizer, TokenCounter
from semantic_memory.domain.values import Value
from semantic_memory.llm.spending import charged_to
from semantic_memory.session.compaction import (
    Level,
    Shortened,
    Tokens,
    cap_results,
    drop_oldest,
    micro_compact,
    older_half,
    snip,
    split_recent,
)
from semantic_memory.session.limits import Budget
from semantic_memory.session.pairs import units
from semantic_memory.session.parts import ChatMessage, Text
from semantic_memory.session.summary import fitted, fold

_MOST_FAILURES = 3
_FACTS_PER_MESSAGE = 0.1  # with fewer, facts can't replace dropped messages


class Notes(Protocol):
    """Interface of long-term memory that compaction needs."""

    def promote(self) -> None:
        """Extract facts from the session's messages so far. Raises ProviderError."""
        ...

    def facts(self, message_ids: frozenset[str]) -> list[str]:
        """Return the facts extracted from these messages, oldest first, a line each."""
        ...


class WindowState(Value):
    """State of a window, kept across restarts."""

    messages: tuple[ChatMessage, ...] = ()
    summary: str = ""
    left_out: int = 0
    """Number of messages no longer in the window."""
    position: int = 0
    """Position of the next message in the session's log."""
    offset: int = 0
    """Byte offset of the next message in the session's log."""
    message_id: str | None = None
    """Id of the last message read from the log."""


@dataclass(frozen=True, slots=True)
class Room:
    """Limits on the tokens of a window's messages."""

    limit: int
    trigger: int
    """Tokens above which they are compacted."""
    target: int
    """Tokens that they are compacted to."""


@dataclass
class _Breaker:
    """Count of consecutive failures."""

    failures: int = 0

    @property
    def open(self) -> bool:
        return self.failures >= _MOST_FAILURES


class Compactor:
    """Compaction of a window by levels, the cheapest first, until it is short enough."""

    def __init__(
        self,
        session: SessionKey,
        notes: Notes,
        summarizer: Summarizer | None,
        counter: TokenCounter,
        tokens: Tokens,
        emit: Observer,
    ) -> None:
        self._session = session
        self._notes = notes
        self._summarizer = summarizer
        self._counter = counter
        self._tokens = tokens
        self._emit = emit
        self._promoting = _Breaker()
        self._summarizing = _Breaker()

    def size(self, state: WindowState) -> int:
        """Return the tokens of a window's messages, including the one for those left out."""
        return sum(map(self._tokens, shown(state)))

    def compacted(
        self, state: WindowState, budget: Budget, room: Room, *, amid_turn: bool
    ) -> WindowState:
        """Compact a window of more than `room.trigger` tokens to `room.target` tokens.

        Recent messages stay whole as long as they fit into `room.limit`. If the target can't be
        reached, the result is as short as possible. `amid_turn` keeps all messages from the user's
        last one on, which is still to be answered.
        """
        trigger, target = room.trigger, room.target
        if self.size(state) <= trigger:
            return state
        policy = budget.policy
        steps: list[tuple[Level, Callable[[Sequence[ChatMessage], int], Shortened]]] = [
            ("results", lambda old, n: cap_results(old, policy.result_characters, n, self._tokens)),
            ("snip", lambda old, n: snip(old, n, self._tokens)),
            ("micro", lambda old, n: micro_compact(old, n, self._tokens)),
        ]
        promoted = False
        for level, step in steps:
            excess = self.size(state) - target
            if excess <= 0:
                return state
            old, recent = split_recent(state.messages, policy.keep_last)
            shorter = step(old, excess)
            if shorter.dropped and not promoted:
                promoted = self._promote()
            state = self._taken(state, level, shorter, recent)
        if self.size(state) > target:
            if not promoted:
                self._promote()
            state = self._retold(state, budget, target)
        if self.size(state) > room.limit:
            state = self._recent(state, budget, room.limit, amid_turn=amid_turn)
        return state

    def _retold(self, state: WindowState, budget: Budget, target: int) -> WindowState:
        """Replace the oldest messages by facts, else by a model's summary, else by nothing."""
        old, recent = split_recent(state.messages, budget.policy.keep_last)
        # Room for the facts or the summary, so that dropping once is enough.
        excess = self.size(state) - target + budget.summary // 2
        shorter = drop_oldest(old, excess, self._tokens)
        facts = self._notes.facts(frozenset(message.id for message in shorter.dropped))
        if shorter.dropped and len(facts) >= _FACTS_PER_MESSAGE * len(shorter.dropped):
            lines = [*state.summary.split("\n"), *facts]
            summary = fitted(lines, budget.summary, self._counter.count)
            return self._taken(state, "memory", shorter, recent, summary)
        if self._summarizer is not None and not self._summarizing.open:
            state, complete = self._summarized(state, budget, target, self._summarizer)
            if complete:
                return state
        excess = self.size(state) - target
        if excess > 0:
            old, recent = split_recent(state.messages, budget.policy.keep_last)
            state = self._taken(state, "drop", drop_oldest(old, excess, self._tokens), recent)
        return state

    def _summarized(
        self, state: WindowState, budget: Budget, target: int, summarizer: Summarizer
    ) -> tuple[WindowState, bool]:
        """Replace the older half, or more if the target asks for it, by a summary of all of it.

        Returns False if the summarizer failed; what it has read until then is replaced.
        """
        old, recent = split_recent(state.messages, budget.policy.keep_last)
        bare = self.size(state.model_copy(update={"summary": ""}))
        half = older_half(old, self._tokens)
        excess = max(half.saved, bare + budget.summary - target)
        shorter = drop_oldest(old, excess, self._tokens)
        with charged_to(self._session.user_id):
            folded = fold(
                summarizer,
                state.summary,
                shorter.dropped,
                most_input=budget.summary_input,
                most_tokens=budget.summary,
                count=self._counter.count,
            )
        if folded.error is None:
            self._summarizing.failures = 0
        else:
            self._failed(self._summarizing, "summary", folded.error)
        kept = tuple(old[len(folded.read) :])
        saved = sum(map(self._tokens, folded.read))
        read = Shortened(kept, saved, folded.read)
        state = self._taken(state, "summary", read, recent, folded.summary)
        return state, folded.error is None

    def _recent(
        self, state: WindowState, budget: Budget, limit: int, *, amid_turn: bool
    ) -> WindowState:
        """Drop and cut recent messages too, except those of the present turn if `amid_turn`."""
        messages = state.messages
        turn = len(messages)
        if amid_turn:
            turn = max((n for n, m in enumerate(messages) if m.role == "user"), default=0)
        excess = self.size(state) - limit
        shorter = drop_oldest(messages[:turn], excess, self._tokens)
        rest = shorter.messages + messages[turn:]
        if excess > shorter.saved:
            capped = cap_results(
                rest, budget.policy.result_characters, excess - shorter.saved, self._tokens
            )
            last = len(units(capped.messages)[-1]) if capped.messages else 0
            border = len(capped.messages) - last
            left = excess - shorter.saved - capped.saved
            cleared = micro_compact(capped.messages[:border], max(0, left), self._tokens)
            rest = cleared.messages + capped.messages[border:]
        saved = sum(map(self._tokens, messages)) - sum(map(self._tokens, rest))
        state = self._taken(state, "recent", Shortened(rest, saved, shorter.dropped), ())
        if self.size(state) > limit and state.summary:
            state = state.model_copy(update={"summary": ""})
        return state

    def _taken(
        self,
        state: WindowState,
        level: Level,
        shorter: Shortened,
        recent: Sequence[ChatMessage],
        summary: str | None = None,
    ) -> WindowState:
        if not shorter.saved and not shorter.dropped:
            return state
        before = self.size(state)
        state = state.model_copy(
            update={
                "messages": (*shorter.messages, *recent),
                "left_out": state.left_out + len(shorter.dropped),
                "summary": state.summary if summary is None else summary,
            }
        )
        now = self.size(state)
        self._emit(WindowCompacted(*self._session, level, before, len(shorter.dropped), now))
        return state

    def _promote(self) -> bool:
        """Extract facts before messages are dropped; if that fails, the log still has them."""
        if not self._promoting.open:
            try:
                self._notes.promote()
            except ProviderError as error:
                self._failed(self._promoting, "promotion", error)
            else:
                self._promoting.failures = 0
        return True

    def _failed(self, breaker: _Breaker, step: str, error: ProviderError) -> None:
        breaker.failures += 1
        self._emit(CompactionFailed(*self._session, step, str(error), breaker.failures))


def shown(state: WindowState) -> tuple[ChatMessage, ...]:
    """Return the messages of a window, with one in front for those left out."""
    if not state.left_out:
        return state.messages
    summary = html.escape(state.summary, quote=False) or "They can be found by a search of memory."
    text = f"<earlier messages={state.left_out}>\n{summary}\n</earlier>"
    return (ChatMessage(role="user", parts=(Text(text=text),)), *state.messages)
