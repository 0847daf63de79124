"""Figures of conversations in which a language model extracted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eval.llm.conversations import Lookalike, Update, has, has_all
from eval.llm.play import SESSION, Played
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.messages import SessionKey
from semantic_memory.pipeline.facts import verbatim_id


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of conversations that were told at one pace."""

    conversations: int
    updates: int
    retired: int
    """Updates whose old value is no longer believed, and the new one is."""
    lookalikes: int
    misled: int
    """Look-alikes that ended a fact, or made one."""
    facts: int
    """Facts that the answers had."""
    kept: int
    """Those of them that were admitted."""
    messages: int
    calls: int
    input_tokens: float
    """Tokens of a request, on average."""

    @property
    def calls_for_twenty(self) -> float:
        """Calls for twenty messages."""
        return 20 * self.calls / self.messages


def figures(played: Sequence[Played]) -> Figures:
    """Count what was told at one pace."""
    calls = [call for one in played for call in one.calls]
    updates = [(one, update) for one in played for update in one.conversation.labels.updates]
    alike = [(one, like) for one in played for like in one.conversation.labels.lookalikes]
    refused = sum(sum(one.refused.values()) for one in played)
    admitted = sum(one.admitted for one in played)
    return Figures(
        conversations=len(played),
        updates=len(updates),
        retired=sum(is_retired(one, update) for one, update in updates),
        lookalikes=len(alike),
        misled=sum(is_misled(one, like) for one, like in alike),
        facts=admitted + refused,
        kept=admitted,
        messages=sum(len(one.conversation.messages) for one in played),
        calls=len(calls),
        input_tokens=sum(call.input_tokens for call in calls) / max(1, len(calls)),
    )


def is_retired(played: Played, update: Update) -> bool:
    """Return True if an update's old value is believed no more, and the new one is."""
    believed = played.believed
    return not any(update.is_old(fact) for fact in believed) and (
        not update.new or any(has_all(fact, update.new) for fact in believed)
    )


def is_misled(played: Played, like: Lookalike) -> bool:
    """Return True if a look-alike ended the fact that it looks like, or made another one."""
    ended = (
        any(has_all(fact, like.kept) for fact in _ended_by(played, like)) if like.kept else False
    )
    made = any(has(fact, word) for word in like.absent for fact in played.believed)
    return ended or made


def _ended_by(played: Played, like: Lookalike) -> Iterator[Fact]:
    """Yield the facts that a look-alike's message ended, by a fact drawn from it or by itself."""
    key = SessionKey(played.conversation.name, SESSION)
    said = [one.id for one in played.conversation.messages if like.said in one.content]
    enders = {verbatim_id(key, one) for one in said}
    enders |= {fact.id for fact in played.facts if not set(said).isdisjoint(fact.message_ids)}
    yield from (fact for fact in played.facts if fact.superseded_by in enders)


def wrong(played: Sequence[Played]) -> Iterator[str]:
    """Yield the updates and look-alikes that were taken wrongly, in words."""
    for one in played:
        place = f"{one.conversation.name}, {one.pace}"
        for update in one.conversation.labels.updates:
            if not is_retired(one, update):
                yield f"{place}: {' '.join(update.old)} -> {' '.join(update.new) or 'over'}"
        for like in one.conversation.labels.lookalikes:
            if is_misled(one, like):
                yield f"{place}: misled by “{like.said}”"
