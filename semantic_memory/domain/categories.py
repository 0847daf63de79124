"""The sets that every face shows: categories of memories, and where a memory stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.patterns import regex

_OWN = regex(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")
_LONGEST = 40


class Category(StrEnum):
    """The subject of a memory: one of these, or one that the settings of a store declare."""

    # `Category("training")` is no member, so iteration leaves it out, and equals its name. Any
    # well-formed name can be read, since facts outlive settings; `Declared` refuses others.

    PREFERENCE = "preference"
    PERSONAL = "personal"
    FEEDBACK = "feedback"
    PROJECT = "project"
    TECHNICAL = "technical"
    DECISION = "decision"
    FINDING = "finding"
    REFERENCE = "reference"
    CONVERSATION = "conversation"

    @classmethod
    def _missing_(cls, value: object) -> Category | None:
        if not isinstance(value, str) or len(value) > _LONGEST or not _OWN.fullmatch(value):
            return None
        own = str.__new__(cls, value)
        own._name_ = own._value_ = str(value)
        return own

    def __reduce_ex__(self, protocol: object) -> tuple[type[Category], tuple[str]]:
        """Return how it is pickled: by its value, since an own one is no attribute of the class."""
        return Category, (self._value_,)

    @property
    def is_own(self) -> bool:
        """True for an application's own category."""
        return self._value_ not in Category._value2member_map_


_OF_FACTS = tuple(one.value for one in Category if one is not Category.CONVERSATION)


@dataclass(frozen=True, slots=True)
class Declared:
    """The categories that a store takes: the built-in ones, and its application's own."""

    own: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all, the built-in ones first."""
        return (*(one.value for one in Category), *self.own)

    def check(self, given: Iterable[Category], place: str) -> None:
        """Refuse a category that isn't declared; `place` names the field.

        Raises InvalidInputError.
        """
        for one in given:
            if one.is_own and one not in self.own:
                *most, last = map(repr, self.names)
                raise InvalidInputError(
                    f"{place} must be {', '.join(most)} or {last} (got {one.value!r}); an own one"
                    " is declared in the settings, as [extraction.categories.NAME]"
                )

    def named_in(self, schema: Any) -> Any:
        """Return a JSON schema with the own categories wherever it lists the built-in ones.

        >>> Declared(("training",)).named_in({"enum": [*Category][:8]})["enum"][-2:]
        [<Category.REFERENCE: 'reference'>, 'training']
        """
        match schema:
            case Mapping():
                named = {key: self.named_in(value) for key, value in schema.items()}
                listed = named.get("enum")
                if isinstance(listed, list) and all(one in listed for one in _OF_FACTS):
                    named["enum"] = [*listed, *self.own]
                return named
            case list():
                return [self.named_in(one) for one in schema]
            case _:
                return schema


BUILT_IN = Declared()


class Status(StrEnum):
    """The standing of a memory. Only `active` ones are recalled without asking for more."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    QUARANTINED = "quarantined"
    ARCHIVED = "archived"
    FORGOTTEN = "forgotten"
