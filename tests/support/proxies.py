"""HAProxy with the configuration that is deployed, before workers that say who they are."""

from __future__ import annotations

import re
import socket
import socketserver
import struct
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx

from tests.conftest import eventually

CONFIGURATION = Path(__file__).parents[2] / "deploy" / "haproxy.cfg"
NAME = "workers.test"
"""The name that `name_server` knows."""
ADDRESSES = ("127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5")
"""The addresses of the workers, of which a proxy may know only some."""
_A, _IN, _SECONDS = 1, 1, 1
_ANSWER, _AT_THE_QUESTION = 0x8180, 0xC00C


def version(program: str) -> tuple[int, int]:
    """Return the major and minor version of a HAProxy."""
    said = subprocess.run([program, "-v"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"version (\d+)\.(\d+)", said)
    assert found is not None, said
    return int(found[1]), int(found[2])


class _Named(BaseHTTPRequestHandler):
    """Answers everything with the address it was reached at."""

    def do_GET(self) -> None:
        body = str(self.connection.getsockname()[0]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def named_workers() -> Iterator[int]:
    """Serve at each of `ADDRESSES`, all at one port, as containers do; return the port."""
    servers = [ThreadingHTTPServer((ADDRESSES[0], 0), _Named)]
    port = servers[0].server_address[1]
    servers += [ThreadingHTTPServer((address, port), _Named) for address in ADDRESSES[1:]]
    with _running(servers):
        yield port


@contextmanager
def name_server(addresses: Sequence[str]) -> Iterator[int]:
    """Answer DNS questions for `NAME` with `addresses` as they then are; return the port."""

    class Answer(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            asked, listener = self.request
            question = asked[12 : asked.index(b"\0", 12) + 5]
            (kind,) = struct.unpack("!H", question[-4:-2])
            found = addresses if kind == _A else []
            head = struct.pack("!6H", *struct.unpack("!H", asked[:2]), _ANSWER, 1, len(found), 0, 0)
            row = struct.pack("!3HIH", _AT_THE_QUESTION, _A, _IN, _SECONDS, 4)
            rows = b"".join(row + socket.inet_aton(address) for address in found)
            listener.sendto(head + question + rows, self.client_address)

    with _running([server := socketserver.UDPServer(("127.0.0.1", 0), Answer)]):
        yield server.server_address[1]


@contextmanager
def proxy(
    program: str, directory: Path, workers: Mapping[str, str], asking: int | None = None
) -> Iterator[httpx.Client]:
    """Run HAProxy; names are asked of a port, each second."""
    text = CONFIGURATION.read_text(encoding="utf-8")
    if asking is not None:
        assert "parse-resolv-conf" in text
        text = text.replace("parse-resolv-conf", f"nameserver test 127.0.0.1:{asking}")
        text = text.replace("hold valid 5s", "hold valid 1s")
    directory.mkdir()
    file = directory / "haproxy.cfg"
    file.write_text(text, encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(
            [program, "-db", "-f", str(file)],
            env={**workers, "LISTEN": address},
            stdout=log,
            stderr=log,
        )
    try:
        with httpx.Client(base_url=f"http://{address}") as client:
            assert eventually(lambda: _listens(client, process, directory / "log"))
            yield client
    finally:
        process.kill()
        process.wait()


def await_workers(client: httpx.Client, addresses: Sequence[str]) -> None:
    """Wait until a proxy sends requests to these workers and to no others."""
    # Without a user they go in turn
    assert eventually(lambda: {client.get("/").text for _ in range(8)} == {*addresses}, seconds=20)


def _listens(client: httpx.Client, process: subprocess.Popen[bytes], log: Path) -> bool:
    assert process.poll() is None, log.read_text()
    try:
        return bool(client.get("/").text)
    except httpx.TransportError:
        return False


@contextmanager
def _running(servers: Sequence[socketserver.BaseServer]) -> Iterator[None]:
    threads = [threading.Thread(target=one.serve_forever, args=[0.05]) for one in servers]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()
        for thread in threads:
            thread.join()
