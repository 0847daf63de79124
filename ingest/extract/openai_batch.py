"""Extraction through the batch API: half the price, within a day, for imports.

https://platform.openai.com/docs/guides/batch: a JSONL file of requests, each with a `custom_id`, is
uploaded and worked off; the answers come back as JSONL, in any order.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import openai

from ingest.extract.answer import AnswerError, Completion
from ingest.extract.openai import OpenAIExtractor
from ingest.extract.prompt import spoken
from semantic_memory.errors import ProviderError
from semantic_memory.models import Extraction, Fact, Message

_PRICE_FACTOR = 0.5  # of what the same request costs by itself
_WORKING = frozenset({"validating", "in_progress", "finalizing", "cancelling"})


@dataclass(frozen=True, slots=True)
class Stretch:
    """Messages to be read together, and the facts known before them."""

    messages: Sequence[Message]
    known: Sequence[Fact] = ()


class OpenAIBatch:
    """`/v1/batches` with the requests that `extractor` would send.

    The batch's id is all that has to be kept: `collect` can be called by a later process.
    """

    def __init__(
        self,
        client: openai.OpenAI,
        extractor: OpenAIExtractor,
        poll_seconds: float = 30.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self._extractor = extractor
        self._poll_seconds = poll_seconds
        self._sleep = sleep

    def submit(self, stretches: Mapping[str, Stretch]) -> str:
        """Send off requests by name (at most 50,000 of them, 200 MB); returns the batch's id.

        Raises ProviderError.
        """
        lines = (
            json.dumps(
                {
                    "custom_id": name,
                    "method": "POST",
                    "url": "/v1/chat/completions",
                    "body": self._extractor.request(spoken(stretch.messages), stretch.known),
                },
                ensure_ascii=False,
            )
            for name, stretch in stretches.items()
        )
        data = "\n".join(lines).encode()
        try:
            file = self._client.files.create(file=("extraction.jsonl", data), purpose="batch")
            batch = self._client.batches.create(
                input_file_id=file.id,
                endpoint="/v1/chat/completions",
                completion_window="24h",
            )
        except openai.OpenAIError as error:
            raise ProviderError(f"the batch wasn't taken: {error}") from error
        return batch.id

    def collect(self, batch_id: str, stretches: Mapping[str, Stretch]) -> dict[str, Extraction]:
        """Wait for the answers to the requests that were submitted as `stretches`, and read them.

        A stretch whose answer can't be used is read by the rules. One that was not served is left
        out: it is to be extracted directly. Raises ProviderError if the batch failed as a whole.
        """
        try:
            batch = self._client.batches.retrieve(batch_id)
            while batch.status in _WORKING:
                self._sleep(self._poll_seconds)
                batch = self._client.batches.retrieve(batch_id)
            if batch.status == "failed":
                told = [str(item.message) for item in (batch.errors and batch.errors.data) or ()]
                raise ProviderError(f"batch {batch_id} failed: {'; '.join(told)}")
            if batch.output_file_id is None:
                return {}
            output = self._client.files.content(batch.output_file_id).content
        except openai.OpenAIError as error:
            raise ProviderError(f"batch {batch_id} can't be read: {error}") from error
        return {
            name: self._read(completion, stretches[name])
            for name, completion in _served(output)
            if name in stretches
        }

    def _read(self, completion: Completion, stretch: Stretch) -> Extraction:
        messages = spoken(stretch.messages)
        try:
            return self._extractor.accept(
                completion, messages, seconds=0.0, price_factor=_PRICE_FACTOR
            )
        except AnswerError as error:
            return self._extractor.by_rules(messages, stretch.known, error.reason)


def _served(output: bytes) -> Iterator[tuple[str, Completion]]:
    """The name of every request that was served, with its completion."""
    for line in output.splitlines():
        try:
            answer = json.loads(line)
            yield answer["custom_id"], Completion.model_validate(answer["response"]["body"])
        except (ValueError, KeyError, TypeError):
            continue  # an error in the place of an answer
