"""Merging a user's duplicates and settling their conflicts."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from semantic_memory.consolidation.beliefs import quarantining
from semantic_memory.consolidation.candidates import NEAREST, SIMILARITY, Read, slot_of
from semantic_memory.consolidation.decisions import (
    ContestDecision,
    Decision,
    FollowDecision,
    MarkDecision,
    MergeDecision,
    RestDecision,
    SupersedeDecision,
)
from semantic_memory.consolidation.superseding import dated_by_log
from semantic_memory.consolidation.sweep import plan
from semantic_memory.domain.changes import Change, Keyed, Mark, Update
from semantic_memory.domain.errors import ConcurrentUpdateError, NotFoundError
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.filters import FACTS, Filters
from semantic_memory.domain.ports import (
    Belief,
    Beliefs,
    ChangeLog,
    Clock,
    Facts,
    JobMarks,
    Pending,
    Traits,
    VectorSearch,
    WordSearch,
)
from semantic_memory.domain.retention import Expiry, Periods
from semantic_memory.domain.values import normalised
from semantic_memory.judging.ports import Pair, PairJudge, Verdict
from semantic_memory.language.identity import disagree

Kind = Literal["dedup", "conflicts"]
BOTH: frozenset[Kind] = frozenset({"dedup", "conflicts"})
STANDING_ORDERS = "standing orders"
"""The key that finds standing orders; `slot:home` finds facts of a slot."""
_SETTLED = "settling"  # names the marks of what only the packaged judge has looked at
_FEW = 64  # facts whose surroundings are cheaper to look up than all of a user's facts are to read


class BeliefLedger(Beliefs, Facts, Traits, WordSearch, ChangeLog, JobMarks, Protocol):
    """The roles of the ledger that consolidation uses."""


@dataclass
class Outcome:
    """Changes to one user's facts, by kind; planned ones as text on a dry run."""

    counts: Counter[str] = field(default_factory=Counter)
    planned: list[str] = field(default_factory=list)


