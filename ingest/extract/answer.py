"""Read the answer of a language model as an `Extraction`, or say why it can't be used.

Nothing of an answer is trusted: each part is validated by itself, so one that is wrong costs no
other, and the parts left out are counted. What is nearly right is repaired. A part must quote one
of the messages that it names; a message has few facts, and so has an answer, whose size is checked
before anything of it is read.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Annotated, Any, Literal, TypeVar

import json_repair
from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    TypeAdapter,
    ValidationError,
)
from pydantic.json_schema import SkipJsonSchema

from ingest.extract.grounding import is_quoted
from ingest.extract.guidance import NO_GUIDANCE, Guidance
from ingest.extract.prompt import own_text
from ingest.extract.typed import read_typed, typed_schema
from semantic_memory.domain.extraction import (
    Candidate,
    Certainty,
    Conversation,
    Ending,
    Extraction,
)
from semantic_memory.domain.facts import Category
from semantic_memory.domain.messages import Message
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.profile import WRITTEN_FIELDS, ProfileField
from semantic_memory.domain.values import Content, Tag

Reason = Literal["malformed", "oversized", "refused", "rejected", "too_long"]

MOST_FACTS = 60
"""Facts that are taken of an answer."""
MOST_OF_A_MESSAGE = 3
"""Facts that are taken of a message."""
_MOST_CHARACTERS = 200_000  # of an answer: 60 facts have 30,000; to repair 20 MB takes minutes
_MOST_TAGS = 3
_CONFIDENCE: Mapping[Certainty, float] = {"stated": 0.95, "implied": 0.8, "hedged": 0.7}
_LIKELY, _SURE = 0.6, 0.85
_NUMBER = regex(r"-?\d+(?:\.\d+)?")
_DAY = regex(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")


class AnswerError(Exception):
    """A model's answer can't be used."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


# ---------------------------------------------------------------- near misses


def _numbers(given: Any) -> Any:
    """Return the whole numbers of a list, of a number by itself, or of a text: "[2]", "m3"."""
    if given is None:
        return []
    if isinstance(given, str):
        return [int(float(one)) for one in _NUMBER.findall(given)]
    if isinstance(given, list):
        return [number for one in given for number in _numbers(one)]
    return [int(given)] if isinstance(given, int | float) and abs(given) < 1e9 else given


def _certainty(given: Any) -> Any:
    """Return a certainty for one by its name, for a share (.95, 95, "95 %"), or for a grade."""
    said = str(given).strip().casefold()
    if said in _CONFIDENCE:
        return said
    if found := _NUMBER.search(said):
        share = float(found[0])
        share = share / 100 if share > 1 else share
        return "stated" if share >= _SURE else "implied" if share >= _LIKELY else "hedged"
    return {"low": "hedged", "medium": "implied"}.get(said, "stated")


def _flag(given: Any) -> Any:
    return (
        given if isinstance(given, bool) else str(given).strip().casefold() in ("true", "yes", "1")
    )


def _texts(given: Any) -> Any:
    if isinstance(given, str):
        return [one.strip() for one in given.split(",")]
    return [one for one in given if isinstance(one, str)] if isinstance(given, list) else []


def _day(given: Any) -> Any:
    """Return the day that a text begins with; the first one of a month or a year."""
    found = _DAY.match(given.strip()) if isinstance(given, str) else None
    if found is None:
        return None
    try:
        date(*(int(part or 1) for part in found.groups()))
    except ValueError:
        return None
    return "-".join((part or "1").zfill(2) for part in found.groups())


_CATEGORIES = tuple(one.value for one in Category if one is not Category.CONVERSATION)
_Numbers = Annotated[list[int], BeforeValidator(_numbers)]
_Day = Annotated[str | None, BeforeValidator(_day)]


class _Part(BaseModel):
    """A part of the answer. Strict schemas forbid further keys; answers may have them nevertheless.

    All fields are required of a strict schema, and most have a default for answers of others.
    """

    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})


class _Fact(_Part):
    statement: str = Field(validation_alias=AliasChoices("statement", "fact", "content", "text"))
    category: Annotated[str, BeforeValidator(str)] = "personal"
    messages: _Numbers = Field(validation_alias=AliasChoices("messages", "message", "n"))
    quote: str = ""
    holds_from: _Day = None
    holds_until: _Day = None
    certainty: Annotated[Certainty, BeforeValidator(_certainty)] = Field(
        default="stated", validation_alias=AliasChoices("certainty", "confidence")
    )
    temporary: Annotated[bool, BeforeValidator(_flag)] = False
    tags: Annotated[list[str], BeforeValidator(_texts)] = Field(default_factory=list)
    replaces: _Numbers = Field(default_factory=list)
    typed: SkipJsonSchema[Any] = None
    """Only in the schema where an application has types."""


