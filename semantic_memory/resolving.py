"""Merges a user's duplicates and settles their conflicts, as the rules of `maintenance` plan it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal

import numpy as np

from semantic_memory.beliefs import are_kept_apart
from semantic_memory.changes import Change, Keyed, Mark, Update
from semantic_memory.errors import ConcurrentUpdateError, NotFoundError
from semantic_memory.maintenance.claims import claims
from semantic_memory.maintenance.relations import Pair, Relation, RelationJudge, Verdict
from semantic_memory.maintenance.sweep import (
    DEFAULT,
    Decision,
    MergeDecision,
    SupersedeDecision,
    plan,
)
from semantic_memory.models import Category, Fact, Filters, normalised
from semantic_memory.ports import Belief, Clock, Ledger, Pending, VectorSearch

Kind = Literal["dedup", "conflicts"]
BOTH: frozenset[Kind] = frozenset({"dedup", "conflicts"})
_FEW = 64  # facts whose surroundings are cheaper to look up than all of a user's facts are to read
_FACTS = Filters(categories=frozenset(Category) - {Category.CONVERSATION})


@dataclass
class Outcome:
    """What was done with one user's memories, or would be."""

    counts: Counter[str] = field(default_factory=Counter)
    planned: list[str] = field(default_factory=list)


class Resolver:
    """Looks a user's facts over. Thread-safe; what is changed meanwhile is left to the next run."""

    def __init__(
        self,
        ledger: Ledger,
        index: VectorSearch,
        make_judge: Callable[[], RelationJudge],
        clock: Clock,
    ) -> None:
        self._ledger = ledger
        self._index = index
        self._make_judge = make_judge
        self._clock = clock

    def resolve(
        self,
        user: Pending,
        job: str,
        kinds: Collection[Kind] = BOTH,
        *,
        everything: bool = False,
        dry_run: bool = False,
    ) -> Outcome:
        """Plan and carry out what is to be merged and superseded.

        Compares what changed since the mark of `job` with everything, or everything with
        everything. The mark moves in the same transaction as the changes.
        """
        since = 0 if everything else user.seen
        beliefs = self._beliefs(user.user_id, since)
        changed = {belief.fact.id for belief in beliefs if belief.revision > since}
        decisions: list[Decision] = []
        if len(beliefs) > 1 and changed:
            decisions = plan(
                [belief.fact for belief in beliefs],
                np.stack([belief.vector for belief in beliefs]),
                _Apart(self._make_judge()),
                changed=changed,
            )
        outcome = Outcome()
        if dry_run:
            for decision in decisions:
                if _kind(decision) in kinds:
                    outcome.counts[_name(decision)] += 1
                    outcome.planned.append(_told(decision))
            return outcome
        seen: list[Change] = [
            Keyed(belief.fact.id, _keys(belief.fact))
            for belief in beliefs
            if belief.fact.id in changed
        ]
        seen.append(Mark(job, user.user_id, user.revision, self._clock.now()))
        self._carry_out(decisions, kinds, seen, outcome)
        return outcome

    def _beliefs(self, user_id: str, since: int) -> list[Belief]:
        """What changed after revision `since`, and all that it may have to do with."""
        changed = self._ledger.beliefs(user_id, since=since, limit=_FEW + 1)
        if len(changed) > _FEW:
            return self._ledger.beliefs(user_id)
        ids = {belief.fact.id for belief in changed}
        keys: set[bytes] = set()
        for belief in changed:
            keys |= _keys(belief.fact)
            near = self._index.query(
                belief.vector, user_id=user_id, limit=DEFAULT.most + 1, filters=_FACTS
            )
            ids.update(match.id for match in near if match.similarity >= DEFAULT.similarity)
        return self._ledger.beliefs_among(user_id, ids, keys)

    def _carry_out(
        self,
        decisions: Sequence[Decision],
        kinds: Collection[Kind],
        seen: Sequence[Change],
        outcome: Outcome,
    ) -> None:
        wanted = [decision for decision in decisions if _kind(decision) in kinds]
        versions: dict[str, int] = {}
        changes = [change for one in wanted for change in self._changes(one, versions)]
        try:
            self._ledger.apply([*changes, *seen])
            outcome.counts.update(map(_name, wanted))
        except (ConcurrentUpdateError, NotFoundError):
            # Something of it was changed while it was planned: the rest still stands.
            versions.clear()
            for decision in wanted:
                attempt = dict(versions)
                try:
                    self._ledger.apply(self._changes(decision, attempt))
                except (ConcurrentUpdateError, NotFoundError):
                    continue
                versions = attempt
                outcome.counts[_name(decision)] += 1

    def _changes(self, decision: Decision, versions: dict[str, int]) -> list[Change]:
        """The decision as changes; `versions` holds those that earlier ones have led to."""
        now, reason = self._clock.now(), "; ".join(decision.reasons)
        changes: list[Change] = []

        def write(fact: Fact, action: str) -> None:
            version = versions.get(fact.id, fact.version)
            versions[fact.id] = version + 1
            changes.append(
                Update(fact.model_copy(update={"version": version}), action, now, reason)
            )

        match decision:
            case MergeDecision():
                for fact in decision.absorbed:
                    write(fact, "absorbed")
                write(decision.result, "merged")
            case SupersedeDecision():
                write(decision.result, "superseded")
        return changes


class _Apart:
    """Leaves alone what somebody has told apart by restoring it; asks a judge about the rest."""

    def __init__(self, judge: RelationJudge) -> None:
        self._judge = judge

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        apart = [are_kept_apart(pair.older, pair.newer) for pair in pairs]
        asked = [pair for pair, known in zip(pairs, apart, strict=True) if not known]
        verdicts = iter(self._judge.judge(asked))
        return [
            Verdict(Relation.UNRELATED, ("restored",)) if known else next(verdicts)
            for known in apart
        ]


def _keys(fact: Fact) -> frozenset[bytes]:
    """Hashes of the fact's text and of what it makes claims about."""
    about = {normalised(fact.content), *(repr(claim.key) for claim in claims(fact.content))}
    return frozenset(blake2b(thing.encode(), digest_size=8).digest() for thing in about)


def _kind(decision: Decision) -> Kind:
    return "dedup" if isinstance(decision, MergeDecision) else "conflicts"


def _name(decision: Decision) -> str:
    return "merged" if isinstance(decision, MergeDecision) else "superseded"


def _told(decision: Decision) -> str:
    reasons = ", ".join(decision.reasons)
    match decision:
        case MergeDecision():
            said = " + ".join(f"“{fact.content}”" for fact in decision.facts)
            return f"merge {said} ({reasons})"
        case SupersedeDecision():
            old, new = decision.loser.content, decision.winner.content
            return f"supersede “{old}” by “{new}” ({reasons})"
