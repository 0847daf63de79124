"""Adapters without their frameworks: the error names what to install."""

from __future__ import annotations

import subprocess
import sys

import pytest

ADAPTERS = {
    "adk": "google.adk.events",
    "agent_framework": "agent_framework",
    "langchain": "langchain.agents.middleware",
    "langgraph": "langgraph.store.base",
    "llama_index": "llama_index.core.memory",
    "openai_agents": "agents",
    "pydantic_ai": "pydantic_ai",
}


@pytest.mark.parametrize(("adapter", "framework"), ADAPTERS.items())
def test_without_its_framework_the_error_names_the_extra(adapter: str, framework: str) -> None:
    code = (
        f"import sys; sys.modules['{framework}'] = None\n"
        f"import semantic_memory.integrations.{adapter}"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ImportError" in done.stderr
    assert f"pip install 'semantic-memory[{adapter.replace('_', '-')}]'" in done.stderr
