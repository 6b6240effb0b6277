"""Errors that the shim makes itself."""

from __future__ import annotations

import json

import pytest
from kg_shim.rpc import LONGEST_SENTENCE, error_line, sentence_of


@pytest.mark.parametrize("number", [0, 1, -7, "a", "", "\ud800", None, 12345678901234567890])
def test_a_request_gets_its_own_id_back(number):
    line = error_line(json.dumps({"id": number, "method": "m"}).encode(), "Säntence")
    assert b"\n" not in line
    assert json.loads(line) == {"jsonrpc": "2.0", "id": number, "error": {"code": -32000, "message": "Säntence"}}


@pytest.mark.parametrize(
    "message", [b'{"method":"m"}', b'{"id":1,"result":{}}', b"[]", b"1", b"{", b"\xff", b"[" * 100_000], ids=len
)
def test_what_is_no_request_gets_no_answer(message):
    assert error_line(message, "x") is None


def test_bytes_that_are_no_utf_8_do_not_hide_the_id():
    assert json.loads(error_line(b'{"id":3,"method":"m","x":"\xff\xed\xa0\x80"}', "x"))["id"] == 3


def test_a_sentence_passes_and_a_page_is_described():
    assert sentence_of(409, b" Another\r\n storage. ", "here:1") == "Another storage."
    assert len(sentence_of(500, b"x" * 5000, "here:1")) == LONGEST_SENTENCE
    for page in (b"<html>", b'{"a":1}', b"", b" \n"):
        assert "here:1 answered with HTTP status 404" in sentence_of(404, page, "here:1")
