"""A service killed under load has all acknowledged writes on disk."""

from __future__ import annotations

import random
import subprocess
import threading
import time
from collections import defaultdict

from eval.load import service
from semantic_memory import Category, Message, SemanticMemory
from semantic_memory.client import Client
from semantic_memory.domain.errors import NotFoundError, SemanticMemoryError
from tests.conftest import eventually
from tests.support.effort import rounds

KILLS = rounds(full=10, quick=2)
WRITERS = 4


class Acknowledged:
    """Acknowledgements of the service."""

    def __init__(self) -> None:
        self.messages: dict[str, set[str]] = defaultdict(set)
        self.facts: list[tuple[str, str]] = []
        self.deleted: list[tuple[str, str]] = []


def write(url: str, number: int, dice: random.Random, done: Acknowledged, round_: int) -> None:
    """Write until the service is gone."""
    user_id = f"user-{number}"
    with Client(url, attempts=1) as client:
        for turn in range(1_000_000):
            name = f"{round_}.{number}.{turn}"
            try:
                match dice.choices(("observe", "add", "delete"), (6, 3, 1))[0]:
                    case "observe":
                        said = [Message(id=name, role="user", content=f"I like thing {name}")]
                        client.observe(said, user_id=user_id, session_id=f"s{round_}")
                        done.messages[user_id].add(name)
                    case "add":
                        fact = client.add(f"Knows item {name}", user_id=user_id)
                        done.facts.append((user_id, fact.id))
                    case "delete":
                        fact = client.add(f"Had item {name}", user_id=user_id)
                        client.delete(fact.id, user_id=user_id)
                        done.deleted.append((user_id, fact.id))
            except SemanticMemoryError:
                return


def kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def test_a_service_killed_under_load_keeps_every_acknowledged_write(tmp_path):
    directory = tmp_path / "store"
    directory.mkdir(mode=0o700)
    dice = random.Random(7)
    done = Acknowledged()
    for round_ in range(KILLS):
        with service(directory) as (process, url):
            threads = [
                threading.Thread(
                    target=write, args=(url, number, random.Random(dice.random()), done, round_)
                )
                for number in range(WRITERS)
            ]
            had = len(done.facts)
            for thread in threads:
                thread.start()
            assert eventually(lambda: len(done.facts) > had + 2, 60.0)  # noqa: B023
            time.sleep(dice.uniform(0.0, 1.0))
            kill(process)
            for thread in threads:
                thread.join()
    with SemanticMemory.open(directory) as memory:
        memory.flush()
        for user_id, ids in done.messages.items():
            said = memory.list(
                user_id=user_id, filters={"categories": [Category.CONVERSATION]}, limit=None
            )
            assert ids <= {message_id for fact in said for message_id in fact.message_ids}
        for user_id, fact_id in done.facts:
            assert memory.history.versions(fact_id, user_id=user_id)[-1].action != "forgotten"
        for user_id, fact_id in done.deleted:
            try:
                memory.get(fact_id, user_id=user_id)
            except NotFoundError:
                continue
            raise AssertionError(f"{fact_id} came back")
        assert [finding for finding in memory.admin.check() if not finding.ok] == []
