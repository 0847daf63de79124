"""Output of the command line: JSON for programs, tables for people."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table
from rich.text import Text

from semantic_memory.domain.errors import (
    ConfigurationError,
    InvalidInputError,
    NotFoundError,
    SemanticMemoryError,
)
from semantic_memory.domain.facts import Category, Cause, Fact, FactVersion, Status
from semantic_memory.domain.forget_requests import RequestToForget
from semantic_memory.domain.messages import Message, SessionInfo
from semantic_memory.domain.ports import Progress as Report
from semantic_memory.domain.profile import Overview
from semantic_memory.domain.prompts import PromptRecord
from semantic_memory.domain.recall import Hit
from semantic_memory.domain.reports import Finding, Forgotten, JobRun, Proof, Verified
from semantic_memory.domain.review import Retirement, Unconfirmed
from semantic_memory.entrypoints.cli.progress import Lines, bars

if TYPE_CHECKING:
    from semantic_memory.application.migration import Migrated

# how options that are off are shown
_OFF = {"not extracted": "extract", "doesn't fade": "fades", "not compacted": "compact"}

out = Console()
err = Console(stderr=True)


def as_json(value: Any) -> None:
    """Print a record, or a list or dictionary of them, as one JSON document."""
    print(json.dumps(_plain(value), ensure_ascii=False, indent=2))


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def fail(error: SemanticMemoryError) -> int:
    """Print an error on standard error; return the exit code."""
    err.print(Text.assemble(("error: ", "bold red"), str(error)), soft_wrap=True)
    if isinstance(error, InvalidInputError | ConfigurationError):
        return 2
    return 3 if isinstance(error, NotFoundError) else 1


def facts(found: Sequence[Fact]) -> None:
    """Print memories, facts before what was said, each above its id, day, category and trust."""
    grid = Table.grid(padding=(0, 0, 1, 0))
    for fact in sorted(found, key=lambda one: one.category is Category.CONVERSATION):
        about = f"{fact.id}  {'  '.join(_about(fact))}"
        grid.add_row(Text.assemble(fact.text, *_doubts(fact), (f"\n{about}", "dim")))
    out.print(grid if found else "no memories")


def retirements(found: Sequence[Retirement]) -> None:
    """Print a table of retired facts, each with what ended it and why."""
    table = _table("id", "retired", "memory", "ended by", "why", "by")
    for one in found:
        newer = one.cause.quote or (one.newer.content if one.newer else "")
        table.add_row(one.fact.id, _minute(one.cause.at), *_apart(one.fact, newer, one.cause))
    out.print(table)


def to_confirm(found: Sequence[Unconfirmed]) -> None:
    """Print a table of facts that perhaps changed, and of preferences of long ago."""
    table = _table("id", "said", "memory", "perhaps changed by", "newer", "why", "by")
    for one in found:
        said = f"{one.fact.stated_at:%Y-%m-%d}"
        if one.cause is None:
            table.add_row(one.fact.id, said, Text(one.fact.text), "", "", "not stated since", "")
            continue
        newer = one.newer.content if one.newer else one.cause.quote or ""
        memory, told, *why = _apart(one.fact, newer, one.cause)
        table.add_row(one.fact.id, said, memory, one.cause.newer or "", told, *why)
    out.print(table)


def _apart(fact: Fact, newer: str, cause: Cause) -> tuple[Text, ...]:
    """Return a fact, the statement after it, the reason of the change, and who decided."""
    sure = "" if cause.probability is None else f" ({cause.probability:.2f})"
    return Text(fact.text), Text(newer), Text(cause.reason), Text(f"{cause.decided_by}{sure}")


def _doubts(fact: Fact) -> Iterator[tuple[str, str]]:
    """Yield a line for the review of a fact, and for each statement that perhaps changed it."""
    if fact.review is not None:
        yield f"\n{fact.review}", "dim"
    for link in fact.perhaps_changed:
        quote = f": “{link.quote}”" if link.quote else ""
        yield f"\nperhaps changed by {link.newer}{quote}", "dim"


def _minute(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M}"


def tombstones(found: Sequence[Fact]) -> None:
    """Print a table of forgotten memories, and the number of them by reason."""
    table = _table("id", "category", "said", "forgotten", "by", "states", "reason")
    reasons: Counter[str] = Counter()
    for fact in found:
        if (record := fact.tombstone) is None:
            continue
        said, category, *_ = _about(fact)
        reason = f"{record.reason} (was pinned)" if record.was_pinned else record.reason
        at = f"{record.at:%Y-%m-%d %H:%M}"
        table.add_row(fact.id, category, said, at, record.by, str(record.states), Text(reason))
        reasons[record.reason or "no reason given"] += 1
    out.print(table)
    pairs(dict(reasons.most_common()))


def sourced(found: Iterable[Fact]) -> None:
    """Print a table of facts with the messages they were extracted from."""
    table = _table("said", "category", "conf.", "trust", "fact", "source")
    for fact in found:
        table.add_row(*_about(fact), Text(fact.content), ", ".join(fact.message_ids))
    out.print(table)


def hits(found: Sequence[Hit]) -> None:
    """Print the hits, best first, each with the parts of its score."""
    grid = Table.grid(padding=(0, 2, 1, 0))
    for hit in found:
        fact = hit.fact
        # A message needs its speaker beside it. A fact names its subject itself.
        verbatim = fact.category is Category.CONVERSATION
        speaker = f"{fact.source.speaker or fact.source.role}: " if verbatim else ""
        owner = f"  of {hit.space}" if hit.space else ""
        about = f"{'  '.join(_about(fact))}  {fact.id}{owner}"
        grid.add_row(
            Text(f"{hit.score:.3f}", style="bold"),
            Text.assemble(speaker, fact.text, *_doubts(fact), (f"\n{about}\n{why(hit)}", "dim")),
        )
    out.print(grid if found else "nothing found")


def why(hit: Hit) -> str:
    """Describe the parts of a score in one line."""
    parts = hit.parts
    reasons = [f"meaning {parts.dense:.2f}", f"words {parts.lexical:.2f}"]
    if parts.context:
        reasons.append(f"context +{parts.context:.2f}")
    if parts.speaker:
        reasons.append(f"speaker +{parts.speaker:.2f}")
    if parts.voice:
        reasons.append(f"own words +{parts.voice:.2f}")
    if parts.time:
        reasons.append(f"time +{parts.time:.2f}")
    if parts.asks:
        reasons.append(f"a question -{parts.asks:.2f}")
    if parts.outdated:
        reasons.append(f"no longer so -{parts.outdated:.2f}")
    reasons.append(f"relevance {parts.relevance:.2f}")
    if parts.asked:
        reasons.append(f"states what is asked +{parts.asked:.2f}")
    if parts.newer:
        reasons.append(f"newer +{parts.newer:.2f}")
    return ", ".join(reasons)


def sessions(found: Sequence[SessionInfo]) -> None:
    """Print a table of sessions."""
    table = _table(
        "session", "first", "last", "accessed", "messages", "facts", "log bytes", "options"
    )
    for info in found:
        facts = sum(info.by_category.values()) - info.messages
        table.add_row(
            info.session_id,
            f"{info.first_at:%Y-%m-%d %H:%M}",
            f"{info.last_at:%Y-%m-%d %H:%M}",
            f"{info.last_accessed_at:%Y-%m-%d %H:%M}",
            f"{info.messages:,}",
            f"{facts:,}",
            f"{info.log_bytes:,}",
            ", ".join(_options(info)),
        )
    out.print(table)


def _options(info: SessionInfo) -> Iterator[str]:
    """Yield the state and the options of a session, as far as they aren't the usual ones."""
    if info.closed_at is not None:
        yield f"closed {info.closed_at:%Y-%m-%d %H:%M}"
    if info.deleted:
        yield f"{info.deleted:,} deleted"
    if info.corrupt_lines:
        yield f"{info.corrupt_lines:,} corrupt"
    yield from (name for name, off in _OFF.items() if not getattr(info.options, off))
    for category, days in info.options.half_life_days.items():
        yield f"{category} {days:g} days"
    if info.options.floor is not None:
        yield f"floor {info.options.floor:g}"
    if info.options.language:
        yield info.options.language
    if info.options.verbosity != "normal":
        yield info.options.verbosity


