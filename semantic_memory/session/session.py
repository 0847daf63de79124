"""A session: builds the prompts of a conversation with a model, and stores its messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel

from semantic_memory.domain.closing import Closing
from semantic_memory.domain.errors import InvalidInputError, PromptTooLongError, ProviderError
from semantic_memory.domain.forget_requests import Asked
from semantic_memory.domain.logs import Record
from semantic_memory.domain.messages import Message, Receipt, SessionKey, SessionOptions
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.ports import Clock, Observer, Summarizer, TokenCounter
from semantic_memory.domain.ports.states import States
from semantic_memory.domain.recall import Context
from semantic_memory.session.anthropic_form import from_anthropic, to_anthropic
from semantic_memory.session.checkpoint import Checkpoint, Migration
from semantic_memory.session.counting import RequestCounter
from semantic_memory.session.limits import Budget
from semantic_memory.session.manner import manner
from semantic_memory.session.memory_files import MemoryFiles
from semantic_memory.session.openai_form import from_openai, to_openai
from semantic_memory.session.pairs import complete
from semantic_memory.session.parts import ChatMessage, Form, Text, clean, from_log, to_log
from semantic_memory.session.window import Compactor, Notes, Room, WindowState, shown

ModelT = TypeVar("ModelT", bound=BaseModel)
Incoming = Mapping[str, Any] | BaseModel

_TOO_LONG = regex(
    r"context_length_exceeded|maximum context length|prompt is too long|context window"
    r"|too many (?:input )?tokens|request_too_large",
    re.IGNORECASE,
)
_FIGURE = regex(r"\d[\d,]{2,}(?= (?:tokens|maximum))")
_SHORTER = 0.75  # for an error without figures
_JOINT = 8  # tokens that joining the block and the question may cost
_NOTHING = Context(text="", tokens=0, hits=())


class LongTerm(Notes, Protocol):
    """Interface of long-term memory that a session needs, bound to its user and session."""

    def observe(self, messages: Sequence[Message]) -> Receipt:
        """Store messages; they are on disk when this returns."""
        ...

    def read(self, state: WindowState) -> Iterator[Record]:
        """Read the messages of the log after a window, or all if the log has been rewritten."""
        ...

    def requests(self) -> dict[str, Asked]:
        """Return the session's requests to forget that aren't settled, by message."""
        ...

    def recall(self, query: str, budget: int, without: frozenset[str]) -> Context:
        """Return a context block for `query` that leaves out the messages with these ids."""
        ...


class Payload(list[dict[str, Any]]):
    """List of messages ready for the API, with details as attributes."""

    def __init__(
        self, messages: Iterable[dict[str, Any]], *, system: str, tokens: int, memory: Context
    ) -> None:
        super().__init__(messages)
        self.system = system
        """System prompt, for Anthropic's API, which takes it as a separate argument."""
        self.tokens = tokens
        """Tokens of the whole prompt, tool schemas included."""
        self.memory = memory
        """Context block in the prompt."""


