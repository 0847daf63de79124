"""Effects of the settings of the reranker."""

from __future__ import annotations

import socket

from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.domain.events import Reranked
from tests.unit.settings_effects.case import Trial, effect

AT = {"rerank__base_url": lambda run: run.server.url}
COHERE = {**AT, "rerank__provider": "cohere", "rerank__model": "m-1"}


def reranked(run: Trial) -> list[Reranked]:
    """Search three facts, by a server that knows no rerankers."""
    memory = run.open()
    for number in range(3):
        memory.add(f"Owns item {number}", user_id="u1")
    memory.flush()
    memory.search("item", user_id="u1")
    return run.seen(Reranked)


def refused(run: Trial) -> str:
    """Return what opening the store refuses."""
    try:
        run.open()
    except ConfigurationError as error:
        return str(error).rpartition("needs ")[2]
    return ""


@effect("rerank.provider", "tei", was=0, becomes=1, **AT)
def number_of_rerankings(run: Trial) -> int:
    return len(reranked(run))


effect("rerank.searches", True, was=0, becomes=1)(number_of_rerankings)
effect("rerank.model", "m-1", was="a model's name", becomes="", rerank__provider="cohere")(refused)
effect("rerank.base_url", "http://127.0.0.1:9", was="base_url", becomes="", rerank__provider="tei")(
    refused
)


@effect("rerank.candidates", 2, was=3, becomes=2, **COHERE)
def number_of_hits(run: Trial) -> int:
    return reranked(run)[0].hits


@effect("rerank.api_key", "sk-1", was=[None], becomes=["Bearer sk-1"], **COHERE)
def keys_sent(run: Trial) -> list[str | None]:
    run.server.keys.clear()
    reranked(run)
    return run.server.keys


def silent(run: Trial) -> str:
    """Return the address of a socket that takes connections and never answers."""
    listening = run.resources.enter_context(socket.create_server(("127.0.0.1", 0)))
    return f"http://127.0.0.1:{listening.getsockname()[1]}"


@effect(
    "rerank.timeout_seconds",
    0.05,
    was=False,
    becomes=True,
    **{**COHERE, "rerank__base_url": silent},
)
def is_left_before_long(run: Trial) -> bool:
    (event,) = reranked(run)
    assert "ReadTimeout" in (event.error or "")
    return event.seconds < 1
