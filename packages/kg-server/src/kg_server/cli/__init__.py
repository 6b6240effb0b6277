"""The command line: everything `kg` does besides `mcp` and `hook`, which the shim keeps to itself."""