class Session(Closing):
    """One conversation of a user, with its window and task state.

    The window follows from the session's log and its saved state, so that reopening the session
    restores it. Not thread-safe; use one object for each conversation.
    """

    def __init__(
        self,
        key: SessionKey,
        memory: LongTerm,
        *,
        system_prompt: str,
        form: Form,
        budget: Budget,
        counter: TokenCounter,
        older: bool,
        options: SessionOptions,
        tools: Sequence[Mapping[str, Any]],
        summarizer: Summarizer | None,
        memory_files: MemoryFiles,
        states: States,
        clock: Clock,
        observe: Observer,
    ) -> None:
        self._key = key
        self._memory = memory
        self._form = form
        self._budget = budget
        self._clock = clock
        self._emit = observe
        self._requests = RequestCounter(counter, form, older=older)
        self._tools = self._requests.tools(tools)
        parts = (system_prompt, memory_files.text(), manner(options))
        self._system = "\n\n".join(part for part in parts if part)
        self._compacts = options.compact
        tokens = lru_cache(8_192)(self._tokens)
        self._compactor = Compactor(key, memory, summarizer, counter, tokens, observe)
        self._states = states
        self._kept = Checkpoint(states.window(key), WindowState)
        self._state = self._kept.load() or WindowState()
        self._asked: str | None = None
        self._recalled: tuple[str, Context] | None = None
        self._retried = False
        self._scale = 1.0  # factor on the window, below 1 once an API has found a prompt too long
        self._sent = 0
        self._catch_up()

    def close(self) -> None:
        """Extract facts from the messages pushed, which are on disk already."""
        with suppress(ProviderError):  # retried in the background
            self._memory.promote()

    # ---------------------------------------------------------------- a turn

    def payload(self, query: str | None = None) -> Payload:
        """Build the prompt: system prompt, conversation, context block and question.

        `query` is the user's next message; push it together with the answer. Without a query the
        prompt continues the conversation, as for the steps between tool results. The prompt never
        exceeds the window less the response reserve; raises PromptTooLongError, with the sizes, if
        its required part does.
        """
        if query is not None and not query.strip():
            raise InvalidInputError("payload: query is empty; leave it out to continue a turn")
        self._catch_up()
        self._asked = None if query is None else clean(query)
        self._retried = False
        return self._payload()

    def shorten(self, error: Exception) -> Payload:
        """Build the last payload again, shorter, after the API rejected it as too long.

        `error` is the exception of the API's client. Raises `error` itself if it reports another
        problem, or if this payload has been shortened already.
        """
        if self._retried or not is_too_long(error):
            raise error
        self._retried = True
        effective = Budget(int(self._budget.window * self._scale), self._budget.policy).effective
        self._scale *= _overrun(error) * min(1.0, self._sent / effective)
        return self._payload()

    def push(
        self,
        messages: Iterable[Incoming] | Incoming | None = None,
        *,
        user: str | None = None,
        assistant: str | None = None,
    ) -> Receipt:
        """Store messages: texts of user and assistant, or messages in the API's form.

        Tool calls and results are included. The messages are on disk when this returns. Raises
        InvalidInputError, and then stores none of them.
        """
        said: list[ChatMessage] = []
        if user is not None:
            said.append(ChatMessage(role="user", parts=(Text(text=clean(user)),)))
        if isinstance(messages, Mapping | BaseModel):
            messages = [messages]
        for message in messages or ():
            said += self._decoded(message)
        if assistant is not None:
            said.append(ChatMessage(role="assistant", parts=(Text(text=clean(assistant)),)))
        if not said:
            raise InvalidInputError("push: give user=, assistant= or a list of messages")
        now = self._clock.now()
        receipt = self._memory.observe([to_log(message, {"created_at": now}) for message in said])
        self._catch_up()
        return receipt

    # ---------------------------------------------------------------- state

    @property
    def messages(self) -> tuple[ChatMessage, ...]:
        """Messages of the window, with one in front for those left out."""
        return shown(self._state)

    @property
    def requests(self) -> dict[str, Asked]:
        """Requests to forget that aren't settled, by the ids of their messages.

        They wait for the application's `forget` or `history.settle`, or for the user's second
        clear word.
        """
        return self._memory.requests()

    def checkpoint(
        self,
        name: str,
        model: type[ModelT],
        *,
        version: int = 1,
        migrations: Mapping[int, Migration] | None = None,
    ) -> Checkpoint[ModelT]:
        """Return the checkpoint of a task of this session.

        `version` is the model's version; `migrations[n]` converts data of version n to n + 1.
        """
        return Checkpoint(
            self._states.task(self._key, name),
            model,
            version=version,
            migrations=migrations,
            user_id=self._key.user_id,
        )

    # ---------------------------------------------------------------- inside

    def _payload(self) -> Payload:
        asked = self._asked
        question = [] if asked is None else [ChatMessage(role="user", parts=(Text(text=asked),))]
        fixed = self._requests.request([], self._system) + self._tools
        taken = fixed + sum(map(self._tokens, question))
        budget = Budget(int(self._budget.window * self._scale), self._budget.policy)
        room = Room(
            limit=max(0, budget.effective - taken),
            trigger=max(0, budget.trigger - taken - budget.memory),
            target=max(0, budget.target - taken - budget.memory),
        )
        state = self._state
        if self._compacts:
            state = self._compactor.compacted(state, budget, room, amid_turn=asked is None)
        if state != self._state:
            self._state = state
            self._kept.save(state)
        left = room.limit - self._compactor.size(state) - _JOINT
        recalled = self._recall(asked, min(budget.memory, left))
        payload = self._encoded([*shown(state), *question], recalled)
        if payload.tokens > budget.effective:
            raise PromptTooLongError(
                f"the prompt takes {payload.tokens:,} tokens and may take {budget.effective:,}"
                f" (a window of {budget.window:,}, less the response): {fixed:,} are the system"
                f" prompt, memory files and tools, {payload.tokens - fixed:,} the present turn;"
                " shorten them, or use a model with a larger window"
            )
        self._sent = payload.tokens
        return payload

    def _encoded(self, messages: Sequence[ChatMessage], recalled: Context) -> Payload:
        whole = complete(_with_memory(messages, recalled.text))
        if self._form == "anthropic":
            wires = to_anthropic(whole)
            tokens = self._requests.request(wires, self._system)
        else:
            wires = to_openai(self._system, whole)
            tokens = self._requests.request(wires)
        return Payload(wires, system=self._system, tokens=tokens + self._tools, memory=recalled)

    def _recall(self, asked: str | None, budget: int) -> Context:
        """Recall a context block for the present turn, the same for all of its steps."""
        if budget < 1:
            return _NOTHING
        if asked is None:
            said = [m.text for m in self._state.messages if m.role == "user" and m.text.strip()]
            if not said:
                return _NOTHING
            asked = said[-1]
        before = self._recalled
        if before is None or before[0] != asked or before[1].tokens > budget:
            known = frozenset(message.id for message in self._state.messages)
            before = self._recalled = asked, self._memory.recall(asked, budget, known)
        return before[1]

    def _catch_up(self) -> None:
        """Add the messages that the log has after the window's last message."""
        state = self._state
        records = list(self._memory.read(state))
        if not records:
            return
        if records[0].position < state.position:
            state, records = _without_the_forgotten(state, records)
        fresh = [m for record in records if (m := from_log(record.message)) is not None]
        changes: dict[str, Any] = {"messages": (*state.messages, *fresh)}
        if records:
            last = records[-1]
            changes |= {
                "position": last.position + 1,
                "offset": last.end,
                "message_id": last.message.id,
            }
        self._state = state.model_copy(update=changes)

    def _decoded(self, message: Incoming) -> list[ChatMessage]:
        if isinstance(message, BaseModel):
            message = message.model_dump(mode="json", exclude_none=True)
        if not isinstance(message, Mapping):
            raise InvalidInputError(f"push: a message must be a mapping (got {message!r:.60})")
        return from_anthropic(message) if self._form == "anthropic" else from_openai(message)

    def _tokens(self, message: ChatMessage) -> int:
        if self._form == "openai":
            return sum(map(self._requests.message, to_openai("", [message])))
        # only the last one: a user message is put before a single assistant message
        return sum(map(self._requests.message, to_anthropic([message])[-1:]))


