"""Effects of the settings of extraction in the background, and of the gate."""

from __future__ import annotations

from typing import Any

from semantic_memory import Message, SemanticMemory
from semantic_memory.domain.errors import InvalidInputError, ProviderError
from semantic_memory.domain.extraction import Extraction
from tests.conftest import say
from tests.unit.settings_effects.case import S, Trial, effect, facts, says

AWAKE = {"ingest__background": True}


class Unreachable:
    """An extractor that can't be reached."""

    name = "unreachable"
    calls = 0

    def extract(self, messages: Any, known: Any) -> Extraction:
        """Count the call, and fail."""
        self.calls += 1
        raise ProviderError("the endpoint can't be reached")


def extracted_soon(run: Trial) -> bool:
    """Return True if a fact is extracted by itself soon after a message."""
    memory = run.open(extractor=says("Maya likes tea"))
    memory.observe(say("I like tea"), **S)
    return run.eventually(lambda: facts(memory) != [])


effect("ingest.background", False, was=True, becomes=False, ingest__quiet_seconds=0)(extracted_soon)
effect("ingest.quiet_seconds", 0.01, was=False, becomes=True, **AWAKE)(extracted_soon)
effect("ingest.most_wait_seconds", 0.01, was=False, becomes=True, **AWAKE)(extracted_soon)
effect("ingest.most_messages", 1, was=False, becomes=True, **AWAKE)(extracted_soon)


@effect("ingest.retry_seconds", 0.05, was=False, becomes=True, **AWAKE, ingest__quiet_seconds=0)
def tried_again_soon(run: Trial) -> bool:
    extractor = Unreachable()
    memory = run.open(extractor=extractor)
    memory.observe(say("I like tea"), **S)
    return run.eventually(lambda: extractor.calls > 1)


def admitted(run: Trial) -> list[str]:
    """Return the facts that pass the gate."""
    memory = flushed(run, "Maya's address is maya@example.org")
    return [fact.content for fact in facts(memory)]


def flushed(run: Trial, *contents: str) -> SemanticMemory:
    """Return a store into which these facts have been extracted, with a confidence of 0.9."""
    memory = run.open(extractor=says(*contents))
    memory.observe(say("Write to maya@example.org"), **S)
    memory.flush()
    return memory


_KEPT = ["Maya's address is maya@example.org"]
effect("ingest.min_confidence", 0.95, was=_KEPT, becomes=[])(admitted)


@effect("ingest.secrets", "refuse", was="taken", becomes="refused")
def a_message_with_a_password(run: Trial) -> str:
    said = [Message(role="user", content="my pw: hunter2")]
    try:
        run.open().observe(said, **S)
    except InvalidInputError:
        return "refused"
    return "taken"


@effect("ingest.forget_requests", "at once", was="pending", becomes="done")
def a_request_to_forget(run: Trial) -> str:
    memory = run.open()
    memory.observe(say("Anna lives in Bergen.", "Please forget what I said about Anna."), **S)
    memory.flush()
    (request,) = memory.history.requests(user_id="u1")
    return request.state


@effect("log.secrets", "keep", was="my pw: [secret]", becomes="my pw: hunter2")
def kept_in_the_log(run: Trial) -> str:
    memory = run.open()
    memory.observe([Message(role="user", content="my pw: hunter2")], **S)
    return memory.sessions.messages(**S)[0].content


effect("ingest.personal_data", "redact", was=_KEPT, becomes=["Maya's address is [email]"])(admitted)
