"""Question answering with a model from recalled memories, judged by a model.

Works with any OpenAI-compatible endpoint. The figures depend on both models, so their names and the
token budget are part of the result.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime

import openai

from eval.datasets import DataSet, Question
from eval.experiment import Bench
from eval.systems.ours import Ours
from semantic_memory.domain.errors import InvalidInputError, ProviderError
from semantic_memory.domain.ports import Progress

_ANSWER = (
    "You answer questions about a user from what is recalled below. Answer in one sentence. If it"
    " isn't there, say that you don't know."
)
_JUDGE = (
    "You grade an answer. Reply with one word: CORRECT if the answer means the same as the expected"
    " one or contains it, else WRONG."
)
_JUDGE_DECLINED = (
    "The question can't be answered from what is known. Reply with one word: CORRECT if the answer"
    " says that it isn't known, else WRONG."
)


@dataclass(frozen=True, slots=True)
class Judged:
    """A question with the model's answer and the judge's verdict."""

    question: Question
    tokens: int
    answer: str
    correct: bool


@dataclass(frozen=True, slots=True)
class Answers:
    """Judged answers of a model."""

    dataset: str
    model: str
    judge: str
    budget: int
    """Token budget of the context block."""
    judged: Sequence[Judged]

    def by_kind(self) -> dict[str, list[Judged]]:
        """Return the answers by the kind of their question, sorted."""
        kinds: dict[str, list[Judged]] = {}
        for one in self.judged:
            kinds.setdefault(one.question.kind, []).append(one)
        return dict(sorted(kinds.items()))


class Chat:
    """A chat model at an endpoint, called with the openai client and its retries."""

    def __init__(
        self, base_url: str | None, model: str, *, api_key: str | None = None, timeout: float = 60.0
    ) -> None:
        self._model = model
        self._client = openai.OpenAI(api_key=api_key or "none", base_url=base_url, timeout=timeout)

    def ask(self, instruction: str, text: str) -> str:
        """Return the model's reply. Raises ProviderError."""
        try:
            reply = self._client.chat.completions.create(
                model=self._model,
                temperature=0.0,
                messages=[
                    {"role": "system", "content": instruction},
                    {"role": "user", "content": text},
                ],
            )
        except openai.OpenAIError as error:
            raise ProviderError(f"the chat endpoint failed: {error}") from error
        if not reply.choices:
            raise ProviderError(f"the chat endpoint gave no answer for model {self._model}")
        return (reply.choices[0].message.content or "").strip()


def answer_all(
    dataset: DataSet,
    reader: Chat,
    judge: Chat,
    budget: int,
    workers: int,
    shared: Bench,
    progress: Progress,
) -> list[Judged]:
    """Answer and judge every question that has an expected answer or is unanswerable.

    Raises ProviderError, or InvalidInputError if no question can be judged.
    """
    asked = [
        (history.user_id, question)
        for history in dataset.histories
        for question in history.questions
        if question.answer or not question.relevant
    ]
    if not asked:
        raise InvalidInputError(f"no question of {dataset.name} has an answer to judge by")
    ours = Ours(shared.scratch / "store", shared.embedder)
    try:
        ours.take_in(dataset.histories, progress)
        blocks = [
            ours.block(user_id, question.text, budget, question.asked_at)
            for user_id, question in asked
        ]
    finally:
        ours.close()

    def judged(question: Question, block: str) -> Judged:
        answer = reader.ask(_ANSWER, _question(block, question.text, question.asked_at))
        verdict = judge.ask(
            _JUDGE if question.relevant else _JUDGE_DECLINED, _case(question, answer)
        )
        return Judged(question, shared.counter.count(block), answer, _accepted(verdict))

    results = []
    with ThreadPoolExecutor(workers, thread_name_prefix="qa") as pool:
        questions = [question for _, question in asked]
        for one in pool.map(judged, questions, blocks):
            results.append(one)
            progress("answering", len(results), len(asked))
    return results


def accuracy(judged: Sequence[Judged]) -> float:
    """Return the share of accepted answers."""
    return statistics.fmean(one.correct for one in judged)


def _question(block: str, text: str, asked_at: datetime) -> str:
    recalled = block or "Nothing was recalled."
    return f"{recalled}\n\nToday is {asked_at:%A, %Y-%m-%d}.\nQuestion: {text}"


def _case(question: Question, answer: str) -> str:
    expected = f"Expected: {question.answer}\n" if question.relevant else ""
    return f"Question: {question.text}\n{expected}Answer: {answer}"


def _accepted(verdict: str) -> bool:
    return verdict.upper().lstrip(" *\"'`").startswith("CORRECT")
