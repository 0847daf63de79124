"""Items of a running service, with the methods of `semantic_memory.items.Items`."""

from __future__ import annotations

from semantic_memory.client import item_verbs as verbs
from semantic_memory.client.sending import AsyncSender, Sender, awaited, sent


class ClientItems:
    """The items of a service's users, as `memory.items` has them. Thread-safe."""

    def __init__(self, sender: Sender) -> None:
        self.send = sender.send

    put = sent(verbs.put)
    get = sent(verbs.get)
    delete = sent(verbs.delete)
    list = sent(verbs.list_)
    search = sent(verbs.search)
    namespaces = sent(verbs.namespaces)


class AsyncClientItems:
    """`ClientItems` whose methods are awaited."""

    def __init__(self, sender: AsyncSender) -> None:
        self.send = sender.send

    put = awaited(verbs.put)
    get = awaited(verbs.get)
    delete = awaited(verbs.delete)
    list = awaited(verbs.list_)
    search = awaited(verbs.search)
    namespaces = awaited(verbs.namespaces)
