"""A process killed while it encrypts a store leaves one that is finished by running it again."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ingest.encryption import Cipher, new_key
from semantic_memory import SemanticMemory
from semantic_memory.application.encrypting import INTENT, convert_store
from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.settings import EncryptionSettings, IngestSettings, Settings
from semantic_memory.testing import HashEmbedder, InMemoryIndex
from tests.conftest import say
from tests.crash.test_kill import ROOT
from tests.support.effort import rounds

KILLS = rounds(full=12, quick=2)
SESSIONS = 60
SAID = 20
KEY = new_key()


def opened(directory: Path, *, encrypted: bool) -> SemanticMemory:
    encryption = EncryptionSettings(key=KEY) if encrypted else EncryptionSettings()
    settings = Settings(encryption=encryption, ingest=IngestSettings(background=False))
    index = None if encrypted else InMemoryIndex()
    return SemanticMemory.open(directory, settings=settings, embedder=HashEmbedder(), index=index)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a plain and an encrypted store with the same memories."""
    plain, sealed = (tmp_path_factory.mktemp(name) / "store" for name in ("plain", "sealed"))
    with opened(plain, encrypted=False) as memory:
        for number in range(SESSIONS):
            user, session = f"u{number % 7}", f"s{number}"
            memory.sessions.create(user_id=user, session_id=session, extract=False)
            said = say(*(f"terracotta {number} {n}" for n in range(SAID)))
            memory.observe(said, user_id=user, session_id=session)
        memory.flush()
    shutil.copytree(plain, sealed)
    convert_store(sealed, Cipher([KEY]), 0.0, encrypt=True)
    return {"encrypt": plain, "decrypt": sealed}


@pytest.mark.parametrize("way", ["encrypt", "decrypt"])
@pytest.mark.parametrize("round_", range(KILLS))
def test_a_conversion_killed_at_any_moment_loses_nothing(stores, tmp_path, way, round_):
    directory = tmp_path / "store"
    shutil.copytree(stores[way], directory)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.crash.encrypting", str(directory), KEY, way],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(random.Random(f"{way} {round_}").uniform(0.0, 0.6))
    process.kill()
    process.wait()
    process.stdout.close()
    if (directory / INTENT).exists():
        with pytest.raises(ConfigurationError, match="was cut off"):
            opened(directory, encrypted=True)
    convert_store(directory, Cipher([KEY]), 0.0, encrypt=True)
    for path in directory.rglob("*"):
        assert not path.is_file() or b"terracotta" not in path.read_bytes(), path
    with opened(directory, encrypted=True) as memory:
        assert memory.admin.stats().memories == SESSIONS * SAID
        held = [
            memory.sessions.messages(user_id=f"u{n % 7}", session_id=f"s{n}")
            for n in range(SESSIONS)
        ]
        assert {len(messages) for messages in held} == {SAID}
