"""State of a service beside the memory: API keys, answers to repeat, rates of requests.

In files of one machine (`embedded`), or in a PostgreSQL database for any number of workers
(`shared`); `opened` chooses.
"""

from semantic_memory.entrypoints.state.opening import ServiceState, opened

__all__ = ["ServiceState", "opened"]
