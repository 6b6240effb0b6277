"""The HTTP side: security first, then hooks and health, then MCP once its SDK is there."""
