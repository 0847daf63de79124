"""The closed sets that every face shows: categories of memories, and where a memory stands."""

from __future__ import annotations

from enum import StrEnum


class Category(StrEnum):
    """The subject of a memory. The set is closed; each member has its own half-life."""

    PREFERENCE = "preference"
    PERSONAL = "personal"
    FEEDBACK = "feedback"
    PROJECT = "project"
    TECHNICAL = "technical"
    DECISION = "decision"
    FINDING = "finding"
    REFERENCE = "reference"
    CONVERSATION = "conversation"


class Status(StrEnum):
    """The standing of a memory. Only `active` ones are recalled without asking for more."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    QUARANTINED = "quarantined"
    ARCHIVED = "archived"
    FORGOTTEN = "forgotten"
