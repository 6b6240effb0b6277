"""What the server does with a memory: sessions, reading, writing, search, recall. No HTTP and no MCP here."""
