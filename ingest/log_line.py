"""Format of the lines of a session log.

    {"crc":"<8 hex digits>","v":1,"after":"<8 hex digits>","kind":...,"data":{...}}
    {"crc":"<8 hex digits>","v":1,"after":"<8 hex digits>","sealed":"<kind and data, encrypted>"}

`crc` is the CRC-32 of the rest of the line, `after` the `crc` of the line before it, so that a line
that was taken out is missed. The first line has none, nor have lines of earlier versions.
"""

from __future__ import annotations

import json
import re
import zlib
from typing import Any

from semantic_memory.domain.errors import ConfigurationError, SchemaTooNewError
from semantic_memory.domain.logs import Entry
from semantic_memory.domain.ports.encryption import Encryption
from semantic_memory.domain.values import SCHEMA_VERSION

_PREFIX = b'{"crc":"'
_BODY = len(_PREFIX) + 8 + len(b'",')
_SEALED = re.compile(rb',"sealed":"([A-Za-z0-9_=-]+)"\}$')
_AFTER = re.compile(rb'"v":\d+,"after":"([0-9a-f]{8})"')


class LineFormat:
    """Writer and reader of lines. Encrypts if there is a key, and reads both forms."""

    def __init__(self, encryption: Encryption | None) -> None:
        self._encryption = encryption

    def write(self, kind: str, data: dict[str, Any], before: bytes) -> bytes:
        """Return the line, with its line end, that follows the one whose checksum is `before`.

        The first line, and one behind a damaged one, follows b"".
        """
        entry: dict[str, Any] = {"kind": kind, "data": data}
        if self._encryption is not None:
            entry = {"sealed": self._encryption.seal(_json(entry))}
        after = {"after": before.decode()} if before else {}
        body = _json({"v": SCHEMA_VERSION, **after, **entry})[1:]
        return b'%b%08x",%b\n' % (_PREFIX, zlib.crc32(body), body)

    def checksum(self, line: bytes) -> bytes:
        """Return the checksum of a line, by which the next one names it; b"" if it is damaged."""
        return _checksum(line) if self.is_sound(line) else b""

    def is_sound(self, line: bytes) -> bool:
        """Return True if a line has the form and the checksum of one."""
        body = line[_BODY:].rstrip(b"\n")
        return line.startswith(_PREFIX) and _checksum(line) == b"%08x" % zlib.crc32(body)

    def is_current(self, line: bytes) -> bool:
        """Return True if a line is encrypted with the first key; without one, if it is plain."""
        sealed = _SEALED.search(line)
        if sealed is None or self._encryption is None:
            return (sealed is None) == (self._encryption is None)
        return self._encryption.is_current(sealed[1].decode())

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
        if self._encryption is None:
            raise ConfigurationError(
                "the session logs are encrypted: set encryption.key_file"
                " (SEMANTIC_MEMORY_ENCRYPTION__KEY_FILE) to the file of the key they were written"
                " with"
            )
        return self._encryption.open(sealed)


class Chain:
    """The order of lines: finds where some are missing, as the lines are read one by one."""

    def __init__(self, line_format: LineFormat, last: bytes = b"") -> None:
        self._format = line_format
        self.last = last
        """The checksum of the last line; b"" if there was none, or it is damaged."""

    def breaks(self, line: bytes) -> bool:
        """Take the next line; return True if lines are missing before it.

        Damaged lines, and those that don't name the one before, are taken to be in place.
        """
        before, self.last = self.last, self._format.checksum(line)
        after = _AFTER.match(line, _BODY)
        return bool(before and self.last and after and after[1] != before)


def _checksum(line: bytes) -> bytes:
    """Return the checksum that a line has."""
    return line[len(_PREFIX) : _BODY - 2]


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
