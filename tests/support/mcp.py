"""Contents of MCP's answers."""

from __future__ import annotations

from mcp.types import TextContent, TextResourceContents, Tool, ToolAnnotations


def text_of(content: object) -> str:
    """Return the text of a content that must have one."""
    assert isinstance(content, TextContent | TextResourceContents)
    return content.text


def hints(tool: Tool) -> ToolAnnotations:
    """Return the annotations of a tool, which must have some."""
    assert tool.annotations is not None
    return tool.annotations
