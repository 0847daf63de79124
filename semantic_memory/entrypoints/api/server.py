"""Running the service: opens the store, listens, and says where."""

from __future__ import annotations

import logging
import logging.config
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from types import ModuleType

import uvicorn
from fastapi import FastAPI
from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector

from semantic_memory.application.keyring import make_encryption
from semantic_memory.bootstrap import Parts, build
from semantic_memory.concurrency import SystemClock
from semantic_memory.domain.errors import (
    ConfigurationError,
    MissingDependencyError,
    StoreUnavailableError,
)
from semantic_memory.domain.observers import log_event, telling
from semantic_memory.domain.ports import Embedder, Observer
from semantic_memory.entrypoints.api.access import Doorkeeper
from semantic_memory.entrypoints.api.app import create_app
from semantic_memory.entrypoints.api.connections import guarded
from semantic_memory.entrypoints.api.feed import Streams
from semantic_memory.entrypoints.api.workers import Workers
from semantic_memory.entrypoints.metrics import MetricsObserver, shared_by_processes
from semantic_memory.entrypoints.state import opened
from semantic_memory.memory import SemanticMemory
from semantic_memory.session.memory_files import system_directories
from semantic_memory.settings import ServiceSettings, Settings
from semantic_memory.sharing.sharing import Sharing

_logger = logging.getLogger("semantic_memory.service")
_MOST_MEGABYTES = 2_000
_SWITCH_SECONDS = 0.001  # a request waits so long for each thread that computes, several times
_GRACE_SECONDS = 5  # for requests of other processes, when an agent or a command ends


def serve(
    settings: Settings,
    embedder: Embedder | None = None,
    listens: Callable[[str], None] | None = None,
) -> None:
    """Serve the store that the settings name until told to end, by as many processes as they say.

    `listens` is told the address.

    Raises ConfigurationError if it could be reached from elsewhere and there is no key, if the
    address is taken, or if several processes are to share a data directory.
    """
    service = settings.service
    if service.workers > 1 and settings.store.url is None:
        raise ConfigurationError(
            f"{service.workers} workers need store.url: a data directory belongs to one process"
        )
    configure_logging(service)
    settings = _adapted(settings)
    with _listening(service) as listener:
        if listens is not None:
            listens(_url(listener))
        if service.workers == 1:
            work(settings, listener, embedder)
            return
        serving = partial(work, settings)
        with shared_by_processes() as note_end:
            number, drain = service.workers, service.drain_seconds
            failed = Workers(serving, listener, number, drain, note_end).run()
        if failed:
            raise StoreUnavailableError("a worker couldn't begin: the log has the reason")


