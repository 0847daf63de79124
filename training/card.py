"""Make a judge: train it, compile it, measure it on held writers, and write its card."""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from sklearn.metrics import roc_auc_score

from semantic_memory.judging.packaged import MODELS as MODELS
from semantic_memory.judging.packaged import Encoder
from training import answers, data, hints, pairs, sentences
from training.export import compile_int8, compile_ranker
from training.model import SpansModel

Judge = Literal["pairs", "sentences"]
Row = TypeVar("Row")
VERSIONS = {"pairs": "pairs-1", "sentences": "sentences-5", "answers": "answers-1"}
"""Names that verdicts and readings carry; a new model gets a new one."""
DATA = {
    "pairs": ["pairs.jsonl"],
    "sentences": ["sentences.jsonl", "messages.jsonl", "forgetting.jsonl", "secrets.jsonl"],
    "answers": ["talk.jsonl"],
}
EPOCHS = {"pairs": 2.25, "sentences": 7, "answers": 1.5}
_SAMPLE = 200
"""Texts on which int8 is compared."""
SHARES = (0.01, 0.03, 0.05)
"""Shares of pairs that aren't updates, at which the recall of updates is told."""


def make(
    judge: Judge, gold: Path, target: Path, *, epochs: float | None, share: float, seed: int
) -> dict[str, Any]:
    """Train `judge` on `gold`, write `target`/model.onnx and card.json; return the card."""
    began = time.process_time()
    count = EPOCHS[judge] if epochs is None else epochs
    card: dict[str, Any] = {
        "name": VERSIONS[judge],
        "base": "all-MiniLM-L6-v2 (Apache-2.0)",
        "licence": "Apache-2.0",
        "data": DATA[judge],
        "seed": seed,
        "epochs": count,
    }
    target.mkdir(parents=True, exist_ok=True)
    model = target / "model.onnx"
    if judge == "pairs":
        rows = [row for row in data.pairs(gold) if kept(row.writer, share)]
        learned = [row for row in rows if not row.held]
        measured = [row for row in data.pairs(gold) if row.held]
        card["labels"] = {"relation": list(data.PAIR_LABELS)}
        card["data_sha256"] = data.digest(learned)
        card["int8_agreement"] = compile_int8(
            pairs.trained(learned, epochs=count, seed=seed),
            model,
            [(row.older, row.newer) for row in _sample(measured)],
        )
    else:
        said = [row for row in data.sentences(gold) if kept(row.writer, share)]
        asking = [row for row in data.messages(gold) if kept(row.writer, share)]
        read = [*said, *asking]
        card["labels"] = {name: list(values) for name, values in data.SENTENCE_LABELS.items()}
        card["marks"] = list(data.MARKS)
        taught = [row for row in read if not row.held]
        card["data_sha256"] = data.digest(taught)
        card["hints"] = hints.make([*said, *data.talk(gold)], asking, target / "hints.npz")
        card["int8_agreement"] = compile_int8(
            sentences.trained(taught, epochs=count, seed=seed),
            model,
            [(row.context, row.text) for row in _sample([row for row in read if row.held])],
        )
    card["sha256"] = hashlib.sha256(model.read_bytes()).hexdigest()
    write(target, card)
    encoder = Encoder(target)
    card["rows"] = {"trained": len(learned) if judge == "pairs" else sum(not r.held for r in read)}
    card["held_writers"] = (
        pair_figures(encoder, measured)
        if judge == "pairs"
        else sentence_figures(encoder, [row for row in data.sentences(gold) if row.held])
        | message_figures(encoder, [row for row in data.messages(gold) if row.held])
    )
    card["cpu_seconds"] = round(time.process_time() - began)
    write(target, card)
    return card


def make_answers(
    gold: Path, target: Path, *, epochs: float | None = None, seed: int = 0
) -> dict[str, Any]:
    """Train the reranker, write `target`/model.onnx and card.json; return the card."""
    began = time.process_time()
    asked = answers.questions(gold)
    count = EPOCHS["answers"] if epochs is None else epochs
    network = answers.trained([row for row in asked if not row.held], epochs=count, seed=seed)
    return finish_answers(network, asked, target, began, epochs=count, seed=seed)


def finish_answers(
    network: SpansModel,
    asked: Sequence[answers.Question],
    target: Path,
    began: float,
    *,
    epochs: float,
    seed: int,
) -> dict[str, Any]:
    """Compile a trained reranker, measure it, and write its card."""
    held = [row for row in asked if row.held]
    learned = [row for row in asked if not row.held]
    samples = [
        (
            row.text,
            [row.passage(place, in_context=True) for place in (row.relevant[0], *row.hard[:3])],
        )
        for row in _sample(held)
    ]
    told = "".join(sorted(f"{row.text}\n{row.messages}\n{row.relevant}\n" for row in learned))
    target.mkdir(parents=True, exist_ok=True)
    card: dict[str, Any] = {
        "name": VERSIONS["answers"],
        "base": "all-MiniLM-L6-v2 (Apache-2.0)",
        "licence": "Apache-2.0",
        "data": DATA["answers"],
        "seed": seed,
        "epochs": epochs,
        "labels": {"answers": ["yes"]},
        "data_sha256": hashlib.sha256(told.encode()).hexdigest(),
        "mrr_of_4": compile_ranker(network, target / "model.onnx", samples),
        "sha256": hashlib.sha256((target / "model.onnx").read_bytes()).hexdigest(),
        "known_failures": [
            "reads 96 tokens: the part of a long message around the question's words",
            "reads English only",
            "knows no dates: of two answers it doesn't tell the later one",
        ],
        "rows": {"trained": len(learned)},
    }
    write(target, card)
    card["held_writers"] = answer_figures(Encoder(target), held)
    card["cpu_seconds"] = round(time.process_time() - began)
    write(target, card)
    return card


