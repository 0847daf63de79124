"""Find what others have changed for the user: a figure, a date, what the user can bear."""

from __future__ import annotations

from itertools import pairwise

from semantic_memory.consolidation.replacing import Reason, listed, retyped
from semantic_memory.consolidation.subjects import kin_of, other_kind, other_person, owners_of
from semantic_memory.consolidation.telling import Telling, makes_claim
from semantic_memory.domain.english import renewals
from semantic_memory.domain.english.paraphrases import paraphrases
from semantic_memory.domain.english.renewals import Clause
from semantic_memory.domain.english.setters import NOT_BORNE, settings_of, tolerates

_LEAST = 0.1
_US = frozenset({"me", "us", "my", "our"})
_THEIR = frozenset({"his", "her", "their", "your"})


def reset(clause: Clause, new: Telling) -> Reason | None:
    """Find another figure by whoever sets it: "finance cut us to 30k", where there's a budget."""
    if renewals.is_of_the_past(clause.plain):
        return None
    for sentence in new.sentences:
        if (
            not makes_claim(sentence.plain)
            or not retyped(clause, sentence)
            or other_person(clause, sentence)
        ):
            continue
        for who, others, things in settings_of(sentence.plain):
            meant, named = things & clause.words, things & sentence.words
            before = others & clause.words  # "the dentist's at 3", then "the vet moved me"
            by_same = not before or bool(before & who)
            if (
                meant
                and by_same
                and named <= clause.words
                and not _is_set_by_theirs(clause, sentence, who)
                and not other_kind(clause, sentence, meant)
            ):
                return Reason(f"reset: {listed(meant)}", _LEAST)
    return None


def _is_set_by_theirs(clause: Clause, sentence: Clause, who: frozenset[str]) -> bool:
    """Return whether those who set a figure are of others: "tom's landlord", "their board"."""
    if not _US.isdisjoint(sentence.words):
        return False
    spoken = sentence.plain.split()
    owners = {owner for owner, one in pairwise(spoken) if one in who} - clause.words
    named = {one for one in owners if one.endswith("'s") and one.removesuffix("'s") not in who}
    return bool(named) or not owners.isdisjoint(_THEIR)


def tolerated(clause: Clause, new: Telling) -> Reason | None:
    """Find that an allergy is over: "allergic to cats", then "cats don't bother me at all now"."""
    for claim in paraphrases(clause.plain):
        if claim.relation not in NOT_BORNE:
            continue
        for part in (*new.clauses, *new.sentences):
            if (
                makes_claim(part.plain)
                and tolerates(part.plain)
                and set(claim.value) <= part.content
                and owners_of(part) | kin_of(part) <= kin_of(clause)
            ):
                return Reason(f"tolerated: {listed(claim.value)}", _LEAST)
    return None
