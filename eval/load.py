"""Load on a running service: concurrent clients search, observe and add; losses are counted.

The service runs in a process of its own. Sentences name their user, so that a memory returned to
another user is detected.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import httpx

from eval.bench import sentence
from eval.processes import seconds_of
from semantic_memory.client import AsyncClient
from semantic_memory.domain.errors import SemanticMemoryError
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.messages import Message
from semantic_memory.entrypoints.cli import show
from semantic_memory.entrypoints.rights import Right
from semantic_memory.entrypoints.state.file_keys import FileKeys
from semantic_memory.memory import SemanticMemory
from semantic_memory.settings import ADDRESS_FILE

QUESTIONS = (
    "When did we measure the read latency?",
    "What did my sister buy?",
    "Who visited the customer in March?",
    "Which talk did I plan?",
)
_START_SECONDS = 60.0
_BATCH = 200
_SAID = datetime(2026, 1, 1, tzinfo=UTC)
_MARK = re.compile(r"user-\d+")


@dataclass(slots=True)
class Outcome:
    """Observations of the clients."""

    requests: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    strays: int = 0
    """Number of hits that were another user's."""
    search_seconds: list[float] = field(default_factory=list)
    observed: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Texts of acknowledged messages, by user."""
    added: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Ids of acknowledged facts, by user; superseded facts keep their history."""
    lost: int = 0
    megabytes: list[float] = field(default_factory=list)
    """RSS of the service in MB, once a second."""
    cpu_seconds: float = 0.0
    """CPU of the service and its children under load, background work included."""

    def figures(self, seconds: float) -> dict[str, float]:
        """Return the figures to report."""
        searches = sorted(self.search_seconds) or [0.0]
        tenth = max(1, len(self.megabytes) // 10)
        return {
            "requests": sum(self.requests.values()),
            **{f"of them {verb}": number for verb, number in sorted(self.requests.items())},
            "requests a second": sum(self.requests.values()) / seconds,
            "CPU ms a request": 1_000 * self.cpu_seconds / max(1, sum(self.requests.values())),
            "errors": len(self.errors),
            "writes lost": self.lost,
            "hits of another user": self.strays,
            "search p50 ms": 1_000 * searches[len(searches) // 2],
            "search p95 ms": 1_000 * searches[int(0.95 * (len(searches) - 1))],
            "memory at first MB": sum(self.megabytes[:tenth]) / tenth,
            "memory at last MB": sum(self.megabytes[-tenth:]) / tenth,
        }


def fill(directory: Path, users: int, each: int) -> None:
    """Build a store of `users` users with `each` memories: messages, and facts extracted from them.

    All users say the same, so that most texts are embedded once, except every fifth sentence, which
    names its user.
    """
    dice = random.Random(0)
    sentences = [sentence(dice, place) for place in range(each)]
    names = [f"user-{number}" for number in range(users)]
    with show.progress(quiet=False) as report, SemanticMemory.open(directory) as memory:
        for start in range(0, each // 2, _BATCH):
            for user_id in names:
                _say(memory, user_id, "user", sentences, start, min(start + _BATCH, each // 2))
            memory.flush()
            report("observing", start, each // 2)
        for user_id in names:  # an assistant's messages yield no facts
            missing = each - len(memory.list(user_id=user_id, limit=None))
            _say(memory, user_id, "assistant", sentences, each - max(0, missing), each)
        memory.flush(report)


def _say(
    memory: SemanticMemory,
    user_id: str,
    role: Literal["user", "assistant"],
    sentences: Sequence[str],
    start: int,
    end: int,
) -> None:
    messages = [
        Message(
            id=f"m{place}",
            role=role,
            content=sentences[place] if place % 5 else _marked(user_id, sentences[place]),
            created_at=_SAID + timedelta(minutes=place),
        )
        for place in range(start, end)
    ]
    memory.observe(messages, user_id=user_id, session_id=f"s{start // _BATCH}")


@contextmanager
def service(directory: Path, *options: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Run a service over `directory`; yield its process and URL, then end it by a signal.

    Its log goes to the file service.log in the directory.
    """
    address = directory / ADDRESS_FILE
    address.unlink(missing_ok=True)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (directory / "service.log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603  # this project's program
            [
                sys.executable,
                *("-m", "semantic_memory.entrypoints.cli", "serve", "--port", "0"),
                *("--data-dir", str(directory)),
                *options,
            ],
            stderr=log,
        )
    try:
        yield process, _url(address, process)
    finally:
        process.terminate()
        process.wait()


def load(
    directory: Path, users: int, seconds: float, clients: int
) -> tuple[Outcome, dict[str, float]]:
    """Put load on a service over `directory`, then count lost writes."""
    keys = FileKeys(directory)
    key, token = keys.create("load", ["user-*"], list(Right), datetime.now(UTC))
    try:
        with service(directory) as (process, url):
            outcome = asyncio.run(_load(process.pid, url, token, users, seconds, clients))
    finally:
        keys.revoke(key.id)
    return outcome, outcome.figures(seconds)


async def _load(
    pid: int, url: str, token: str, users: int, seconds: float, clients: int
) -> Outcome:
    outcome = Outcome()
    async with AsyncClient(url, api_key=token, attempts=1) as client:
        for number in range(users):  # so that RAM is measured with all users loaded
            await client.search(QUESTIONS[0], user_id=f"user-{number}")
        ends, before = time.monotonic() + seconds, seconds_of(pid)
        async with asyncio.TaskGroup() as group:
            group.create_task(_watch(url, token, ends, outcome))
            for number in range(clients):
                group.create_task(_work(client, number, users, ends, outcome))
        outcome.cpu_seconds = seconds_of(pid) - before
        await client.flush()
        said = {"categories": [Category.CONVERSATION]}
        for user_id, texts in outcome.observed.items():
            kept = await client.list(user_id=user_id, filters=said, limit=None)
            outcome.lost += len(texts - {fact.content for fact in kept})
        for user_id, ids in outcome.added.items():
            for fact_id in ids:
                outcome.lost += not await client.history.versions(fact_id, user_id=user_id)
    return outcome


async def _work(
    client: AsyncClient, number: int, users: int, ends: float, outcome: Outcome
) -> None:
    dice = random.Random(number)
    turn = 0
    while time.monotonic() < ends:
        turn += 1
        user_id = f"user-{dice.randrange(users)}"
        verb = dice.choices(("search", "observe", "add"), (80, 15, 5))[0]
        text = _marked(user_id, f"{sentence(dice, turn)} By client {number}.")
        try:
            match verb:
                case "search":
                    start = time.perf_counter()
                    hits = await client.search(dice.choice(QUESTIONS), user_id=user_id, k=10)
                    outcome.search_seconds.append(time.perf_counter() - start)
                    outcome.strays += sum(_strays(hit.fact, user_id) for hit in hits)
                case "observe":
                    said = [Message(role="user", content=text)]
                    await client.observe(said, user_id=user_id, session_id=f"load-{number}")
                    outcome.observed[user_id].add(text)
                case "add":
                    fact = await client.add(text, user_id=user_id, category=Category.FINDING)
                    outcome.added[user_id].add(fact.id)
        except SemanticMemoryError as error:
            outcome.errors.append(f"{verb}: {type(error).__name__}: {error}")
        outcome.requests[verb] += 1


async def _watch(url: str, token: str, ends: float, outcome: Outcome) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60.0) as http:
        while time.monotonic() < ends:
            lines = (await http.get("/metrics")).text.splitlines()
            outcome.megabytes += [
                float(line.split()[1]) / 1e6
                for line in lines
                if line.startswith("process_resident_memory_bytes ")
            ]
            await asyncio.sleep(1)


def _strays(fact: Fact, user_id: str) -> bool:
    return fact.user_id != user_id or bool({*_MARK.findall(fact.content)} - {user_id})


def _url(address: Path, process: subprocess.Popen[bytes]) -> str:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if address.exists() and (text := address.read_text(encoding="utf-8")):
            url = str(json.loads(text)["url"])
            httpx.get(f"{url}/readyz", timeout=_START_SECONDS).raise_for_status()
            return url
        time.sleep(0.02)
    raise TimeoutError(f"the service didn't start: see {address.with_name('service.log')}")


def _marked(user_id: str, text: str) -> str:
    return f"{user_id}: {text}"
