"""Decides which candidates become facts, and what of a message may be recalled as it was said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ingest.gate.attacks import is_attack
from ingest.gate.instructions import is_instruction
from ingest.gate.personal_data import PersonalData, Policy
from ingest.gate.secrets import holds_secret, without_secrets
from semantic_memory.domain.extraction import Candidate
from semantic_memory.domain.facts import Category
from semantic_memory.domain.messages import Message


class Ruling(NamedTuple):
    """What the gate made of a batch of candidates."""

    admitted: list[Candidate]
    """May be believed; personal data in them is treated as the policy says."""
    quarantined: list[Candidate]
    """Read like instructions to a model: to be stored with their source, never recalled."""
    refused: Counter[str]
    """How many were kept out, by reason."""


class Screened(NamedTuple):
    """What of a message may be recalled."""

    content: str
    """The message without what gives access, and without personal data unless it is kept."""
    quarantined: bool
    """Reads like an instruction to a model: to be kept, never recalled."""


class Gate:
    """Keeps out what must not be believed; its message stays findable all the same.

    Refused are candidates below `min_confidence`, those of the category that is kept for verbatim
    messages, questions, those that hold a password, key or token, and, under the policy "refuse",
    those that hold personal data. Raises MissingDependencyError for a policy other than "keep"
    where the extra `pii` isn't installed.
    """

    def __init__(self, min_confidence: float = 0.7, personal_data: Policy = "keep") -> None:
        self._min_confidence = min_confidence
        self._personal_data = None if personal_data == "keep" else PersonalData(personal_data)

    def admit(self, candidates: Sequence[Candidate], messages: Sequence[Message] = ()) -> Ruling:
        """Sort the candidates into those admitted, those quarantined and those refused.

        `messages` are those the candidates came from: where one tries to instruct a model, what
        was extracted from it is quarantined too, however harmless it reads by itself.
        """
        suspect = {message.id for message in messages if _is_suspect(message)}
        ruling = Ruling([], [], Counter())
        for candidate in candidates:
            if reason := self._objection(candidate):
                ruling.refused[reason] += 1
                continue
            kept = self._personal_data.treat(candidate) if self._personal_data else candidate
            if kept is None:
                ruling.refused["personal data"] += 1
            elif not suspect.isdisjoint(kept.message_ids) or is_instruction(kept.content):
                ruling.quarantined.append(kept)
            else:
                ruling.admitted.append(kept)
        return ruling

    def screen(self, message: Message) -> Screened:
        """What of a message may be recalled word for word.

        Secrets give way to "[secret]" under every policy, personal data to its kind under "redact"
        and "refuse". What a tool returned has no orders to give, people have: of them only what
        would take a model over is quarantined.
        """
        content = without_secrets(message.content)
        if self._personal_data:
            content = self._personal_data.redacted(content)
        return Screened(content, _is_suspect(message))

    def _objection(self, candidate: Candidate) -> str | None:
        if candidate.confidence < self._min_confidence:
            return "confidence"
        if candidate.category is Category.CONVERSATION:
            return "category"  # kept for the messages themselves
        if candidate.content.rstrip().endswith("?"):
            return "question"
        if holds_secret(candidate.content):
            return "secret"
        return None


def _is_suspect(message: Message) -> bool:
    return (is_instruction if message.role == "tool" else is_attack)(message.content)
