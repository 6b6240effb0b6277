"""The poster with KG_URL: a server elsewhere."""

from __future__ import annotations

import pytest

ANSWER = '{"systemMessage":"é 漢字 😀"}'.encode()


@pytest.fixture
def token_file(home) -> str:
    """A file with the user's own token in it."""
    file = home.folder / "token"
    file.write_text("  own-token\n", encoding="utf-8")
    return str(file)


def test_the_payload_goes_to_the_server_named_with_the_token_from_the_file(
    home, listener, run_hook, token_file, python
):
    server = listener(lambda request: request.answer(ANSWER, X_KG_Ack="a-1"))
    environ = {"KG_URL": f"http://localhost:{server.port}/", "KG_TOKEN_FILE": token_file, "KG_STORAGE_ROOT": "/mine"}
    assert run_hook("PostToolUse", "codex", payload=b'{"x":"\xed\xa0\x80"}', python=python, **environ) == ANSWER
    hook, ack = server.requests
    assert (hook.target, hook.body) == ("POST /api/hook/PostToolUse", b'{"x":"\xed\xa0\x80"}')
    assert (ack.target, ack.body) == ("POST /api/ack", b'{"id": "a-1"}')
    for request in (hook, ack):
        assert request.headers["authorization"] == "Bearer own-token"
        assert request.headers["user-agent"] == "kg-hook/1 (codex)"
        assert "x-kg-root" not in request.headers  # the root of a server elsewhere is not ours to expect


def test_the_local_endpoint_is_left_alone_and_nothing_is_started(home, listener, run_hook):
    local = listener(lambda request: request.answer(ANSWER))
    closed = listener(lambda request: None, listening=False)
    home.endpoint(local.port)
    home.kg("open('started', 'w')")
    assert run_hook("SessionStart", KG_URL=f"http://127.0.0.1:{closed.port}") == b""
    assert local.requests == []
    assert not (home.folder / "started").exists()


def test_a_path_in_front_of_the_server_is_kept_and_no_token_is_needed(listener, run_hook):
    server = listener(lambda request: request.answer(ANSWER))
    assert run_hook("Stop", KG_URL=f"http://127.0.0.1:{server.port}/behind/proxy/") == ANSWER
    assert server.requests[0].target == "POST /behind/proxy/api/hook/Stop"
    assert "authorization" not in server.requests[0].headers


def test_an_answer_that_a_proxy_sent_in_chunks_is_printed_whole(listener, run_hook):
    chunks = b"4\r\n%b\r\n%x\r\n%b\r\n0\r\n\r\n" % (ANSWER[:4], len(ANSWER) - 4, ANSWER[4:])
    server = listener(lambda request: request.raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks))
    assert run_hook("Stop", KG_URL=f"http://127.0.0.1:{server.port}") == ANSWER


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 401 No\r\ncontent-length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n",
        b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n<html",
        b"SSH-2.0-OpenSSH\r\n",
        b"",
    ],
    ids=repr,
)
def test_anything_but_a_whole_answer_is_silent(listener, run_hook, answer):
    server = listener(lambda request: request.raw(answer))
    assert run_hook("SessionStart", KG_URL=f"http://127.0.0.1:{server.port}") == b""
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "environ",
    [
        {"KG_URL": "nonsense"},
        {"KG_URL": "ftp://127.0.0.1:1"},
        {"KG_URL": "http://127.0.0.1:port"},
        {"KG_URL": "http://127.0.0.1:1", "KG_TOKEN_FILE": "/nowhere/token"},
        {"KG_URL": "http://no-such-host.invalid:1"},
    ],
    ids=str,
)
def test_settings_that_lead_nowhere_are_silent(run_hook, environ):
    assert run_hook("SessionStart", **environ) == b""


def test_https_needs_a_certificate_that_is_trusted(tls_listener, run_hook, token_file):
    server = tls_listener(lambda request: request.answer(ANSWER))
    environ = {"KG_URL": f"https://localhost:{server.port}", "KG_TOKEN_FILE": token_file}
    assert run_hook("Stop", SSL_CERT_FILE=server.certificate, **environ) == ANSWER
    assert server.requests[0].headers["authorization"] == "Bearer own-token"
    assert run_hook("Stop", **environ) == b""
    assert len(server.requests) == 1
