"""Decisions on a user's facts, and the policy that turns verdicts into them.

    same    at `SAME` or above and alike, if figures, names and denials agree  merge
    over    at `END` or above, if both surely state the same slot *           end the older
    over    at `END_ALONE` or above and near                                  end the older
    over    at `MARK` or above, if both state the same slot *                 mark: perhaps changed
    over    at `MARK` or above                                                show the newer first
            anything else                                                     both stand

    * or if the verdict is final, as a language model's is

A newer statement ends an older one only if it is trusted as much; else both are marked as
contested. The thresholds are chosen on whole conversations, in which nearly nothing changes: there
nothing is ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from semantic_memory.consolidation.merging import absorbed, keeper, merged
from semantic_memory.consolidation.superseding import cause, contested, perhaps_changed, superseded
from semantic_memory.domain.facts import Cause, Fact
from semantic_memory.judging.ports import Verdict

# Probabilities from which verdicts become decisions
SAME = 0.9
END = 0.92
END_SLOT = 0.6
"""Probability of the shared slot from which a statement may be ended."""
END_ALONE = 0.97
"""For endings without a shared slot."""
MARK = 0.85
NEAR = 0.5
"""Cosine similarity from which a statement is ended without a shared slot."""
ALIKE = 0.6
"""Cosine similarity from which statements merge."""
_CHANGED = "a newer statement changes it"

Effect = Literal["merge", "end", "mark", "follow"]


def effect(verdict: Verdict, similarity: float, slot: float) -> Effect | None:
    """Return what a verdict on two statements may do.

    They have a cosine `similarity`, and state the same slot with probability `slot`, 0 for none.

    >>> likely = Verdict(over=0.92, same=0.0, decided_by="pairs-1")
    >>> [effect(likely, 0.7, slot) for slot in (0.9, 0.4, 0.0)]
    ['end', 'mark', 'follow']
    >>> surely = Verdict(over=0.98, same=0.0, decided_by="pairs-1")
    >>> [effect(surely, similarity, 0.0) for similarity in (0.7, 0.4)]
    ['end', 'follow']
    """
    if verdict.is_final and verdict.same >= END:
        return "merge"
    if verdict.same >= SAME:
        return "merge" if similarity >= ALIKE else None
    is_of_one_slot = verdict.is_final or slot >= END_SLOT
    if is_of_one_slot and verdict.over >= END:
        return "end"
    if similarity >= NEAR and verdict.over >= END_ALONE:
        return "end"
    if verdict.over < MARK:
        return None
    return "mark" if slot or verdict.is_final else "follow"


@dataclass(frozen=True, slots=True)
class MergeDecision:
    """Duplicates to merge into one fact."""

    facts: tuple[Fact, ...]
    """The facts before the merge, in the order in which they were said."""
    reasons: tuple[str, ...]

    @property
    def result(self) -> Fact:
        """The fact that stays, with the values it takes over."""
        return merged(self.facts)

    @property
    def absorbed(self) -> tuple[Fact, ...]:
        """The other facts, archived. Writing `facts` back undoes the merge."""
        kept = keeper(self.facts)
        return tuple(absorbed(fact, kept) for fact in self.facts if fact.id != kept.id)


class _OfVerdict:
    """A decision by a verdict alone."""

    __slots__ = ()
    verdict: Verdict

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reason in words."""
        return (told(self.verdict),)


@dataclass(frozen=True, slots=True)
class FollowDecision(_OfVerdict):
    """A fact that probably changes earlier ones: both stand, the newer is shown first."""

    newer: Fact
    older: tuple[Fact, ...]
    verdict: Verdict
    """The verdict on the likeliest pair."""

    @property
    def result(self) -> Fact:
        """The newer fact, which follows the older ones."""
        known = dict.fromkeys((*self.newer.follows, *(fact.id for fact in self.older)))
        return self.newer.model_copy(update={"follows": tuple(known)})


@dataclass(frozen=True, slots=True)
class RestDecision:
    """A fact that rests on earlier ones: it is to be checked once they fall."""

    fact: Fact
    bases: tuple[Fact, ...]

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reason in words."""
        return ("it gives them as its reason, or is a plan or habit of theirs",)

    @property
    def result(self) -> Fact:
        """The fact that rests on the others."""
        known = dict.fromkeys((*self.fact.rests_on, *(one.id for one in self.bases)))
        return self.fact.model_copy(update={"rests_on": tuple(known)})


@dataclass(frozen=True, slots=True)
class SupersedeDecision(_OfVerdict):
    """A fact that a newer one ends."""

    loser: Fact
    """The fact before it is superseded, after the merges of the same plan."""
    winner: Fact
    verdict: Verdict

    def result(self, now: datetime) -> Fact:
        """Return the ended fact with its cause. Writing `loser` back undoes it."""
        return superseded(self.loser, self.winner, _cause(self.winner, self.verdict, now))


@dataclass(frozen=True, slots=True)
class MarkDecision(_OfVerdict):
    """A fact that a newer one has likely, but not certainly, ended."""

    older: Fact
    newer: Fact
    verdict: Verdict

    def result(self, now: datetime) -> Fact:
        """Return the older fact, marked."""
        return perhaps_changed(self.older, _cause(self.newer, self.verdict, now))


@dataclass(frozen=True, slots=True)
class ContestDecision:
    """Two facts of which the newer would end the older if it were trusted as much."""

    older: Fact
    newer: Fact
    verdict: Verdict

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reason in words."""
        return (f"{told(self.verdict)}, but is less trusted",)

    @property
    def results(self) -> tuple[Fact, Fact]:
        """Both facts, marked."""
        return contested(self.older, self.newer), contested(self.newer, self.older)


Decision = (
    MergeDecision
    | FollowDecision
    | RestDecision
    | SupersedeDecision
    | MarkDecision
    | ContestDecision
)


def _cause(newer: Fact, verdict: Verdict, now: datetime) -> Cause:
    reason = verdict.reason or _CHANGED  # the probability is a field of its own
    return cause(newer, verdict.decided_by, [reason], now, min(1.0, verdict.over))


def told(verdict: Verdict) -> str:
    """Return a verdict in words, with how sure it is."""
    return verdict.reason or f"{_CHANGED} ({verdict.over:.0%} certain)"
