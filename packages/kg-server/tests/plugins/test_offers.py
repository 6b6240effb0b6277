"""What a plugin's handler may raise."""

from __future__ import annotations

import pytest
from kg_server.plugins import McpError


@pytest.mark.parametrize("data", [None, {"uri": "acme://x"}])
def test_an_error_keeps_its_code_message_and_data(data: object) -> None:
    error = McpError(-32602, "not there", data)
    assert (error.code, error.message, error.data, str(error)) == (-32602, "not there", data, "not there")
