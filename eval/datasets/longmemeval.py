"""LongMemEval at the session level.

Wu et al. (2025), "LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive Memory".

`official`   the protocol of the authors' `run_retrieval.py`: the user's turns are the documents;
             without questions that can't be answered (`_abs`) or that only an assistant's turn
             answers; a session is relevant if a turn of its user is marked `has_answer`.
`dialogue`   the same questions and relevant sessions, but with the assistant's turns as documents
             too, as in an agent's memory.
`loose`      the protocol by which others publish: all questions, one document for each session,
             made of its user's turns; all `answer_session_ids` are relevant, any is a success.

One user per question. The file has unsorted sessions, sessions listed twice (the first is kept),
empty turns, and sessions later than their question, which stay, as in the official protocol.
Sessions and turns get new numbers, since the file's ids reveal the sessions with answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from eval.datasets import DataSet, History, Memory, Question
from eval.datasets.files import read_samples

Protocol = Literal["official", "dialogue", "loose"]

_PROTOCOLS: dict[Protocol, str] = {
    "official": (
        "official protocol: the user's turns are the memories, sessions are ranked by them;"
        " without _abs and without questions that only an assistant's turn answers"
    ),
    "dialogue": (
        "official questions and relevant sessions; both sides of the dialogue are documents"
    ),
    "loose": (
        "the looser protocol others publish by, NOT comparable with the official one: all"
        " questions, one document a session"
    ),
}


class _Turn(NamedTuple):
    role: Literal["user", "assistant"]
    text: str
    answers: bool


class _Session(NamedTuple):
    said_at: datetime
    official_id: str
    turns: list[_Turn]


def load_longmemeval(path: Path, protocol: Protocol) -> DataSet:
    """Load the questions of a LongMemEval file, plain or gzipped, each with its history."""
    load = partial(_histories, protocol=protocol)
    return DataSet(
        "longmemeval" if protocol == "official" else f"longmemeval-{protocol}",
        read_samples(path, "LongMemEval", load),
        _PROTOCOLS[protocol],
        level="session",
        depth=100,
    )


def _histories(samples: list[dict[str, Any]], protocol: Protocol) -> list[History]:
    histories = []
    for number, sample in enumerate(samples):
        answerable = "_abs" not in sample["question_id"]
        sessions = list(_sessions(sample))
        if protocol == "loose":
            memories, relevant = _one_a_session(sessions, set(sample["answer_session_ids"]))
        else:
            memories, relevant = _one_a_turn(sessions, protocol)
            if answerable and not relevant:
                continue
        question = Question(
            id=str(sample["question_id"]),
            kind=sample["question_type"] if answerable or protocol == "loose" else "unanswerable",
            text=sample["question"],
            relevant=frozenset(relevant) if answerable or protocol == "loose" else frozenset(),
            asked_at=_moment(sample["question_date"]),
            answer=str(sample["answer"]),
        )
        histories.append(History(f"u{number}", memories, [question]))
    return histories


def _one_a_turn(sessions: list[_Session], protocol: Protocol) -> tuple[list[Memory], set[str]]:
    memories, relevant = [], set()
    for place, session in enumerate(sessions):
        for at, turn in enumerate(session.turns):
            if not turn.text.strip() or (turn.role != "user" and protocol == "official"):
                continue
            memory = Memory(f"s{place}:{at}", turn.text, session.said_at, f"s{place}", turn.role)
            memories.append(memory)
            if turn.answers and turn.role == "user":
                relevant.add(memory.id)
    return memories, relevant


def _one_a_session(sessions: list[_Session], answers: set[str]) -> tuple[list[Memory], set[str]]:
    memories, relevant = [], set()
    for place, session in enumerate(sessions):
        text = "\n".join(turn.text for turn in session.turns if turn.role == "user").strip()
        if text:
            memories.append(Memory(f"s{place}:0", text, session.said_at, f"s{place}"))
            if session.official_id in answers:
                relevant.add(f"s{place}:0")
    return memories, relevant


def _sessions(sample: dict[str, Any]) -> Iterator[_Session]:
    seen = set()
    listed = zip(
        sample["haystack_dates"],
        sample["haystack_session_ids"],
        sample["haystack_sessions"],
        strict=True,
    )
    for date, session_id, turns in sorted(listed, key=lambda entry: _moment(entry[0])):
        if session_id not in seen:
            seen.add(session_id)
            yield _Session(
                _moment(date),
                session_id,
                [
                    _Turn(turn["role"], turn["content"], bool(turn.get("has_answer")))
                    for turn in turns
                ],
            )


def _moment(text: str) -> datetime:
    return datetime.strptime(text, "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC)
