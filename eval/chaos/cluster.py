"""A service of several workers on this machine: PostgreSQL, Chroma's server, workers, a proxy."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from eval.chaos import programs
from eval.chaos.postgres import PostgresServer, reachable_directory
from eval.chaos.programs import Database, Part, Program

CONFIGURATION = Path(__file__).parents[2] / "deploy" / "haproxy.cfg"
SCHEMA = "chaos"


@dataclass(frozen=True, slots=True)
class Cluster:
    """Parts of a running service, and where they are reached."""

    database: Database
    workers: Sequence[Program]
    chroma: Program
    server_url: str
    """The database without the schema."""
    chroma_url: str
    worker_urls: Sequence[str]
    urls: Sequence[str]
    """Addresses for clients: the proxy's; without a proxy, the workers'."""
    proxy: Program | None

    @property
    def parts(self) -> Mapping[str, Part]:
        """The parts that may be killed, by name."""
        killed: list[Part] = [*self.workers, self.database, self.chroma]
        return {part.name: part for part in killed}


@contextmanager
def cluster(settings: Mapping[str, str], logs: Path | None = None) -> Iterator[Cluster]:
    """Start a service of three workers with `settings` as environment; end it at last.

    Without HAProxy, there is no proxy. The logs of all programs go to `logs`.
    """
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sm-chaos-")))
        if logs is not None:
            stack.callback(_keep_logs, directory, logs)
        server = PostgresServer(reachable_directory())
        stack.callback(server.remove)
        database = Database(server)
        database.start()
        stack.callback(database.kill)
        chroma_port, proxy_port, *ports = programs.free_ports(2 + programs.WORKERS)
        chroma_url = f"http://127.0.0.1:{chroma_port}"
        chroma = programs.chroma(chroma_port, directory / "chroma")
        environment = {
            "SEMANTIC_MEMORY_STORE__URL": f"{server.url}&schema={SCHEMA}",
            "SEMANTIC_MEMORY_CACHE_DIR": str(directory / "cache"),
            "SEMANTIC_MEMORY_INDEX__PROVIDER": "chroma-server",
            "SEMANTIC_MEMORY_INDEX__URL": chroma_url,
            "SEMANTIC_MEMORY_SERVICE__LOG_LEVEL": "WARNING",
            **settings,
        }
        started = [
            programs.worker(number, port, directory, environment)
            for number, port in enumerate(ports, start=1)
        ]
        haproxy = programs.haproxy()
        worker_urls = [f"http://127.0.0.1:{port}" for port in ports]
        proxy = None
        if haproxy is not None:
            log = directory / "proxy.log"
            proxy = programs.proxy(haproxy, CONFIGURATION, proxy_port, ports, log)
        running = [chroma, *started, *([proxy] if proxy else [])]
        for program in running:
            stack.callback(program.kill)
            program.start()
        for program in running:
            program.wait()
        yield Cluster(
            database=database,
            workers=started,
            chroma=chroma,
            server_url=server.url,
            chroma_url=chroma_url,
            worker_urls=worker_urls,
            urls=[f"http://127.0.0.1:{proxy_port}"] if proxy else worker_urls,
            proxy=proxy,
        )


def _keep_logs(directory: Path, logs: Path) -> None:
    logs.mkdir(parents=True, exist_ok=True)
    for log in directory.glob("*.log"):
        shutil.copy(log, logs)
