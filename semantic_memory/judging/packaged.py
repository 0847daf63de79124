"""The packaged judges: fine-tuned encoders on ONNX Runtime, one text at a time."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semantic_memory.concurrency import check_stopped
from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.language import language, other_script
from semantic_memory.domain.readings import Reading
from semantic_memory.judging.first_person import in_first_person
from semantic_memory.judging.ports import Pair, Spoken, Verdict

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MODELS = Path(__file__).parent / "models"
_TOKENIZER = (
    Path(__file__).parent.parent / "vectors" / "embedders" / "all-MiniLM-L6-v2" / "tokenizer.json"
)
MAX_TOKENS = 96
_ALSO = 0.05
"""Probability from which a sentence may state an attribute beside the likeliest one."""
_ORDER = 0.75
"""Probability from which a sentence is an order for all answers to come."""
_NEAR = ("partner", "family", "pet")
_LEAST_NEAR = 0.05
"""Probability of one of them from which a name is theirs."""
_MARKED = 0.5
"""Probability from which a token is part of a secret or a subject."""
_REMEMBERED = 4_096  # texts whose output is kept

_GAP = 1
"""Characters between tokens of one mark: a space or a sign, but not both, as behind a comma."""

Scores = NDArray[np.float32]


class Mark(NamedTuple):
    """Place of words in a text, and what they are: a `secret`, or the `subject` of a request."""

    start: int
    end: int
    name: str
    probability: float
    """Of its surest token."""


class Read(NamedTuple):
    """Reading of a text: the probability of each value of each head, and the marks."""

    heads: Mapping[str, Mapping[str, float]]
    marks: Sequence[Mark]
    length: int
    """Characters that were read: the last ones of a long text are cut off."""


class _Output(NamedTuple):
    logits: Scores
    marks: Scores
    """Of the second text's tokens, in order."""
    offsets: Sequence[tuple[int, int]]


class Encoder:
    """A trained encoder with heads over two spans of text. Thread-safe; loaded at first use.

    Texts are run one at a time: int8 takes its scale over the whole input, so that in a batch a
    verdict would depend on the other pairs.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._loading = threading.Lock()
        self._outputs: dict[bytes, _Output] = {}
        self._guard = threading.Lock()

    @cached_property
    def card(self) -> Mapping[str, Any]:
        """The model's card: name, labels, thresholds, data, figures."""
        try:
            card: dict[str, Any] = json.loads((self._directory / "card.json").read_bytes())
        except (OSError, ValueError) as error:
            raise damaged(self._directory / "card.json") from error
        return card

    def heads(self, first: str, second: str) -> dict[str, dict[str, float]]:
        """Return the probability of each value of each head. Raises ConfigurationError."""
        return self._heads(self._output(first, second))

    def logits(self, first: str, second: str) -> Scores:
        """Return the logits of all heads, which aren't remembered. Raises ConfigurationError."""
        return self._computed(first, second).logits

    def read(self, first: str, second: str, *, least: float = _MARKED) -> Read:
        """Return what is read in the second text, behind the first.

        A token is marked from the probability `least`. Raises ConfigurationError.
        """
        output = self._output(first, second)
        length = output.offsets[-1][1] if output.offsets else 0
        return Read(self._heads(output), [*_joined(self._tokens(output, least))], length)

    def _output(self, first: str, second: str) -> _Output:
        """Return the output for two texts, which is remembered by their digest.

        A text is read at several doors. No text is kept, as it may hold a secret.
        """
        digest = _digest(first, second)
        with self._guard:
            found = self._outputs.pop(digest, None)
        found = found or self._computed(first, second)
        with self._guard:
            self._outputs[digest] = found  # behind all others, as the one that was read last
            while len(self._outputs) > _REMEMBERED:
                del self._outputs[next(iter(self._outputs))]
        return found

    def _computed(self, first: str, second: str) -> _Output:
        check_stopped()
        with self._loading:
            run = self._run
        return run(first, second)

    def _heads(self, output: _Output) -> dict[str, dict[str, float]]:
        start, found = 0, {}
        for name, values in self.card["labels"].items():
            odds = _softmax(output.logits[start : start + len(values)])
            found[name] = dict(zip(values, odds.tolist(), strict=True))
            start += len(values)
        return found

    def _tokens(self, output: _Output, least: float) -> Iterator[Mark]:
        """Yield the tokens that are marked with a probability of `least`."""
        names = self.card.get("marks", ())
        odds = _softmax(output.marks)
        for token in np.flatnonzero(1.0 - odds[:, 0] >= least).tolist():
            best = int(odds[token, 1:].argmax()) + 1
            yield Mark(*output.offsets[token], names[best], float(odds[token, best]))

    @cached_property
    def _run(self) -> Callable[[str, str], _Output]:
        import onnxruntime

        model = self._directory / "model.onnx"
        try:
            content = model.read_bytes()
        except OSError as error:
            raise damaged(model) from error
        if hashlib.sha256(content).hexdigest() != self.card["sha256"]:
            raise damaged(model)
        tokenizer = _tokenizer()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])

        def run(first: str, second: str) -> _Output:
            read = tokenizer.encode(first, second)
            logits, *marks = session.run(
                None,
                {
                    "input_ids": np.array([read.ids], dtype=np.int64),
                    "attention_mask": np.ones((1, len(read.ids)), dtype=np.int64),
                    "token_type_ids": np.array([read.type_ids], dtype=np.int64),
                },
            )
            own = [n for n, whose in enumerate(read.sequence_ids) if whose == 1] if marks else []
            placed = marks[0][0][own] if marks else logits[:0, None]
            return _Output(logits[0], placed, [read.offsets[n] for n in own])

        return run


