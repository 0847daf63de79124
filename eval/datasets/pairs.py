"""Labelled pairs of sentences: duplicates, contradictions and updates.

SICK (Marelli et al. 2014), STS-B (Cer et al. 2017), Dialogue NLI (Welleck et al. 2019), BEAM
(Tavakoli et al. 2025), LongMemEval (Wu et al. 2024), LoCoMo's observations (Maharana et al. 2024).
Each file is a JSON or JSON Lines file, gzipped or not, under its usual name in one directory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import sentencex

from eval.datasets.files import read_text
from semantic_memory.domain.errors import InvalidInputError


class Labelled(NamedTuple):
    """Two sentences with their label and the number of their row."""

    a: str
    b: str
    label: str
    row: int


class Replaced(NamedTuple):
    """A question, with the user's statements before and after its answer changed."""

    question: str
    answer: str
    older: list[str]
    newer: list[str]


class Observation(NamedTuple):
    """An observation about a speaker, with the turn it came from."""

    conversation: str
    speaker: str
    session: int
    turn: str
    text: str


def sick(directory: Path) -> list[Labelled]:
    """Read SICK: `same` for entailed pairs of relatedness 4.8 and up, contradictions, neutrals."""
    rows = []
    for number, row in enumerate(_lines(directory, "sick.jsonl")):
        label = row["entailment_judgment"].casefold()
        if label != "entailment":
            rows.append(Labelled(row["sentence_A"], row["sentence_B"], label, number))
        elif float(row["relatedness_score"]) >= 4.8:
            rows.append(Labelled(row["sentence_A"], row["sentence_B"], "same", number))
    return rows


def stsb(directory: Path) -> list[Labelled]:
    """Read the equivalent pairs of STS-B, of score 5.0."""
    equivalent = [row for row in _lines(directory, "stsb.jsonl") if row["score"] == 5.0]
    return [Labelled(row["a"], row["b"], "same", number) for number, row in enumerate(equivalent)]


# Verbs of relations, where they differ from the relation's name.
_SAID = {
    "dislike": "dislike",
    "favorite": "love",
    "physical_attribute": "am",
    "other": "am",
    "misc_attribute": "am",
    "place_origin": "am from",
}


def dnli(directory: Path, *, written_out: bool) -> list[Labelled]:
    """Read DNLI: sentences that contradict a triple's statement (`neg`) or agree (`similar`).

    The statement is the triple written out ("i have a dog"), or the utterance that the triple was
    annotated on, which often only implies it.
    """
    rows = []
    for number, row in enumerate(_lines(directory, "dnli.jsonl")):
        statement = _sentence(*row["triple"]) if written_out else row["candidates"]["label"][0]
        rows += [
            Labelled(statement, text, label, number)
            for label in ("neg", "similar")
            for text in row["candidates"][label]
        ]
    return rows


def _sentence(subject: str, relation: str, thing: str) -> str:
    family = relation.split("_")[0]
    verb = _SAID.get(relation) or _SAID.get(family) or family
    return f"{subject} {'have a' if relation == 'have_pet' else verb} {thing} ."


def beam_updates(directory: Path) -> list[Replaced]:
    """Read the knowledge updates of BEAM."""
    return [
        Replaced(row["question"], str(row["answer"]), _said(row["first"]), _said(row["second"]))
        for row in _lines(directory, "beam_conflicts.jsonl")
        if row["kind"] == "knowledge_update"
    ]


def longmemeval_updates(directory: Path) -> list[Replaced]:
    """Read LongMemEval's knowledge-update questions, with first and last evidence session."""
    found = []
    for row in _document(directory, "longmemeval_s.json"):
        if row["question_type"] != "knowledge-update" or row["question_id"].endswith("_abs"):
            continue
        sessions = sorted(
            (date, evidence)
            for date, session in zip(row["haystack_dates"], row["haystack_sessions"], strict=True)
            if (evidence := _said([turn for turn in session if turn.get("has_answer")]))
        )
        if len(sessions) > 1:
            older, newer = sessions[0][1], sessions[-1][1]
            found.append(Replaced(row["question"], str(row["answer"]), older, newer))
    return found


def observations(directory: Path) -> list[Observation]:
    """Read the observations of LoCoMo's annotators about each speaker."""
    return [
        Observation(sample["sample_id"], speaker, int(session.split("_")[1]), str(turn), text)
        for sample in _document(directory, "locomo.json")
        for session, speakers in sample["observation"].items()
        for speaker, rows in speakers.items()
        for text, turn in rows
    ]


_CODE = re.compile(r"```.*?(?:```|$)|->->.*", re.DOTALL)
_ASKING = re.compile(
    r",? ?(?:so |and |but )?\b(?:can|could|what|how|should|do|does|is|will|would|are|did)\b"
    r"[^,]*\?+\s*$",
    re.IGNORECASE,
)


def _said(turns: list[dict[str, Any]]) -> list[str]:
    """Return the user's statements, without the requests at their ends."""
    stated = []
    for turn in turns:
        if turn["role"] == "user":
            for sentence in sentencex.segment("en", _CODE.sub(" ", turn["content"])):
                statement = _ASKING.sub("", sentence.strip())
                if len(statement.split()) > 3:
                    stated.append(statement)
    return stated


def _lines(directory: Path, name: str) -> Iterator[dict[str, Any]]:
    yield from (json.loads(line) for line in _text(directory, name).splitlines() if line)


def _document(directory: Path, name: str) -> list[dict[str, Any]]:
    document: list[dict[str, Any]] = json.loads(_text(directory, name))
    return document


def _text(directory: Path, name: str) -> str:
    for path in (directory / name, directory / f"{name}.gz"):
        if path.exists():
            return read_text(path)
    raise InvalidInputError(f"{directory} has no {name} (plain or .gz): give the sets' directory")
