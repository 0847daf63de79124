"""Effects of the settings of webhooks."""

from __future__ import annotations

from semantic_memory.domain.errors import ConfigurationError
from tests.support.webhooks import SECRET, receiving
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
