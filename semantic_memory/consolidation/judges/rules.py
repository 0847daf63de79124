"""Judge pairs of facts by rules: no model beyond the vectors, the same verdict every time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from semantic_memory.consolidation.claims import Claim, claims, conflicting
from semantic_memory.consolidation.gist import gist
from semantic_memory.consolidation.guards import disagreements, distinctions, missing_names, opposed
from semantic_memory.consolidation.relations import Pair, Relation, Verdict
from semantic_memory.consolidation.stances import HAS
from semantic_memory.consolidation.statements import Statement, read
from semantic_memory.consolidation.subjects import (
    about_earlier_days,
    about_other_things,
    about_others,
)
from semantic_memory.domain.english.lexicon import WORDING
from semantic_memory.domain.english.numbers import has_label
from semantic_memory.domain.english.paraphrases import is_one_claim, paraphrases
from semantic_memory.domain.language import is_english, other_script
from semantic_memory.domain.values import normalised


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Cosine similarities from which two sentences are taken to say the same.

    `python -m eval beliefs` prints what is merged, rightly and wrongly, over a range of them.
    """

    same_words: float = 0.85
    """They share all content words."""
    more_words: float = 0.97
    """One has words that the other lacks."""
    other_words: float = 0.92
    """Each has words that the other lacks."""
    same_gist: float = 0.30
    """They differ in who tells it, and in ways to say one thing: "I love", "The user enjoys"."""
    same_claims: float = 0.40
    """They claim the same of the same subject: "lives in", "resides in"."""
    opposed: float = 0.80
    """They may contradict each other by a negation or an opposite word."""
    measured: float = 0.60
    """They may give different figures for one thing."""


DEFAULT = Thresholds()


class RuleJudge:
    """Decides by claims, then by guards and cosine similarity.

    Of texts that aren't English only equal ones say the same.
    """

    def __init__(self, thresholds: Thresholds = DEFAULT) -> None:
        self._thresholds = thresholds

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """Return one verdict for each pair."""
        return [self._verdict(pair) for pair in pairs]

    def _verdict(self, pair: Pair) -> Verdict:
        older, newer = pair.older.content, pair.newer.content
        if normalised(older) == normalised(newer):
            return Verdict(Relation.SAME, ("same text",))
        if not (is_english(older) and is_english(newer)):
            return Verdict(Relation.UNRELATED, ("not read: another language",))
        a, b = read(older), read(newer)
        if _claims_alike(pair, a, b) and pair.similarity >= self._thresholds.same_gist:
            return _same("same claim in other words", pair)
        # claims are read from statements only, also where a question follows them
        found = conflicting(claims(older), claims(newer))
        if found is not None and _elsewhere(found[0], older, newer):
            return Verdict(Relation.UNRELATED, ("other people or times",))
        if found is not None:
            reason = f"claim: {found[0]}, then {found[1]}"
            return _replaced(pair, b, (reason,), 0.9)
        if a.question or b.question:
            return Verdict(Relation.UNRELATED, ("a question",))
        return (
            self._conflict(pair, a, b)
            or self._same(pair, a, b)
            or Verdict(Relation.UNRELATED, disagreements(a, b), self._doubt(pair.similarity))
        )

    def _conflict(self, pair: Pair, a: Statement, b: Statement) -> Verdict | None:
        limit = self._thresholds
        if a.hedged or b.hedged or _another_time(a, b):
            return self._figure(pair, a, b) if b.changes else None
        shared = len(a.content & b.content)
        if missing_names(a, b) or missing_names(b, a) or shared < 2:
            return None
        words = opposed(a, b)
        nearly = len(a.content ^ b.content) <= 2 and pair.similarity >= limit.opposed
        # of two names and a word that they share nothing can be denied
        denied = a.negated != b.negated and len(a.content & b.content - a.names) >= 2
        if nearly and denied and a.past == b.past and a.numbers == b.numbers:
            return _replaced(pair, b, ("negation",), 0.8)
        if words and nearly and a.negated == b.negated and a.numbers == b.numbers and _states(a, b):
            return _replaced(pair, b, (f"opposites: {words[0]}, then {words[1]}",), 0.7)
        return self._figure(pair, a, b)

    def _figure(self, pair: Pair, a: Statement, b: Statement) -> Verdict | None:
        """Look for two figures, or two dates, for one thing: the limit, the appointment."""
        if pair.similarity < self._thresholds.measured or (
            (has_label(a.plain) and has_label(b.plain)) or about_other_things(a.text, b.text)
        ):
            return None
        new = b.changes or _states(a, b)
        for unit, (old, now) in _differing(a, b).items():
            topic = (a.content & b.content) - {unit}
            if new and len(topic) >= 2:
                return _replaced(pair, b, (f"figure: {old} {unit}, then {now} {unit}",), 0.75)
        shared, fewer = len(a.content & b.content), min(len(a.content), len(b.content))
        comparable = not (a.figures and b.figures) or a.figures.keys() & b.figures.keys()
        one_each = len(a.numbers) == len(b.numbers) == 1 and a.numbers != b.numbers
        alike = a.dates == b.dates and shared >= max(2, 0.6 * fewer)
        if new and comparable and one_each and alike:
            return _replaced(
                pair, b, (f"figure: {_list(a.numbers)}, then {_list(b.numbers)}",), 0.7
            )
        if (
            b.moves
            and shared >= max(2, 0.5 * fewer)
            and a.dates
            and b.dates
            and not a.dates & b.dates
        ):
            return _replaced(pair, b, (f"date: {_list(a.dates)}, then {_list(b.dates)}",), 0.7)
        return None

    def _same(self, pair: Pair, a: Statement, b: Statement) -> Verdict | None:
        limit, similarity = self._thresholds, pair.similarity
        own = claims(a.text)
        told = own == claims(b.text) and any(claim.attribute != HAS for claim in own)
        told &= a.content ^ b.content <= WORDING
        alike = bool(gist(a.text)) and gist(a.text) == gist(b.text)
        reworded = _reworded(a, b)
        accounted: set[str] = {"roles"} if told else set()
        accounted |= {"negation", "opposites", "roles", "people"} if alike else set()
        accounted |= {"opposites", "roles", "people", "owners", "direction"} if reworded else set()
        apart = {*disagreements(a, b), *distinctions(a, b)} - accounted
        if not (alike or reworded) and _claim_another(a, b):
            apart.add("values")
        if other_script(a.text) != other_script(b.text):
            return None
        if apart or _another_day(pair, a, b):
            return self._refined(similarity, a, b)
        if alike:
            enough, reason = limit.same_gist, "same in other words"
        elif reworded:
            enough, reason = limit.same_gist, "same claim in other words"
        elif told:
            enough, reason = limit.same_claims, "same claims"
        elif not a.content ^ b.content:
            enough, reason = limit.same_words, "same words"
        elif a.content <= b.content or b.content <= a.content:
            enough, reason = limit.more_words, "nearly the same words"
        else:
            enough, reason = limit.other_words, "other words for the same"
        if similarity >= enough:
            return _same(reason, pair)
        return None

    def _refined(self, similarity: float, a: Statement, b: Statement) -> Verdict | None:
        less, more = sorted((a, b), key=lambda statement: len(statement.content))
        within = (
            less.content | less.numbers | less.codes <= more.content | more.numbers | more.codes
        )
        if within and a.negated == b.negated and similarity >= self._thresholds.more_words:
            return Verdict(Relation.REFINES, ("says more",), 0.8)
        return None

    def _doubt(self, similarity: float) -> float:
        """Return how surely two facts without a rule are unrelated: the nearer, the less surely."""
        return min(1.0, max(0.0, 2.0 * (1.0 - similarity)))


