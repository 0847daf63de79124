"""LangChain's standard tests of retrievers, run over `SemanticMemoryRetriever`.

    pip install langchain-tests
    python -m pytest -c /dev/null --rootdir . -o asyncio_mode=auto \
        tests/integrations/published_retriever.py
"""

from __future__ import annotations

import tempfile
from typing import Any

from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests

from semantic_memory import SemanticMemory
from semantic_memory.integrations.langchain import SemanticMemoryRetriever
from semantic_memory.testing import HashEmbedder, InMemoryIndex


class TestSemanticMemoryRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return SemanticMemoryRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        memory = SemanticMemory.open(
            tempfile.mkdtemp(), embedder=HashEmbedder(), index=InMemoryIndex()
        )
        for instrument in ("oboe", "piano", "lute", "harp"):
            memory.add(f"Maya plays the {instrument}", user_id="maya")
        return {"memory": memory, "user_id": "maya"}

    @property
    def retriever_query_example(self) -> str:
        return "What does Maya play?"
