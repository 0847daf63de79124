"""Read what kind of vehicle somebody has from its model: "i drive a transit" tells of a van."""

from __future__ import annotations

from functools import cache

from semantic_memory.domain.english.facets import facets
from semantic_memory.domain.english.renewals import Clause, clause_of
from semantic_memory.domain.english.tables import keys, words
from semantic_memory.domain.text import stem


@cache
def _kinds() -> dict[str, str]:
    """Return the kind of vehicle of each model, by its stem."""
    kinds = keys("vehicles.models")
    return {stem(model): kind for kind in kinds for model in words(f"vehicles.models.{kind}")}


def owned(clause: Clause) -> tuple[Clause, ...]:
    """Return clauses that call the vehicles of the user by their kind.

    >>> from semantic_memory.domain.english.renewals import clauses
    >>> [one.plain for one in owned(clauses("I drive a Transit")[0])]
    ['i have a van']
    """
    models = {
        model
        for one in facets(clause)
        if (one.name, one.subject) == ("vehicle", "user")
        for model in one.value
    }
    kinds = {_kinds()[model] for model in models & _kinds().keys()}
    return tuple(clause_of(f"i have a {kind}") for kind in sorted(kinds))
