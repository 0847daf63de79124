"""Answers as a model reads them: lines of text, within a budget of tokens.

What doesn't fit is clipped, with the ids that fetch it. Nothing that the caller said is repeated,
and no answer comes twice, as text and as a structure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from semantic_memory.domain.facts import Fact, Status
from semantic_memory.domain.markers import NOTE
from semantic_memory.domain.profile import Overview
from semantic_memory.domain.recall import Hit
from semantic_memory.domain.reports import Forgotten
from semantic_memory.domain.review import Retirement

MOST_TOKENS = 2_000
_LENGTHS = (800, 400, 200, 100, 50, 0)
"""Characters of a row's text, of which the largest is taken that fits."""
_MOST_SENTENCES = 20
_CLIPPED = "Clipped with […]: recall with memory_id returns one in full."


class Row(NamedTuple):
    """A line of an answer: a head that is always shown, and a text that may be clipped."""

    head: str
    text: str

    def shown(self, characters: int) -> str:
        """Return the line with so many characters of the text."""
        text = " ".join(self.text.split())
        if len(text) > characters:
            text = f"{text[:characters].rstrip()} […]".lstrip()
        return f"{self.head} {text}"


def fitting(head: Iterable[str], rows: Sequence[Row], foot: Iterable[str] = ()) -> str:
    """Return rows below a head, clipped so that all of it is at most `MOST_TOKENS`."""
    head, foot = [*head], [*foot]
    for characters in _LENGTHS:
        lines = [row.shown(characters) for row in rows]
        is_clipped = any(line.endswith("[…]") for line in lines)
        text = "\n".join([*head, *lines, *([_CLIPPED] if is_clipped else []), *foot])
        if fits(text):
            return text
    return cut("\n".join([*head, *foot, *(row.head for row in rows)]))


def fits(text: str) -> bool:
    """Return True for a text of at most `MOST_TOKENS`."""
    # a token has at least one byte, so that the vocabulary is seldom loaded
    return len(text.encode("utf-8")) <= MOST_TOKENS or _count(text) <= MOST_TOKENS


def _count(text: str) -> int:
    from semantic_memory.context.tokens import load_encoding  # loads parts of the memory

    return len(load_encoding("o200k_base").encode_ordinary(text))


def cut(text: str) -> str:
    """Return the longest beginning of a text that fits, and its end if it doesn't."""
    if fits(text):
        return text
    end = "\n[… clipped]"
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(text[:middle] + end) else (low, middle - 1)
    return text[:low] + end


def hits(found: Sequence[Hit]) -> str:
    """Return memories that a search found, best first."""
    if not found:
        return "Nothing is remembered about that."
    return fitting([f"{NOTE} Best first: id, day, category, memory."], [*_rows_of_hits(found)])


def _rows_of_hits(found: Sequence[Hit]) -> Iterable[Row]:
    for hit in found:
        row = row_of(hit.fact)
        yield row if hit.space is None else Row(f"{row.head} (of {hit.space})", row.text)


def row_of(fact: Fact) -> Row:
    """Return the row of a memory."""
    speaker = fact.source.speaker or fact.source.role
    said = f" {speaker}:" if speaker and fact.category == "conversation" else ""
    doubts = "".join(
        f" (perhaps changed by {one.newer}: “{one.quote}”)" for one in fact.perhaps_changed
    )
    return Row(f"{fact.id} {fact.created_at:%Y-%m-%d} {fact.category}{said}", fact.text + doubts)


def listed(found: Sequence[Fact], behind: str | None) -> str:
    """Return a page of memories, newest first."""
    if not found:
        return "No memories."
    foot = [] if behind is None else [f"For the next page: after={behind}"]
    head = f"{NOTE} Newest first: id, day, category, memory."
    return fitting([head], [row_of(fact) for fact in found], foot)


def whole(fact: Fact) -> str:
    """Return one memory in full, as far as it fits."""
    said = f"{fact.created_at:%Y-%m-%d %H:%M}"
    standing = f"trust {fact.trust}, confidence {fact.confidence:.2f}"
    about = [NOTE, f"id {fact.id}, said {said}, {fact.category}, {fact.status}, {standing}"]
    if fact.tags:
        about.append(f"tags {' '.join(fact.tags)}")
    if fact.source.session_id is not None:
        about.append(f"from conversation {fact.source.session_id}")
    if fact.status is not Status.ACTIVE and fact.ended_by is not None:
        about.append(f"ended by {fact.ended_by.newer}: {fact.ended_by.reason}")
    return cut("\n".join([*about, fact.text]))


def forgetting(found: Forgotten, *, done: bool, withdraw: bool = False) -> str:
    """Return what was forgotten, or would be."""
    what = "withdraw" if withdraw else "forget"
    items = f" and {found.items:,} items" if found.items else ""
    kept = [f"Stays, as it was written by hand: {place}" for place in found.kept_in]
    if done:
        past = "Withdrew" if withdraw else "Forgot"
        return cut("\n".join([f"{past} {int(found):,} memories{items}.", *kept]))
    if not found and not found.items and not found.sentences:
        return cut("\n".join(["Nothing matches: nothing would be forgotten.", *kept]))
    sentences = [Row("Cut out of a message:", one) for one in found.sentences[:_MOST_SENTENCES]]
    if more := len(found.sentences) - len(sentences):
        sentences.append(Row(f"and {more:,} sentences more", ""))
    warning = [f"Would be refused: {found.warning}."] if found.warning else []
    ask = "Nothing is done yet: show this to the user, and once they agree call again with confirm."
    head = f"Would {what} {int(found):,} memories{items}:"
    rows = [row_of(fact) for fact in found.memories]
    return fitting([head], [*rows, *sentences], [*kept, *(warning or [ask])])


def profile(found: Overview) -> str:
    """Return a profile and a history as lines, each with its day."""
    rows = [
        Row(f"{name.replace('_', ' ')} ({told.updated_at:%Y-%m-%d}):", told.text)
        for name in type(found.profile).model_fields
        if (told := getattr(found.profile, name)) is not None
    ]
    for tier in type(found.history).model_fields:
        rows += [
            Row(f"{tier.replace('_', ' ')} ({item.at:%Y-%m-%d}):", item.text)
            for item in getattr(found.history, tier)
        ]
    return fitting([NOTE], rows) if rows else "Nothing is known about the user yet."


def changes(learned: Sequence[Fact], retired: Sequence[Retirement]) -> str:
    """Return what was learned and what stopped being believed lately, the latest first."""
    rows = [(fact.recorded_at, Row("learned", _line(fact))) for fact in learned]
    rows += [(one.cause.at, Row("no longer", _line(one.fact))) for one in retired]
    rows.sort(key=lambda row: row[0], reverse=True)
    if not rows:
        return "Nothing has changed yet."
    shown = [Row(f"{at:%Y-%m-%d %H:%M} {row.head}", row.text) for at, row in rows]
    return fitting([NOTE], shown)


def _line(fact: Fact) -> str:
    return f"{fact.id} {fact.category} {fact.text}"
