"""The groups of the clients' methods, with the methods of those in `semantic_memory.groups`."""

from __future__ import annotations

from semantic_memory.client.connection import AsyncConnection, Connection
from semantic_memory.client.methods import (
    awaited,
    followed,
    followed_async,
    sent,
    streamed,
    streamed_async,
)
from semantic_memory.client.tables import (
    admin,
    events,
    history,
    items,
    jobs,
    profile,
    sessions,
    transfer,
)


class _Group:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection


class _AsyncGroup:
    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection


class ClientSessions(_Group):
    """`memory.sessions` of a service."""

    create = sent(sessions.create)
    load = sent(sessions.load)
    close = sent(sessions.close)
    configure = sent(sessions.configure)
    messages = sent(sessions.messages)
    pop = sent(sessions.pop)
    list = sent(sessions.list_)


class ClientProfiles(_Group):
    """`memory.profile` of a service."""

    get = sent(profile.get)
    update = sent(profile.update)
    history = sent(profile.history)
    tags = sent(profile.tags)
    layout = sent(profile.layout)


class ClientHistory(_Group):
    """`memory.history` of a service."""

    versions = sent(history.versions)
    explain = sent(history.explain)
    restore = sent(history.restore)
    audit = sent(history.audit)
    retired = sent(history.retired)
    undo = sent(history.undo)
    to_confirm = sent(history.to_confirm)
    accept = sent(history.accept)
    reject = sent(history.reject)
    labels = sent(history.labels)
    requests = sent(history.requests)
    settle = sent(history.settle)


class ClientTransfers(_Group):
    """`memory.transfer` of a service."""

    add_many = sent(transfer.add_many)
    load = sent(transfer.load)
    to_dict = sent(transfer.to_dict)
    from_dict = sent(transfer.from_dict)
    export = streamed(transfer.export)


class ClientEvents(_Group):
    """`memory.events` of a service."""

    list = sent(events.list_)
    subscribe = followed(events.subscribe)


class ClientJobs(_Group):
    """`memory.jobs` of a service."""

    run = sent(jobs.run)
    runs = sent(jobs.runs)


class ClientAdmin(_Group):
    """`memory.admin` of a service."""

    users = sent(admin.users)
    ids = sent(admin.ids)
    stats = sent(admin.stats)
    check = sent(admin.check)
    rebuild = sent(admin.rebuild)
    verify_receipt = sent(admin.verify_receipt)


class ClientItems(_Group):
    """`memory.items` of a service."""

    put = sent(items.put)
    get = sent(items.get)
    delete = sent(items.delete)
    list = sent(items.list_)
    search = sent(items.search)
    namespaces = sent(items.namespaces)


class AsyncClientSessions(_AsyncGroup):
    """`memory.sessions` of a service, awaited."""

    create = awaited(sessions.create)
    load = awaited(sessions.load)
    close = awaited(sessions.close)
    configure = awaited(sessions.configure)
    messages = awaited(sessions.messages)
    pop = awaited(sessions.pop)
    list = awaited(sessions.list_)


class AsyncClientProfiles(_AsyncGroup):
    """`memory.profile` of a service, awaited."""

    get = awaited(profile.get)
    update = awaited(profile.update)
    history = awaited(profile.history)
    tags = awaited(profile.tags)
    layout = awaited(profile.layout)


class AsyncClientHistory(_AsyncGroup):
    """`memory.history` of a service, awaited."""

    versions = awaited(history.versions)
    explain = awaited(history.explain)
    restore = awaited(history.restore)
    audit = awaited(history.audit)
    retired = awaited(history.retired)
    undo = awaited(history.undo)
    to_confirm = awaited(history.to_confirm)
    accept = awaited(history.accept)
    reject = awaited(history.reject)
    labels = awaited(history.labels)
    requests = awaited(history.requests)
    settle = awaited(history.settle)


class AsyncClientTransfers(_AsyncGroup):
    """`memory.transfer` of a service, awaited."""

    add_many = awaited(transfer.add_many)
    load = awaited(transfer.load)
    to_dict = awaited(transfer.to_dict)
    from_dict = awaited(transfer.from_dict)
    export = streamed_async(transfer.export)


class AsyncClientEvents(_AsyncGroup):
    """`memory.events` of a service, awaited."""

    list = awaited(events.list_)
    subscribe = followed_async(events.subscribe)


class AsyncClientJobs(_AsyncGroup):
    """`memory.jobs` of a service, awaited."""

    run = awaited(jobs.run)
    runs = awaited(jobs.runs)


class AsyncClientAdmin(_AsyncGroup):
    """`memory.admin` of a service, awaited."""

    users = awaited(admin.users)
    ids = awaited(admin.ids)
    stats = awaited(admin.stats)
    check = awaited(admin.check)
    rebuild = awaited(admin.rebuild)
    verify_receipt = awaited(admin.verify_receipt)


class AsyncClientItems(_AsyncGroup):
    """`memory.items` of a service, awaited."""

    put = awaited(items.put)
    get = awaited(items.get)
    delete = awaited(items.delete)
    list = awaited(items.list_)
    search = awaited(items.search)
    namespaces = awaited(items.namespaces)
