"""Planning of merges and endings among a user's facts.

A plan is a list of decisions and changes nothing. The same function serves writing (new facts
against their neighbours) and sweeps (facts changed since the last sweep against all).

    1. find facts with the same normalised text
    2. find the candidates among the others, and get the judge's verdict on each that may decide
    3. merge groups in which all pairs say the same
    4. note which earlier statements a newer one probably changes, and on which it rests
    5. end, or mark, the older statement of pairs of which the newer changes it; mark both as
       contested if the newer is too little trusted to end it; of one moment none is newer
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from semantic_memory.consolidation.beliefs import are_kept_apart
from semantic_memory.consolidation.candidates import (
    Read,
    Rows,
    candidates,
    may_be_of_one_speaker,
    near_rows,
    shared_slot,
)
from semantic_memory.consolidation.decisions import (
    END_SLOT,
    ContestDecision,
    Decision,
    Effect,
    FollowDecision,
    MarkDecision,
    MergeDecision,
    RestDecision,
    SupersedeDecision,
    effect,
)
from semantic_memory.consolidation.merging import merged
from semantic_memory.consolidation.resting import gives_reason, may_rest, rests
from semantic_memory.consolidation.superseding import may_retire
from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.readings import Reading
from semantic_memory.domain.values import normalised
from semantic_memory.judging.first_person import in_first_person
from semantic_memory.judging.ports import Pair, PairJudge, Verdict, said_at
from semantic_memory.language.clauses import says_several
from semantic_memory.language.identity import disagree

_ORDER = (
    MergeDecision,
    FollowDecision,
    RestDecision,
    SupersedeDecision,
    MarkDecision,
    ContestDecision,
)


def plan(
    facts: Sequence[Fact],
    vectors: Matrix,
    judge: PairJudge,
    read: Read,
    *,
    changed: Collection[str] | None = None,
) -> list[Decision]:
    """Plan merges, endings, marks and contests among `facts`, in this order.

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
        table = _Table([facts[row] for row in held], vectors[held], judge, read)
        decisions += table.decisions(changed)
    return sorted(decisions, key=lambda decision: _ORDER.index(type(decision)))


def _owner(fact: Fact) -> tuple[str, ...]:
    """Return the user and the scope of a fact."""
    return fact.user_id, *fact.scope.columns