class Resolver:
    """Consolidates a user's facts. Thread-safe; facts changed meanwhile wait for the next run."""

    def __init__(
        self,
        ledger: BeliefLedger,
        index: VectorSearch,
        clock: Clock,
        judge: PairJudge,
        read: Read,
        second: PairJudge | None = None,
        expiry: Expiry | None = None,
    ) -> None:
        """Settle by `judge`, which answers at once; sweep by `second`, which may take its time.

        `read` returns the reading of a fact. What has expired by `expiry` is compared with nothing.
        """
        self._ledger = ledger
        self._index = index
        self._clock = clock
        self._expiry = expiry or Expiry(clock, Periods())
        self._judge = judge
        self._read = read
        self._sweeping = second or judge
        # what the packaged judge has settled is still to be shown to a second judge
        self._settling: Collection[str] = BOTH if second is None else {_SETTLED}

    def pending(
        self, jobs: Collection[str], user_id: str | None = None, *, everyone: bool = False
    ) -> list[Pending]:
        """Return the users with changes for any of some jobs; all, if `everyone`."""
        first: dict[str, Pending] = {}
        for job in sorted(jobs):
            for user in self._ledger.pending(job, user_id, everyone=everyone):
                known = first.get(user.user_id)
                if known is None or user.seen < known.seen:
                    first[user.user_id] = user
        return list(first.values())

    def unsettled(self, user_id: str | None = None) -> list[Pending]:
        """Return the users with facts that haven't been settled."""
        return self.pending(self._settling, user_id)

    def settle(self, user: Pending) -> Outcome:
        """Merge, end and mark the user's facts by the packaged judge."""
        outcome = Outcome()
        decisions, keyed = self._compared(user, self._judge, user.seen)
        self._carry_out(decisions, keyed, self._settling, user, outcome)
        return outcome

    def quarantine_unreadable(
        self, user: Pending, faults: tuple[type[Exception], ...]
    ) -> list[str]:
        """Quarantine the new facts whose reading raises one of `faults`; return their ids."""
        now = self._clock.now()
        changes: list[Update] = []
        with self._ledger.exclusive(user.user_id):
            for belief in self._ledger.beliefs(user.user_id, since=user.seen):
                try:
                    self._keys(belief.fact)
                    disagree(belief.fact.content, belief.fact.content)
                except faults as error:
                    changes.append(quarantining(belief.fact, type(error).__name__, now))
            self._ledger.apply(changes)
        return [change.fact.id for change in changes]

    def resolve(
        self,
        user: Pending,
        kinds: Collection[Kind] = BOTH,
        *,
        everything: bool = False,
        dry_run: bool = False,
    ) -> Outcome:
        """Plan and carry out merges and supersedes.

        Compares the facts that are new since the marks of `kinds` with all, or all with all. The
        marks move in the same transaction as the changes.
        """
        outcome = Outcome()
        since = 0 if everything else user.seen
        judge = _Noting(self._sweeping)
        planned, keyed = self._compared(user, judge, since)
        decisions = [decision for decision in planned if _kind(decision) in kinds]
        if dry_run:
            outcome.counts.update(map(_name, decisions))
            outcome.planned += map(_told, decisions)
        else:
            # what couldn't be judged stays due
            jobs = () if judge.deferred else kinds
            outcome.counts["deferred"] += judge.deferred
            self._carry_out(decisions, keyed, jobs, user, outcome)
            outcome.counts = +outcome.counts
        return outcome

    def keeping(self, user_id: str, changes: Sequence[Change]) -> list[Change]:
        """Return `changes`, after which nothing new is to be compared, with marks that say so.

        Apply them while the user is held exclusively. A user with something to compare keeps it:
        the marks move only from the latest change to these.
        """
        jobs = {*BOTH, *self._settling}
        settled = [job for job in jobs if not self._ledger.pending(job, user_id)]
        return [*changes, *self._marks(settled, user_id)]

    def _compared(
        self, user: Pending, judge: PairJudge, since: int
    ) -> tuple[Sequence[Decision], list[Change]]:
        """Compare changed facts with those that may relate to them."""
        unexpired = self._expiry.now
        beliefs = [
            belief for belief in self._beliefs(user.user_id, since) if unexpired.holds(belief.fact)
        ]
        changed = {belief.fact.id for belief in beliefs if belief.revision > since}
        keyed: list[Change] = [
            Keyed(belief.fact.id, self._keys(belief.fact))
            for belief in beliefs
            if belief.fact.id in changed
        ]
        if len(beliefs) < 2 or not changed:
            return [], keyed
        beliefs = self._dated_by_log(beliefs)
        facts = [belief.fact for belief in beliefs]
        vectors = np.stack([belief.vector for belief in beliefs])
        planned = plan(facts, vectors, judge, self._read, changed=changed)
        return planned, keyed

    def _keys(self, fact: Fact) -> frozenset[bytes]:
        """Return hashes of the fact's text and of its slot, in its scope."""
        reading = self._read(fact)
        slot = slot_of(reading)
        about = {repr((normalised(fact.content), *fact.scope.columns))}
        if reading is not None and reading.kind == "standing_order":
            about.add(STANDING_ORDERS)
        return frozenset(map(lookup_key, [*about, *([f"slot:{slot}"] if slot else [])]))

    def _dated_by_log(self, beliefs: list[Belief]) -> list[Belief]:
        """Return beliefs without dates in the future, which come from a wrong clock."""
        now = self._clock.now()
        if not any(belief.fact.stated_at > now for belief in beliefs):
            return beliefs
        by_id = {belief.fact.id: belief for belief in beliefs}
        traits = sorted(row.trait for row in self._ledger.traits([*by_id]))  # as written
        written = [by_id[trait.id] for trait in traits]
        dated = dated_by_log([belief.fact for belief in written], now)
        return [belief._replace(fact=fact) for belief, fact in zip(written, dated, strict=True)]

    def _with_own_dates(self, fact: Fact) -> Fact:
        """Return a fact with the dates that it has, if it was compared by others."""
        now = self._clock.now()
        for own in self._ledger.get([fact.id]):
            if own.stated_at > now:
                dates = {"created_at": own.created_at, "confirmed_at": own.confirmed_at}
                return fact.model_copy(update=dates)
        return fact

    def _beliefs(self, user_id: str, since: int) -> list[Belief]:
        """Return the facts changed after `since` (a revision), and all that may relate to them."""
        changed = self._ledger.beliefs(user_id, since=since, limit=_FEW + 1)
        if len(changed) > _FEW:
            return self._ledger.beliefs(user_id)
        ids = {belief.fact.id for belief in changed}
        keys: set[bytes] = set()
        for belief in changed:
            keys |= self._keys(belief.fact)
            near = self._index.query(
                belief.vector,
                user_id=user_id,
                limit=NEAREST + 1,
                filters=Filters.joined(FACTS, belief.fact.scope.exact),
            )
            ids.update(match.id for match in near if match.similarity >= SIMILARITY)
        return self._ledger.beliefs_among(user_id, ids, keys)

    def _carry_out(
        self,
        decisions: Sequence[Decision],
        keyed: Sequence[Change],
        jobs: Collection[str],
        user: Pending,
        outcome: Outcome,
    ) -> None:
        versions: dict[str, int] = {}
        changes = [change for one in decisions for change in self._changes(one, versions)]
        try:
            with self._ledger.exclusive(user.user_id):
                # If nothing came between, these changes need no second look.
                alone = self._ledger.revision(user.user_id) == user.revision
                marks = self._marks(jobs, user.user_id, None if alone else user.revision)
                self._ledger.apply([*changes, *keyed, *marks])
            outcome.counts.update(map(_name, decisions))
        except (ConcurrentUpdateError, NotFoundError):
            # Something of it was changed while it was planned: the rest still stands.
            versions.clear()
            for decision in decisions:
                attempt = dict(versions)
                try:
                    self._ledger.apply(self._changes(decision, attempt))
                except (ConcurrentUpdateError, NotFoundError):
                    continue
                versions = attempt
                outcome.counts[_name(decision)] += 1

    def _marks(
        self, jobs: Collection[str], user_id: str, revision: int | None = None
    ) -> list[Mark]:
        """Return marks at a revision, or at that of the latest change before them."""
        now = self._clock.now()
        return [Mark(job, user_id, revision, now) for job in sorted(jobs)]

    def _changes(self, decision: Decision, versions: dict[str, int]) -> list[Change]:
        """Return a decision as changes; `versions` holds those that earlier ones led to."""
        now, reason = self._clock.now(), "; ".join(decision.reasons)
        changes: list[Change] = []

        def write(fact: Fact, action: str) -> None:
            version = versions.get(fact.id, fact.version)
            versions[fact.id] = version + 1
            fact = self._with_own_dates(fact).model_copy(update={"version": version})
            changes.append(Update(fact, action, now, reason))

        match decision:
            case MergeDecision():
                for fact in decision.absorbed:
                    write(fact, "absorbed")
                write(decision.result, _name(decision))
            case FollowDecision() | RestDecision():
                write(decision.result, _name(decision))
            case SupersedeDecision() | MarkDecision():
                write(decision.result(now), _name(decision))
            case ContestDecision():
                for fact in decision.results:
                    write(fact, _name(decision))
        return changes


