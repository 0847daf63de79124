"""Beliefs in a running service, with the methods of `semantic_memory.beliefs.Beliefs`."""

from __future__ import annotations

from semantic_memory.client import belief_verbs as verbs
from semantic_memory.client.sending import AsyncSender, Sender, awaited, sent


class ClientBeliefs:
    """The beliefs of a service's users, as `memory.beliefs` has them. Thread-safe."""

    def __init__(self, sender: Sender) -> None:
        self.send = sender.send

    retired = sent(verbs.retired)
    undo = sent(verbs.undo)
    to_confirm = sent(verbs.to_confirm)
    accept = sent(verbs.accept)
    reject = sent(verbs.reject)
    labels = sent(verbs.labels)


class AsyncClientBeliefs:
    """`ClientBeliefs` whose methods are awaited."""

    def __init__(self, sender: AsyncSender) -> None:
        self.send = sender.send

    retired = awaited(verbs.retired)
    undo = awaited(verbs.undo)
    to_confirm = awaited(verbs.to_confirm)
    accept = awaited(verbs.accept)
    reject = awaited(verbs.reject)
    labels = awaited(verbs.labels)
