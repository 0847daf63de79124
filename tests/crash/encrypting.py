"""Encrypts a store, or decrypts it: python -m tests.crash.encrypting DIRECTORY KEY encrypt."""

from __future__ import annotations

import sys
from pathlib import Path

from ingest.encryption import Cipher
from semantic_memory.application.encrypting import convert_store

if __name__ == "__main__":
    directory, key, way = sys.argv[1:]
    print("begins", flush=True)
    convert_store(Path(directory), Cipher([key]), 0.0, encrypt=way == "encrypt")
