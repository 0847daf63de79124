"""python -m semantic_memory.entrypoints.cli: the same as `semantic-memory`."""

from semantic_memory.entrypoints.cli import main

main()