def _same(reason: str, pair: Pair) -> Verdict:
    return Verdict(Relation.SAME, (reason, f"cosine {pair.similarity:.2f}"), 0.9)


def _reworded(a: Statement, b: Statement) -> bool:
    """Return whether the first clauses of both make one claim."""
    return not paraphrases(a.text).isdisjoint(paraphrases(b.text))


def _claim_another(a: Statement, b: Statement) -> bool:
    """Return whether both make claims of one kind whose values differ: "learn", "teach Welsh"."""
    return any(
        (one.relation, one.subject, one.about) == (other.relation, other.subject, other.about)
        and set(one.value) - set(other.value)
        and set(other.value) - set(one.value)
        for one in paraphrases(a.text)
        for other in paraphrases(b.text)
    )


def _claims_alike(pair: Pair, a: Statement, b: Statement) -> bool:
    """Return whether both make one claim and say nothing else: "I'm off dairy", "I avoid dairy"."""
    return (
        is_one_claim(a.text)
        and is_one_claim(b.text)
        and _reworded(a, b)
        and not (a.question or b.question)
        and (a.numbers, a.codes, a.dates, a.relative) == (b.numbers, b.codes, b.dates, b.relative)
        and not _another_day(pair, a, b)
    )


def _elsewhere(claim: Claim, older: str, newer: str) -> bool:
    """Return whether two statements of one claim are about different people or times."""
    # "has no kids" and "my son": the people are what is had
    others = claim.attribute != HAS and about_others(older, newer)
    return others or about_earlier_days(older) or about_earlier_days(newer)


def _another_time(a: Statement, b: Statement) -> bool:
    """Return whether both name a time, and not the same: two events."""
    return bool(
        (a.dates and b.dates and a.dates != b.dates)
        or ((a.relative or b.relative) and a.relative != b.relative)
    )


def _another_day(pair: Pair, a: Statement, b: Statement) -> bool:
    """Return whether "yesterday" means two days: the same words said on different days."""
    days = {pair.older.created_at.date(), pair.newer.created_at.date()}
    return bool(a.relative or b.relative) and len(days) > 1


def _differing(a: Statement, b: Statement) -> dict[str, tuple[str, str]]:
    """Return the figures of what both count or measure with different results, by unit."""
    return {
        unit: (a.figures[unit], b.figures[unit])
        for unit in a.figures.keys() & b.figures.keys()
        if a.figures[unit] != b.figures[unit]
    }


def _list(values: frozenset[str]) -> str:
    return " ".join(sorted(values))


def _states(a: Statement, b: Statement) -> bool:
    """Return whether both speak of a state that lasts, rather than of an event."""
    return a.stative and b.stative and not (a.past or b.past)


def _replaced(pair: Pair, newer: Statement, reasons: tuple[str, ...], certainty: float) -> Verdict:
    later = pair.newer.created_at.date() > pair.older.created_at.date()
    relation = Relation.UPDATES if later or newer.changes else Relation.CONTRADICTS
    return Verdict(relation, reasons, certainty)
