"""Effects of the settings of webhooks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from semantic_memory import SemanticMemory
from semantic_memory.domain.errors import ConfigurationError
from tests.support.webhooks import SECRET, Endpoint, receiving
from tests.unit.settings_effects.case import Trial, U, effect


def delivered(run: Trial) -> list[str] | str:
    """Return the kinds that an endpoint gets of an added and deleted fact."""
    hook = run.resources.enter_context(receiving())
    chosen = run.settings.webhook
    if chosen.url is not None:
        chosen = chosen.model_copy(update={"url": hook.url})
    try:
        memory = run.open(run.settings.model_copy(update={"webhook": chosen}))
    except ConfigurationError:
        return "refused"
    memory.delete(memory.add("Prefers tea", **U).id)
    wanted = run.expected if isinstance(run.expected, list) and run.expected else ["something"]
    run.eventually(lambda: hook.kinds == wanted)
    return hook.kinds


BOTH = ["memory.added", "memory.forgotten"]
PLACE = "http://127.0.0.1:9/hook"  # replaced by that of the endpoint of the run

effect("webhook.url", PLACE, was=[], becomes=BOTH, webhook__secret=SECRET)(delivered)
effect("webhook.secret", SECRET, was="refused", becomes=BOTH, webhook__url=PLACE)(delivered)
effect(
    "webhook.kinds",
    ["forgotten"],
    was=BOTH,
    becomes=["memory.forgotten"],
    webhook__url=PLACE,
    webhook__secret=SECRET,
)(delivered)


def sent(run: Trial, status: Callable[[], int]) -> tuple[Endpoint, SemanticMemory]:
    """Start an endpoint that answers so, and a store that delivers to it."""
    hook = run.resources.enter_context(receiving())
    hook.status = status
    chosen = run.settings.webhook.model_copy(update={"url": hook.url})
    return hook, run.open(run.settings.model_copy(update={"webhook": chosen}))


HOOK: Any = {"webhook__url": PLACE, "webhook__secret": SECRET}


@effect("webhook.senders", 1, was=2, becomes=1, **HOOK)
def under_way(run: Trial) -> int:
    """Return how many messages of two users an endpoint has that answers none."""
    answered = threading.Event()
    hook, memory = sent(run, lambda: 204 if answered.wait(60) else 500)
    run.resources.callback(answered.set)  # before the store closes, which waits for its senders
    for user_id in ("maya", "lea"):
        memory.add("Prefers tea", user_id=user_id)
    run.eventually(lambda: len(hook.received) >= run.expected)
    return len(hook.received)


@effect("webhook.batch", 10, was=["memory.added"] * 2, becomes=["memory.batch"], **HOOK)
def messages(run: Trial) -> list[str]:
    """Return the types of the messages for two facts that were added at once."""
    hook, memory = sent(run, lambda: 204)
    memory.transfer.add_many([{"content": "Prefers tea"}, {"content": "Lives in Oslo"}], **U)
    run.eventually(lambda: hook.kinds == run.expected)
    return hook.kinds


@effect("webhook.attempts", 1, was=0, becomes=1, **HOOK)
def given_up(run: Trial) -> int:
    """Return the dead letters after an endpoint refused an event once."""
    hook, memory = sent(run, lambda: 422)
    memory.add("Prefers tea", **U)

    def dead() -> int:
        state = memory.admin.stats().webhook
        return 0 if state is None else len(state.dead)

    run.eventually(lambda: bool(hook.received) and dead() == run.expected)
    return dead()
