"""What a plugin may import, and what that costs."""

from __future__ import annotations

import subprocess
import sys

import kg_server.plugins as api

HEAVY = ("mcp", "mcp_types", "starlette", "uvicorn", "pydantic", "click", "psutil", "orjson")


def test_the_plugin_interface_imports_none_of_the_servers_heavy_libraries() -> None:
    code = f"import sys, kg_server.plugins; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_every_exported_name_exists_and_is_documented() -> None:
    exported = [getattr(api, name) for name in api.__all__]
    undocumented = [one for one in exported if callable(one) and not one.__doc__]
    assert undocumented == []
