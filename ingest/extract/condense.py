"""Condense a history by a language model.

Any failure is a ProviderError: the caller keeps the most central lines instead.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib import resources

import json_repair
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ingest.gate.instructions import is_instruction
from semantic_memory.domain.errors import ProviderError
from semantic_memory.domain.ports import Condensed
from semantic_memory.domain.profile import Line
from semantic_memory.domain.values import Content
from semantic_memory.llm.chat import ChatModel, ChatRequest
from semantic_memory.llm.spending import charged_to

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


class ModelCondenser:
    """Condenses by a language model, with a strict JSON schema."""

    def __init__(self, model: ChatModel, *, temperature: float = 0.1) -> None:
        self._model = model
        self._temperature = temperature

    def condense(self, lines: Sequence[Line], *, most: int) -> list[Condensed]:
        """Return at most `most` sentences, each naming the lines that it rests on."""
        request = _request(lines, most, self._temperature)
        with charged_to(lines[0].user_id if lines else ""):
            return _read(self._model.complete(request).text, len(lines), most)


def _request(lines: Sequence[Line], most: int, temperature: float) -> ChatRequest:
    document = {
        "lines": [
            {"n": number, "at": line.at.date().isoformat(), "text": line.text}
            for number, line in enumerate(lines, start=1)
        ],
        "most": most,
    }
    return ChatRequest(
        "condensing",
        instructions(),
        json.dumps(document, ensure_ascii=False),
        schema=_Answer.model_json_schema(),
        temperature=temperature,
    )


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
