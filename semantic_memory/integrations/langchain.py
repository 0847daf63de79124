"""LangChain: a middleware of agents, a retriever and a chat message history over a memory.

from semantic_memory.integrations.langchain import SemanticMemoryMiddleware

remembering = SemanticMemoryMiddleware(memory, user_of=lambda runtime: runtime.context.user_id)
agent = create_agent(model, tools, middleware=[remembering])
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
    from langchain.tools import ToolRuntime
    from langchain_core.callbacks import (
        AsyncCallbackManagerForRetrieverRun,
        CallbackManagerForRetrieverRun,
    )
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.documents import Document
    from langchain_core.messages import (
        AIMessage,
        AnyMessage,
        BaseMessage,
        HumanMessage,
        SystemMessage,
        message_to_dict,
        messages_from_dict,
    )
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.tools import BaseTool, StructuredTool
    from langgraph.runtime import Runtime
except ImportError as error:
    raise ImportError(
        "semantic_memory.integrations.langchain needs LangChain:"
        " pip install 'semantic-memory[langchain]'"
    ) from error

from semantic_memory.domain import fields
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.filters import FilterLike
from semantic_memory.domain.recall import Hit
from semantic_memory.domain.requests import SearchRequest
from semantic_memory.domain.values import MAX_QUERY_BYTES, clipped
from semantic_memory.integrations.identifiers import identifier_of
from semantic_memory.integrations.observing import Utterance, observed
from semantic_memory.integrations.recalling import last_question, owner_in, packed
from semantic_memory.integrations.steps import (
    AnyMemory,
    Steps,
    blocking,
    run,
    run_async,
    underlying,
)
from semantic_memory.integrations.tools import memory_tools
from semantic_memory.integrations.transcripts import Entry, Transcript

_WRITTEN = "lc_source"
"""Key that LangChain gives to messages that nobody said, like summaries and notifications."""


class SemanticMemoryMiddleware(AgentMiddleware[Any, Any, Any]):
    """Recalls before each call of the model, and observes after each run of the agent.

    `user_of` returns the user of a run, or is the one user of all. The context block, of at most
    `budget` tokens, is packed for the last message of the user and stands at the end of the system
    message; the state of the agent doesn't hold it. What the user and the agent said in the last
    turn is observed, in a session named for the thread, unless `observe` is False. With `tools`,
    the agent has the tools of `tools.memory_tools`, for the user of the run.
    """

    def __init__(
        self,
        memory: AnyMemory,
        *,
        user_of: Callable[[Any], str] | str,
        budget: int = fields.BUDGET.default,
        observe: bool = True,
        tools: bool = False,
    ) -> None:
        super().__init__()
        self._memory = underlying(memory)
        self._user_of = user_of
        self._budget = budget
        self._observe = observe
        self.tools = self._made() if tools else []

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Call the model with the block."""
        return handler(_informed(request, run(self._memory, self._block(request))))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Call the model with the block."""
        return await handler(
            _informed(request, await run_async(self._memory, self._block(request)))
        )

    def after_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Observe the last turn."""
        run(self._memory, self._turn(state, runtime))

    async def aafter_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Observe the last turn."""
        await run_async(self._memory, self._turn(state, runtime))

    def _user(self, runtime: Any) -> str:
        return owner_in(self._user_of, runtime)

    def _block(self, request: ModelRequest[Any]) -> Steps[str]:
        question = last_question(_said(message) for message in reversed(request.messages))
        user_id = self._user(request.runtime)
        return (yield from packed(question, user_id=user_id, budget=self._budget))

    def _turn(self, state: AgentState[Any], runtime: Runtime[Any]) -> Steps[None]:
        turn = [*_last_turn(state["messages"])] if self._observe else []
        if turn:
            execution = runtime.execution_info
            thread = execution.thread_id if execution else None
            session_id = identifier_of(thread or turn[0][0])
            yield from observed(turn, user_id=self._user(runtime), session_id=session_id)

    def _made(self) -> list[BaseTool]:
        known = memory_tools(blocking(self._memory), "any", form="responses").definitions
        return [self._tool(definition) for definition in known]

    def _tool(self, definition: dict[str, Any]) -> BaseTool:
        memory, name = blocking(self._memory), definition["name"]

        def call(runtime: ToolRuntime, **arguments: Any) -> str:
            return memory_tools(memory, self._user(runtime)).call(name, arguments)

        async def acall(runtime: ToolRuntime, **arguments: Any) -> str:
            return await memory_tools(memory, self._user(runtime)).acall(name, arguments)

        return StructuredTool(
            name=name,
            description=definition["description"],
            args_schema=definition["parameters"],
            func=call,
            coroutine=acall,
        )


class SemanticMemoryRetriever(BaseRetriever):
    """Retrieves a user's memories as documents: the content, with the rest as metadata.

    `k`, `filters` and `min_score` are those of `search`; `invoke` takes another `k`.
    """

    memory: Any
    user_id: str
    k: int = fields.HITS.default
    filters: Any = None
    min_score: float = fields.LEAST_SCORE.default

    def __init__(
        self,
        memory: AnyMemory,
        *,
        user_id: str,
        k: int = fields.HITS.default,
        filters: FilterLike = None,
        min_score: float = fields.LEAST_SCORE.default,
        **options: Any,
    ) -> None:
        found = {"memory": underlying(memory), "user_id": user_id, "k": k}
        super().__init__(**found, filters=filters, min_score=min_score, **options)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        del run_manager
        return run(self.memory, self._found(query, k))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        del run_manager
        return await run_async(self.memory, self._found(query, k))

    def _found(self, query: str, k: int | None) -> Steps[list[Document]]:
        asked = clipped(query, MAX_QUERY_BYTES)
        if not asked.strip():
            return []
        hits: list[Hit] = yield SearchRequest.of(
            asked,
            user_id=identifier_of(self.user_id),
            k=self.k if k is None else k,
            filters=self.filters,
            min_score=self.min_score,
        )
        return [_document(hit.fact, hit.score) for hit in hits]


class SemanticMemoryChatMessageHistory(BaseChatMessageHistory):
    """The messages of one session, kept exactly; what people and models say is observed as well.

    Messages of every kind are items of the user, below the label `root`. `clear` removes them; the
    memory keeps what was said. With `observe` False, nothing is observed.
    """

    def __init__(
        self,
        session_id: str,
        memory: AnyMemory,
        *,
        user_id: str,
        observe: bool = True,
        root: str = "langchain",
    ) -> None:
        super().__init__()
        self.session_id = session_id
        self._transcript = Transcript(
            memory, user_id=user_id, session_id=session_id, root=root, observe=observe
        )

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # read-only, as elsewhere
        """The messages, in order."""
        return messages_from_dict(self._transcript.read())

    async def aget_messages(self) -> list[BaseMessage]:
        """Return the messages, in order."""
        return messages_from_dict(await self._transcript.aread())

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages behind the others."""
        self._transcript.append(map(_entry, messages))

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages behind the others."""
        await self._transcript.aappend(map(_entry, messages))

    def clear(self) -> None:
        """Remove every message."""
        self._transcript.clear()

    async def aclear(self) -> None:
        """Remove every message."""
        await self._transcript.aclear()


def _entry(message: BaseMessage) -> Entry:
    return Entry(message_to_dict(message), _said(message))


def _said(message: BaseMessage) -> Utterance | None:
    """Return the text of a message that a person or a model said; None of another."""
    if message.additional_kwargs.get(_WRITTEN):
        return None
    match message:
        case HumanMessage():
            return Utterance("user", str(message.text), name=message.name or None)
        case AIMessage():
            return Utterance("assistant", str(message.text))
    return None


def _last_turn(messages: Sequence[AnyMessage]) -> Iterator[tuple[str, Utterance]]:
    """Yield what was said since the user's last messages, with ids.

    What came before was observed in its own run, or is history that the caller passed in.
    """
    start = len(messages)
    while start and not isinstance(messages[start - 1], HumanMessage):
        start -= 1
    while start and isinstance(messages[start - 1], HumanMessage):
        start -= 1
    for message in messages[start:]:
        said = _said(message)
        if said is not None and message.id:
            yield message.id, said


def _informed(request: ModelRequest[Any], block: str) -> ModelRequest[Any]:
    """Return a request whose system message ends with a block."""
    if not block:
        return request
    system = request.system_message
    if system is None:
        return request.override(system_message=SystemMessage(block))
    if isinstance(system.content, str):
        content: Any = f"{system.content}\n\n{block}"
    else:
        content = [*system.content, {"type": "text", "text": block}]
    return request.override(system_message=system.model_copy(update={"content": content}))


def _document(fact: Fact, score: float) -> Document:
    shown = {
        "category": fact.category.value,
        "confidence": fact.confidence,
        "importance": fact.importance,
        "created_at": fact.created_at.isoformat(),
        "tags": list(fact.tags),
        "score": score,
    }
    return Document(page_content=fact.content, id=fact.id, metadata={**fact.metadata, **shown})
