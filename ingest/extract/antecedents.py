"""Resolve pronouns from what was said just before: "He lives in Kyoto" after "my brother Aurel".

Only a pronoun that begins a statement, or a "there" in it, is resolved, and only if the nearest
sentence that names anything of its kind names one thing. In doubt the statement stays as it is, and
the caller drops it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence

from ingest.extract.referents import Referent, rank, referents
from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.persons import third_person
from semantic_memory.domain.english.spelling import short_for_has
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.english.words import can_be_noun, forms, is_adverb
from semantic_memory.domain.patterns import regex

_SENTENCES = 6
"""Sentences before a pronoun that are looked at."""

_BEGINS = regex(
    r"^(?P<pronoun>he|she|it|they|his|her|its|their)(?P<short>'s|'re|'ll|'ve|'d)?(?=\s)", re.I
)
_THERE = regex(r"(?<=[a-z])\sthere(?=$|[,.;]|\s(?:is|are|was|were|has|have|use|on|and|[a-z]+s)\b)")
# "whatever there is", unlike "the food there is good"
_EXISTS = regex(rf"\b{phrases('antecedents.before_existential')}\sthere$", re.I)
_BARE = regex(
    rf"^(?P<noun>(?:the\s)?(?:new\s)?{phrases('antecedents.relational')})\b(?!\s(?:of|for)\b)", re.I
)
_NEXT_ONE = regex(
    rf"^(?P<which>the {one_of(words('predications.ordinals'))}|(?:the )?next) one\b", re.I
)
_THE_ONE = regex(
    r"^the (?P<which>(?:old|young)er|eldest|oldest|youngest|new|old|bigger|smaller|other) one\b",
    re.I,
)
_PART = regex(
    rf"^(?P<noun>(?:the\s)?(?:new\s)?{phrases('antecedents.parts')})\b(?!\s(?:of|for)\b)", re.I
)
_NEW_ONE = regex(
    r"^(?P<which>an? (?:new|used|second-hand|spare|bigger|smaller|second|replacement)) one\b", re.I
)
_WHOSE = regex(r"^(?:the|my|our|an?) ", re.IGNORECASE)
_RECURRING = regex(
    r"^(?:(?:the|our|my) )?(?P<kind>(?:[\w-]+ )?[\w-]+?)s? (?:is|are|goes|go|comes|come|happens?)"
    rf" (?:\w+ )?{phrases('antecedents.recurring')}\b",
    re.IGNORECASE,
)
_NUMBERED = regex(
    rf"\b(?P<kind>[a-z]{{3,}}) (?:number |no\. )?(?:\d{{1,3}}|{one_of(words('numbers.small'))})\b"
    rf"|\bthe {one_of(words('predications.ordinals'))} (?P<other>[a-z]{{3,}})\b",
    re.IGNORECASE,
)
_MOTION = words("antecedents.motion")
_OBJECT = regex(
    r"^(?:(?:I|we)(?:'\w+)?|(?-i:[A-Z])[\w-]+|(?:my|our) [\w-]+)(?P<verb>(?: [a-z']+){1,4}?)"
    r" (?P<pronoun>it|them|him|her)(?=$|[,.;]| (?!when|if|that|is|was)\w)",
    re.IGNORECASE,
)
"""Of "I see her every week"; what stands between subject and pronoun is of the verb only."""
_OF_VERBS = words(
    "predications.auxiliaries",
    "words.modals",
    "predications.prepositions",
    "negation.auxiliaries",
    "standing.particles",
) | {"not", "to", "be", "been", "after", "for"}
_NO_NOUNS = words("predications.determiners", "antecedents.ends_phrase") | {
    "every",
    "each",
    "twice",
    "once",
}
_BEHIND_PREPOSITION = 2
_OWNING = frozenset(("his", "her", "its", "their"))
_SHORT = {"'s": " is", "'re": " are", "'ll": " will", "'ve": " have", "'d": " would"}


class Antecedents:
    """The people, things and places named in the last sentences of a conversation."""

    def __init__(self, *, of_people_only: bool = False) -> None:
        self._people_only = of_people_only
        self._said: deque[tuple[str, str]] = deque(maxlen=_SENTENCES)

    def note(self, sentence: str, speaker: str) -> None:
        """Remember what a sentence of `speaker`, their name or "The user", names."""
        self._said.append((speaker, sentence))

    def last(self, speaker: str) -> str:
        """Return the last sentence of `speaker`; nothing if someone else spoke since."""
        teller, sentence = self._said[-1] if self._said else ("", "")
        return sentence if teller == speaker else ""

    def resolved(self, statement: str, speaker: str) -> str | None:
        """Return a statement with its pronoun replaced; None if nothing was named for it.

        >>> before = Antecedents()
        >>> before.note("my brother Aurel just got back from Japan", "The user")
        >>> before.resolved("he lives in Kyoto half the year", "The user")
        'my brother Aurel lives in Kyoto half the year'
        >>> before.resolved("it lasts nine hours", "The user")
        >>> before.note("I moved to Lund", "The user")
        >>> before.resolved("I eat whatever there is at work", "The user")
        >>> before.resolved("the food there is good", "The user")
        'the food in Lund is good'
        >>> before.note("I'm an aunt", "The user")
        >>> before.resolved("she is off until April", "The user")
        """
        if found := _BEGINS.match(statement):
            return self._begun(found, statement, speaker)
        if self._people_only:
            return None
        if (found := _THERE.search(statement)) and not _EXISTS.search(statement, 0, found.end()):
            place = self._nearest("there", speaker)
            if place:
                before = statement[: found.start()]
                to = "to" if _MOTION & {word.lower() for word in before.split()} else "in"
                return f"{before} {to} {place}{statement[found.end() :]}"
        return self._of_kind(statement, speaker) or self._of_object(statement, speaker)

    def _of_kind(self, statement: str, speaker: str) -> str | None:
        """Return a statement of one of a kind, or of a part, with what it is of: "the new one"."""
        if found := _NEXT_ONE.match(statement):
            kind = self._kind_named(speaker)
            which = found["which"].lower().removeprefix("the ")
            return f"the {which} {kind}{statement[found.end() :]}" if kind else None
        if (found := _NEW_ONE.match(statement)) and (thing := self._nearest("it", speaker)):
            return f"{found['which']} {_WHOSE.sub('', thing)}{statement[found.end() :]}"
        if (found := _THE_ONE.match(statement)) and (one := self._one_of(found["which"], speaker)):
            return f"{one}{statement[found.end() :]}"
        if (found := _PART.match(statement)) and (thing := self._nearest("it", speaker)):
            return f"{found['noun']} of {thing}{statement[found.end() :]}"
        if found := _BARE.match(statement):
            named = self._nearest("it", speaker, named=True)
            if named:
                article = "" if found["noun"].lower().startswith("the ") else "the "
                return f"{article}{found['noun']} of {named}{statement[found.end() :]}"
        return None

    def _of_object(self, statement: str, speaker: str) -> str | None:
        """Return a statement with the pronoun that is its object replaced: "I see her weekly"."""
        found = _OBJECT.match(statement)
        if found is None or not all(map(_is_of_verb, found["verb"].lower().split())):
            return None
        pronoun = found["pronoun"].lower()
        behind = statement[found.end() :]
        own = "'s" if pronoun == "her" and _begins_with_noun(behind) else ""
        standing = {"him": "he", "her": "she", "them": "they"}.get(pronoun, pronoun)
        who = self._nearest(standing, speaker)
        return f"{statement[: found.start('pronoun')]}{who}{own}{behind}" if who else None

    def _one_of(self, which: str, speaker: str) -> str | None:
        """Return "the older" of several or "the new" thing of the kind that was named last."""
        if several := self._nearest("they", speaker):
            return f"the {which} of {several}" if several.endswith("s") else None
        thing = self._nearest("it", speaker)
        return f"the {which} {thing.split()[-1]}" if thing else None

    def _kind_named(self, speaker: str) -> str | None:
        """Return the last numbered or recurring thing that the speaker named: "chapter two"."""
        for teller, sentence in reversed(self._said):
            if teller == speaker and (recurring := _RECURRING.match(sentence)):
                return str(recurring["kind"]).lower()
            nouns = [found["kind"] or found["other"] for found in _NUMBERED.finditer(sentence)]
            if teller == speaker and nouns and can_be_noun(nouns[-1].lower()):
                return str(nouns[-1]).lower()
        return None

    def _begun(self, found: re.Match[str], statement: str, speaker: str) -> str | None:
        pronoun = found["pronoun"].lower()
        standing = {"his": "he", "her": "she", "its": "it", "their": "they"}.get(pronoun, pronoun)
        if self._people_only and standing not in ("he", "she"):
            return None
        who = self._nearest(standing, speaker)
        if who is None:
            return None
        if pronoun in _OWNING:
            return f"{who}'s{statement[found.end('pronoun') :]}"
        rest = statement[found.end() :]
        if found["short"]:
            has = found["short"] == "'s" and short_for_has(rest)
            return f"{who}{' has' if has else _SHORT[found['short']]}{rest}"
        if pronoun == "they" and not who.endswith("s"):
            return third_person(f"I{rest}", who)  # made to agree with one
        return f"{who}{rest}"

    def _nearest(self, pronoun: str, speaker: str, *, named: bool = False) -> str | None:
        """Return the one referent of `pronoun` in the nearest sentence that has any."""
        for said_by, sentence in reversed(self._said):
            known = {one.text: one for one in referents(sentence) if pronoun in one.pronouns}
            if named:
                known = {text: one for text, one in known.items() if one.is_named}
            if not known:
                continue
            meant = self._meant([*known.values()], sentence, pronoun)
            if meant is None or said_by == speaker:
                return meant
            told = third_person(meant, said_by)
            return told[:1].lower() + told[1:] if told.startswith("The ") else told
        return None

    def _meant(self, known: Sequence[Referent], sentence: str, pronoun: str) -> str | None:
        """Return which of several referents is meant: the only one, or the subject of the talk.

        What stands behind a preposition is meant least; a thing that a sentence begins with is
        meant unless another one is new.
        """
        if len(known) == 1:
            return known[0].text
        if self._people_only:
            return None
        for one in known:
            if re.match(rf"{re.escape(one.text)} (?:is|are|was|were)\b", sentence, re.IGNORECASE):
                return one.text  # what it is said to be is the same thing
        inner = [one for one in known if rank(one, sentence) < _BEHIND_PREPOSITION]
        if len(inner) == 1:
            return inner[0].text
        first = [one for one in inner if rank(one, sentence) == 0]
        is_thing = pronoun in ("it", "they") and not any(one.is_new for one in known)
        return first[0].text if len(first) == 1 and is_thing else None


def acts_on_unknown(clause: str) -> bool:
    """Return True if somebody does something to a pronoun that nothing stands before.

    >>> acts_on_unknown("Priya is running it"), acts_on_unknown("Priya bought a car and sold it")
    (True, False)
    """
    found = _OBJECT.match(clause)
    return found is not None and all(map(_is_of_verb, found["verb"].lower().split()))


def _is_of_verb(word: str) -> bool:
    return word in _OF_VERBS or is_adverb(word) or bool(forms(word))


def _begins_with_noun(text: str) -> bool:
    """Return True if a noun follows "her", which then tells whose: "her car"."""
    spoken = text.split()
    first = spoken[0].strip(",.;").lower() if text[:1] == " " and spoken else ""
    return can_be_noun(first) and not is_adverb(first) and first not in _OF_VERBS | _NO_NOUNS
