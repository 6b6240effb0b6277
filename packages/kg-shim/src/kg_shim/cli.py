"""The command `kg`: two words are carried out here, before anything else is imported; the server has the rest."""

import sys

USAGE = {
    "mcp": "Usage: kg mcp\n\nConnects an MCP client (standard input and output) with the memory server.",
    "hook": (
        "Usage: kg hook EVENT [HARNESS]\n\nPosts a client's hook payload (standard input) to the memory server and "
        "prints its answer.\nSilent whenever there is none. Example: kg hook SessionStart < payload.json"
    ),
}
NOT_INSTALLED = (
    "The memory server is not installed beside this `kg`: install the package kg-server and your client's plugin "
    "package into the environment that kg-shim is in, as the README of kg says."
)


def main() -> None:
    """Carry out the command line."""
    word, rest = (sys.argv[1] if len(sys.argv) > 1 else ""), sys.argv[2:]
    if word not in USAGE:
        _serve_other_word(word)
    elif rest[:1] in (["--help"], ["-h"]):
        print(USAGE[word])
    elif word == "mcp" and not rest:
        from kg_shim import mcp

        mcp.main()
    elif word == "hook" and rest and not rest[0].startswith("-"):
        del sys.argv[1]
        import kg_shim.hook  # noqa: F401  # runs as it is imported, and ends the process
    else:
        print(USAGE[word], file=sys.stderr)
        sys.exit(2)


def _serve_other_word(word: str) -> None:
    from importlib import import_module

    try:
        server_main = import_module("kg_server.cli.main").main
    except ModuleNotFoundError as error:
        if error.name != "kg_server":  # installed, and broken: its own error says how
            raise
        if word == "start":
            _record()
        sys.exit(_complain())
    sys.exit(server_main())


def _complain() -> int:
    print(f"kg: {NOT_INSTALLED}", file=sys.stderr)
    return 2


def _record() -> None:
    """Leave the sentence where the session-start hook, whose streams are closed, finds it."""
    import os

    from kg_shim import state

    try:
        folder = state.state_folder(os.environ)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with open(os.path.join(folder, state.START_ERROR_FILE), "w", encoding="utf-8") as file:
            file.write(NOT_INSTALLED + "\n")
    except (OSError, ValueError):
        pass
