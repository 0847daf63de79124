"""The groups of both clients, with the methods of those in `semantic_memory.groups`."""

from __future__ import annotations

from semantic_memory.client.methods import (
    ClientGroup,
    ConnectionT,
    lines,
    method,
    subscription,
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


class ClientSessions(ClientGroup[ConnectionT]):
    """`memory.sessions` of a service."""

    create = method(sessions.create)
    load = method(sessions.load)
    close = method(sessions.close)
    configure = method(sessions.configure)
    messages = method(sessions.messages)
    pop = method(sessions.pop)
    list = method(sessions.list_)


class ClientProfiles(ClientGroup[ConnectionT]):
    """`memory.profile` of a service."""

    get = method(profile.get)
    update = method(profile.update)
    history = method(profile.history)
    tags = method(profile.tags)
    layout = method(profile.layout)


class ClientHistory(ClientGroup[ConnectionT]):
    """`memory.history` of a service."""

    versions = method(history.versions)
    explain = method(history.explain)
    restore = method(history.restore)
    audit = method(history.audit)
    retired = method(history.retired)
    undo = method(history.undo)
    to_confirm = method(history.to_confirm)
    accept = method(history.accept)
    reject = method(history.reject)
    labels = method(history.labels)
    requests = method(history.requests)
    settle = method(history.settle)


class ClientTransfers(ClientGroup[ConnectionT]):
    """`memory.transfer` of a service."""

    add_many = method(transfer.add_many)
    load = method(transfer.load)
    to_dict = method(transfer.to_dict)
    from_dict = method(transfer.from_dict)
    export = lines(transfer.export)


class ClientEvents(ClientGroup[ConnectionT]):
    """`memory.events` of a service."""

    list = method(events.list_)
    subscribe = subscription(events.subscribe)


class ClientJobs(ClientGroup[ConnectionT]):
    """`memory.jobs` of a service."""

    run = method(jobs.run)
    runs = method(jobs.runs)


class ClientAdmin(ClientGroup[ConnectionT]):
    """`memory.admin` of a service."""

    users = method(admin.users)
    ids = method(admin.ids)
    stats = method(admin.stats)
    check = method(admin.check)
    rebuild = method(admin.rebuild)
    verify_receipt = method(admin.verify_receipt)


class ClientItems(ClientGroup[ConnectionT]):
    """`memory.items` of a service."""

    put = method(items.put)
    get = method(items.get)
    delete = method(items.delete)
    list = method(items.list_)
    search = method(items.search)
    namespaces = method(items.namespaces)