class _Table:
    """The facts of one scope in the order in which they were said, with the verdicts on pairs."""

    def __init__(
        self,
        facts: Sequence[Fact],
        vectors: Matrix,
        judge: PairJudge,
        read: Read,
    ) -> None:
        self._facts = facts
        self._vectors = vectors
        self._judge = judge
        self._read = read
        self._readings: dict[int, Reading | None] = {}
        self._effects: dict[Rows, tuple[Effect | None, Verdict | None]] = {}

    def decisions(self, changed: Collection[str] | None) -> Iterator[Decision]:
        new = [row for row, fact in enumerate(self._facts) if changed is None or fact.id in changed]
        if not new or len(self._facts) < 2:
            return
        texts = _same_text(self._facts, set(new))
        firsts = sorted({texts[row] for row in new})
        heads = sorted(set(texts))
        pairs = candidates(self._facts, self._vectors, self._reading, firsts, heads)
        self._ask(pairs)
        groups = self._groups(texts, pairs)
        yield from self._merges(groups)
        yield from self._changes(groups, pairs, [*self._bases(firsts, heads)])

    def _reading(self, row: int) -> Reading | None:
        if row not in self._readings:
            self._readings[row] = self._read(self._facts[row])
        return self._readings[row]

    def _bases(
        self, firsts: Sequence[int], heads: Sequence[int]
    ) -> Iterator[tuple[int, list[int]]]:
        """Yield the rows that rest on earlier ones, with these."""
        able = [row for row in firsts if may_rest(self._facts[row], self._reading(row))]
        for row, earlier, _ in near_rows(self._vectors, able, heads):
            if found := [other for other in earlier if self._rests(row, other)]:
                yield row, found

    def _rests(self, row: int, other: int) -> bool:
        fact, basis = self._facts[row], self._facts[other]
        if _are_of_one_moment(basis, fact) or not may_be_of_one_speaker(basis, fact):
            return False
        return rests(fact, basis, self._read)

    def _ask(self, pairs: Sequence[Rows]) -> None:
        new = [rows for rows in pairs if rows not in self._effects]
        self._effects.update(dict.fromkeys(new, (None, None)))
        asked = {rows: pair for rows in new if self._may_decide(rows, pair := self._pair(*rows))}
        for rows, verdict in zip(asked, self._judge.judge([*asked.values()]), strict=True):
            self._effects[rows] = self._effect(rows, asked[rows], verdict), verdict

    def _may_decide(self, rows: Rows, pair: Pair) -> bool:
        """Return False for a pair on which no verdict would have an effect.

        Facts of one moment only merge, unless the first was said again later: that pair is turned.
        """
        if are_kept_apart(pair.older, pair.newer):
            return False
        merges_only = rows[0] < rows[1] and _are_of_one_moment(pair.older, pair.newer)
        return not (merges_only and disagree(pair.older.content, pair.newer.content))

    def _effect(self, rows: Rows, pair: Pair, verdict: Verdict | None) -> Effect | None:
        if verdict is None:
            return None
        slot = shared_slot(self._reading(rows[0]), self._reading(rows[1]))
        found = effect(verdict, pair.similarity, slot)
        if found == "end" and not verdict.is_final and self._may_hold_in_part(pair.older, slot):
            return "mark"
        if found == "merge" and disagree(pair.older.content, pair.newer.content):
            return None
        return found

    def _may_hold_in_part(self, older: Fact, slot: float) -> bool:
        """Return True if a part of a statement may be over, and the rest of it not.

        So may a reason, and one of several things said in one sentence, unless it is all about a
        `slot`.
        """
        is_of_one_slot = slot >= END_SLOT
        if gives_reason(older):
            return True
        return not is_of_one_slot and says_several(in_first_person(older))

    def _pair(self, a: int, b: int) -> Pair:
        similarity = float(self._vectors[a] @ self._vectors[b])
        return Pair(self._facts[a], self._facts[b], similarity)

    def _are_same(self, a: int, b: int) -> bool:
        pair = (min(a, b), max(a, b))
        self._ask([pair])
        return self._effects[pair][0] == "merge"

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
        same = [pair for pair in pairs if self._effects[pair][0] == "merge"]
        same.sort(key=lambda pair: (-self._pair(*pair).similarity, pair))
        for a, b in same:
            left, right = heads[a], heads[b]
            if left is right or not all(self._are_same(x, y) for x in left for y in right):
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
                    _same(verdict)
                    for a in members
                    for b in members
                    if (verdict := self._effects.get((a, b), (None, None))[1])
                )
                facts = tuple(self._facts[member] for member in members)
                yield MergeDecision(facts, tuple(reasons) or ("same text",))

    def _changes(
        self,
        groups: Sequence[list[int]],
        pairs: Sequence[Rows],
        bases: Sequence[tuple[int, list[int]]],
    ) -> Iterator[Decision]:
        believed = {
            members[0]: merged([self._facts[member] for member in members])
            if len(members) > 1
            else self._facts[members[0]]
            for members in groups
        }
        told: dict[int, list[tuple[int, Effect, Verdict]]] = defaultdict(list)
        again = {
            (a, b) for a, b in pairs if believed[groups[a][0]].stated_at > self._facts[b].stated_at
        }
        # what was said again later isn't ended by what came between, but ends it
        self._ask(sorted((b, a) for a, b in again))
        later: dict[int, list[tuple[int, Verdict]]] = defaultdict(list)
        for a, b in pairs:
            rows = (b, a) if (a, b) in again else (a, b)
            found, verdict = self._effects[rows]
            older, newer = groups[rows[0]][0], groups[rows[1]][0]
            in_order = (a, b) in again or not _are_of_one_moment(self._facts[a], self._facts[b])
            if verdict is None or found in (None, "merge") or older == newer or not in_order:
                continue
            if found != "end" and may_retire(believed[newer], believed[older]):
                later[newer].append((older, verdict))
            if found != "follow":
                told[older].append((newer, found, verdict))
        for newer, earlier in sorted(later.items()):
            facts = {believed[older].id: believed[older] for older, _ in earlier}
            likeliest = max((verdict for _, verdict in earlier), key=lambda one: one.over)
            decision = FollowDecision(believed[newer], tuple(facts.values()), likeliest)
            if decision.result != believed[newer]:
                believed[newer] = decision.result
                yield decision
        for row, others in bases:
            head = groups[row][0]
            beneath = {one.id: one for other in others if (one := believed[groups[other][0]])}
            beneath.pop(believed[head].id, None)
            rest = RestDecision(believed[head], tuple(beneath.values()))
            if rest.result != believed[head]:
                believed[head] = rest.result
                yield rest
        for older, changes in sorted(told.items()):
            yield from self._change(believed, older, changes)

    def _change(
        self,
        believed: dict[int, Fact],
        older: int,
        changes: Sequence[tuple[int, Effect, Verdict]],
    ) -> Iterator[Decision]:
        """Yield the ending of a fact by the first that may end it, or else its marks."""
        loser = believed[older]
        endings = [(newer, verdict) for newer, found, verdict in changes if found == "end"]
        able = [one for one in endings if may_retire(believed[one[0]], loser)]
        if able:
            newer, verdict = min(able, key=lambda one: said_at(believed[one[0]]))
            yield SupersedeDecision(loser, believed[newer], verdict)
            return
        for newer, found, verdict in changes:
            by = believed[newer]
            if found == "end" and by.id not in loser.contested_by:
                contest = ContestDecision(loser, by, verdict)
                loser, believed[newer] = contest.results
                yield contest
            elif found == "mark" and may_retire(by, loser) and not _is_linked(loser, by):
                yield MarkDecision(loser, by, verdict)


def _same(verdict: Verdict) -> str:
    said = verdict.reason or f"says the same ({verdict.same:.0%} certain)"
    return f"{verdict.decided_by}: {said}"


def _are_of_one_moment(one: Fact, other: Fact) -> bool:
    """Return True if nothing tells which fact was said first, as of those added in one call."""
    return said_at(one)[:-1] == said_at(other)[:-1]


def _is_linked(older: Fact, newer: Fact) -> bool:
    return any(link.newer == newer.id for link in older.perhaps_changed)


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
