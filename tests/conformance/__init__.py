"""The official MCP conformance suite and MCP Inspector against our server."""
