"""Typed bodies of facts: a decision, a reference or a procedure, beside the fact's sentence.

`kind` has no default: records leave defaults out, and couldn't be read without it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from semantic_memory.domain.values import Passage, Value


class Decision(Value):
    """A decision with its reason and the alternatives that were turned down."""

    kind: Literal["decision"]
    what: Passage
    why: Passage | None = None
    alternatives: tuple[Passage, ...] = Field((), max_length=32)

    @property
    def text(self) -> str:
        """The body in one line."""
        why = f"; because: {self.why}" if self.why else ""
        instead = f"; instead of: {', '.join(self.alternatives)}" if self.alternatives else ""
        return f"decided: {self.what}{why}{instead}"


class Reference(Value):
    """A pointer to something in another system, such as a ticket or a file."""

    kind: Literal["reference"]
    system: Passage
    pointer: Passage

    @property
    def text(self) -> str:
        """The body in one line."""
        return f"in {self.system}: {self.pointer}"


class Procedure(Value):
    """A way of doing something, step by step."""

    kind: Literal["procedure"]
    steps: tuple[Passage, ...] = Field(min_length=1, max_length=64)

    @property
    def text(self) -> str:
        """The body in one line."""
        steps = (f"{place}. {step}" for place, step in enumerate(self.steps, start=1))
        return f"steps: {' '.join(steps)}"


Body = Annotated[Decision | Reference | Procedure, Field(discriminator="kind")]
"""The typed body of a fact."""


def whole_text(content: str, body: Decision | Reference | Procedure | None) -> str:
    """Return the text that a fact is searched by: its sentence, then a line with its body."""
    return content if body is None else f"{content}\n{body.text}"
