"""Tools that say what was wrong with their arguments in the words of every other face."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools.base import Tool
from pydantic import ValidationError

from semantic_memory.domain.refusals import explain


class RefusingTool(Tool):
    """A tool whose refusals name the argument, the reason and what is known."""

    async def run(
        self,
        arguments: dict[str, Any],
        context: Context[Any, Any],
        convert_result: bool = False,
    ) -> Any:
        """Run the tool. Raises ToolError in one line for arguments that it can't use."""
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                said = explain(error.__cause__, self.fn_metadata.arg_model)
                raise ToolError(f"{self.name}: {said}") from None
            before, prefix, said = str(error).partition(f"Error executing tool {self.name}: ")
            if prefix and not before:
                raise ToolError(said) from error.__cause__
            raise