def answer_figures(encoder: Encoder, rows: Sequence[answers.Question]) -> dict[str, Any]:
    """Return how often the answer ranks above the eight likeliest other messages."""
    first, ranks = [], []
    for row in rows:
        places = (row.relevant[0], *row.hard[:8])
        scores = [
            encoder.logits(row.text, row.passage(place, in_context=True))[0] for place in places
        ]
        rank = 1 + sum(score > scores[0] for score in scores[1:])
        first.append(rank == 1)
        ranks.append(1 / rank)
    return {
        "questions": len(rows),
        "first_of_9": _mean(first),
        "mrr_of_9": round(sum(ranks) / max(1, len(ranks)), 3),
    }


def refit_hints(gold: Path, target: Path) -> None:
    """Fit the hints beside the judge of sentences anew, and note them in its card."""
    card = json.loads((target / "card.json").read_text(encoding="utf-8"))
    ordinary = [*data.sentences(gold), *data.talk(gold)]
    card["hints"] = hints.make(ordinary, data.messages(gold), target / "hints.npz")
    write(target, card)


def _sample(rows: Sequence[Row]) -> list[Row]:
    return random.Random(0).sample(rows, min(len(rows), _SAMPLE))


def write(target: Path, card: dict[str, Any]) -> None:
    """Write the card of a model."""
    text = json.dumps(card, indent=2, ensure_ascii=False)
    (target / "card.json").write_text(text + "\n", encoding="utf-8")


def kept(writer: str, share: float) -> bool:
    """Return True for `share` of the writers, chosen by the hash of their names."""
    digest = hashlib.sha256(f"share {writer}".encode()).digest()
    return int.from_bytes(digest[:4]) / 2**32 < share


def pair_figures(encoder: Encoder, rows: Sequence[data.Pair]) -> dict[str, Any]:
    """Return AUC of updates, and their recall at shares of the other pairs."""
    over = np.array([encoder.heads(row.older, row.newer)["relation"]["over"] for row in rows])
    same = np.array([encoder.heads(row.older, row.newer)["relation"]["same"] for row in rows])
    labels = np.array([row.label for row in rows])
    updates, others = over[labels == 1], over[labels == 0]
    repeats, distinct = same[labels == 2], same[labels != 2]
    return {
        "pairs": len(rows),
        "updates_auc": round(float(roc_auc_score(labels == 1, over)), 3),
        "updates_recall": {
            f"at {share:.0%}": round(float((updates > np.quantile(others, 1 - share)).mean()), 3)
            for share in SHARES
        },
        "same_recall": {
            f"at {share:.0%}": round(float((repeats > np.quantile(distinct, 1 - share)).mean()), 3)
            for share in SHARES
        },
    }


def sentence_figures(encoder: Encoder, rows: Sequence[data.Sentence]) -> dict[str, Any]:
    """Return the accuracy of each reading, and the AUC of what is worth keeping."""
    read = [encoder.heads(row.context, row.text) for row in rows]
    found: dict[str, Any] = {"sentences": len(rows)}
    for name in data.SENTENCE_LABELS.keys() - {"act"}:
        known = [
            (max(heads[name], key=lambda value: heads[name][value]), row.labels[name])
            for heads, row in zip(read, rows, strict=True)
            if row.labels[name] is not None
            and (name in ("worth", "alone") or row.labels["worth"] == "keep")
        ]
        right = sum(told == wanted for told, wanted in known)
        found[name] = round(right / max(1, len(known)), 3)
    keep = [row.labels["worth"] == "keep" for row in rows]
    found["keep_auc"] = round(
        float(roc_auc_score(keep, [heads["worth"]["keep"] for heads in read])), 3
    )
    return found


def message_figures(encoder: Encoder, rows: Sequence[data.Sentence]) -> dict[str, Any]:
    """Return how many requests to forget and secrets are found, and how many are seen in none."""
    found: dict[str, list[bool]] = {"asks": [], "none": [], "secrets": [], "clear": []}
    for row in rows:
        read = encoder.read(row.context, row.text)
        act = max(read.heads["act"], key=lambda value: read.heads["act"][value])
        found["none" if row.labels["act"] == "none" else "asks"].append(act != "none")
        marked = [mark for mark in read.marks if mark.name == "secret"]
        secrets = [mark for mark in row.marks or () if mark.name == "secret"]
        if not secrets:
            found["clear"].append(bool(marked))
        found["secrets"] += [
            any(one.start <= due.start and due.end <= one.end for one in marked) for due in secrets
        ]
    return {
        "requests_found": _mean(found["asks"]),
        "taken_for_requests": _mean(found["none"]),
        "secrets_marked": _mean(found["secrets"]),
        "marked_without_secret": _mean(found["clear"]),
    }


def _mean(holds: Sequence[bool]) -> float:
    return round(sum(holds) / max(1, len(holds)), 3)