def damaged(file: Path) -> ConfigurationError:
    """Return the error that a file of a packaged judge is missing or incomplete."""
    return ConfigurationError(
        f"a packaged judge is damaged: {file} is missing or incomplete;"
        " install semantic-memory again (pip install --force-reinstall --no-deps; in a"
        " checkout: git checkout -- semantic_memory/judging). Nothing in the store is lost"
    )


@cache
def packaged(name: str) -> Encoder:
    """Return a packaged encoder, which all stores of a process share."""
    return Encoder(MODELS / name)


@cache
def _tokenizer() -> Tokenizer:
    """Return the tokenizer of all packaged encoders."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(_TOKENIZER))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS, strategy="longest_first")
    return tokenizer


def _digest(first: str, second: str) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for text in (first, second):
        content = text.encode(errors="surrogatepass")
        digest.update(len(content).to_bytes(8) + content)
    return digest.digest()


def _softmax(logits: Scores) -> Scores:
    """Return the probabilities of the values along the last axis."""
    exponents = np.exp(logits - logits.max(axis=-1, keepdims=True))
    odds: Scores = exponents / exponents.sum(axis=-1, keepdims=True)
    return odds


def _joined(tokens: Iterable[Mark]) -> Iterator[Mark]:
    """Join neighbours of one name.

    >>> [*_joined([Mark(0, 3, "secret", 0.8), Mark(4, 6, "secret", 0.9)])]
    [Mark(start=0, end=6, name='secret', probability=0.9)]
    """
    last: Mark | None = None
    for one in tokens:
        if last and last.name == one.name and one.start - last.end <= _GAP:
            surest = max(last.probability, one.probability)
            last = Mark(last.start, one.end, one.name, surest)
            continue
        if last:
            yield last
        last = one
    if last:
        yield last


class PackagedPairJudge:
    """Judge pairs of English statements by the packaged model.

    A language that the model wasn't trained on gets no verdict: both statements stand.
    """

    def __init__(self, encoder: Encoder | None = None) -> None:
        self._encoder = encoder or packaged("pairs")

    @property
    def name(self) -> str:
        """The model's name with its version."""
        return str(self._encoder.card["name"])

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict | None]:
        """Return the verdict on each pair, None on those in other languages."""
        return [self._verdict(pair) for pair in pairs]

    def _verdict(self, pair: Pair) -> Verdict | None:
        if not (is_readable(pair.older) and is_readable(pair.newer)):
            return None
        return self.verdict(in_first_person(pair.older), in_first_person(pair.newer))

    def verdict(self, older: str, newer: str) -> Verdict:
        """Return the verdict on two English statements."""
        found = self._encoder.heads(older, newer)["relation"]
        return Verdict(found["over"], found["same"], self.name)


class PackagedSentenceJudge:
    """Read English sentences by the packaged model."""

    def __init__(self, encoder: Encoder | None = None) -> None:
        self._encoder = encoder or packaged("sentences")

    @property
    def name(self) -> str:
        """The model's name with its version."""
        return str(self._encoder.card["name"])

    def read(self, sentences: Sequence[Spoken]) -> list[Reading]:
        """Return a reading of each sentence."""
        return [self._reading(one) for one in sentences]

    def _reading(self, sentence: Spoken) -> Reading:
        found = self._encoder.heads(sentence.before, sentence.text)
        about, kind = _best(found["about"]), _kind(found["kind"])
        if about == "near":
            found["slot"] = _of_near(found["slot"])
        slot, category = _best(found["slot"]), _best(found["category"])
        return Reading.model_validate(
            {
                "judge": self.name,
                "keep": found["worth"]["keep"],
                "task": found["worth"]["task"],
                "alone": found["alone"]["yes"],
                "about": about,
                "about_self": found["about"]["self"],
                "kind": kind,
                "kind_probability": found["kind"][kind],
                "standing_order": found["kind"]["standing_order"],
                "slot": slot,
                "slot_probability": found["slot"][slot],
                "other_slots": {
                    other: probability
                    for other, probability in found["slot"].items()
                    if other not in (slot, "none") and probability >= _ALSO
                },
                "category": category,
                "category_probability": found["category"][category],
            }
        )


def is_readable(fact: Fact) -> bool:
    """Return True if the packaged model was trained on the language of a fact."""
    return not other_script(fact.content) and language(fact.content) in (None, "en")


def _kind(values: Mapping[str, float]) -> str:
    """Return the likeliest kind; an order only if it is sure, for it binds all answers to come."""
    kind = _best(values)
    if kind == "standing_order" and values[kind] < _ORDER:
        return _best({other: value for other, value in values.items() if other != kind})
    return kind


def _of_near(slots: Mapping[str, float]) -> dict[str, float]:
    """Return the slots of a statement about somebody near: whose name it tells is what it is of.

    A colleague's is of none.

    >>> found = _of_near({"none": 0.1, "name": 0.6, "partner": 0.2, "family": 0.1, "pet": 0.0})
    >>> {slot: round(probability, 2) for slot, probability in found.items()}
    {'none': 0.1, 'name': 0.0, 'partner': 0.8, 'family': 0.1, 'pet': 0.0}
    """
    nearest = max(_NEAR, key=lambda slot: slots[slot])
    slot = nearest if slots[nearest] >= _LEAST_NEAR else "none"
    return {**slots, "name": 0.0, slot: slots[slot] + slots["name"]}


def _best(values: Mapping[str, float]) -> str:
    return max(values, key=lambda value: values[value])