def _without_the_forgotten(
    state: WindowState, records: list[Record]
) -> tuple[WindowState, list[Record]]:
    """Return the window as a rewritten log has its messages, and its new records."""
    places = {record.message.id: place for place, record in enumerate(records)}
    known_ids = [message.id for message in state.messages if message.id in places]
    again = (from_log(records[places[one]].message) for one in known_ids)
    kept = tuple(message for message in again if message is not None)
    known = [places[m.id] for m in kept] + [places.get(state.message_id or "", -1)]
    last = max(known)
    if last >= 0:
        position, offset = records[last].position + 1, records[last].end
        name: str | None = records[last].message.id
    else:
        position, offset, name = 0, 0, None
    # The summary may contain text of forgotten messages.
    update = {"messages": kept, "summary": "", "position": position, "offset": offset}
    return state.model_copy(update={**update, "message_id": name}), records[last + 1 :]


def is_too_long(error: Exception) -> bool:
    """Return True if an API's error says that the prompt was too long."""
    if getattr(error, "status_code", None) == 413:
        return True
    return bool(_TOO_LONG.search(f"{getattr(error, 'code', '')} {error}"))


def _overrun(error: Exception) -> float:
    """Return the factor to shorten a prompt by: limit / actual, from the error's figures."""
    figures = sorted(int(figure.replace(",", "")) for figure in _FIGURE.findall(str(error)))
    if len(figures) < 2 or figures[0] == figures[-1]:
        return _SHORTER
    return 0.95 * figures[0] / figures[-1]


def _with_memory(messages: Sequence[ChatMessage], block: str) -> list[ChatMessage]:
    """Put the block in front of the user's last text, so that the prefix stays cacheable."""
    result = list(messages)
    if not block:
        return result
    for place in range(len(result) - 1, -1, -1):
        if result[place].role == "user" and result[place].text.strip():
            parts = result[place].parts
            first = next(n for n, part in enumerate(parts) if isinstance(part, Text))
            asked = Text(text=f"{block}\n\n{result[place].text}")
            rest = tuple(part for part in parts if not isinstance(part, Text))
            parts = (*rest[:first], asked, *rest[first:])
            result[place] = result[place].model_copy(update={"parts": parts})
            break
    return result
