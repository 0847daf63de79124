"""Running the service: opens the store, listens, and says where."""

from __future__ import annotations

import json
import logging
import logging.config
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import ModuleType

import uvicorn
from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector

from semantic_memory.client.local import ADDRESS_FILE
from semantic_memory.concurrency import SystemClock
from semantic_memory.domain.errors import ConfigurationError, MissingDependencyError
from semantic_memory.domain.events import Event
from semantic_memory.domain.observers import log_event
from semantic_memory.domain.ports import Embedder, Observer
from semantic_memory.entrypoints.api.access import Doorkeeper
from semantic_memory.entrypoints.api.app import create_app
from semantic_memory.entrypoints.api.idempotency import Replies
from semantic_memory.entrypoints.keys import Keys
from semantic_memory.entrypoints.metrics import MetricsObserver
from semantic_memory.memory import SemanticMemory
from semantic_memory.session.memory_files import system_directories
from semantic_memory.settings import ServiceSettings, Settings

_logger = logging.getLogger("semantic_memory.service")
_MOST_MEGABYTES = 2_000


def serve(settings: Settings, embedder: Embedder | None = None) -> None:
    """Serve the store in `settings.data_dir` until told to end.

    Raises ConfigurationError if it could be reached from elsewhere and there is no key, or if the
    address is taken.
    """
    service = settings.service
    configure_logging(service)
    registry = CollectorRegistry()
    for collector in (ProcessCollector, PlatformCollector, GCCollector):
        collector(registry=registry)
    observers: list[Observer] = [MetricsObserver(registry), log_event]
    if service.tracing:
        observers.append(_tracing().note_event)

    def observe(event: Event) -> None:
        for observer in observers:
            observer(event)

    # uvicorn raises the signal again when it has ended; only this way everything is closed then.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if settings.index.exact_megabytes is None:
        index = settings.index.model_copy(update={"exact_megabytes": _megabytes()})
        settings = settings.model_copy(update={"index": index})
    if settings.window.memory_directories is None:  # those of whoever started it are no caller's
        window = settings.window.model_copy(update={"memory_directories": system_directories()})
        settings = settings.model_copy(update={"window": window})
    doorkeeper = Doorkeeper(Keys(settings.data_dir), service.host)
    with (
        _listening(service) as listener,
        SemanticMemory.open(settings=settings, embedder=embedder, observer=observe) as memory,
        _replies(settings.data_dir) as replies,
    ):
        observers.append(replies.withdraw)
        app = create_app(memory, service, doorkeeper, replies, registry)
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            limit_concurrency=service.connections,
            timeout_graceful_shutdown=max(1, round(service.drain_seconds)),
        )
        url = _url(listener)
        with (
            _tracing().traced(app) if service.tracing else nullcontext(),
            _announced(settings.data_dir, url, doorkeeper.local_token),
        ):
            _logger.info("serving %s at %s", settings.data_dir, url)
            uvicorn.Server(config).run(sockets=[listener])


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


@contextmanager
def _replies(data_dir: Path) -> Iterator[Replies]:
    replies = Replies(data_dir / "replies.sqlite3", SystemClock())
    try:
        yield replies
    finally:
        replies.close()


@contextmanager
def _announced(data_dir: Path, url: str, token: str) -> Iterator[None]:
    file = data_dir / ADDRESS_FILE
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as written:
        json.dump({"pid": os.getpid(), "url": url, "token": token}, written)
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


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