def overview(found: Overview) -> None:
    """Print a profile and a history, each line with its date, without the empty fields."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    for name in type(found.profile).model_fields:
        told = getattr(found.profile, name)
        if told is not None:
            grid.add_row(_title(name), _day(told.updated_at), Text(told.text), _by(told.origin))
    for name in type(found.history).model_fields:
        for place, item in enumerate(getattr(found.history, name)):
            title = _title(name) if place == 0 else Text()
            grid.add_row(title, _day(item.at), Text(item.text), _by(item.origin))
    out.print(grid if grid.row_count else "nothing known yet")


def _title(name: str) -> Text:
    return Text(name.replace("_", " "), style="bold")


def _day(at: datetime) -> Text:
    return Text(f"{at:%Y-%m-%d}", style="dim")


def _by(origin: str) -> Text:
    return Text("" if origin == "derived" else f"by {origin}", style="dim")


def messages(found: Sequence[Message]) -> None:
    """Print messages in their order."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    for message in found:
        said = f"{message.created_at:%Y-%m-%d %H:%M}" if message.created_at else ""
        grid.add_row(Text(said, style="dim"), Text(message.speaker, style="bold"), message.content)
    out.print(grid)


def runs(found: Sequence[JobRun]) -> None:
    """Print the changes that jobs made, or would make."""
    for run in found:
        counts = ", ".join(f"{number:,} {kind}" for kind, number in run.counts.items())
        done = f"[red]{run.error}[/]" if run.error else counts or "nothing to do"
        out.print(f"[bold]{run.job}[/] {done} [dim]({run.users:,} users, {run.seconds:.1f} s)[/]")
        for line in run.planned:
            out.print(f"  would {line}", markup=False, highlight=False, soft_wrap=True)


