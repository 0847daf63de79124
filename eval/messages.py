"""Requests to forget and secrets, in messages of writers that were in no training.

    python -m eval messages [--data FILE]

The whole way is measured: the hints, the judge, and for secrets the structure beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ingest.gate.secrets import without_secrets
from semantic_memory.domain.forget_requests import Asked
from semantic_memory.domain.messages import Message
from semantic_memory.judging.forgetting import answered
from semantic_memory.pipeline.forget_requests import said_in
from training.data import Sentence, messages, of_file

_ANSWERS = {"confirm": "yes", "decline": "no"}
_AROUND = ".,;:!?()[]\"'„“”«»*`"
"""Signs around words."""
_SHORT = 2
"""Letters of a word that says little of a secret."""


def figures(file: Path | None = None) -> dict[str, str]:
    """Return the figures by name: each as a count, a whole and a share.

    Of the rows of a `file` in the form of `data/gold/messages.jsonl`, or of those shipped ones
    that only measure.
    """
    held = of_file(file) if file else [row for row in messages() if row.held]
    asking = [row for row in held if str(row.labels["act"]).startswith("forget")]
    found = [_asked(row) for row in asking]
    scopes = [f"forget_{one.scope}" if one else None for one in found]
    others = [row for row in held if row.labels["act"] == "none" and not row.marks]
    answers = [row for row in held if row.labels["act"] in _ANSWERS]
    named = [
        (row.text[mark.start : mark.end], one.subject)
        for row, one in zip(asking, found, strict=True)
        for mark in row.marks or ()
        if one and one.scope == "subject"
    ]
    hiding = [row for row in held if any(mark.name == "secret" for mark in row.marks or ())]
    return {
        "requests to forget, found": _share([one is not None for one in found]),
        "of them with the right scope": _share(
            [scope == row.labels["act"] for scope, row in zip(scopes, asking, strict=True)]
        ),
        "subjects named exactly": _share([told == due for due, told in named]),
        "answers to a request, understood": _share(
            [answered(row.text, row.context) == _ANSWERS[str(row.labels["act"])] for row in answers]
        ),
        "other messages taken for requests": _share([_asked(row) is not None for row in others]),
        "messages with a secret left in clear": _share([_leaks(row) for row in hiding]),
        "other messages in which something is masked": _share(
            [without_secrets(row.text) != row.text for row in others]
        ),
    }


def _asked(row: Sentence) -> Asked | None:
    found = said_in(Message(role="user", content=row.text))
    return found if isinstance(found, Asked) else None


def _leaks(row: Sentence) -> bool:
    left = {word.strip(_AROUND) for word in without_secrets(row.text).split()}
    secrets = (row.text[one.start : one.end] for one in row.marks or () if one.name == "secret")
    return any(
        word.strip(_AROUND) in left
        for secret in secrets
        for word in secret.split()
        if len(word) > _SHORT
    )


def _share(holds: Sequence[bool]) -> str:
    return f"{sum(holds)} of {len(holds)} ({sum(holds) / max(1, len(holds)):.1%})"