class _Noting:
    """Count the pairs that a judge defers."""

    def __init__(self, judge: PairJudge) -> None:
        self._judge = judge
        self.deferred = 0

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict | None]:
        verdicts = self._judge.judge(pairs)
        self.deferred += sum(one is not None and one.is_deferred for one in verdicts)
        return verdicts


def lookup_key(about: str) -> bytes:
    """Return the hash by which the ledger finds the facts that are about something."""
    return hashlib.blake2b(about.encode(), digest_size=16).digest()


def _kind(decision: Decision) -> Kind:
    return "dedup" if isinstance(decision, MergeDecision) else "conflicts"


_NAMES: Mapping[type[Decision], str] = {
    MergeDecision: "merged",
    FollowDecision: "placed",
    RestDecision: "based",
    ContestDecision: "contested",
    MarkDecision: "marked",
    SupersedeDecision: "superseded",
}


def _name(decision: Decision) -> str:
    return _NAMES[type(decision)]


def _told(decision: Decision) -> str:
    reasons = ", ".join(decision.reasons)
    match decision:
        case MergeDecision():
            said = " + ".join(f"“{fact.content}”" for fact in decision.facts)
            return f"merge {said} ({reasons})"
        case FollowDecision():
            older = ", ".join(f"“{fact.content}”" for fact in decision.older)
            return f"show “{decision.newer.content}” above {older} ({reasons})"
        case RestDecision():
            bases = ", ".join(f"“{fact.content}”" for fact in decision.bases)
            return f"rest “{decision.fact.content}” on {bases} ({reasons})"
        case ContestDecision():
            old, new = decision.older.content, decision.newer.content
            return f"leave “{old}” and “{new}” contested ({reasons})"
        case MarkDecision():
            old, new = decision.older.content, decision.newer.content
            return f"mark “{old}” as perhaps changed by “{new}” ({reasons})"
        case SupersedeDecision():
            old, new = decision.loser.content, decision.winner.content
            return f"supersede “{old}” by “{new}” ({reasons})"
