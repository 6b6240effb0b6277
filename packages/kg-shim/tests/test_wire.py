"""Answers that come in pieces."""

from __future__ import annotations

import socket

import pytest
from kg_shim.wire import Broken, Exchange, unchunk

BODY = b'{"x":"' + b"y" * 50 + b'"}'


@pytest.fixture
def ends():
    """An exchange and the server's end of its connection."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Exchange(ours), theirs


def test_an_answer_is_whole_when_its_last_byte_came_and_not_before(ends):
    exchange, server = ends
    answer = b"HTTP/1.1 404 Not Found\r\nContent-LENGTH:  %d \r\nx: y\r\n\r\n%b" % (len(BODY), BODY)
    for at in range(len(answer) - 1):
        server.sendall(answer[at : at + 1])
    assert exchange.receive(0.01) is None
    server.sendall(answer[-1:] + b"HTTP/1.1 200 of another answer")
    reply = exchange.receive(None)
    assert (reply.status, reply.body) == (404, BODY)


def test_an_answer_without_a_length_ends_with_its_connection(ends):
    exchange, server = ends
    server.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + BODY)
    assert exchange.receive(0.01) is None
    server.close()
    assert exchange.receive(None).body == BODY


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n1234",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\n1234\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n1234\r\n0\r\n\r\n",
        b"HTTP/1.1 OK\r\n\r\n",
    ],
)
def test_an_answer_that_is_not_whole_is_broken(ends, answer):
    exchange, server = ends
    server.sendall(answer)
    server.close()
    with pytest.raises(Broken):
        exchange.receive(None)


def test_an_answer_that_comes_while_the_request_is_still_being_sent_is_read(ends):
    exchange, server = ends
    server.sendall(b"HTTP/1.1 413 Too Large\r\ncontent-length: 5\r\n\r\nlarge")
    server.shutdown(socket.SHUT_RD)  # reads no further
    exchange.send(b"x" * (8 << 20))
    reply = exchange.receive(None)
    assert (reply.status, reply.body) == (413, b"large")


def test_chunks_are_put_together():
    chunked = b"3\r\nabc\r\nA;name=value\r\n0123456789\r\n0\r\n\r\n"
    assert unchunk(chunked) == b"abc0123456789"
    for length in range(len(chunked) - 4):
        assert unchunk(chunked[:length]) is None
