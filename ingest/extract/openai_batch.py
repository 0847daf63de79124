"""Extract through the batch API: half the price, within a day, for imports.

https://platform.openai.com/docs/guides/batch: a JSONL file of requests, each with a `custom_id`, is
uploaded and worked off; the answers come back as JSONL, in any order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import openai
from openai.types import Batch

from ingest.extract.answer import AnswerError
from ingest.extract.openai import OpenAIExtractor
from semantic_memory.domain.errors import (
    AnswerUnusableError,
    InputTooLongError,
    ProviderError,
)
from semantic_memory.domain.extraction import Conversation, Extraction
from semantic_memory.llm.endpoint import Endpoint
from semantic_memory.llm.forms import Answer
from semantic_memory.llm.openai import read_answer as read_completion
from semantic_memory.llm.refusals import RefusalError

_PRICE_FACTOR = 0.5  # of what the same request costs by itself
_WORKING = frozenset({"validating", "in_progress", "finalizing", "cancelling"})
_TOKEN = "semantic_memory"  # noqa: S105  # a key in a batch's metadata


@dataclass(frozen=True, slots=True)
class BatchState:
    """Progress of a batch."""

    working: bool
    done: int
    """Requests that were answered, or have failed."""
    total: int
    complete: bool = False
    """Every request was tried; not so if the batch expired or was cancelled."""
    output: str | None = None
    """The file of the answers."""
    error: str | None = None
    """Reason for which it failed as a whole."""


NOTHING_SENT = BatchState(working=False, done=0, total=0, complete=True)


class BatchGoneError(ProviderError):
    """The endpoint doesn't know the batch, or no longer has its answers."""


class OpenAIBatch:
    """`/v1/batches` with the requests that `extractor` would send to `endpoint`.

    A batch's id is all that has to be kept: its answers can be read by a later process. Every verb
    raises ProviderError if the endpoint can't be reached or refuses.
    """

    def __init__(
        self, client: openai.OpenAI, extractor: OpenAIExtractor, endpoint: Endpoint
    ) -> None:
        self._client = client
        self._extractor = extractor
        self._endpoint = endpoint

    def submit(self, conversations: Mapping[str, Conversation], token: str) -> str:
        """Send off requests by name (at most 50,000 of them, 200 MB); returns the batch's id.

        `token` is kept with the batch, which `find` finds by it.
        """
        data = "\n".join(
            json.dumps(
                {
                    "custom_id": name,
                    "method": "POST",
                    "url": "/v1/chat/completions",
                    "body": self._endpoint.body(self._extractor.request(conversation)),
                },
                ensure_ascii=False,
            )
            for name, conversation in conversations.items()
        ).encode()
        try:
            file = self._client.files.create(file=("extraction.jsonl", data), purpose="batch")
            batch = self._client.batches.create(
                input_file_id=file.id,
                endpoint="/v1/chat/completions",
                completion_window="24h",
                metadata={_TOKEN: token},
            )
        except openai.OpenAIError as error:
            raise ProviderError(f"the batch wasn't taken: {error}") from error
        return batch.id

    def find(self, token: str) -> str | None:
        """Return the id of the batch that was submitted with `token`; None if there is none."""
        try:
            for batch in self._client.batches.list(limit=100):
                if (batch.metadata or {}).get(_TOKEN) == token:
                    return batch.id
        except openai.OpenAIError as error:
            raise ProviderError(f"the batches can't be listed: {error}") from error
        return None

    def state(self, batch_id: str) -> BatchState:
        """Return the progress of a batch."""
        try:
            batch = self._client.batches.retrieve(batch_id)
        except openai.NotFoundError as error:
            raise BatchGoneError(f"batch {batch_id} is gone: {error}") from error
        except openai.OpenAIError as error:
            raise ProviderError(f"batch {batch_id} can't be read: {error}") from error
        counts = batch.request_counts
        done, total = (counts.completed + counts.failed, counts.total) if counts else (0, 0)
        return BatchState(
            working=batch.status in _WORKING,
            done=done,
            total=total,
            complete=batch.status == "completed",
            output=batch.output_file_id,
            error=_errors(batch) if batch.status == "failed" else None,
        )

    def answers(self, state: BatchState) -> dict[str, Answer]:
        """Return the answers of a batch by the names of their requests."""
        if state.output is None:
            return {}
        try:
            output = self._client.files.content(state.output).content
        except openai.NotFoundError as error:
            raise BatchGoneError(f"the answers of a batch are gone: {error}") from error
        except openai.OpenAIError as error:
            raise ProviderError(f"the answers of a batch can't be read: {error}") from error
        return dict(_served(output))

    def read(self, answer: Answer | None, conversation: Conversation) -> Extraction:
        """Read an answer about a conversation; without a usable one, extract by the rules."""
        try:
            if answer is None:
                raise AnswerError("rejected")
            request = self._extractor.request(conversation)
            completion = self._endpoint.accept(request, answer, 0.0, _PRICE_FACTOR)
            return self._extractor.read(completion.text, conversation.spoken)
        except AnswerError as error:
            reason = error.reason
        except AnswerUnusableError:
            reason = "refused"
        except InputTooLongError:
            reason = "too_long"
        return self._extractor.by_rules(conversation, reason)


def _errors(batch: Batch) -> str:
    items = (batch.errors and batch.errors.data) or ()
    return "; ".join(str(item.message) for item in items) or "for no reason given"


def _served(output: bytes) -> Iterator[tuple[str, Answer]]:
    """Yield the name of every request that was served, with its answer."""
    for line in output.splitlines():
        try:
            answer = json.loads(line)
            yield answer["custom_id"], read_completion(answer["response"]["body"])
        except (ValueError, KeyError, TypeError, ProviderError, RefusalError):
            continue  # an error in the place of an answer
