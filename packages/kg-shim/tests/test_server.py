"""Addresses."""

from __future__ import annotations

import pytest
from kg_shim.server import Address, parse_url, percent_encoded


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("http://127.0.0.1:8765", ("127.0.0.1", 8765, "/", False)),
        ("http://host/", ("host", 80, "/", False)),
        ("https://host", ("host", 443, "/", True)),
        ("https://user:word@host:1/a/b/", ("host", 1, "/a/b/", True)),
        ("http://[::1]:9/", ("::1", 9, "/", False)),
        ("http://[::1]", ("::1", 80, "/", False)),
    ],
)
def test_a_url_is_taken_apart(url, parts):
    assert parse_url(url) == parts


@pytest.mark.parametrize("url", ["", "host:1", "ftp://host:1", "http://", "http://:1", "http://h:0", "http://h:x"])
def test_a_url_that_is_none_is_refused_with_the_form_it_should_have(url):
    with pytest.raises(ValueError, match="http://host:port"):
        parse_url(url)


def test_an_address_reads_as_a_host_header_does():
    assert str(Address("127.0.0.1", 1, "")) == "127.0.0.1:1"
    assert str(Address("::1", 1, "")) == "[::1]:1"


def test_a_path_is_encoded_to_one_line_of_ascii():
    assert percent_encoded("/a b/é\n%~") == b"/a%20b/%C3%A9%0A%25~"
    assert percent_encoded("/\udcff") == b"/%FF"
