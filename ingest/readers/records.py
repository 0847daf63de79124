"""Facts and items of other systems' memories, as readers find them.

They get their user, and the time at which they reach this store, when they are imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ingest.extract.categories import category_of_text
from ingest.readers.values import Incoming, Rejected
from semantic_memory.domain.categories import Category, Status
from semantic_memory.domain.facts import Fact, Source
from semantic_memory.domain.items import MOST_DEPTH, Item, ItemValue, Key, Namespace, Ttl
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.refusals import explain
from semantic_memory.domain.scope import Scoped
from semantic_memory.domain.trust import Trust
from semantic_memory.domain.values import (
    Content,
    Identifier,
    Metadata,
    Timestamp,
    Value,
    derived_id,
)

ORIGIN = "origin"
"""Key in a fact's metadata: what its system called it, as an object."""

_NOT_IN_TAGS = regex(r"[^\w+#-]+")
_MOST_OF_TAG = 64


class Foreign(BaseModel):
    """Base of the records of other systems: fields that aren't named are left out."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Statement(Scoped):
    """A fact that another system held. `system` and `key` make its id, at every reading alike."""

    system: Identifier
    key: tuple[str, ...]
    content: Content
    category: Category | None = None
    """None: as the packaged judge reads it."""
    created_at: Timestamp
    confirmed_at: Timestamp | None = None
    valid_from: Timestamp | None = None
    """None: since it was said."""
    valid_to: Timestamp | None = None
    """The time at which it ended; one ahead of the import is of no effect."""
    expires_at: Timestamp | None = None
    replaced_by: tuple[str, ...] | None = None
    """The key of the fact that took its place."""
    tags: tuple[str, ...] = ()
    """Any labels; what isn't allowed in a tag becomes `_`."""
    metadata: Metadata = Field(default_factory=dict)
    origin: Metadata = Field(default_factory=dict)

    def record(self, user_id: str, now: datetime) -> dict[str, Any]:
        """Return the record of a user's fact, as `load` reads it, with the trust of an import."""
        begun = self.valid_from or self.created_at
        over = self.valid_to is not None and self.valid_to <= now
        fact = Fact(
            id=derived_id(self.system, *self.key),
            user_id=user_id,
            agent_id=self.agent_id,
            run_id=self.run_id,
            content=self.content,
            category=self.category or category_of_text(self.content),
            created_at=self.created_at,
            recorded_at=now,
            valid_from=begun,
            valid_to=max(begun, self.valid_to) if over and self.valid_to else None,
            confirmed_at=self.confirmed_at,
            expires_at=self.expires_at,
            status=Status.SUPERSEDED if over else Status.ACTIVE,
            superseded_by=derived_id(self.system, *self.replaced_by)
            if over and self.replaced_by
            else None,
            tags=_tags(self.tags),
            source=Source(extractor=self.system),
            trust=Trust.IMPORTED,
            metadata={**self.metadata, ORIGIN: {**self.origin}},
        )
        return {"kind": "fact", "fact": fact.model_dump(mode="json", exclude_defaults=True)}


class Entry(Value):
    """An item that another system held under a namespace and a key."""

    namespace: Namespace
    key: Key
    value: ItemValue
    created_at: Timestamp
    updated_at: Timestamp
    ttl: Ttl | None = None
    expires_at: Timestamp | None = None

    def record(self, user_id: str, now: datetime) -> dict[str, Any]:
        """Return the record of a user's item, as `load` reads it."""
        del now  # an item has no time of its import
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        written = Item(user_id=user_id, **fields).model_dump(mode="json", exclude_defaults=True)
        return {"kind": "item", "item": {**written, "value": self.value}}


class IncomingRecord(NamedTuple):
    """A fact or an item with its place in the file, and its user if the file names one."""

    user_id: str | None
    place: str
    content: Statement | Entry


Found = Incoming | IncomingRecord | Rejected
"""A part of a file, as readers yield them."""

ModelT = TypeVar("ModelT", bound=BaseModel)


def parsed(model: type[ModelT], value: Any) -> ModelT:
    """Build a record from a JSON value. Raises ValueError with a reason in one line."""
    try:
        return model.model_validate(_with_floats(value))
    except ValidationError as error:
        raise ValueError(explain(error, model)) from None


def stated(**fields: Any) -> Statement:
    """Build a statement; None stands for a field's default.

    Raises ValueError with a reason in one line.
    """
    return parsed(Statement, {name: one for name, one in fields.items() if one is not None})


def read_each(
    items: Iterable[Any], noun: str, read: Callable[[Any, str], Iterable[Found]]
) -> Iterator[Found]:
    """Read items one by one, each with its noun and number as its place.

    An item of which `read` raises ValueError is rejected, with the reason.
    """
    for number, item in enumerate(items, start=1):
        place = f"{noun} {number}"
        try:
            yield from read(item, place)
        except ValueError as error:
            yield Rejected(place, str(error))
        except RecursionError:
            yield Rejected(place, "is nested too deeply")


def given(**values: Any) -> dict[str, Any]:
    """Return the values that aren't None or empty."""
    return {name: value for name, value in values.items() if value not in (None, "", [], {}, ())}


def _tags(labels: Iterable[str]) -> tuple[str, ...]:
    """Return labels as tags, each once.

    >>> _tags(["User Preferences", "food", "food", "?!"])
    ('user_preferences', 'food')
    """
    tags = (_NOT_IN_TAGS.sub("_", label.casefold()).strip("_")[:_MOST_OF_TAG] for label in labels)
    return tuple(dict.fromkeys(tag for tag in tags if tag))


def _with_floats(value: Any, depth: int = 1) -> Any:
    """Return a value with floats in place of the decimals that ijson yields.

    Raises ValueError for one that is deeper than an item may be.
    """
    if depth > MOST_DEPTH:
        raise ValueError(f"is nested deeper than {MOST_DEPTH} levels")
    match value:
        case Decimal():
            return float(value)
        case Mapping():
            return {name: _with_floats(one, depth + 1) for name, one in value.items()}
        case list():
            return [_with_floats(one, depth + 1) for one in value]
    return value
