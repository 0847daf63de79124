"""Wishes of an application on what is kept or left, as a part of a model's instructions."""

from __future__ import annotations

from collections.abc import Sequence


def guidance(instructions: str, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> str:
    """Return the part of the instructions that is an application's own; empty for none.

    It is the same for every request, so prompt caches hold.

    >>> print(guidance("", exclude=["health"]))
    <BLANKLINE>
    <BLANKLINE>
    ## This application
    <BLANKLINE>
    Where these wishes and the rules above differ, the wishes count; the form of the answer stays.
    <BLANKLINE>
    Never write down anything about:
    - health
    """
    parts = []
    if instructions.strip():
        parts.append(instructions.strip())
    if include:
        parts.append("Write down facts about these subjects only:\n" + _listed(include))
    if exclude:
        parts.append("Never write down anything about:\n" + _listed(exclude))
    if not parts:
        return ""
    heading = (
        "\n\n## This application\n\nWhere these wishes and the rules above differ, the wishes"
        " count; the form of the answer stays."
    )
    return "\n\n".join([heading, *parts])


def _listed(subjects: Sequence[str]) -> str:
    return "\n".join(f"- {' '.join(subject.split())}" for subject in subjects)
