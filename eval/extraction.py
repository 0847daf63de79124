"""Quality of extraction and gate.

On utterances with gold triples (head, relation, tail; PAED, Zhu et al. 2023), a triple is carried
by a fact of its utterance that contains its head and tail words, where any word for the speaker
matches any other. Recall is the share of triples carried, precision the share of facts that carry a
triple or are faithful by the rule of `eval.faithful`. The baseline keeps every sentence as a fact
and is judged by the same rule.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from eval.datasets.files import read_text
from eval.faithful import is_faithful
from ingest.gate import Gate
from ingest.readers import Incoming, read
from semantic_memory.domain.extraction import Candidate
from semantic_memory.domain.messages import Message
from semantic_memory.domain.ports import Embedder, Extractor

ItemT = TypeVar("ItemT")

Facts = Callable[[str], list[str]]
"""A system under test: returns the facts of an utterance."""

_SPEAKER = frozenset(
    "i my me mine we our us myself i'm i've i'd i'll ours im ive user user's their".split()
)
_BATCH = 50
_MATCHED = 0.6


class Case(NamedTuple):
    """An utterance, with the triples missed and the facts extracted."""

    text: str
    missed: list[str]
    facts: list[str]
    wrong: list[str]


@dataclass(slots=True)
class Tally:
    """Result of a system over a set of utterances."""

    triples: int = 0
    carried: int = 0
    facts: int = 0
    right: int = 0
    faithful: int = 0
    cases: list[Case] = field(default_factory=list)

    @property
    def recall(self) -> float:
        """Share of triples carried by a fact."""
        return self.carried / max(1, self.triples)

    @property
    def precision(self) -> float:
        """Share of facts that carry a triple or are faithful."""
        return self.right / max(1, self.facts)

    def worst(self, count: int) -> list[Case]:
        """Return the cases with the most wrong facts and missed triples."""
        return sorted(self.cases, key=lambda case: -2 * len(case.wrong) - len(case.missed))[:count]

    def figures(self) -> dict[str, float]:
        """Return the figures to print."""
        return {
            "recall": self.recall,
            "precision": self.precision,
            "faithful": self.faithful / max(1, self.facts),
            "facts": self.facts,
        }


def every_sentence(text: str) -> list[str]:
    """Return every sentence as a fact: the baseline."""
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+", text) if re.search(r"\w", part)]


def extracted(extractor: Extractor, gate: Gate) -> Facts:
    """Return a system made of an extractor and the gate."""

    def facts(text: str) -> list[str]:
        messages = [Message(role="user", content=text)]
        ruling = gate.admit(extractor.extract(messages, ()).candidates, messages)
        return [candidate.content for candidate in ruling.admitted]

    return facts


def halves(rows: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Split rows into those for development and those held out, by a hash of the utterance.

    All triples of an utterance are on the same side.
    """
    sides: dict[str, list[dict[str, Any]]] = {"development": [], "held out": []}
    for row in rows:
        digest = hashlib.sha256(row["utterance"].encode()).digest()
        sides["held out" if digest[0] % 2 else "development"].append(row)
    return sides


def judge(rows: Sequence[dict[str, Any]], system: Facts) -> Tally:
    """Run a system over every utterance and compare its facts with the triples."""
    golds: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        golds.setdefault(row["utterance"], []).append(row)
    tally = Tally()
    for text, gold in golds.items():
        facts = list(dict.fromkeys(system(text)))
        spoken = [_words(fact) for fact in facts]
        missed = [row for row in gold if not any(_carries(own, row) for own in spoken)]
        wrong = []
        for fact, own in zip(facts, spoken, strict=True):
            faithful = is_faithful(fact, text)
            tally.faithful += faithful
            if faithful or any(_carries(own, row) for row in gold):
                tally.right += 1
            else:
                wrong.append(fact)
        tally.triples += len(gold)
        tally.carried += len(gold) - len(missed)
        tally.facts += len(facts)
        if missed or wrong:
            lost = [f"{row['head']} {row['relation']} {row['tail']}" for row in missed]
            tally.cases.append(Case(text, lost, facts, wrong))
    return tally


