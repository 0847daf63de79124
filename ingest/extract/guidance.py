"""Wishes of an application: what a model keeps or leaves, in which categories, and as which types.

They are a part of its instructions, the same for every request, so prompt caches hold.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class Guidance:
    """Wishes of an application.

    >>> print(Guidance(exclude=["health"]).text)
    <BLANKLINE>
    <BLANKLINE>
    ## This application
    <BLANKLINE>
    Where these wishes and the rules above differ, the wishes count; the form of the answer stays.
    <BLANKLINE>
    Never write down anything about:
    - health
    """

    instructions: str = ""
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    categories: Mapping[str, str] = field(default_factory=dict)
    """Own categories by name, each with its description."""
    types: Mapping[str, type[BaseModel]] = field(default_factory=dict)
    """Types by name whose values a fact may have."""

    @property
    def text(self) -> str:
        """The part of the instructions; empty without wishes."""
        parts = []
        if self.instructions.strip():
            parts.append(self.instructions.strip())
        if self.include:
            parts.append("Write down facts about these subjects only:\n" + _listed(self.include))
        if self.exclude:
            parts.append("Never write down anything about:\n" + _listed(self.exclude))
        if self.categories:
            described = [
                f"`{name}`: {text}" if text else f"`{name}`"
                for name, text in self.categories.items()
            ]
            parts.append(
                "`category` may also be one of these, which go before the others where they fit:\n"
                + _listed(described)
            )
        if self.types:
            parts.append(
                'Each fact also has `typed`: {"type": name, "values": {...}} where the messages say'
                " what one of these types holds, else null. No value is guessed: what isn't said is"
                " null or left out, and a type whose required values aren't all said isn't used.\n"
                + _listed([_described(name, kind) for name, kind in self.types.items()])
            )
        if not parts:
            return ""
        heading = (
            "\n\n## This application\n\nWhere these wishes and the rules above differ, the wishes"
            " count; the form of the answer stays."
        )
        return "\n\n".join([heading, *parts])


NO_GUIDANCE = Guidance()
"""No wishes."""


def _described(name: str, kind: type[BaseModel]) -> str:
    schema = json.dumps(kind.model_json_schema(), ensure_ascii=False, sort_keys=True)
    return f"`{name}`, by this JSON schema: {schema}"


def _listed(subjects: Sequence[str]) -> str:
    return "\n".join(f"- {' '.join(subject.split())}" for subject in subjects)