def _adapted(settings: Settings) -> Settings:
    """Return the settings with the defaults of a service in place of a library's."""
    if settings.index.exact_megabytes is None:
        megabytes = max(1, _megabytes() // settings.service.workers)
        index = settings.index.model_copy(update={"exact_megabytes": megabytes})
        settings = settings.model_copy(update={"index": index})
    if settings.window.memory_directories is None:  # those of the account are no caller's
        window = settings.window.model_copy(update={"memory_directories": system_directories()})
        settings = settings.model_copy(update={"window": window})
    return settings


def work(settings: Settings, listener: socket.socket, embedder: Embedder | None = None) -> None:
    """Serve a socket in this process, until SIGTERM."""
    service = settings.service
    configure_logging(service)
    sys.setswitchinterval(_SWITCH_SECONDS)
    registry = CollectorRegistry()
    for collector in (ProcessCollector, PlatformCollector, GCCollector):
        collector(registry=registry)
    observers: list[Observer] = [MetricsObserver(registry), log_event]
    if service.tracing:
        observers.append(tracing := _tracing().Tracing())
    # uvicorn raises the signal again when it has ended; only this way everything is closed then.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    encryption = make_encryption(settings)
    with opened(settings.data_dir, encryption, settings.store.plain_url) as state:
        url = _url(listener)
        sharing = Sharing(settings, "service", encryption, url=url)
        doorkeeper = Doorkeeper(
            state.keys(), service.host, service.cors_origins, local_token=sharing.token
        )
        parts = Parts(embedder=embedder, observer=telling(observers))
        with (
            SemanticMemory(build(settings, parts, sharing=sharing)) as memory,
            state.replies(SystemClock()) as replies,
        ):
            observers.append(replies.withdraw)
            rates = state.rates(service.requests_per_minute)
            app = create_app(memory, service, doorkeeper, replies, rates, registry)
            listeners = [listener, *filter(None, [sharing.listener])]
            with tracing.traced(app) if service.tracing else nullcontext():
                _logger.info("serving %s at %s", settings.place, url)
                Server(app, configured(app, service)).run(sockets=listeners)


class Server(uvicorn.Server):
    """Server of an app; it ends the app's streams before it waits for the requests under way."""

    def __init__(self, app: FastAPI, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._streams: Streams = app.state.streams

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish the requests under way."""
        self._streams.end()
        await super().shutdown(sockets)


@contextmanager
def serving(
    memory: SemanticMemory, token: str, observers: list[Observer]
) -> Iterator[uvicorn.Server]:
    """Build the server of a memory for other processes of this user, which know its token."""
    settings = memory.admin.settings
    # The next owner of the store does what is left.
    service = settings.service.model_copy(update={"drain_seconds": 0.0, "cors_origins": ()})
    encryption = make_encryption(settings)
    with (
        opened(settings.data_dir, encryption) as state,  # only directories are shared so
        state.replies(SystemClock()) as replies,
    ):
        doorkeeper = Doorkeeper(state.keys(), "127.0.0.1", local_token=token, closed=True)
        rates = state.rates(service.requests_per_minute)
        app = create_app(memory, service, doorkeeper, replies, rates, CollectorRegistry())
        config = configured(app, service)
        config.timeout_graceful_shutdown = _GRACE_SECONDS
        observers.append(replies.withdraw)
        try:
            yield Server(app, config)
        finally:  # the store stays open, and its events must not reach a closed file
            observers.remove(replies.withdraw)


def configured(app: FastAPI, service: ServiceSettings) -> uvicorn.Config:
    """Return the server's configuration: half of the connections may be without a request."""
    return uvicorn.Config(
        app,
        http=guarded(
            max(1, service.connections // 2), service.header_bytes, service.header_seconds
        ),
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=service.connections,
        timeout_graceful_shutdown=max(1, round(service.drain_seconds)),
    )


def _megabytes() -> int:
    """Bound the RAM of searches: a quarter of the machine's, but no more than is useful."""
    bytes_here = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(_MOST_MEGABYTES, bytes_here // 4_000_000))


def _tracing() -> ModuleType:
    try:
        from semantic_memory.entrypoints.api import tracing
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            f"service.tracing needs {error.name}, which isn't installed:"
            " pip install 'semantic-memory[tracing]'"
        ) from None
    return tracing


def configure_logging(service: ServiceSettings) -> None:
    """Log to standard error, as JSON or as text."""
    form = (
        {
            "()": "pythonjsonlogger.json.JsonFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s %(message)s",
            "rename_fields": {"asctime": "time", "levelname": "level", "name": "component"},
        }
        if service.log_format == "json"
        else {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}
    )
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {"chosen": form},
            "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "chosen"}},
            "root": {"handlers": ["stderr"], "level": "WARNING"},
            "loggers": {
                "semantic_memory": {"level": service.log_level},
                "uvicorn.error": {"level": "WARNING"},
            },
        }
    )


@contextmanager
def _listening(service: ServiceSettings) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in service.host else socket.AF_INET
    try:
        # Bound before the store is opened: an address that is taken costs nothing.
        listener = socket.create_server(
            (service.host, service.port), family=family, backlog=service.connections
        )
    except OSError as error:
        raise ConfigurationError(
            f"can't listen on {service.host} port {service.port}: {error.strerror or error}; set"
            " service.host and service.port, or give --host and --port"
        ) from error
    with listener:
        yield listener


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    match host:
        case "0.0.0.0":  # noqa: S104  # what is announced is for this machine
            host = "127.0.0.1"
        case "::":
            host = "[::1]"
        case _:
            host = f"[{host}]" if ":" in host else host
    return f"http://{host}:{port}"
