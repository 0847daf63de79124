"""Extract by a language model; the rules extract where it gives no usable answer.

A failure leads to:

    the endpoint can't be reached, or serves nothing    ProviderError: to be read again later
    too long, cut off, rejected                         the stretch is halved, then the rules
    refused, endless, not JSON even when repaired       the rules, at once

So a model that stammers costs quality and no message; an endpoint that is down costs time and
nothing else. The rules are the offline extractor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ingest.extract import prompt
from ingest.extract.answer import AnswerError, answer_schema, read_answer
from ingest.extract.guidance import NO_GUIDANCE, Guidance
from semantic_memory.domain.errors import (
    AnswerUnusableError,
    InputRefusedError,
    InputTooLongError,
)
from semantic_memory.domain.events import Event, ExtractionFellBack
from semantic_memory.domain.extraction import Conversation, Extraction, joined, proposed_by
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.messages import Message
from semantic_memory.domain.ports import Extractor
from semantic_memory.llm.chat import ChatModel, ChatRequest

_MOST_CHARACTERS = 200_000  # of one request, about 50,000 tokens; more is halved before it is sent
_MOST_HALVINGS = 4
_CONTEXT = 8  # messages of the first half that the second one is shown for reference


class OpenAIExtractor:
    """An `Extractor` that asks a language model with a strict JSON schema."""

    def __init__(
        self,
        model: ChatModel,
        *,
        rules: Extractor,
        observe: Callable[[Event], None],
        temperature: float = 0.1,
        guidance: Guidance = NO_GUIDANCE,
    ) -> None:
        """Add `guidance`, the wishes of the application, to the instructions and the schema."""
        self.model = model
        self.rules = rules
        self._observe = observe
        self._temperature = temperature
        self._guidance = guidance
        self._instructions = prompt.instructions() + guidance.text
        self._schema = answer_schema(guidance)

    @property
    def name(self) -> str:
        """The endpoint's kind, the model and the version of the prompt: `openai:gpt-4o-mini/v1`."""
        return f"{self.model.name}/{prompt.VERSION}"

    def extract(self, messages: Sequence[Message], known: Sequence[Fact]) -> Extraction:
        """Return facts and ends, each naming its messages, as `decide` does."""
        return self.decide(Conversation(messages, known))

    def decide(self, conversation: Conversation) -> Extraction:
        """Return facts, what they replace, what ends, and changes of the profile.

        System messages aren't read. Raises ProviderError if the endpoint can't be reached or won't
        serve.
        """
        spoken = conversation.spoken
        return self._read(spoken, 0) if spoken.messages else Extraction(decided=True)

    def request(self, conversation: Conversation) -> ChatRequest:
        """Return the request about a conversation."""
        return ChatRequest(
            "extraction",
            self._instructions,
            prompt.document(conversation.spoken),
            schema=self._schema,
            temperature=self._temperature,
        )

    def read(self, text: str, conversation: Conversation) -> Extraction:
        """Return what an answer about a spoken conversation says. Raises AnswerError."""
        return read_answer(text, conversation, self._guidance)

    def by_rules(self, conversation: Conversation, why: str) -> Extraction:
        """Extract by the rules from messages that the model failed on."""
        messages = conversation.spoken.messages
        self._observe(ExtractionFellBack(self.name, why, len(messages)))
        return proposed_by(self.rules.name, self.rules.extract(messages, conversation.known))

    def _read(self, conversation: Conversation, halvings: int) -> Extraction:
        messages = conversation.messages
        try:
            if sum(len(message.content) for message in messages) > _MOST_CHARACTERS:
                raise InputTooLongError("the stretch is too long for one request")
            completion = self.model.complete(self.request(conversation))
            return self.read(completion.text, conversation)
        except AnswerError as error:
            return self.by_rules(conversation, error.reason)
        except AnswerUnusableError:
            return self.by_rules(conversation, "refused")
        except InputRefusedError as error:
            if len(messages) == 1 or halvings == _MOST_HALVINGS:
                too_long = isinstance(error, InputTooLongError)
                return self.by_rules(conversation, "too_long" if too_long else "rejected")
        halves = conversation.halves(_CONTEXT)
        return joined([self._read(half, halvings + 1) for half in halves])
