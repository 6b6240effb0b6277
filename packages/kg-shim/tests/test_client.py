"""The client's name in the User-Agent."""

from __future__ import annotations

import pytest
from kg_shim.client import user_agent

START = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":'


@pytest.mark.parametrize(
    ("info", "agent"),
    [
        (b'{"name":"claude-code","version":"2.1.3"}', b"claude-code/2.1.3 (kg mcp)"),
        (b'{ "version" : "1" ,\t"name" : "Visual Studio Code" }', b"Visual-Studio-Code/1 (kg mcp)"),
        (b'{"name":"codex-mcp-client"}', b"codex-mcp-client (kg mcp)"),
        (b'{"icons":[{"src":"x"}],"title":"T","name":"a","version":"b"}', b"a/b (kg mcp)"),
        (b'{"name":"a\\r\\nX-Evil: 1","version":"(b)/c\\u00e9"}', b"arnX-Evil-1/bcu00e9 (kg mcp)"),
        (b'{"name":"' + b"n" * 500 + b'","version":"1"}', b"n" * 64 + b"/1 (kg mcp)"),
        ('{"name":"é漢"}'.encode(), None),
        (b'{"name":7,"version":8}', None),
        (b'{"name":"', None),
        (b'{"name"', None),
        (b"{}", None),
    ],
    ids=repr,
)
def test_the_name_in_an_initialize_is_reduced_to_what_a_header_may_hold(info, agent):
    assert user_agent(START + info + b"}}") == agent


@pytest.mark.parametrize(
    "message",
    [
        b'{"method":"tools/call","params":{"clientInfo":{"name":"x"}}}',
        b'{"method":"tools/call","params":{"text":"\\"initialize\\" \\"clientInfo\\":{\\"name\\":\\"x\\"}"}}',
        b'{"method":"initialize"}',
        b"",
    ],
)
def test_no_other_message_names_a_client(message):
    assert user_agent(message) is None
