"""The ledger's records of users' requests to forget, without the texts of settled ones.

A request is a proposal: nothing is hidden or erased until the application settles it, or the user
confirms it by a second clear word.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime

from pydantic import TypeAdapter

from semantic_memory.domain.evidence import left_of, pieces
from semantic_memory.domain.forget_requests import Asked, RequestState, RequestToForget
from semantic_memory.domain.messages import Message, SessionKey
from semantic_memory.domain.ports import Facts, KeyValues, Ledger
from semantic_memory.domain.trust import Trust
from semantic_memory.judging.forgetting import Answer, answered, asked_to_forget, requests_in
from semantic_memory.language.own_speech import own_speech_of
from semantic_memory.pipeline.facts import verbatim_id

OPEN: frozenset[RequestState] = frozenset({"pending", "confirmed"})
"""States of requests that aren't settled."""
_MOST = 100  # of a user, the latest
_BRIEF = 300
"""Characters of a line that a person types."""
_ALL = TypeAdapter(list[RequestToForget])
_WAITS = "request waits "  # with a user's name: not one list, which writers of several users share
_WAITED = "requests waiting"  # the list that stores had before
_NAMES = TypeAdapter(list[str])

Said = Asked | Answer
"""A statement about forgetting in a message: a request, or the answer to one."""


def said_in(message: Message, before: str = "") -> Said | None:
    """Return what a user says in a message, of themselves, about forgetting.

    `before` is the text of the message before it, to which it may be an answer.
    """
    if message.role != "user" or message.trusted < Trust.USER:
        return None
    reading = own_speech_of(message)
    own = reading.own if reading.decides else ""
    asked = asked_to_forget(own)
    is_other = asked is not None and asked.subject.casefold() not in before.casefold()
    answer = answered(own, before) if before and not is_other else None
    return answer or asked or _off_the_record(message.content)


def _off_the_record(text: str) -> Asked | None:
    """Return the request of a short text not to be kept itself, own speech or not.

    "No trace of this, please: I'm ill" looks like a text behind its label. Where it is one, a
    proposal to keep no more of it than of the rest does no harm.
    """
    asked = asked_to_forget(text) if len(text) <= _BRIEF and "\n" not in text.strip() else None
    return asked if asked and asked.scope == "this" else None


def without_requests(message: Message) -> Message | None:
    """Return a message without the sentences of requests, which say nothing of their author.

    None if nothing is left. What is told off the record is kept: the request may be declined.
    """
    asked = said_in(message)
    if not isinstance(asked, Asked) or asked.scope == "this":
        return message
    said = pieces(message.content)
    left = left_of(said, requests_in(said))
    return message.model_copy(update={"content": left}) if left else None


def read_requests(ledger: KeyValues, user_id: str) -> list[RequestToForget]:
    """Return a user's requests, the latest first."""
    stored = ledger.meta(f"requests {user_id}")
    return _ALL.validate_json(stored) if stored else []


def waiting_users(ledger: KeyValues) -> list[str]:
    """Return the users with a request that isn't settled, and perhaps others."""
    stored = ledger.meta(_WAITED)
    before = _NAMES.validate_json(stored) if stored else []
    present = (key.removeprefix(_WAITS) for key, waits in ledger.metas(_WAITS).items() if waits)
    return list(dict.fromkeys((*before, *present)))


def note_requests(
    ledger: KeyValues,
    key: SessionKey,
    said: Mapping[str, Said],
    before: Callable[[str], str | None],
    now: datetime,
) -> None:
    """Record requests of a session by message; known ones stay as they are.

    A request for the same subject confirms the one before it; so does a clear answer in the user's
    next message, unless everything was asked for. `before` returns the user's message before
    another. Ask with the ledger held exclusively, here and below.
    """
    found = read_requests(ledger, key.user_id)
    known = {one.id for one in found}
    requests = list(reversed(found))
    for message_id, one in said.items():
        if isinstance(one, str):
            asked_in = before(message_id)
            requests = [_answered(own, one, key, asked_in, now) for own in requests]
        elif (request_id := verbatim_id(key, message_id)) not in known:
            again = _is_repeated(one, key, requests)
            fresh = RequestToForget(
                id=request_id,
                session_id=key.session_id,
                message_id=message_id,
                scope=one.scope,
                subject=one.subject,
                asked_at=now,
                state="confirmed" if again else "pending",
            )
            if again:
                requests = [_confirmed(own, one, key) for own in requests]
            requests.append(fresh)
    requests.reverse()
    if requests != found:
        _write(ledger, key.user_id, requests)


