"""Effects of where the index is."""

from __future__ import annotations

from pydantic import SecretStr

from semantic_memory.domain.errors import ConfigurationError
from tests.support import chroma
from tests.unit.settings_effects.case import Trial, U, effect


def index_at(run: Trial, url: str) -> None:
    """Open the store with its index at a URL, and have it look at the index."""
    index = run.settings.index.model_copy(update={"url": SecretStr(url)})
    memory = run.open(run.settings.model_copy(update={"index": index}), index=None)
    memory.add("Owns a boat", **U)
    memory.admin.check()


@effect("index.provider", "none", was=True, becomes=False)
def chroma_has_a_directory(run: Trial) -> bool:
    index_at(run, "")
    return (run.directory / "store" / "chroma").exists()


@effect("index.url", "http://127.0.0.1:9", was=False, becomes=True, index__provider="chroma-server")
def index_has_a_place(run: Trial) -> bool:
    try:
        run.open(index=None)
    except ConfigurationError:
        return False
    return True


@effect("index.token", "abc", was={None}, becomes={"abc"}, index__provider="chroma-server")
def tokens_that_are_sent(run: Trial) -> set[str | None]:
    with chroma.refusing() as proxy:
        index_at(run, proxy.url)
    return {token for _, token in proxy.tokens}


@effect(
    "index.name",
    "trial",
    was={"semantic_memory"},
    becomes={"trial"},
    index__provider="chroma-server",
)
def beginnings_of_collections(run: Trial) -> set[str]:
    server = chroma.Server(run.directory / "server")
    run.resources.callback(server.kill)
    server.start()
    index_at(run, server.url)
    return {name.partition("-")[0] for name in server.held()}