def requests(found: Sequence[RequestToForget]) -> None:
    """Print a table of requests to forget."""
    table = _table("id", "asked", "session", "state", "subject")
    for one in found:
        asked = f"{one.asked_at:%Y-%m-%d %H:%M}"
        subject = "(everything)" if one.scope == "everything" else one.subject
        table.add_row(one.id, asked, one.session_id, one.state, Text(subject))
    out.print(table)


def audit(found: Sequence[PromptRecord]) -> None:
    """Print a table of what entered prompts, a row a memory."""
    table = _table("at", "session", "by", "memory", "why", "score")
    for block in found:
        about = [f"{block.at:%Y-%m-%d %H:%M:%S}", block.session_id, block.caller]
        for one in block.memories:
            score = "" if one.score is None else f"{one.score:.3f}"
            table.add_row(*about, one.id, one.reason, score)
            about = ["", "", ""]
    out.print(table)


def proof(found: Proof) -> None:
    """Print what was searched after a forgetting, and what was found."""
    out.print(
        f"searched {found.files:,} files, {found.bytes:,} bytes, for {found.texts:,} texts:"
        f" {'found in' if found.found else 'nothing found'}",
        soft_wrap=True,
    )
    for trace in found.found:
        words = f"words, perhaps of its format: {', '.join(trace.words)}" if trace.words else ""
        parts = [f"{trace.stretches:,} stretches of text" if trace.stretches else "", words]
        told = "; ".join(part for part in parts if part)
        out.print(f"  {trace.file}: {told}", markup=False, highlight=False, soft_wrap=True)

    if found.receipt is not None:
        out.print("receipt:", highlight=False)
        out.print(found.receipt.model_dump_json(), markup=False, highlight=False, soft_wrap=True)


