"""Format of the lines of a session log.

    {"crc":"<8 hex digits>","v":1,"kind":...,"data":{...}}
    {"crc":"<8 hex digits>","v":1,"sealed":"<kind and data, encrypted>"}

`crc` is the CRC-32 of the rest of the line.
"""

from __future__ import annotations

import json
import zlib
from typing import Any, NamedTuple

from ingest.encryption import Cipher
from semantic_memory.domain.errors import ConfigurationError, SchemaTooNewError
from semantic_memory.domain.values import SCHEMA_VERSION

_PREFIX = b'{"crc":"'
_BODY = len(_PREFIX) + 8 + len(b'",')


class Entry(NamedTuple):
    """Content of a line; `kind` is None if the line is damaged."""

    kind: str | None
    data: dict[str, Any]


class LineFormat:
    """Writer and reader of lines. Encrypts if there is a cipher, and reads both forms."""

    def __init__(self, cipher: Cipher | None) -> None:
        self._cipher = cipher

    def write(self, kind: str, data: dict[str, Any]) -> bytes:
        """Return the line, with its line end."""
        entry: dict[str, Any] = {"kind": kind, "data": data}
        if self._cipher is not None:
            entry = {"sealed": self._cipher.seal(_json(entry))}
        body = _json({"v": SCHEMA_VERSION, **entry})[1:]
        return b'%b%08x",%b\n' % (_PREFIX, zlib.crc32(body), body)

    def is_sound(self, line: bytes) -> bool:
        """Return True if a line has the form and the checksum of one."""
        body = line[_BODY:].rstrip(b"\n")
        crc = line[len(_PREFIX) : _BODY - 2]
        return line.startswith(_PREFIX) and crc == b"%08x" % zlib.crc32(body)

    def read(self, line: bytes) -> Entry:
        """Parse a line.

        Raises SchemaTooNewError for a line of a newer version, ConfigurationError for an encrypted
        line without its key.
        """
        if not self.is_sound(line):
            return Entry(None, {})
        record = json.loads(b"{" + line[_BODY:].rstrip(b"\n"))
        if record["v"] > SCHEMA_VERSION:
            raise SchemaTooNewError(
                f"a session log has schema {record['v']}, but this version of semantic-memory reads"
                f" up to {SCHEMA_VERSION}: upgrade the package (pip install -U semantic-memory)"
            )
        if "sealed" in record:
            record = json.loads(self._opened(record["sealed"]))
        return Entry(record["kind"], record["data"])

    def _opened(self, sealed: str) -> bytes:
        if self._cipher is None:
            raise ConfigurationError(
                "the session logs are encrypted: set log.key (SEMANTIC_MEMORY_LOG__KEY) or"
                " log.key_file to the key they were written with"
            )
        return self._cipher.open(sealed)


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
