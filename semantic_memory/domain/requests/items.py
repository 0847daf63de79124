"""Requests about items: JSON values under exact keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, WithJsonSchema

from semantic_memory.domain import fields
from semantic_memory.domain.item_filters import check_filter
from semantic_memory.domain.item_paths import WHOLE_VALUE, Path
from semantic_memory.domain.items import (
    MOST_LABELS,
    MOST_PATHS,
    By,
    ItemValue,
    Key,
    Namespace,
    Prefix,
    Ttl,
)
from semantic_memory.domain.requests.base import OfUser, Request, Whole, example, number, several
from semantic_memory.domain.values import Identifier, Question
from semantic_memory.domain.values import number as whole


def _filter(filters: dict[str, Any]) -> dict[str, Any]:
    check_filter(filters)
    return filters


def _never(value: bool) -> bool:
    if value:
        raise ValueError("must be paths, or false")
    return value


_Never = Annotated[StrictBool, AfterValidator(_never), WithJsonSchema({"const": False})]
Depth = Annotated[int, Field(ge=1, le=MOST_LABELS), BeforeValidator(whole)]
ItemFilter = Annotated[dict[str, Any], AfterValidator(_filter)]


def _labels(given: object, place: str) -> tuple[Any, ...]:
    return (*several(given, place),)


class _OfItem(OfUser):
    namespace: Namespace = Field(description=fields.NAMESPACE)
    key: Key = Field(description=fields.KEY)


class PutItemRequest(_OfItem):
    """Keep a value under a key, in place of the one before.

    With `ttl`, the item is gone so many seconds after it was put or read last. `search` finds
    it by the texts at the paths of `index`, like `title` or `notes[*].text`; by all of it
    without any, and not at all with False.

    Raises InvalidInputError for a value with a secret or personal data, by the settings, unless
    `index` is False: such a value is kept as it is.
    """

    verb: ClassVar[str] = "items.put"
    model_config = example(
        user_id="maya", namespace=["preferences"], key="theme", value={"theme": "dark"}
    )

    value: ItemValue = Field(description=fields.VALUE)
    ttl: Ttl | None = Field(None, description=fields.TTL)
    index: Annotated[list[Path], Field(max_length=MOST_PATHS)] | _Never | None = Field(
        None, description=fields.INDEX
    )

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the texts that the item is found by."""
        if self.index is None:
            return (WHOLE_VALUE,)
        return tuple(dict.fromkeys(self.index if isinstance(self.index, list) else ()))

    @classmethod
    def of(
        cls,
        namespace: Sequence[str],
        key: str,
        value: Mapping[str, Any],
        *,
        user_id: str,
        ttl: float | None = None,
        index: Sequence[str] | Literal[False] | None = None,
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(
            namespace=_labels(namespace, f"{cls.verb}: namespace"),
            key=key,
            value=value,
            user_id=user_id,
            ttl=ttl,
            index=[*several(index, f"{cls.verb}: index")] if index else index,
        )


class GetItemRequest(_OfItem):
    """Return the item under a key. Raises NotFoundError.

    Its time to live begins again, unless `refresh` is False.
    """

    verb: ClassVar[str] = "items.get"

    refresh: bool = Field(True, description=fields.ITEM_REFRESH)

    @classmethod
    def of(cls, namespace: Sequence[str], key: str, *, user_id: str, refresh: bool = True) -> Self:
        """Build the request. Raises InvalidInputError."""
        labels = _labels(namespace, f"{cls.verb}: namespace")
        return cls.parsed(namespace=labels, key=key, user_id=user_id, refresh=refresh)


class DeleteItemRequest(_OfItem):
    """Delete the item under a key; return False if there is none."""

    verb: ClassVar[str] = "items.delete"

    @classmethod
    def of(cls, namespace: Sequence[str], key: str, *, user_id: str) -> Self:
        """Build the request. Raises InvalidInputError."""
        labels = _labels(namespace, f"{cls.verb}: namespace")
        return cls.parsed(namespace=labels, key=key, user_id=user_id)


class _OfNamespaces(Request):
    user_id: Identifier | None = Field(description=fields.ITEM_OWNER)


class _Found(_OfNamespaces):
    namespace: Prefix = Field((), description=fields.PREFIX)
    filters: ItemFilter | None = Field(None, description=fields.ITEM_FILTERS)
    offset: Whole = number(fields.OFFSET)
    refresh: StrictBool = Field(True, description=fields.ITEM_REFRESH)


class ListItemsRequest(_Found):
    """Return items of namespaces that begin with `namespace`, the one put last first.

    `filters` are conditions on values: `{"kind": "note", "stars": {"$gte": 3}}`, with the
    operators `$eq $ne $gt $gte $lt $lte` and `.` between the levels of a path. With `user_id`
    None, of every user.
    """

    verb: ClassVar[str] = "items.list"
    model_config = example(user_id="maya", namespace=["preferences"], filters={"theme": "dark"})

    limit: Whole = number(fields.ITEMS)

    @classmethod
    def of(
        cls,
        namespace: Sequence[str] = (),
        *,
        user_id: str | None,
        filters: Mapping[str, Any] | None = None,
        limit: int = fields.ITEMS.default,
        offset: int = fields.OFFSET.default,
        refresh: bool = True,
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(
            namespace=_labels(namespace, f"{cls.verb}: namespace"),
            user_id=user_id,
            filters=filters,
            limit=limit,
            offset=offset,
            refresh=refresh,
        )


class SearchItemsRequest(_Found):
    """Return the items whose indexed texts are nearest to a query, the best first.

    By meaning, by words or both; the other arguments are those of `list`. Raises ProviderError
    if the embedding model can't be reached.
    """

    verb: ClassVar[str] = "items.search"
    model_config = example(user_id="maya", query="dark colours", limit=3)

    query: Question = Field(description=fields.QUERY)
    by: By = Field("both", description=fields.ITEM_BY)
    limit: Whole = number(fields.ITEM_HITS)

    @classmethod
    def of(
        cls,
        query: str,
        namespace: Sequence[str] = (),
        *,
        user_id: str | None,
        filters: Mapping[str, Any] | None = None,
        by: By = "both",
        limit: int = fields.ITEM_HITS.default,
        offset: int = fields.OFFSET.default,
        refresh: bool = True,
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(
            query=query,
            namespace=_labels(namespace, f"{cls.verb}: namespace"),
            user_id=user_id,
            filters=filters,
            by=by,
            limit=limit,
            offset=offset,
            refresh=refresh,
        )


class NamespacesRequest(_OfNamespaces):
    """Return the namespaces that have items, in order, cut to `max_depth` labels.

    In `prefix` and `suffix` the label `*` stands for any one.
    """

    verb: ClassVar[str] = "items.namespaces"

    prefix: Prefix = Field((), description=fields.PREFIX)
    suffix: Prefix = Field((), description=fields.SUFFIX)
    max_depth: Depth | None = Field(None, description=fields.DEPTH)
    limit: Whole = number(fields.NAMESPACES)
    offset: Whole = number(fields.NAMESPACES_OFFSET)

    @classmethod
    def of(
        cls,
        *,
        user_id: str | None,
        prefix: Sequence[str] = (),
        suffix: Sequence[str] = (),
        max_depth: int | None = None,
        limit: int = fields.NAMESPACES.default,
        offset: int = fields.NAMESPACES_OFFSET.default,
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(
            prefix=_labels(prefix, f"{cls.verb}: prefix"),
            suffix=_labels(suffix, f"{cls.verb}: suffix"),
            user_id=user_id,
            max_depth=max_depth,
            limit=limit,
            offset=offset,
        )
