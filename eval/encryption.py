"""Cost of encryption at rest: the same store in plain text and encrypted, in turns.

One user's 5,000 messages in 50 sessions. Vectors are drawn at random and nothing is extracted, so
that the figures are those of storage alone.
"""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from pathlib import Path
from statistics import median

from eval.processes import cpu_ms
from eval.vectors import RandomEmbedder
from ingest.encryption import Cipher, new_key
from semantic_memory.application.encrypting import convert_store
from semantic_memory.domain.messages import Message
from semantic_memory.memory import SemanticMemory
from semantic_memory.settings import (
    EncryptionSettings,
    IndexSettings,
    IngestSettings,
    Settings,
    UpkeepSettings,
)

_MEMORIES = 5_000
_SESSIONS = 50
_ROUNDS = 5
_SEARCHES = 100
_OBSERVED = 100
_USER = "u"
_WORDS = "scheduler cluster report ticket bicycle storage engine key rotation script team".split()


def measure_encryption(memories: int = _MEMORIES, rounds: int = _ROUNDS) -> dict[str, float]:
    """Open, search and write to a plain and an encrypted store in turns; medians of each.

    CPU is that of this process; Chroma, which only the plain store has, takes more in its own.
    """
    key = new_key()
    forms = {"plain": EncryptionSettings(), "encrypted": EncryptionSettings(key=key)}
    figures: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="semantic-memory-encryption-") as scratch:
        stores = {form: Path(scratch, form) for form in forms}
        with _opened(stores["plain"], forms["plain"]) as memory:
            _fill(memory, memories)
        shutil.copytree(stores["plain"], stores["encrypted"])
        start = time.perf_counter()
        convert_store(stores["encrypted"], Cipher([key]), 0.0, encrypt=True)
        figures["encrypt: ms"] = [1_000 * (time.perf_counter() - start)]
        for number in range(rounds):
            for form, encryption in forms.items():
                for name, took in _visit(stores[form], encryption, number).items():
                    figures.setdefault(f"{form}: {name}", []).append(took)
        for form, directory in stores.items():
            size = sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
            figures[f"{form}: MB on disk"] = [size / 1e6]
    return {name: median(values) for name, values in figures.items()}


def _opened(
    directory: Path, encryption: EncryptionSettings, exact_limit: int = 30_000
) -> SemanticMemory:
    settings = Settings(
        data_dir=directory,
        encryption=encryption,
        index=IndexSettings(exact_limit=exact_limit),
        ingest=IngestSettings(background=False),
        upkeep=UpkeepSettings(schedule=False),
    )
    return SemanticMemory.open(settings=settings, embedder=RandomEmbedder())


def _fill(memory: SemanticMemory, number: int) -> None:
    dice = random.Random(0)
    for session in range(_SESSIONS):
        memory.sessions.create(user_id=_USER, session_id=f"s{session}", extract=False)
        said = [_message(dice) for _ in range(number // _SESSIONS)]
        memory.observe(said, user_id=_USER, session_id=f"s{session}")
    memory.flush()


def _message(dice: random.Random) -> Message:
    return Message(role="user", content=" ".join(dice.choices(_WORDS, k=20)))


def _visit(directory: Path, encryption: EncryptionSettings, number: int) -> dict[str, float]:
    dice = random.Random(number)
    start = time.perf_counter()
    memory = _opened(directory, encryption)
    opened = 1_000 * (time.perf_counter() - start)
    try:
        start = time.perf_counter()
        memory.search("a scheduler", user_id=_USER)
        first = 1_000 * (time.perf_counter() - start)
        questions = [" ".join(dice.choices(_WORDS, k=3)) for _ in range(_SEARCHES)]
        searched = cpu_ms(lambda: [memory.search(one, user_id=_USER) for one in questions])
        said = [[_message(dice)] for _ in range(_OBSERVED)]
        observed = cpu_ms(
            lambda: [memory.observe(one, user_id=_USER, session_id="s0") for one in said]
        )
        flushed = cpu_ms(memory.flush)
    finally:
        memory.close()
    with _opened(directory, encryption, exact_limit=0) as outgrown:
        large = cpu_ms(lambda: [outgrown.search(one, user_id=_USER) for one in questions[:10]])
    return {
        "open ms": opened,
        "first search, which loads the user, ms": first,
        "search CPU ms": searched / _SEARCHES,
        "observe CPU ms": observed / _OBSERVED,
        "store and embed CPU ms a message": flushed / _OBSERVED,
        "search of a user not in RAM, CPU ms": large / 10,
    }
