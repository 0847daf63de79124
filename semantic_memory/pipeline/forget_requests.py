"""The ledger's records of users' requests to forget, without the texts of settled ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from pydantic import TypeAdapter

from semantic_memory.domain.english.forgetting import Asked
from semantic_memory.domain.forget_requests import RequestState, RequestToForget
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import KeyValues
from semantic_memory.pipeline.facts import verbatim_id

_MOST = 100  # of a user, the latest
_ALL = TypeAdapter(list[RequestToForget])
_WAITS = "request waits "  # with a user's name: not one list, which writers of several users share
_WAITED = "requests waiting"  # the list that stores had before
_NAMES = TypeAdapter(list[str])


def read_requests(ledger: KeyValues, user_id: str) -> list[RequestToForget]:
    """Return a user's requests, the latest first."""
    stored = ledger.meta(f"requests {user_id}")
    return _ALL.validate_json(stored) if stored else []


def waiting_users(ledger: KeyValues) -> list[str]:
    """Return the users with a request that is pending, and perhaps others."""
    stored = ledger.meta(_WAITED)
    before = _NAMES.validate_json(stored) if stored else []
    present = (key.removeprefix(_WAITS) for key, waits in ledger.metas(_WAITS).items() if waits)
    return list(dict.fromkeys((*before, *present)))


def note_requests(
    ledger: KeyValues, key: SessionKey, asked: Mapping[str, Asked], now: datetime
) -> None:
    """Record requests of a session that await a decision, by message; known ones stay as they are.

    Ask with the ledger held exclusively, here and below.
    """
    found = read_requests(ledger, key.user_id)
    known = {one.id for one in found}
    fresh = [
        RequestToForget(
            id=verbatim_id(key, message_id),
            session_id=key.session_id,
            message_id=message_id,
            scope=one.scope,
            subject=one.subject,
            asked_at=now,
        )
        for message_id, one in asked.items()
        if one.scope in ("subject", "everything")
    ]
    fresh = [one for one in fresh if one.id not in known]
    if fresh:
        _write(ledger, key.user_id, [*reversed(fresh), *found])


def settle_requests(
    ledger: KeyValues,
    user_id: str,
    state: RequestState,
    now: datetime,
    chosen: Callable[[RequestToForget], bool],
) -> list[RequestToForget]:
    """Settle the pending requests that are `chosen`, which erases their subjects; return them."""
    found = read_requests(ledger, user_id)
    settled = {
        one.id: one.model_copy(update={"state": state, "settled_at": now, "subject": ""})
        for one in found
        if one.state == "pending" and chosen(one)
    }
    if settled:
        _write(ledger, user_id, [settled.get(one.id, one) for one in found])
    return [*settled.values()]


def drop_requests(
    ledger: KeyValues, user_id: str, session_ids: Sequence[str] | None = None
) -> None:
    """Delete a user's requests, or those of some sessions."""
    found = read_requests(ledger, user_id)
    kept = [one for one in found if session_ids is not None and one.session_id not in session_ids]
    if kept != found:
        _write(ledger, user_id, kept)


def _write(ledger: KeyValues, user_id: str, requests: Sequence[RequestToForget]) -> None:
    kept = list(requests)[:_MOST]
    ledger.set_meta(f"requests {user_id}", _ALL.dump_json(kept).decode() if kept else "")
    waits = "1" if any(one.state == "pending" for one in kept) else ""
    if waits != (ledger.meta(f"{_WAITS}{user_id}") or ""):
        ledger.set_meta(f"{_WAITS}{user_id}", waits)
