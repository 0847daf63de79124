"""Arguments of the tools, with the descriptions that a model reads.

Every word counts: a model reads all of them in every conversation, used or not.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from semantic_memory.domain import fields
from semantic_memory.domain.facts import Category
from semantic_memory.domain.markers import WROTE_MEMORY
from semantic_memory.domain.messages import Message
from semantic_memory.domain.query_text import LONGEST_QUERY
from semantic_memory.domain.refusals import parse

LONGEST_CONTENT = 2_000  # characters: what is longer is a text, not a fact
MOST_HITS = 50  # what an agent reads competes with its own window


def _short(text: str) -> str:
    if len(text) > LONGEST_CONTENT:
        raise ValueError(
            f"has {len(text):,} characters, at most {LONGEST_CONTENT:,} are taken: say it in one"
            " sentence, call once for each fact, or give a whole conversation to observe"
        )
    return text


_CATEGORY_SCHEMA = WithJsonSchema({"type": "string", "enum": [one.value for one in Category]})
AnyCategory = Annotated[Category, _CATEGORY_SCHEMA]

Content = Annotated[
    str,
    AfterValidator(_short),
    Field(
        description="One sentence that stands on its own, with absolute dates.",
        json_schema_extra={"maxLength": LONGEST_CONTENT},
    ),
]
NewContent = Annotated[
    Annotated[str, AfterValidator(_short)] | None,
    WithJsonSchema({"type": "string", "maxLength": LONGEST_CONTENT}),
]
NewCategory = Annotated[Category | None, _CATEGORY_SCHEMA]
OwnTags = Annotated[
    list[str] | None,
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
    Field(description="Topics, like work.deadlines."),
]
Time = Annotated[datetime | None, WithJsonSchema({"type": "string", "format": "date-time"})]
MemoryId = Annotated[str | None, WithJsonSchema({"type": "string"})]
Text = Annotated[str | None, WithJsonSchema({"type": "string"})]
Where = Annotated[
    str,
    Field(
        max_length=LONGEST_QUERY,
        description='Conditions: "a phrase" -word tag:work.* category:decision since:yesterday',
    ),
]
Limit = Annotated[int, Field(ge=1, le=MOST_HITS)]
SessionId = Annotated[str, Field(description="Id of this conversation, the same in every call.")]


class Said(BaseModel):
    """One message of a conversation."""

    model_config = ConfigDict(extra="forbid")

    role: Literal["user", "assistant", "system", "tool"]
    content: str
    created_at: Time = None
    wrote_memory: bool = Field(
        False, description="You called remember, update_memory or forget in this turn."
    )

    def message(self) -> Message:
        """Build the message that the memory takes."""
        metadata = {WROTE_MEMORY: True} if self.wrote_memory else {}
        values = self.model_dump(exclude={"wrote_memory"})
        return parse(Message, "message", {**values, "metadata": metadata})


Messages = Annotated[list[Said], Field(min_length=1, max_length=fields.MOST_ITEMS)]


class ShortSchema(GenerateJsonSchema):
    """Schemas without what says nothing to a model: titles, empty defaults, descriptions of types.

    References to a type that is used once are replaced by the type.
    """

    def generate(self, schema: Any, mode: Any = "validation") -> JsonSchemaValue:
        """Generate a schema."""
        found = super().generate(schema, mode)
        named = found.pop("$defs", {})
        shown: JsonSchemaValue = _shown(found, named)
        shown.pop("description", None)
        return shown


def _shown(schema: Any, named: dict[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_shown(one, named) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if isinstance(reference := schema.get("$ref"), str):
        schema = {**named[reference.rpartition("/")[2]], **schema}
        schema.pop("$ref")
        schema.pop("description", None)
    properties = schema.get("properties")
    kept = {
        name: _shown(value, named)
        for name, value in schema.items()
        if name not in ("title", "properties")
        and not (name == "default" and value in (None, "", False, []))
    }
    if isinstance(properties, dict):
        kept["properties"] = {name: _shown(one, named) for name, one in properties.items()}
    return kept
