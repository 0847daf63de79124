"""Up to a thousand sessions at once: a fixed number of threads, and waiting messages on disk."""

import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

from semantic_memory import Candidate, Message
from semantic_memory.settings import IngestSettings, Settings
from semantic_memory.testing import ScriptedExtractor
from tests.conftest import eventually
from tests.support.effort import rounds

SESSIONS = rounds(full=1_000, quick=200)
CALLERS = 8
U = {"user_id": "u1"}


def remark(messages):
    return [
        Candidate(
            content=f"Said {m.content}", category="finding", confidence=1, message_ids=(m.id,)
        )
        for m in messages
    ]


def test_a_flood_of_sessions_takes_no_thread_more_and_is_all_extracted(open_memory):
    extractor = ScriptedExtractor(remark)
    settings = Settings(ingest=IngestSettings(quiet_seconds=0.2))
    before = threading.active_count()
    memory = open_memory(extractor=extractor, settings=settings)
    own = threading.active_count()
    counts = []

    def tell(lot: range) -> None:
        for number in lot:
            said = [Message(id="m", role="user", content=f"word{number}")]
            memory.observe(said, **U, session_id=f"s{number}")
        counts.append(threading.active_count())

    with ThreadPoolExecutor(CALLERS) as pool:
        list(pool.map(tell, [range(n, SESSIONS, CALLERS) for n in range(CALLERS)]))
    assert max(counts) <= own + CALLERS
    assert own - before <= 6

    def facts() -> int:
        count: int = memory.admin.stats().by_category_and_status.get("finding/active", 0)
        return count

    # counting facts reads the disk: wait for the calls first
    assert eventually(lambda: len(extractor.calls) >= SESSIONS, seconds=120)
    assert eventually(lambda: facts() == SESSIONS)
    assert threading.active_count() <= own


def test_what_waits_takes_no_memory(open_memory):
    """4 MB of messages wait for busy background work."""
    text = "word " * 20_000
    memory = open_memory(
        extractor=ScriptedExtractor(lambda _: []),
        settings=Settings(ingest=IngestSettings(background=False)),
    )
    memory.observe([Message(role="user", content="warm up")], **U, session_id="s")
    memory.flush()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for number in range(40):
        said = [Message(id="m", role="user", content=f"{number} {text}")]
        memory.observe(said, **U, session_id=f"s{number}")
    del said
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 1_000_000
    assert memory.admin.stats().log_bytes > 4_000_000
