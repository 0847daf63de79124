"""The gate: decides which candidates become facts, and how a message may be recalled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from ingest.gate.attacks import is_attack
from ingest.gate.holding import held, orders, takes_over
from ingest.gate.instructions import is_instruction
from ingest.gate.personal_data import PersonalData, Policy
from ingest.gate.secrets import REDACTED, first_secret, prefix, without_secrets
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.extraction import Candidate
from semantic_memory.domain.facts import Category
from semantic_memory.domain.messages import Message
from semantic_memory.domain.trust import Trust
from semantic_memory.domain.values import MAX_CONTENT_BYTES

SecretPolicy = Literal["keep", "mask", "refuse"]


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
    verbatim messages, questions, candidates that contain a password, key or token, masked or not,
    and, under the policy "refuse", those that contain personal data. Raises
    MissingDependencyError for "redact" and "refuse" if the extra `pii` isn't installed.
    """

    def __init__(
        self,
        min_confidence: float = 0.7,
        personal_data: Policy = "mask",
        secrets: SecretPolicy = "mask",
        logged_secrets: Literal["keep", "mask"] = "keep",
    ) -> None:
        """Treat secrets by `secrets`, and in session logs by `logged_secrets`."""
        self._min_confidence = min_confidence
        self._secrets = secrets
        self._logged_secrets = logged_secrets
        self._personal_data = None if personal_data == "keep" else PersonalData(personal_data)

    def admit(self, candidates: Sequence[Candidate], messages: Sequence[Message] = ()) -> Ruling:
        """Sort candidates into admitted, quarantined and refused ones.

        `messages` are their sources. Candidates from what is held of a message that tries to
        instruct a model are quarantined, however harmless they read by themselves.
        """
        suspect = {message.id: found for message in messages if (found := held(message))}
        ruling = Ruling([], [], Counter())
        for candidate in candidates:
            if reason := self._objection(candidate):
                ruling.refused[reason] += 1
                continue
            kept = self._personal_data.treat(candidate) if self._personal_data else candidate
            if kept is None:
                ruling.refused["personal data"] += 1
            elif _instructs(kept, messages) or any(
                suspect[one].whole
                or kept.category is Category.FEEDBACK  # another order of the same message
                or suspect[one].holds(kept.content)
                for one in kept.message_ids
                if one in suspect
            ):
                ruling.quarantined.append(kept)
            else:
                ruling.admitted.append(self._with_clean_values(kept, ruling))
        return ruling

    def _with_clean_values(self, kept: Candidate, ruling: Ruling) -> Candidate:
        """Return a candidate, without typed values that hold what its statement mayn't."""
        texts = [*_texts(kept.typed)]
        if not any(is_instruction(text) or self.redacted(text) != text for text in texts):
            return kept
        ruling.refused["typed"] += 1
        return kept.model_copy(update={"typed": {}})

    def cleared(self, text: str, place: str) -> str:
        """Return a text that a caller wants to store, with personal data treated by the policy.

        `place` names it in errors. Raises InvalidInputError for a secret, unless secrets are kept,
        and under "refuse" for personal data; the error has the kind and the place, never the text.
        """
        if self._secrets != "keep":
            _refuse_secret(text, place)
        return self._without_personal_data(text, place)

    def kept(self, text: str, place: str) -> str:
        """Return a text of an item, which comes back as it was put, treated as by `cleared`.

        Raises InvalidInputError for a secret under "refuse" alone; else `searchable` masks it.
        """
        if self._secrets == "refuse":
            _refuse_secret(text, place)
        return self._without_personal_data(text, place)

    def searchable(self, value: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the form of an item's value in which it is indexed, without secrets."""
        masked: Mapping[str, Any] = (
            value if self._secrets == "keep" else _masked(value, surely=False)
        )
        return masked

    def _without_personal_data(self, text: str, place: str) -> str:
        if self._personal_data is None:
            return text
        if self._personal_data.policy == "refuse" and (found := self._personal_data.first(text)):
            raise _refusal(place, "personal data", *found, "the policy is to refuse it")
        return self._personal_data.redacted(text)

    def suspects(self, texts: Iterable[str], trust: Trust) -> bool:
        """Return True if one of a caller's texts reads like an instruction to a model.

        Of text that no person said, any instruction does; of others, an attack on a model.
        """
        reads = takes_over if trust > Trust.TOOL else orders
        return any(reads(text) for text in texts)

    def redacted(self, text: str) -> str:
        """Return `text` without secrets and personal data, unless the policies keep them."""
        content = self.masked(text)
        return self._personal_data.redacted(content) if self._personal_data else content

    def masked(self, text: str) -> str:
        """Return `text` without secrets, unless they are kept."""
        return text if self._secrets == "keep" else without_secrets(text)

    def screen(self, message: Message) -> Screened:
        """Return the form in which a message may be recalled.

        Replaces secrets by "[secret]" unless they are kept, and personal data by its kind as the
        policy says. Quarantines a tool's message with any instruction, but those of
        people only for attacks on a model, as people may give orders; of a short message only the
        sentences that attack are left out, if the rest is clearly harmless.
        """
        found = held(message)
        if found is None or found.whole:
            return Screened(self.redacted(message.content), found is not None)
        return Screened(self.redacted(found.rest), quarantined=False)

    def logged(self, message: Message) -> Message:
        """Return a message as the session log keeps it.

        Raises InvalidInputError for one with a secret if secrets are refused; the error has the
        kind and the place, never the text.
        """
        if self._secrets == "keep":
            return message
        if self._secrets == "refuse":
            for text in (message.content, message.name or "", *_texts(message.metadata)):
                _refuse_secret(text, f"message {message.id}")
        masked: dict[str, Any] = {}
        if message.name and (name := without_secrets(message.name, surely=True)) != message.name:
            masked["name"] = name
        if (metadata := _masked(message.metadata, surely=True)) != message.metadata:
            masked["metadata"] = metadata
        if self._logged_secrets == "mask":
            content = without_secrets(message.content, surely=True)
            if content != message.content:
                masked["content"] = content.encode()[:MAX_CONTENT_BYTES].decode(errors="ignore")
        return message.model_copy(update=masked) if masked else message

    def _objection(self, candidate: Candidate) -> str | None:
        if candidate.confidence < self._min_confidence:
            return "confidence"
        if candidate.category is Category.CONVERSATION:
            return "category"  # reserved for verbatim messages
        if candidate.content.rstrip().endswith("?"):
            return "question"
        if self._secrets != "keep" and REDACTED in without_secrets(candidate.content):
            return "secret"  # or what is left of a sentence with one
        return None


def _instructs(candidate: Candidate, messages: Sequence[Message]) -> bool:
    """Return True if a candidate reads like an instruction to a model.

    So does one to anyone, in a text without a speaker.

    What a sentence of people's own speech was read as may be an order, but no attack.
    """
    if candidate.reading is None or any(
        message.role != "user" for message in messages if message.id in candidate.message_ids
    ):
        return is_instruction(candidate.content)
    return is_attack(candidate.content)


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in a value, each behind its key, which belongs to what it says."""
    match value:
        case str():
            yield value
        case list():
            for one in value:
                yield from _texts(one)
        case Mapping():
            for name, one in value.items():
                for text in _texts(one):
                    yield prefix(name) + text


def _masked(value: Any, key: str = "", *, surely: bool) -> Any:
    """Return a JSON value without the secrets in it, among them those that only a key tells."""
    match value:
        case str():
            before = prefix(key)
            return without_secrets(before + value, surely=surely).removeprefix(before)
        case int() if prefix(key) and not isinstance(value, bool):
            said = _masked(str(value), key, surely=surely)
            return value if said == str(value) else said
        case list():
            return [_masked(one, key, surely=surely) for one in value]
        case Mapping():
            return {name: _masked(one, name, surely=surely) for name, one in value.items()}
    return value


def _refuse_secret(text: str, place: str) -> None:
    if secret := first_secret(text):
        raise _refusal(place, "a secret", *secret, "name the place where it is kept instead")


def _refusal(
    place: str, what: str, start: int, end: int, kind: str, remedy: str
) -> InvalidInputError:
    return InvalidInputError(
        f"{place} holds {what} ({kind}) at characters {start} to {end}: {remedy}"
    )
