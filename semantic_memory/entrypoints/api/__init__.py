"""The service: REST, metrics and MCP over HTTP."""
