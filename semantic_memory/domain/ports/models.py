"""Models of language: embedders, token counters, extractors, summarizers, condensers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.extraction import Conversation, Extraction
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.messages import Message
from semantic_memory.domain.profile import Line

InputType = Literal["query", "document"]


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """The properties of an embedder that make its vectors comparable with another's."""

    model: str
    dimension: int
    pooling: str
    precision: str

    def __str__(self) -> str:
        return f"{self.model} ({self.dimension}d, {self.pooling}, {self.precision})"


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity that is stored with its vectors."""
        ...

    def embed(self, texts: Sequence[str], input_type: InputType) -> Matrix:
        """Return unit row vectors, shape (len(texts), dimension), float32.

        A text's vector depends on that text alone, not on its neighbours in the batch.
        Raises ProviderError if a remote model can't be reached.
        """
        ...


class TokenCounter(Protocol):
    """Counts tokens as the model that reads the prompt does."""

    def count(self, text: str) -> int:
        """Return the exact number of tokens; special tokens in `text` count as plain text."""
        ...


class Extractor(Protocol):
    """Extracts facts from a stretch of conversation."""

    @property
    def name(self) -> str:
        """The provenance recorded with every fact it proposes."""
        ...

    def extract(self, messages: Sequence[Message], known: Sequence[Fact]) -> Extraction:
        """Propose facts, each naming the messages it came from.

        `known` are the user's facts nearest to the messages, best first; they need not be proposed
        again. Raises ProviderError if the call has to be tried again later.
        """
        ...


@runtime_checkable
class DecidingExtractor(Extractor, Protocol):
    """Extracts facts, and decides which known facts they replace and which ones end.

    Its decisions stand: rules may veto them, and decide nothing beside them.
    """

    def decide(self, conversation: Conversation) -> Extraction:
        """Propose facts and the ends of known ones, each naming its messages and their words.

        Raises ProviderError if the call has to be tried again later.
        """
        ...


class Summarizer(Protocol):
    """Summarizes the older part of a conversation."""

    def summarize(self, transcript: str, *, most_tokens: int) -> str:
        """Return a summary of `transcript` in at most `most_tokens` tokens.

        Raises ProviderError on failure.
        """
        ...


class Condensed(NamedTuple):
    """A sentence that replaces several lines."""

    text: str
    rests_on: tuple[int, ...]
    """Places of the lines whose content it has, from 0."""


class Condenser(Protocol):
    """Condenses the older part of a history."""

    def condense(self, lines: Sequence[Line], *, most: int) -> list[Condensed]:
        """Return at most `most` sentences, each naming the lines it replaces.

        Raises ProviderError if no answer can be used.
        """
        ...
