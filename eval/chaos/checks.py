"""Promises of the service, each checked against the tables and every worker's answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from eval.chaos.clients import Promises, marks_in
from eval.chaos.reading import Answers, Found, Tables

_TIED = 1e-3
"""Difference of scores below which two hits may change places: time passes between two answers."""

Check = Callable[[Promises, Tables, Sequence[Answers]], Iterator[str]]


def lost(promises: Promises, tables: Tables, answers: Sequence[Answers]) -> Iterator[str]:
    """Yield acknowledged messages and facts that aren't found by their ids."""
    remembered = {
        (row.user_id, said, row.content)
        for row in tables.memories.values()
        if row.category == "conversation" and row.status == "active"
        for said in row.said_in
    }
    for (user_id, session_id), texts in promises.said.items():
        for name, text in texts.items():
            if (user_id, f"{session_id}/{name}", text) not in remembered:
                yield f"the memory of message {session_id}/{name} of {user_id}"
            if not marks_in(text) <= tables.logged.get((user_id, session_id, name), frozenset()):
                yield f"the log of message {session_id}/{name} of {user_id}"
            for one in answers:
                if one.messages.get((user_id, session_id), {}).get(name) != text:
                    yield f"message {session_id}/{name} of {user_id}, on {one.worker}"
    for user_id, added in promises.added.items():
        for name, text in added.items():
            row = tables.memories.get(name)
            if row is None or row.status == "forgotten" or row.content != text:
                yield f"fact {name} of {user_id}"


def returned(promises: Promises, tables: Tables, answers: Sequence[Answers]) -> Iterator[str]:
    """Yield forgotten memories that are answered, or whose text is anywhere in the tables."""
    for user_id, forgotten in promises.forgotten.items():
        for mark, name in forgotten.items():
            for table, marks in tables.marks.items():
                if mark in marks:
                    yield f"{mark} of {user_id}, in {table}"
            row = tables.memories.get(name)
            if row is not None and row.status != "forgotten":
                yield f"memory {name} of {user_id}, in the tables"
            for one in answers:
                if name in one.listed.get(user_id, {}):
                    yield f"memory {name} of {user_id}, on {one.worker}"
                if mark in _answered(one, user_id):
                    yield f"{mark} of {user_id}, on {one.worker}"


def _answered(answers: Answers, user_id: str) -> set[str]:
    """Return the marks in all that a worker answers for a user."""
    texts = [*answers.listed.get(user_id, {}).values()]
    for question, hits in answers.found.items():
        texts += [hit.content for hit in hits if question.user_id == user_id]
    for (user, _), said in answers.messages.items():
        texts += [text for text in said.values() if user == user_id]
    return {mark for text in texts for mark in marks_in(text)}


def repeated(promises: Promises, tables: Tables, answers: Sequence[Answers]) -> Iterator[str]:
    """Yield texts from which facts were drawn more than once; each gives one."""
    del answers
    drawn = Counter(
        (row.user_id, mark)
        for row in tables.memories.values()
        if row.category != "conversation" and row.status != "forgotten"
        for mark in marks_in(row.content)
    )
    for (user_id, mark), number in drawn.items():
        if number > 1:
            yield f"{number} facts of {mark} of {user_id}"
    for user_id, session_id in promises.said:  # a forgotten session begins anew
        number = tables.extracted.get((user_id, session_id), 0)
        reached = tables.reached.get((user_id, session_id), number)
        if number > reached:
            yield f"{number} extractions of {reached} messages of {session_id} of {user_id}"


def strayed(promises: Promises, tables: Tables, answers: Sequence[Answers]) -> Iterator[str]:
    """Yield memories of another user in any answer, under load or after it."""
    del tables
    yield from promises.strays
    for one in answers:
        yield from one.strays


def unlike(promises: Promises, tables: Tables, answers: Sequence[Answers]) -> Iterator[str]:
    """Yield answers of workers that aren't what the tables hold, or differ among workers."""
    del promises
    for one in answers:
        for user_id, listed in one.listed.items():
            if different := {*listed.items()} ^ {*tables.listed(user_id).items()}:
                yield f"listing of {user_id} on {one.worker}: {len(different)} memories differ"
        for (user_id, text, category), hits in one.found.items():
            held = tables.listed(user_id)
            at = f"search of {user_id} on {one.worker}"
            yield from (
                f"{at}: {hit.memory_id} isn't {hit.content}"
                for hit in hits
                if held.get(hit.memory_id) != hit.content
            )
            if category is not None and text not in {hit.content for hit in hits}:
                yield f"{at} doesn't find: {text}"
    yield from _apart(answers)


def _apart(answers: Sequence[Answers]) -> Iterator[str]:
    """Yield searches that two workers answer differently."""
    for one, other in pairwise(answers):
        for question, hits in one.found.items():
            if question.category is None:
                continue  # of a message and its fact, equally good, each may name another
            if missing := _missing(hits, other.found.get(question, ())):
                at = f"search of {question.user_id}"
                between = f"{one.worker} and {other.worker}"
                yield f"{at} differs between {between} by {sorted(missing)}"


def _missing(hits: Sequence[Found], others: Sequence[Found]) -> set[str]:
    """Return the memories that only one of two answers has, though above the other's last hit."""
    ids, other_ids = ({hit.memory_id for hit in some} for some in (hits, others))
    last, other_last = (min((h.score for h in some), default=0.0) for some in (hits, others))
    return {hit.memory_id for hit in hits if hit.score > other_last + _TIED} - other_ids | {
        hit.memory_id for hit in others if hit.score > last + _TIED
    } - ids


def disordered(promises: Promises, tables: Tables, answers: Sequence[Answers]) -> Iterator[str]:
    """Yield sessions in which a client's messages aren't in the order of their acknowledgements."""
    del tables
    for one in answers:
        for key, said in promises.said.items():
            places = {name: place for place, name in enumerate(one.messages.get(key, {}))}
            for client in {_client_of(name) for name in said}:
                own = [places[n] for n in said if _client_of(n) == client and n in places]
                if own != sorted(own):
                    yield f"{client} in {key[1]} of {key[0]}, on {one.worker}"


def _client_of(message_id: str) -> str:
    return message_id.partition("-")[0]


def unseen(promises: Promises, tables: Tables, answers: Sequence[Answers]) -> Iterator[str]:
    """Yield acknowledged messages that a search right after them didn't find."""
    del tables, answers
    yield from promises.unseen


CHECKS: dict[str, Check] = {
    "acknowledged and lost": lost,
    "forgotten and back": returned,
    "extracted twice": repeated,
    "of another user": strayed,
    "unlike the tables": unlike,
    "out of order": disordered,
    "not found at once": unseen,
}
"""Each check, by its violation."""


def violations(
    promises: Promises, tables: Tables, answers: Sequence[Answers]
) -> dict[str, list[str]]:
    """Run all checks; return what each yields, by the name of the violation."""
    return {name: [*check(promises, tables, answers)] for name, check in CHECKS.items()}
