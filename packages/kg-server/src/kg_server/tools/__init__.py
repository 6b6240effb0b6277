"""The MCP tools: their schemas in one table, their handlers, and the endpoint that alone imports the SDK."""
