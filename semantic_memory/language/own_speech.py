r"""Find what the author of a message says of themselves to the assistant, by the message's form.

The burden of proof is on the text: a span is the author's own only where nothing in its form says
that it may be somebody else's: speaker prefix, time stamp, label, attachment, code, quotation,
tag, unusual length, a request to work on a text, or a frame of fiction or test data.
Everything else is material: stored and found with the trust `external`, but it ends no fact, gives
no order, and asks to forget nothing.

    reading = own_speech("I moved to Oslo.\n> I live in Rome.", speaker=None)
    reading.own        the author's own words, a line break in place of each other span
    reading.spans      every span with its place, its trust, and the reason why it isn't own
    reading.trust      trust in the whole: that of its own words, `external` without any

Reading takes time in proportion to the length, up to a length beyond which nothing is own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.messages import Message
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.trust import Trust, of_role
from semantic_memory.language.enclosures import Cut, enclosures, speaks, without
from semantic_memory.language.frames import frames
from semantic_memory.language.labels import NOTES, is_note, labels

MOST_READ = 20_000
"""Characters of a message beyond which it isn't looked at: nothing in it is own."""
MOST_OWN = 1_500
"""Characters beside enclosed texts, beyond which a message is longer than people type."""


_MOST_NAMES = 5
_NO_NAME = regex(r"[:;!?\n\"“”<>{}\[\]]|\.\s+[A-Z]?[a-z]{2,}\s")
_NAMELESS = "Somebody"


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a message, from `start` to `end`."""

    start: int
    end: int
    trust: Trust
    reason: str | None = None
    """The form that says that it may be another's; None for the author's own words."""

    @property
    def is_own(self) -> bool:
        """True if there is positive evidence that the author says it of themselves."""
        return self.reason is None


@dataclass(frozen=True, slots=True)
class Reading:
    """A message in spans."""

    text: str
    spans: tuple[Span, ...]
    speaker: str | None
    """The one whom own spans are about; None for the owner of the memory."""

    @property
    def own(self) -> str:
        """The author's own words, with a line break in place of each text of others."""
        return "\n".join(self.text[one.start : one.end] for one in self.spans if one.is_own)

    @property
    def legible(self) -> str:
        """The own words with notes, "editor: helix", whose facts have the trust of material."""
        return "\n".join(
            self.text[one.start : one.end] for one in self.spans if one.reason in (None, NOTES)
        )

    @property
    def material(self) -> tuple[str, ...]:
        """The other texts, in their order."""
        return tuple(self.text[one.start : one.end] for one in self.spans if not one.is_own)

    @property
    def decides(self) -> bool:
        """True if the user says something in own words, which may ask to forget."""
        return any(one.is_own and one.trust >= Trust.USER for one in self.spans)

    @property
    def trust(self) -> Trust:
        """Trust in the message as a whole."""
        return max((one.trust for one in self.spans), default=Trust.EXTERNAL)


def own_speech(
    text: str,
    *,
    role: str = "user",
    speaker: str | None = None,
    trust: Trust | None = None,
) -> Reading:
    r"""Divide a message into its author's own words and material.

    `speaker` is the name that the message carries: who is named speaks for themselves only.
    `trust` is that of the message if it is lower than that of its role, and then that of its own
    words too. A message of any role but `user` has no own words, whatever its name.

    >>> own_speech("I moved to Oslo.\n> I live in Rome.\nIt is cold.").own.split("\n")
    ['I moved to Oslo.', '', '', 'It is cold.']
    >>> own_speech("Bob: I moved to Oslo").own, own_speech("I moved", role="tool").own
    ('', '')
    >>> own_speech("I moved to Oslo", speaker="Bob").speaker
    'Bob'
    """
    given = of_role(role, speaker) if trust is None else min(trust, of_role(role, speaker))
    about = speaker_name(speaker)
    if role != "user":
        return Reading(text, (Span(0, len(text), given, "not the user's"),), about)
    return Reading(text, tuple(_spans(text, _cuts(text), given)), about)


def speaker_name(name: str | None) -> str | None:
    """Return the name of a speaker of statements; a text that poses as a name is none.

    >>> speaker_name("Ana Lind"), speaker_name("I am cured. The user"), speaker_name(None)
    ('Ana Lind', 'Somebody', None)
    """
    if name is None:
        return None
    is_plain = len(name.split()) <= _MOST_NAMES and not _NO_NAME.search(name)
    return name if is_plain and not speaks(name) else _NAMELESS


def own_speech_of(message: Message) -> Reading:
    """Divide a message, as `own_speech` does."""
    return own_speech(message.content, role=message.role, speaker=message.name, trust=message.trust)


def own_words(text: str) -> str:
    """Return the author's own words of a user's message."""
    return own_speech(text).own


def stated(fact: Fact) -> str:
    """Return what a memory states: of a message, its author's own words.

    A fact longer than people type is a document, which states nothing that ends or is ended.
    """
    if fact.category is Category.CONVERSATION:
        return own_words(fact.content)
    return fact.content if len(fact.content) <= MOST_OWN else ""


@lru_cache(maxsize=1_024)
def _cuts(text: str) -> tuple[Cut, ...]:
    """Return the places that aren't own, in order and apart from each other."""
    if len(text) > MOST_READ:
        return (Cut(0, len(text), "unusual length"),)
    found = [*enclosures(text)]
    left = without(text, found)
    if sum(map(len, left.split())) > MOST_OWN:
        return (Cut(0, len(text), "unusual length"),)
    found += labels(left)
    if not is_note(left):
        found += frames(without(text, found), text)
    return tuple(_joined(found))


def _joined(cuts: Iterable[Cut]) -> list[Cut]:
    joined: list[Cut] = []
    for cut in sorted(cuts):
        if joined and cut.start <= joined[-1].end:
            joined[-1] = joined[-1]._replace(end=max(joined[-1].end, cut.end))
        elif cut.start < cut.end:
            joined.append(cut)
    return joined


def _spans(text: str, cuts: Iterable[Cut], trust: Trust) -> Iterable[Span]:
    """Yield the spans of a text; what lies between cuts without a word goes with them."""
    reached = 0
    for start, end, reason in (*cuts, Cut(len(text), len(text), "")):
        if reached < start:
            has_words = any(map(str.isalnum, text[reached:start]))
            yield (
                Span(reached, start, trust)
                if has_words
                else Span(reached, start, min(trust, Trust.EXTERNAL), "no words")
            )
        if start < end:
            yield Span(start, end, min(trust, Trust.EXTERNAL), reason)
        reached = end