def settle_requests(
    ledger: KeyValues,
    user_id: str,
    state: RequestState,
    now: datetime,
    chosen: Callable[[RequestToForget], bool],
) -> list[RequestToForget]:
    """Move the open requests that are `chosen` to a state; return them.

    Once they are done or declined, their subjects are erased.
    """
    found = read_requests(ledger, user_id)
    settled = {
        one.id: _moved(one, state, now) for one in found if one.state in OPEN and chosen(one)
    }
    if settled:
        _write(ledger, user_id, [settled.get(one.id, one) for one in found])
    return [*settled.values()]


def settle_erased(ledger: Ledger, user_id: str, erased: Collection[str], now: datetime) -> None:
    """Settle the open requests whose own words are among the `erased` memories, given by id.

    Their subjects are texts as well.
    """
    asking = [
        one for one in read_requests(ledger, user_id) if one.state in OPEN and one.id in erased
    ]
    said = {fact.id: fact.content for fact in ledger.get([one.id for one in asking])}
    gone = {one.id for one in asking if not requests_in(pieces(said.get(one.id, "")))}
    if gone:
        settle_requests(ledger, user_id, "done", now, lambda one: one.id in gone)


def drop_requests(
    ledger: KeyValues, user_id: str, session_ids: Sequence[str] | None = None
) -> None:
    """Delete a user's requests, or those of some sessions."""
    found = read_requests(ledger, user_id)
    kept = [one for one in found if session_ids is not None and one.session_id not in session_ids]
    if kept != found:
        _write(ledger, user_id, kept)


def words_of_requests(ledger: Facts, requests: Iterable[RequestToForget]) -> dict[str, set[int]]:
    """Return the sentences in which requests were made, by the ids of their messages' memories."""
    found: dict[str, set[int]] = {}
    for message in ledger.get([one.id for one in requests]):
        said = pieces(message.content)
        found[message.id] = requests_in(said) or set(range(len(said)))
    return found


def _moved(one: RequestToForget, state: RequestState, now: datetime) -> RequestToForget:
    if state in OPEN:
        return one.model_copy(update={"state": state})
    return one.model_copy(update={"state": state, "settled_at": now, "subject": ""})


def _answered(
    one: RequestToForget, answer: Answer, key: SessionKey, asked_in: str | None, now: datetime
) -> RequestToForget:
    """Return a request after an answer to what was asked in a message."""
    is_meant = (one.session_id, one.message_id) == (key.session_id, asked_in)
    if one.state != "pending" or not is_meant:
        return one
    if answer == "no":
        return _moved(one, "declined", now)
    return one if one.scope == "everything" else _moved(one, "confirmed", now)


def _is_repeated(asked: Asked, key: SessionKey, requests: Iterable[RequestToForget]) -> bool:
    return any(_confirmed(one, asked, key) != one for one in requests)


def _confirmed(one: RequestToForget, asked: Asked, key: SessionKey) -> RequestToForget:
    """Return a request as it is once the same is asked again."""
    same = (one.scope, one.subject.casefold()) == (asked.scope, asked.subject.casefold())
    clear = asked.scope in ("subject", "everything") and one.session_id == key.session_id
    return (
        _moved(one, "confirmed", one.asked_at) if same and clear and one.state == "pending" else one
    )


def _write(ledger: KeyValues, user_id: str, requests: Sequence[RequestToForget]) -> None:
    kept = list(requests)[:_MOST]
    ledger.set_meta(f"requests {user_id}", _ALL.dump_json(kept).decode() if kept else "")
    waits = "1" if any(one.state in OPEN for one in kept) else ""
    if waits != (ledger.meta(f"{_WAITS}{user_id}") or ""):
        ledger.set_meta(f"{_WAITS}{user_id}", waits)
