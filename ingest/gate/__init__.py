"""The gate: decides which candidates become facts, and how a message may be recalled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ingest.gate.attacks import is_attack
from ingest.gate.instructions import is_instruction
from ingest.gate.personal_data import PersonalData, Policy
from ingest.gate.secrets import first_secret, without_secrets
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.extraction import Candidate
from semantic_memory.domain.facts import Category
from semantic_memory.domain.messages import Message


class Ruling(NamedTuple):
    """Outcome of the gate for a batch of candidates."""

    admitted: list[Candidate]
    """Candidates to believe, with personal data treated by the policy."""
    quarantined: list[Candidate]
    """Candidates that read like instructions to a model: to be stored, never recalled."""
    refused: Counter[str]
    """Number of candidates refused, by reason."""


class Screened(NamedTuple):
    """Screened form of a message, for recall."""

    content: str
    """Text of the message without secrets, and without personal data unless the policy keeps it."""
    quarantined: bool
    """True if it reads like an instruction to a model: to be stored, never recalled."""


class Gate:
    """Gate between extraction and storage. The messages of refused candidates stay searchable.

    Refuses candidates below `min_confidence`, of category `conversation`, which is reserved for
    verbatim messages, questions, candidates that contain a password, key or token, and, under the
    policy "refuse", those that contain personal data. Raises MissingDependencyError for a policy
    other than "keep" if the extra `pii` isn't installed.
    """

    def __init__(self, min_confidence: float = 0.7, personal_data: Policy = "keep") -> None:
        self._min_confidence = min_confidence
        self._personal_data = None if personal_data == "keep" else PersonalData(personal_data)

    def admit(self, candidates: Sequence[Candidate], messages: Sequence[Message] = ()) -> Ruling:
        """Sort candidates into admitted, quarantined and refused ones.

        `messages` are their sources. Candidates from a message that tries to instruct a model are
        quarantined, however harmless they read by themselves.
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

    def cleared(self, text: str, place: str) -> str:
        """Return a text that a caller wants to store, with personal data treated by the policy.

        `place` names it in errors. Raises InvalidInputError for a secret, under every policy, and
        under "refuse" for personal data; the error has the kind and the place, never the text.
        """
        if secret := first_secret(text):
            raise _refusal(place, "a secret", *secret, "name the place where it is kept instead")
        if self._personal_data is None:
            return text
        if self._personal_data.policy == "refuse" and (found := self._personal_data.first(text)):
            raise _refusal(place, "personal data", *found, "the policy is to refuse it")
        return self._personal_data.redacted(text)

    def redacted(self, text: str) -> str:
        """Return `text` without secrets, and without personal data unless the policy keeps it."""
        content = without_secrets(text)
        return self._personal_data.redacted(content) if self._personal_data else content

    def screen(self, message: Message) -> Screened:
        """Return the form in which a message may be recalled.

        Replaces secrets by "[secret]" under every policy, and personal data by its kind under
        "redact" and "refuse". Quarantines a tool's message with any instruction, but those of
        people only for attacks on a model, as people may give orders.
        """
        return Screened(self.redacted(message.content), _is_suspect(message))

    def _objection(self, candidate: Candidate) -> str | None:
        if candidate.confidence < self._min_confidence:
            return "confidence"
        if candidate.category is Category.CONVERSATION:
            return "category"  # reserved for verbatim messages
        if candidate.content.rstrip().endswith("?"):
            return "question"
        if first_secret(candidate.content):
            return "secret"
        return None


def _refusal(
    place: str, what: str, start: int, end: int, kind: str, remedy: str
) -> InvalidInputError:
    return InvalidInputError(
        f"{place} holds {what} ({kind}) at characters {start} to {end}: {remedy}"
    )


def _is_suspect(message: Message) -> bool:
    return (is_instruction if message.role == "tool" else is_attack)(message.content)