def _words(fact: str) -> set[str]:
    return set(re.findall(r"[\w']+", fact.lower()))


def _carries(fact: set[str], row: dict[str, Any]) -> bool:
    heads = re.findall(r"[\w']+", row["head"].lower())
    tails = re.findall(r"[\w']+", row["tail"].lower())
    head = all(word in fact or (word in _SPEAKER and fact & _SPEAKER) for word in heads)
    return head and all(
        any(
            form in fact for form in (word, word + "s", word + "es", word.removesuffix("y") + "ies")
        )
        or (word in _SPEAKER and bool(fact & _SPEAKER))
        for word in tails
    )


@dataclass(frozen=True, slots=True)
class Dialogues:
    """Result of extraction from long conversations."""

    messages: int
    seconds: float
    facts: int
    faithful: float
    """Share of facts that are faithful."""
    observations: int
    matched: float
    """Share of the file's observations with a fact at a cosine of 0.6 or more."""
    smaller: float
    """Ratio of the characters of all messages to those of all facts."""

    def figures(self) -> dict[str, float]:
        """Return the figures to print; messages a second exclude embedding."""
        return {
            "messages": self.messages,
            "messages a second of processor time": self.messages / self.seconds,
            "facts": self.facts,
            "faithful": self.faithful,
            "observations": self.observations,
            "observations matched": self.matched,
            "times smaller than the messages": self.smaller,
        }


def judge_dialogues(path: Path, extractor: Extractor, gate: Gate, embedder: Embedder) -> Dialogues:
    """Extract facts from a LoCoMo file and compare them with its observations."""
    items = [item for item in read(path, "locomo", "") if isinstance(item, Incoming)]
    messages = {(item.user_id, item.message.id): item.message for item in items}
    facts: dict[str, list[Candidate]] = {}
    start = time.process_time()
    for key in dict.fromkeys((item.user_id, item.session_id) for item in items):
        own = [item.message for item in items if (item.user_id, item.session_id) == key]
        for batch in _batches(own):
            found = gate.admit(extractor.extract(batch, ()).candidates, batch).admitted
            facts.setdefault(str(key[0]), []).extend(found)
    seconds = time.process_time() - start
    faithful = [
        is_faithful(fact.content, source.content, source.name)
        for user, own in facts.items()
        for fact in own
        for source in [messages[user, fact.message_ids[0]]]
    ]
    observations = dict(_observations(path))
    matched = [
        nearest >= _MATCHED
        for user, texts in observations.items()
        for nearest in _nearest(embedder, texts, [fact.content for fact in facts[user]])
    ]
    said = sum(len(message.content) for message in messages.values())
    kept = sum(len(fact.content) for own in facts.values() for fact in own)
    return Dialogues(
        len(messages),
        seconds,
        len(faithful),
        float(np.mean(faithful)),
        len(matched),
        float(np.mean(matched)),
        said / kept,
    )


def _observations(path: Path) -> Iterator[tuple[str, list[str]]]:
    for sample in json.loads(read_text(path)):
        yield (
            sample["sample_id"],
            [
                observation[0]
                for session in sample["observation"].values()
                for own in session.values()
                for observation in own
            ],
        )


def _nearest(embedder: Embedder, texts: list[str], facts: list[str]) -> list[float]:
    similarities = embedder.embed(texts, "document") @ embedder.embed(facts, "document").T
    return [float(value) for value in similarities.max(axis=1)]


def _batches(items: Sequence[ItemT]) -> Iterator[Sequence[ItemT]]:
    return (items[start : start + _BATCH] for start in range(0, len(items), _BATCH))


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read the rows of a file of JSON lines, plain or gzipped."""
    return [json.loads(line) for line in read_text(path).split("\n") if line]