class _End(_Part):
    id: Annotated[int, BeforeValidator(lambda given: next(iter(_numbers(given)), given))]
    messages: _Numbers
    quote: str


class _Profile(_Part):
    work_context: str | None
    personal_context: str | None
    top_of_mind: str | None


class _Answer(_Part):
    facts: list[_Fact]
    ends: list[_End]
    profile: _Profile


_TEXT: TypeAdapter[str] = TypeAdapter(Content)
_TAG: TypeAdapter[str] = TypeAdapter(Tag)


def _strict(schema: Any) -> Any:
    """Return a schema in the subset that strict outputs take: all required, and no defaults."""
    if isinstance(schema, list):
        return [_strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {
        "anyOf" if key == "oneOf" else key: _fields(value)
        if key in ("properties", "$defs")
        else _strict(value)
        for key, value in schema.items()
        if key not in ("default", "title", "discriminator")
    }
    if plain.get("type") == "object" and "properties" in plain:
        plain["required"] = list(plain["properties"])
        plain["additionalProperties"] = False
    return plain


def _fields(named: Mapping[str, Any]) -> dict[str, Any]:
    """Return schemas by name, of which a name may be that of a keyword."""
    return {name: _strict(schema) for name, schema in named.items()}


def answer_schema(guidance: Guidance = NO_GUIDANCE) -> Mapping[str, Any]:
    """Return the JSON schema of the answer, in the subset that strict structured outputs take."""
    schema = _Answer.model_json_schema(by_alias=False)
    properties = schema["$defs"]["_Fact"]["properties"]
    properties["category"]["enum"] = [*_CATEGORIES, *guidance.categories]
    if guidance.types:
        properties["typed"], definitions = typed_schema(guidance.types)
        schema["$defs"] |= definitions
    strict: Mapping[str, Any] = _strict(schema)
    return strict


def read_answer(
    text: str, conversation: Conversation, guidance: Guidance = NO_GUIDANCE
) -> Extraction:
    """Return what the model found, which knows messages and facts by their numbers from 1.

    Categories and typed values are those of `guidance`; a typed value that isn't of its type is
    refused, and its fact kept.

    Raises AnswerError: `oversized`, `malformed` (nothing to be used).
    """
    if len(text) > _MOST_CHARACTERS:
        raise AnswerError("oversized")
    parts = _parsed(text)
    refused: Counter[str] = Counter()
    facts = parts["facts"]
    if _breaks_off(text):
        refused["cut off"] += len(facts[-1:])
        facts = facts[:-1]
    reading = _Reading(conversation, guidance, refused)
    candidates = reading.candidates(_valid(_Fact, facts, refused))
    endings = reading.endings(_valid(_End, parts.get("ends"), refused))
    if parts["facts"] and not (candidates or endings):
        raise AnswerError("malformed")
    return Extraction(
        candidates=tuple(candidates),
        endings=tuple(endings),
        profile=_profile(parts.get("profile")),
        refused=+refused,
        decided=True,
    )


# ---------------------------------------------------------------- answers


class _Reading:
    """Reads the parts of an answer about a conversation, and counts those that it refuses."""

    def __init__(
        self, conversation: Conversation, guidance: Guidance, refused: Counter[str]
    ) -> None:
        self._guidance = guidance
        self._messages = conversation.messages
        self._known = conversation.known
        self._refused = refused

    def candidates(self, facts: Iterable[_Fact]) -> list[Candidate]:
        """Return the facts that quote a message that they name, a few of each message."""
        found: list[Candidate] = []
        of_message: Counter[str] = Counter()
        for fact in facts:
            cited = self._cited(fact.messages, fact.quote)
            if not cited:
                continue
            if len(found) == MOST_FACTS or of_message[cited[0].id] == MOST_OF_A_MESSAGE:
                self._refused["too many"] += 1
                continue
            try:
                found.append(self._candidate(fact, [one.id for one in cited]))
            except ValidationError:
                self._refused["malformed"] += 1
                continue
            of_message[cited[0].id] += 1
        return found

    def endings(self, ends: Iterable[_End]) -> list[Ending]:
        """Return the ends of known facts that quote a message that they name."""
        found: list[Ending] = []
        for end in ends:
            (fact_id, *_) = [*self._ids([end.id]), None]
            if fact_id is not None and (cited := self._cited(end.messages, end.quote)):
                ids = tuple(one.id for one in cited)
                found.append(Ending(fact_id=fact_id, message_ids=ids, quote=end.quote.strip()))
        return found

    def _candidate(self, fact: _Fact, message_ids: Sequence[str]) -> Candidate:
        return Candidate.model_validate(
            {
                "content": " ".join(fact.statement.split()),
                "category": self._category(fact.category),
                "confidence": _CONFIDENCE[fact.certainty],
                "message_ids": message_ids,
                "tags": tuple(_tags(fact.tags)),
                "quote": fact.quote.strip(),
                "certainty": fact.certainty,
                "temporary": fact.temporary,
                "holds_from": fact.holds_from,
                "holds_until": fact.holds_until,
                "replaces": tuple(self._ids(fact.replaces)),
                "typed": self._typed(fact.typed),
            }
        )

    def _category(self, given: str) -> str:
        """Return a category that there is; what is in none is about the user."""
        plain = _plain(given)
        names = (*self._guidance.categories, *_CATEGORIES)
        return next((one for one in names if _plain(one) == plain), Category.PERSONAL.value)

    def _typed(self, given: Any) -> dict[str, JsonValue]:
        try:
            return read_typed(given, self._guidance.types) if self._guidance.types else {}
        except ValueError:
            self._refused["typed"] += 1
            return {}

    def _cited(self, numbers: Sequence[int], quote: str) -> list[Message]:
        """Return the messages of these numbers if one of them has the quote."""
        numbers = list(dict.fromkeys(numbers))
        named = [self._messages[one - 1] for one in numbers if 1 <= one <= len(self._messages)]
        self._refused["unknown message"] += len(numbers) - len(named)
        if not named:
            self._refused["no source"] += 1
            return []
        if not any(is_quoted(quote, own_text(one)) for one in named):
            self._refused["not quoted"] += 1
            return []
        return named

    def _ids(self, numbers: Sequence[int]) -> Iterable[str]:
        for number in dict.fromkeys(numbers):
            if 1 <= number <= len(self._known):
                yield self._known[number - 1].id
            else:
                self._refused["unknown fact"] += 1


def _plain(category: str) -> str:
    """Return the name of a category without case, plural and separators."""
    return re.sub(r"[\s_-]+", "", category.casefold()).rstrip("s")


def _parsed(text: str) -> dict[str, Any]:
    """Return the object that an answer is. Raises AnswerError."""
    try:
        parts = json.loads(text)
    except RecursionError:
        raise AnswerError("malformed") from None
    except ValueError:
        try:
            parts = json_repair.loads(text)
        except RecursionError:
            raise AnswerError("malformed") from None
    if isinstance(parts, list):
        parts = {"facts": parts}  # models leave out what encloses a single list
    if isinstance(parts, dict) and isinstance(parts.get("ends"), list):
        parts.setdefault("facts", [])
    if not isinstance(parts, dict) or not isinstance(parts.get("facts"), list):
        raise AnswerError("malformed")
    return parts


def _breaks_off(text: str) -> bool:
    """Return whether an answer ends in the middle of a value, which repairing would close."""
    return '"' in text[text.rfind("}") + 1 :]


PartT = TypeVar("PartT", bound=_Part)


def _valid(part: type[PartT], items: Any, refused: Counter[str]) -> Iterable[PartT]:
    for item in items if isinstance(items, list) else ():
        try:
            yield part.model_validate(item)
        except ValidationError:
            refused["malformed"] += 1


def _tags(given: Sequence[str]) -> list[str]:
    tags: list[str] = []
    for one in given:
        try:
            tags.append(_TAG.validate_python(re.sub(r"\s+", "-", one.strip().lstrip("#"))))
        except ValidationError:
            continue
    return list(dict.fromkeys(tags))[:_MOST_TAGS]


def _profile(fields: Any) -> dict[ProfileField, str]:
    profile: dict[ProfileField, str] = {}
    for name in WRITTEN_FIELDS if isinstance(fields, dict) else ():
        try:
            profile[name] = _TEXT.validate_python(fields.get(name))
        except ValidationError:
            continue  # null, most often: nothing new
    return profile
