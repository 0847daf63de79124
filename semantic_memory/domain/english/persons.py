"""Words for the speaker and for people that a sentence alone doesn't name."""

from __future__ import annotations

from semantic_memory.domain.english.tables import words

USER = words("persons.user")
"""Words for the user in a folded text."""
OTHERS = words("persons.others")
"""Words for people that a sentence alone doesn't name."""
