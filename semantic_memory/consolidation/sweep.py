"""Planning of merges and supersessions among a user's facts.

A plan is a list of decisions and changes nothing. The same function serves writing (new facts
against their neighbours) and sweeps (facts changed since the last sweep against all).

    1. find facts with the same normalised text
    2. find each fact's nearest by cosine, in blocks of rows, at most `most` for each
    3. find facts with claims about the same thing or with the same gist, whatever their vectors
    4. get the judge's verdict on each such pair
    5. merge groups in which all pairs say the same
    6. of two groups in conflict, supersede the one of lower standing; mark both as contested if the
       other is too little trusted, or too uncertain, to end it
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np

from semantic_memory.consolidation.beliefs import are_kept_apart
from semantic_memory.consolidation.claims import Claim, claims
from semantic_memory.consolidation.gist import gist
from semantic_memory.consolidation.merging import absorbed, keeper, merged
from semantic_memory.consolidation.relations import (
    Pair,
    Relation,
    RelationJudge,
    Verdict,
    in_order,
    said_at,
)
from semantic_memory.consolidation.statements import read
from semantic_memory.consolidation.superseding import (
    contested,
    may_retire,
    standing,
    superseded,
)
from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.english.lexicon import WORDING
from semantic_memory.domain.english.paraphrases import paraphrases
from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.values import normalised
from semantic_memory.language.own_speech import MOST_OWN

_BLOCK_CELLS = 4_000_000  # size of a block of similarities: 16 MB


@dataclass(frozen=True, slots=True)
class Reach:
    """Limits on the pairs that are compared."""

    similarity: float = 0.7
    """Cosine similarity from which two facts are compared; lower it for a language model."""
    most: int = 16
    """Number of nearest facts compared with each fact."""


DEFAULT = Reach()


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


@dataclass(frozen=True, slots=True)
class SupersedeDecision:
    """A fact to supersede by another."""

    loser: Fact
    """The fact before it is superseded, after the merges of the same plan."""
    winner: Fact
    relation: Relation
    reasons: tuple[str, ...]

    @property
    def result(self) -> Fact:
        """The superseded fact. Writing `loser` back undoes it."""
        return superseded(self.loser, self.winner)


@dataclass(frozen=True, slots=True)
class ContestDecision:
    """Two facts that contradict each other, neither of which may end the other."""

    facts: tuple[Fact, Fact]
    """The facts before, after the earlier decisions of the same plan; the later one first."""
    reasons: tuple[str, ...]

    @property
    def result(self) -> Fact:
        """The first fact, marked."""
        return contested(*self.facts)

    @property
    def rival(self) -> Fact:
        """The other fact, marked."""
        fact, rival = self.facts
        return contested(rival, fact)

    @classmethod
    def between(cls, one: Fact, other: Fact, reasons: tuple[str, ...]) -> ContestDecision | None:
        """Return the decision about two facts; None if both are marked already."""
        if other.id in one.contested_by and one.id in other.contested_by:
            return None
        return cls((one, other), reasons)


Decision = MergeDecision | SupersedeDecision | ContestDecision


def plan(
    facts: Sequence[Fact],
    vectors: Matrix,
    judge: RelationJudge,
    *,
    changed: Collection[str] | None = None,
    reach: Reach = DEFAULT,
) -> list[Decision]:
    """Plan merges, supersessions and contests among `facts`, in this order.

    `vectors` has a unit row for each fact. Facts of different scopes are never compared. Only pairs
    with a fact in `changed` are compared, or all pairs if it is None. Ignores verbatim messages and
    facts that aren't active. The plan doesn't depend on the order of `facts`.
    """
    rows = sorted(
        (
            row
            for row, fact in enumerate(facts)
            if fact.status is Status.ACTIVE and fact.category is not Category.CONVERSATION
        ),
        key=lambda row: (_owner(facts[row]), said_at(facts[row])),
    )
    decisions: list[Decision] = []
    for _, own in groupby(rows, key=lambda row: _owner(facts[row])):
        held = list(own)
        table = _Table([facts[row] for row in held], vectors[held], judge)
        decisions += table.decisions(changed, reach)
    order = (MergeDecision, SupersedeDecision, ContestDecision)
    return sorted(decisions, key=lambda decision: order.index(type(decision)))


def _owner(fact: Fact) -> tuple[str, ...]:
    """Return the user and the scope of a fact."""
    return fact.user_id, *fact.scope.columns


Rows = tuple[int, int]


class _Table:
    """The facts of one scope in the order in which they were said, with the verdicts on pairs."""

    def __init__(self, facts: Sequence[Fact], vectors: Matrix, judge: RelationJudge) -> None:
        self._facts = facts
        self._vectors = vectors
        self._judge = judge
        self._verdicts: dict[Rows, Verdict] = {}

    def decisions(self, changed: Collection[str] | None, reach: Reach) -> Iterator[Decision]:
        new = [row for row, fact in enumerate(self._facts) if changed is None or fact.id in changed]
        if not new or len(self._facts) < 2:
            return
        texts = _same_text(self._facts, set(new))
        firsts = sorted({texts[row] for row in new})
        heads = sorted(set(texts))
        pairs = set(self._near(firsts, heads, reach))
        pairs |= set(_about_the_same(self._facts, firsts, heads))
        pairs |= set(_in_other_words(self._facts, firsts, heads))
        self._ask(sorted(pairs))
        groups = self._groups(texts, sorted(pairs))
        yield from self._merges(groups)
        yield from self._supersessions(groups, sorted(pairs))

    def _near(self, firsts: list[int], heads: list[int], reach: Reach) -> Iterator[Rows]:
        """Yield pairs of near facts, the older row first; a pair may come twice."""
        columns = np.array(heads)
        others = self._vectors[columns]
        height = max(1, _BLOCK_CELLS // len(heads))
        for start in range(0, len(firsts), height):
            block = firsts[start : start + height]
            similarities = self._vectors[block] @ others.T
            above = similarities >= reach.similarity
            for number in np.flatnonzero(above.any(axis=1)):
                found = np.flatnonzero(above[number])
                if len(found) > reach.most + 1:
                    best = np.argpartition(-similarities[number, found], reach.most)
                    found = found[best[: reach.most + 1]]
                row = block[int(number)]
                for column in columns[found].tolist():
                    if column != row:
                        yield min(row, column), max(row, column)

    def _ask(self, pairs: Sequence[Rows]) -> None:
        wanted = [pair for pair in pairs if pair not in self._verdicts]
        asked = [self._pair(a, b) for a, b in wanted]
        self._verdicts.update(zip(wanted, self._judge.judge(asked), strict=True))

    def _pair(self, a: int, b: int) -> Pair:
        similarity = float(self._vectors[a] @ self._vectors[b])
        older, newer = in_order(self._facts[a], self._facts[b])
        return Pair(older, newer, similarity)

    def _relation(self, a: int, b: int) -> Relation:
        pair = (min(a, b), max(a, b))
        self._ask([pair])
        return self._verdicts[pair].relation

    def _groups(self, texts: Sequence[int], pairs: Sequence[Rows]) -> list[list[int]]:
        """Group the rows so that every pair in a group says the same; return the group of each row.

        The members of a group share its list. Pairs of the highest similarity are joined first. Of
        equal texts the first one stands for all.
        """
        shared: dict[int, list[int]] = {}
        for row, first in enumerate(texts):
            shared.setdefault(first, []).append(row)
        group = [shared[first] for first in texts]
        heads = {first: [first] for first in shared}
        same = [pair for pair in pairs if self._verdicts[pair].relation is Relation.SAME]
        same.sort(key=lambda pair: (-self._pair(*pair).similarity, pair))
        for a, b in same:
            left, right = heads[a], heads[b]
            if left is right or any(
                self._relation(x, y) is not Relation.SAME for x in left for y in right
            ):
                continue
            joined, members = sorted(left + right), sorted(group[a] + group[b])
            for first in joined:
                heads[first] = joined
            for row in members:
                group[row] = members
        return group

    def _merges(self, groups: Sequence[list[int]]) -> Iterator[MergeDecision]:
        for row, members in enumerate(groups):
            if len(members) > 1 and members[0] == row:
                reasons = dict.fromkeys(
                    reason
                    for a in members
                    for b in members
                    if (verdict := self._verdicts.get((a, b)))
                    for reason in verdict.reasons
                )
                facts = tuple(self._facts[member] for member in members)
                yield MergeDecision(facts, tuple(reasons) or ("same text",))

    def _supersessions(
        self, groups: Sequence[list[int]], pairs: Sequence[Rows]
    ) -> Iterator[SupersedeDecision | ContestDecision]:
        believed = {
            members[0]: merged([self._facts[member] for member in members])
            if len(members) > 1
            else self._facts[members[0]]
            for members in groups
        }
        rivals: dict[int, list[tuple[int, Verdict]]] = defaultdict(list)
        for a, b in pairs:
            verdict = self._verdicts[a, b]
            one, other = groups[a][0], groups[b][0]
            if one == other or not verdict.relation.conflicting:
                continue
            low, high = sorted((one, other), key=lambda row: standing(believed[row]))
            rivals[low].append((high, verdict))
        ended = set()
        for low in sorted(rivals):
            stronger = [one for one in rivals[low] if may_retire(believed[one[0]], believed[low])]
            if stronger:
                # the next in standing, so that facts believed in between stay in the chain
                high, verdict = min(stronger, key=lambda rival: standing(believed[rival[0]]))
                ended.add(low)
                yield SupersedeDecision(
                    believed[low], believed[high], verdict.relation, verdict.reasons
                )
        for low in sorted(rivals.keys() - ended):
            for high, verdict in rivals[low]:
                if high in ended:
                    continue
                decision = ContestDecision.between(believed[low], believed[high], verdict.reasons)
                if decision is not None:
                    believed[low], believed[high] = decision.result, decision.rival
                    yield decision


def _same_text(facts: Sequence[Fact], new: Collection[int]) -> list[int]:
    """Return for each fact the first one with the same text, or itself if none of them is new."""
    texts = [normalised(fact.content) for fact in facts]
    touched = {texts[row] for row in new}
    heads: dict[str, list[int]] = defaultdict(list)
    found = []
    for row, text in enumerate(texts):
        known = heads[text] if text in touched else []
        same = (head for head in known if not are_kept_apart(facts[head], facts[row]))
        first = next(same, row)
        if first == row:
            known.append(row)
        found.append(first)
    return found


def _about_the_same(
    facts: Sequence[Fact], firsts: Sequence[int], heads: Sequence[int]
) -> Iterator[Rows]:
    """Yield pairs with different claims about one thing: each with the next and with the last."""
    by_key: dict[tuple[str, ...], list[tuple[int, Claim]]] = defaultdict(list)
    for row in heads:
        for claim in claims(facts[row].content):
            by_key[claim.key].append((row, claim))
    new = set(firsts)
    for holders in by_key.values():
        if len({(claim.value, claim.positive) for _, claim in holders}) < 2:
            continue
        last = holders[-1]
        for one, following in pairwise(holders):
            for other in (following, last):
                differ = (one[1].value, one[1].positive) != (other[1].value, other[1].positive)
                if one[0] < other[0] and differ and (one[0] in new or other[0] in new):
                    yield one[0], other[0]


def wordings(content: str) -> Iterator[tuple[str, ...]]:
    """Yield keys that a statement shares with statements that may say the same in other words."""
    if len(content) > MOST_OWN:
        return  # a document
    if words := gist(content):
        yield ("gist", *words)
    for one in paraphrases(content):
        yield ("paraphrase", one.relation, one.subject, *one.value, "of", *one.about)
    if claimed := claims(content):
        yield ("claims", *sorted(map(str, claimed)), *sorted(read(content).content - WORDING))


def _in_other_words(
    facts: Sequence[Fact], firsts: Sequence[int], heads: Sequence[int]
) -> Iterator[Rows]:
    """Yield pairs that may say the same, whose vectors "I" and "the user" may set apart."""
    by_key: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for row in heads:
        for key in wordings(facts[row].content):
            by_key[key].append(row)
    new = set(firsts)
    for holders in by_key.values():
        yield from (pair for pair in pairwise(holders) if not new.isdisjoint(pair))