def would_forget(found: Forgotten) -> None:
    """Print what a forgetting would delete, what it leaves, and why it would be refused."""
    facts(found.memories)
    for sentence in found.sentences:
        out.print(f"cut out of a message: {sentence}", markup=False)
    kept_in(found.kept_in)
    if found.warning:
        warn(f"{found.warning}: add --force to forget it nonetheless")


def kept_in(places: Sequence[str]) -> None:
    """Print the places of texts that hold what was forgotten, and stay."""
    for place in places:
        warn(f"written by hand, and stays: {place}")


def verified(found: Verified) -> None:
    """Print the outcome of verifying a receipt."""
    if not found.issued:
        out.print("not a receipt of this store, or changed since")
    elif found.back:
        out.print(f"genuine, but {len(found.back):,} memories are back: {', '.join(found.back)}")
    else:
        out.print("genuine: what it names is still forgotten")


def findings(found: Sequence[Finding]) -> None:
    """Print the outcome of checks, each problem with its remedy."""
    for finding in found:
        mark = "[green]ok  [/]" if finding.ok else "[red]FAIL[/]"
        out.print(f"{mark} {finding.check}: ", end="")
        out.print(finding.detail, markup=False, highlight=False, soft_wrap=True)
        if finding.remedy:
            out.print(f"     -> {finding.remedy}", markup=False, soft_wrap=True)


def migrated(outcomes: Sequence[Migrated]) -> None:
    """Print the outcome of migrating each store."""
    for one in outcomes:
        if one.error is not None:
            said = f"failed: {one.error}"
        elif one.before == one.after:
            said = f"has schema {one.after} already"
        else:
            said = f"schema {one.before} -> {one.after}"
        out.print(f"{one.directory}: {said}", highlight=False, markup=False, soft_wrap=True)


def number(done: str, of: int, *, json: bool) -> None:
    """Print the number of memories that something was done to."""
    as_json({done: of}) if json else out.print(f"{done} {of:,} memories")


def history(versions: Sequence[FactVersion]) -> None:
    """Print a table of the states of a memory."""
    table = _table("version", "at", "what", "why", "status", "conf.", "memory")
    for version in versions:
        table.add_row(
            str(version.version),
            f"{version.at:%Y-%m-%d %H:%M:%S}",
            version.action,
            _cause(version),
            version.fact.status.value,
            f"{version.fact.confidence:.2f}",
            Text(version.fact.content),
        )
    out.print(table)


def _cause(version: FactVersion) -> Text:
    """Describe why a fact came into a state, and what decided it where it ended."""
    cause = version.fact.ended_by
    if cause is None or version.fact.status is not Status.SUPERSEDED:
        return Text(version.reason)
    quote = f"\n“{cause.quote}”" if cause.quote else ""
    return Text.assemble(
        version.reason or cause.reason, (f"{quote}\ndecided by {cause.decided_by}", "dim")
    )


def pairs(values: dict[str, Any]) -> None:
    """Print a table of names and values."""
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, value in values.items():
        shown = f"{value:,}" if isinstance(value, int) else str(value)
        table.add_row(Text(name, style="dim"), shown)
    out.print(table)


@contextmanager
def progress(quiet: bool) -> Iterator[Report]:
    """Show the progress of a long task on standard error, also without a terminal."""
    if quiet:
        yield lambda *_: None
    elif err.is_terminal:
        with bars(err) as report:
            yield report
    else:
        yield Lines(lambda line: err.print(line, markup=False, highlight=False, soft_wrap=True))


def warn(message: str) -> None:
    """Print a note on standard error."""
    err.print(Text.assemble(("note: ", "yellow"), message), soft_wrap=True)


def _table(*columns: str) -> Table:
    table = Table(header_style="bold", expand=False)
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=column in ("score", "said", "conf."))
    return table


def _about(fact: Fact) -> tuple[str, str, str, str]:
    said = f"{fact.created_at:%Y-%m-%d}"
    return said, fact.category.value, f"{fact.confidence:.2f}", fact.trust.value
