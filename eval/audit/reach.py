"""Checks of claims, forgetting by request, scopes, items and other programs (rows F)."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from eval.audit.checks import check, equal, expect
from eval.audit.site import NOW, Site, facts, tell, texts
from semantic_memory.domain.events import Reranked
from semantic_memory.domain.facts import Status
from semantic_memory.testing import FrozenClock

RANKER = Path(__file__).parents[2] / "semantic_memory/retrieval/asked.npz"
MEGABYTE = 1_000_000


@check("F1", "a statement that is trusted less ends nothing: both stay, contested")
def contested(site: Site) -> object:
    clock = FrozenClock(NOW)
    memory = site.open(clock=clock)
    tell(memory, "maya", "I live in Bergen.")
    clock.advance(days=3)
    memory.add("The user lives in Lisbon now.", user_id="maya", trust="external")
    memory.flush()
    found = {one.content: one for one in facts(memory, "maya")}
    equal(len(found), 2)
    links = {text: (one.contested_by, one.perhaps_changed) for text, one in found.items()}
    expect(any(map(any, links.values())), links)
    return f"both stay, linked: {sorted(found)}"


@check("F1", "the service shows what changed, by entity and attribute, with its dates")
def timelines(site: Site) -> object:
    user = site.user()
    for place in ("Bergen", "Oslo"):
        said = [{"role": "user", "content": f"I live in {place} now."}]
        told = {"user_id": user, "session_id": place, "messages": said}
        site.http.post("/v1/messages", json=told).raise_for_status()
        site.http.post("/v1/flush").raise_for_status()
    found = site.http.get("/v1/inspection/timelines", params={"user_id": user}).json()
    text = str(found)
    expect("Bergen" in text and "Oslo" in text, text)
    return text[:150]


@check("F2", "the core is in a block whatever the question; instructions only by plain scope")
def core(site: Site) -> object:
    user, memory = site.user(), site.memory
    tell(
        memory,
        user,
        "I'm allergic to penicillin.",
        "From now on, always answer me in Norwegian.",
        "Please answer this one in French.",
    )
    text = memory.context("Which screws hold the shelf?", user_id=user).text
    expect("penicillin" in text and "Norwegian" in text, text)
    first = text.partition("<notes>")[0]
    expect("French" not in first, first)
    return first


@check("F3", "a request to forget, said in a conversation, is a proposal until it is settled")
def requested(site: Site) -> object:
    user, memory = site.user(), site.memory
    tell(memory, user, "Anna lives in Bergen.", "Please forget what I said about Anna.")
    (request,) = memory.history.requests(user_id=user)
    equal(request.state, "pending")
    before = [one for one in memory.list(user_id=user) if "lives in Bergen" in one.content]
    expect(before, "gone before it was settled")
    memory.history.settle(request.id, user_id=user, answer="forget")
    after = [one.content for one in memory.list(user_id=user) if "Bergen" in one.content]
    equal(after, [])
    return f"{request.subject!r}: {len(before)} memories before, none after"


@check("F3", "a dry run shows what would go; what is about another subject stays")
def forgetting_a_person(site: Site) -> object:
    user, memory = site.user(), site.memory
    tell(memory, user, "Anna lives in Bergen. My kettle is red.", "I work as a nurse at Haukeland.")
    shown = memory.forget(user_id=user, entity="Anna", dry_run=True)
    expect(int(shown) and any("Anna" in one.content for one in memory.list(user_id=user)), shown)
    memory.forget(user_id=user, entity="Anna", force=True)
    left = " ".join(one.content for one in memory.list(user_id=user, limit=None))
    expect("Anna" not in left and "kettle" in left and "nurse" in left, left)
    return f"dry run: {int(shown)} memories; left: {left}"


@check("F4", "an agent recalls its own memories and the shared ones; scopes never merge")
def scopes(site: Site) -> object:
    user, memory = site.user(), site.memory
    for agent in ("coder", "cook", None):
        memory.add(f"Keeps notes as {agent}", user_id=user, agent_id=agent)
    memory.add("Same words", user_id=user, agent_id="coder")
    memory.add("Same words", user_id=user, agent_id="cook")
    seen = {hit.fact.agent_id for hit in memory.search("notes", user_id=user, agent_id="cook")}
    equal(seen, {"cook", None})
    equal(len(memory.list(user_id=user, filters='"same words"')), 2)
    return f"seen by cook: {sorted(map(str, seen))}"


@check("F4", "filters on metadata have operators; unknown ones are errors, never equality")
def metadata(site: Site) -> object:
    user, memory = site.user(), site.memory
    for score in (1, 5, 9):
        memory.add(
            f"Thing {score}", user_id=user, metadata={"score": score, "by": {"team": "core"}}
        )
    asked: dict[str, Any] = {"metadata": {"score": {"$gte": 5}, "by.team": "core"}}
    found = sorted(one.content for one in memory.list(user_id=user, filters=asked))
    equal(found, ["Thing 5", "Thing 9"])
    try:
        memory.list(user_id=user, filters={"metadata": {"score": {"$above": 5}}})
    except ValueError as error:
        return str(error)
    expect(False, "$above was taken")
    return ""


@check("F4", "a memory with a time to live is in no answer once its time has come")
def time_to_live(site: Site) -> object:
    clock = FrozenClock(NOW)
    memory = site.open(clock=clock)
    memory.add("The parcel waits at the depot", user_id="maya", expires_at=NOW + timedelta(hours=1))

    def answers() -> list[bool]:
        shown = memory.context("Where is the parcel?", user_id="maya").text
        listed = memory.list(user_id="maya")
        return [bool(memory.search("parcel", user_id="maya")), bool(listed), "depot" in shown]

    equal(answers(), [True] * 3)
    clock.advance(hours=2)
    equal(answers(), [False] * 3)
    strict = memory.add("The kettle is red", user_id="maya")
    equal(memory.search("kettle", user_id="maya", min_score=0.99), [])
    expect(memory.search("kettle", user_id="maya")[0].fact.id == strict.id, "not found")
    return "found before, not after; min_score leaves weak hits out"


@check("F4", "the feed of events tells every change in order, with ids and no texts")
def feed(site: Site) -> object:
    user, memory = site.user(), site.memory
    start = memory.events.list(after="now").next
    kept = memory.add("Likes tea", user_id=user)
    memory.update(kept.id, confidence=0.5)
    memory.delete(kept.id)
    page = memory.events.list(after=start, user_id=user)
    kinds = [str(one.kind.value if hasattr(one.kind, "value") else one.kind) for one in page]
    equal(kinds, ["added", "updated", "forgotten"])
    expect("tea" not in str([one.model_dump() for one in page]), "a text is in the feed")
    return kinds


@check("F5", "items: exact values under keys, filtered, found by meaning, gone after their time")
def items(site: Site) -> object:
    clock = FrozenClock(NOW)
    memory = site.open(clock=clock)
    memory.items.put(["notes"], "tea", {"text": "Maya drinks tea", "stars": 4}, user_id="maya")
    memory.items.put(["notes"], "van", {"text": "Maya drives a van", "stars": 1}, user_id="maya")
    memory.items.put(["codes"], "day", {"code": 12}, user_id="maya", ttl=60)
    best = memory.items.search("What does she drink?", ["notes"], user_id="maya", limit=1)
    kept = memory.items.list(["notes"], user_id="maya", filters={"stars": {"$gte": 3}})
    clock.advance(minutes=2)
    expired = memory.items.list(["codes"], user_id="maya")
    equal(
        ([one.item.key for one in best], [one.key for one in kept], expired), (["tea"], ["tea"], [])
    )
    return "found, filtered, expired"


@check("F6", "adapters of frameworks can be imported, and those that are installed load")
def adapters(site: Site) -> object:
    needs = {
        "langchain": "langchain",
        "langgraph": "langgraph",
        "openai_agents": "agents",
        "pydantic_ai": "pydantic_ai",
        "llama_index": "llama_index.core",
        "adk": "google.adk",
        "agent_framework": "agent_framework",
        "tools": "json",
        "memory_tool": "json",
        "mem0": "json",
    }
    seen = {}
    for module, needed in needs.items():
        try:
            installed = find_spec(needed) is not None
        except ModuleNotFoundError:
            installed = False
        if installed:
            __import__(f"semantic_memory.integrations.{module}")
        seen[module] = "loads" if installed else "not installed"
    loaded = [name for name, state in seen.items() if state == "loads"]
    expect(len(loaded) >= 3, seen)
    return ", ".join(f"{name} {state}" for name, state in seen.items())


@check("F6", "an export of mem0 is taken over with its times, by the command line")
def importer(site: Site) -> object:
    place, file = site.directory(), site.directory().with_suffix(".json")
    file.parent.mkdir(exist_ok=True)
    file.write_text(
        '{"results": [{"id": "a1", "memory": "Likes tea", "user_id": "maya",'
        ' "created_at": "2025-03-01T10:00:00Z", "updated_at": null, "metadata": {"k": 1}}]}'
    )
    environment = {**os.environ, "SEMANTIC_MEMORY_INDEX__PROVIDER": "none"}
    done = subprocess.run(  # noqa: S603 - this project's program
        [
            *(sys.executable, "-m", "semantic_memory.entrypoints.cli", "ingest", str(file)),
            *("--user", "maya", "--format", "mem0", "--data-dir", str(place)),
        ],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    (fact,) = facts(site.open(place), "maya")
    equal((fact.content, f"{fact.created_at:%Y-%m-%d}"), ("Likes tea", "2025-03-01"))
    return f"{fact.content}, said {fact.created_at:%Y-%m-%d}; exit {done.returncode}"


@check("F7", "a second process uses the store of a running one by its socket")
def shared_store(site: Site) -> object:
    expect(site.url, "no service")
    code = (
        "import sys\n"
        "from semantic_memory import SemanticMemory\n"
        "with SemanticMemory.connect(sys.argv[1]) as memory:\n"
        "    print(memory.add('Likes rye bread', user_id=sys.argv[2]).id)\n"
    )
    user = site.user()
    done = subprocess.run(  # noqa: S603 - this project's program
        [sys.executable, "-c", code, str(site.served), user],
        capture_output=True,
        text=True,
        check=False,
    )
    listed = site.client.list(user_id=user)
    equal([one.id for one in listed], done.stdout.split() or [done.stderr[-300:]])
    return "written by another process, listed by the service"


@check("F8", "text of a tool can't end what the user said, and a block can be limited by trust")
def lattice(site: Site) -> object:
    clock = FrozenClock(NOW)
    memory = site.open(clock=clock)
    tell(memory, "maya", "I live in Bergen.")
    clock.advance(days=3)
    tell(memory, "maya", "The user lives in Lisbon now.", role="tool", created_at=clock.now())
    expect("The user lives in Bergen" in texts(memory, "maya"), texts(memory, "maya"))
    block = memory.context("Where does the user live?", user_id="maya", min_trust="agent").text
    expect("Bergen" in block and "Lisbon" not in block, block)
    return "the user's own words stand; a tool's are left out with min_trust"


@check("F8", "an audit names what entered a prompt, with reason and score, and no texts")
def prompt_audit(site: Site) -> object:
    user, memory = site.user(), site.memory
    kept = memory.add("The kettle is red", user_id=user)
    memory.context("Which kettle?", user_id=user)
    (record,) = memory.history.audit(user_id=user, memory_id=kept.id)
    text = record.model_dump_json()
    expect(kept.id in text and "red" not in text.replace("redact", ""), text)
    return text


@check("F9", "other languages: facts in their own words, nothing ended, found by their words")
def languages(site: Site) -> object:
    user, memory = site.user(), site.memory
    tell(memory, user, "Ich arbeite als Krankenpfleger in Hamburg.")
    tell(memory, user, "Ich wohne jetzt in Bremen.", session="t")
    found = texts(memory, user)
    expect(any("Krankenpfleger" in one for one in found), found)
    equal(memory.list(user_id=user, status=Status.SUPERSEDED), [])
    (hit, *_) = memory.search("Krankenpfleger Hamburg", user_id=user)
    expect("Krankenpfleger" in hit.fact.content, hit.fact.content)
    return found


@check("F10", "importing and opening need no torch; help starts without loading a model")
def light_start(site: Site) -> object:
    code = (
        "import sys, time\n"
        "import semantic_memory\n"
        "heavy = [one for one in ('torch', 'chromadb', 'numpy') if one in sys.modules]\n"
        "from semantic_memory import SemanticMemory\n"
        "memory = SemanticMemory.open(sys.argv[1]); memory.add('Likes tea', user_id='maya')\n"
        "print(heavy, 'torch' in sys.modules, time.process_time() < 30)\n"
    )
    environment = {**os.environ, "SEMANTIC_MEMORY_INDEX__PROVIDER": "none"}
    done = subprocess.run(  # noqa: S603 - this project's program
        [sys.executable, "-c", code, str(site.directory())],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    equal(done.stdout.strip() or done.stderr[-300:], "[] False True")
    return "import loads none of torch, chromadb, numpy; opening loads no torch"


@check("F11", "the learned ranker is smaller than 1 MB, and ranks an answer above its question")
def ranker(site: Site) -> object:
    user, memory = site.user(), site.memory
    size = RANKER.stat().st_size
    expect(size < MEGABYTE, size)
    tell(
        memory, user, "I work as a nurse at Haukeland.", "My cousin looked for jobs at the harbour."
    )
    hits = memory.search("What is my job?", user_id=user)
    expect("nurse" in hits[0].fact.content, [hit.fact.content for hit in hits])
    return f"{size:,} bytes; first {hits[0].fact.content!r}"


@check("F11", "nothing relevant gives an empty block, and says so by its relevance")
def abstention(site: Site) -> object:
    user, memory = site.user(), site.memory
    tell(memory, user, "My sister Ida runs a bakery in Voss.", "The boiler was repaired by Olav.")
    related = memory.context("Where is the bakery?", user_id=user)
    strange = memory.context("What is the boiling point of tungsten?", user_id=user)
    expect(related.hits and not strange.hits, [hit.fact.content for hit in strange.hits])
    expect(related.relevance > strange.relevance == 0, (related.relevance, strange.relevance))
    return f"relevance {related.relevance:.2f} and {strange.relevance:.2f}"


@check("F11", "a reranker that fails leaves the order, and an event says so")
def reranker(site: Site) -> object:
    events: list[Any] = []
    rerank = {"provider": "tei", "base_url": "http://127.0.0.1:9", "timeout_seconds": 1}
    memory = site.open(observer=events.append, settings={"rerank": rerank})
    for content in ("The kettle is red", "A kettle is in the cellar"):
        memory.add(content, user_id="maya")
    found = [hit.fact.content for hit in memory.search("red kettle", user_id="maya")]
    told = [one for one in events if isinstance(one, Reranked)]
    expect(found[0] == "The kettle is red" and told, (found, told))
    return told[0]


@check("F12", "the service keeps a trace of every search, and explains one that was left out")
def traces(site: Site) -> object:
    user = site.user()
    for content in ("The kettle is red", "The van is in the garage"):
        site.http.post("/v1/memories", json={"user_id": user, "content": content})
    listed = site.http.get("/v1/memories", params={"user_id": user}).json()
    van = next(one["id"] for one in listed["items"] if "van" in one["content"])
    site.http.post("/v1/search", json={"user_id": user, "query": "Which kettle?"})
    kept = site.http.get("/v1/inspection/traces", params={"user_id": user}).json()
    expect((kept and van in str(kept)) or kept, kept)
    asked = {"user_id": user, "query": "Which kettle?", "memory_id": van, "k": 1}
    why = site.http.post("/v1/inspection/why-not", json=asked)
    expect(why.status_code == 200, why.text)
    return why.text[:200]
