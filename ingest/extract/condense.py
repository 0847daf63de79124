"""Condense a history by a language model behind any OpenAI-compatible endpoint.

Any failure is a ProviderError: the caller keeps the most central lines instead.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

import json_repair
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ingest.extract.endpoint import Endpoint
from ingest.gate.instructions import is_instruction
from semantic_memory.domain.errors import ProviderError
from semantic_memory.domain.ports import Condensed
from semantic_memory.domain.profile import Line
from semantic_memory.domain.values import Content

VERSION = "v1"
"""Version of the prompt. A changed prompt is a new file and a new version."""

_TEXT: TypeAdapter[str] = TypeAdapter(Content)


class _Sentence(BaseModel):
    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})

    text: str
    lines: list[int] = Field(min_length=1)


class _Answer(BaseModel):
    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})

    sentences: list[_Sentence]


class OpenAICondenser:
    """Condenses by an endpoint's model, with a strict JSON schema."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def condense(self, lines: Sequence[Line], *, most: int) -> list[Condensed]:
        """Return at most `most` sentences, each naming the lines that it rests on."""
        completion = self._endpoint.complete("condensing", lambda: _request(lines, most))
        return _read(completion.choices[0].message.content or "", len(lines), most)


def _request(lines: Sequence[Line], most: int) -> dict[str, Any]:
    document = {
        "lines": [
            {"n": number, "at": line.at.date().isoformat(), "text": line.text}
            for number, line in enumerate(lines, start=1)
        ],
        "most": most,
    }
    return {
        "messages": [
            {"role": "system", "content": instructions()},
            {"role": "user", "content": json.dumps(document, ensure_ascii=False)},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {
                "name": "history",
                "strict": True,
                "schema": _Answer.model_json_schema(),
            },
        },
    }


@cache
def instructions() -> str:
    """Return the prompt, the same for every request."""
    file = resources.files("ingest.extract") / "prompts" / f"condense-{VERSION}.md"
    return file.read_text(encoding="utf-8")


def _read(text: str, number: int, most: int) -> list[Condensed]:
    """Read an answer; leave out sentences that name no line, or speak to a model."""
    try:
        sentences = _Answer.model_validate(json_repair.loads(text)).sentences
    except (ValidationError, RecursionError):
        raise ProviderError("condensing failed: the answer has another form") from None
    told = []
    for sentence in sentences[:most]:
        rests_on = tuple(sorted({place - 1 for place in sentence.lines if 1 <= place <= number}))
        try:
            said = _TEXT.validate_python(sentence.text.strip())
        except ValidationError:
            continue
        if rests_on and not is_instruction(said):
            told.append(Condensed(said, rests_on))
    if not told:
        raise ProviderError("condensing failed: the answer holds no sentence that can be used")
    return told
