"""`kg mcp` as a client sees it: lines in, lines out, a server that answers in every way."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import unquote_to_bytes

import kg_shim
import pytest
from kg_shim.carrier import BROKEN

INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "claude-code", "version": "2.1.3"},
}


def result(request) -> None:
    """Answer a request with its own parameters, anything else as a server answers a notification."""
    message = json.loads(request.body)
    if "id" not in message:
        request.answer(b"", 202)
    else:
        request.answer(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": message.get("params")}).encode())


@pytest.fixture
def shim(home, listener, start_shim):
    """Start a shim in front of a server with this script: shim(script, KG_URL=…)."""

    def start(script=result, **environ):
        server = listener(script)
        home.endpoint(server.port)
        started = start_shim(**environ)
        started.server = server
        return started

    return start


@pytest.fixture
def lone_shim(tmp_path: Path) -> tuple[str, ...]:
    """The arguments of an interpreter in whose environment only the shim is installed."""
    shutil.copytree(Path(kg_shim.__file__).parent, tmp_path / "lone" / "kg_shim")
    code = f"import sys; sys.path.insert(0, {str(tmp_path / 'lone')!r}); from kg_shim.mcp import main; main()"
    return ("-I", "-S", "-c", code)


def test_a_message_and_its_answer_pass_byte_for_byte(home, shim):
    request = (
        '{"id":1, "method":"tools/call","params":{"x":"é 漢字 😀 \\ud800","_meta":{"a":1}}}'.encode()[:-1]
        + b',"y":"\xed\xa0\x80\xff"}'
    )
    answer = (
        '{"jsonrpc":"2.0", "id":1,"result":{"x":"é 漢字 😀 \\udc00"}, "_meta":{}}'.encode()[:-1]
        + b',"y":"\xed\xb0\x80\xff"}'
    )
    client = shim(lambda one: one.answer(answer))
    client.write(b"  " + request + b" \r\n\n\n")
    assert client.line() == answer + b"\n"
    assert client.finish() == []
    (sent,) = client.server.requests
    assert sent.body == request
    assert sent.target == "POST /"
    assert sent.headers == {
        "host": f"127.0.0.1:{client.server.port}",
        "user-agent": "kg-shim/1",
        "accept": "application/json",
        "content-type": "application/json",
        "content-length": str(len(request)),
        "authorization": f"Bearer {'t' * 43}",
        "x-kg-shim": "1",
        "x-kg-root": f"{home.folder}/.knowledge-graph",
        "connection": "close",
    }


def test_the_client_is_named_from_its_initialize_on(shim):
    client = shim()
    for number, (method, params) in enumerate([("ping", {}), ("initialize", INITIALIZE), ("ping", {})]):
        client.call(number, method, **params)
        client.line()
    agents = [request.headers["user-agent"] for request in client.server.requests]
    assert agents == ["kg-shim/1", "claude-code/2.1.3 (kg mcp)", "claude-code/2.1.3 (kg mcp)"]


@pytest.mark.parametrize("root", ["/srv/é 漢/100%25\nx", "relative", "~/mine"])
def test_the_storage_root_is_named_whole(home, shim, root):
    client = shim(KG_STORAGE_ROOT=root)
    client.call(1)
    client.line()
    named = unquote_to_bytes(client.server.requests[0].headers["x-kg-root"]).decode()
    assert named == {"relative": os.path.abspath("relative"), "~/mine": f"{home.folder}/mine"}.get(root, root)


def test_an_accepted_notification_prints_nothing(shim):
    client = shim()
    client.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    client.call(2)
    assert client.answered() == 2
    assert client.finish() == []
    assert len(client.server.requests) == 2


@pytest.mark.parametrize("status", [200, 400, 404, 500])
def test_a_json_rpc_answer_passes_whatever_its_status(shim, status):
    answer = b'{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"no"}}'
    client = shim(lambda request: request.answer(answer, status))
    client.call(1)
    assert client.line() == answer + b"\n"


def test_an_answer_of_several_lines_becomes_one(shim):
    client = shim(lambda request: request.answer(b'{\r\n  "jsonrpc": "2.0",\n\r  "id": 1}\n'))
    client.call(1)
    assert json.loads(client.line()) == {"jsonrpc": "2.0", "id": 1}
    assert client.finish() == []


@pytest.mark.parametrize("status", [401, 403, 409, 413, 421, 503])
def test_a_sentence_of_the_server_reaches_the_request_as_an_error(shim, status):
    sentence = "This server keeps /srv/é, not ~/x:\n  run `kg restart`."
    client = shim(lambda request: request.answer(sentence.encode(), status))
    client.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    client.write(b'{"jsonrpc":"2.0","id":"srv-1","result":{}}\n')  # the client's answer to a request of a server
    client.write(b"no JSON at all\n")
    client.write(b'{"jsonrpc":"2.0","id":"a\\ud800","method":"ping"}\n')
    assert client.error() == ("a\ud800", "This server keeps /srv/é, not ~/x: run `kg restart`.")
    assert client.finish() == []


@pytest.mark.parametrize(
    ("status", "body"), [(200, b"<html>hi</html>"), (404, b'{"detail":"x"}'), (200, b""), (502, b"")]
)
def test_another_program_on_the_port_is_recognised(shim, status, body):
    client = shim(lambda request: request.answer(body, status))
    client.call(1)
    number, sentence = client.error()
    assert number == 1
    assert f"127.0.0.1:{client.server.port}" in sentence
    assert f"HTTP status {status}" in sentence


@pytest.mark.parametrize(
    "answer",
    [b"", b"HTTP/1.1 200 OK\r\n", b'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"jsonrpc"', b"SSH-2.0\r\n\r\n"],
    ids=["none", "half a head", "half a body", "no HTTP"],
)
@pytest.mark.parametrize("hard", [False, True], ids=["closed", "reset"])
def test_a_connection_that_breaks_is_reported_and_the_message_not_sent_again(shim, answer, hard):
    def script(request):
        request.raw(answer)
        if hard:
            request.reset()

    client = shim(script)
    client.write(b'{"jsonrpc":"2.0","method":"notifications/x"}\n')
    client.call(5, "tools/call")
    assert client.error() == (5, BROKEN)
    assert client.finish() == []
    assert len(client.server.requests) == 2


def test_a_new_token_is_read_and_the_message_that_was_refused_sent_once_more(home, shim):
    def script(request):
        if request.headers["authorization"] != "Bearer second":
            home.endpoint(client.server.port, "second")  # a restarted server writes it down a moment later
            request.answer(b"Wrong token: restart the client.", 401)
        else:
            result(request)

    client = shim(script)
    for number in (1, 2):
        client.call(number)
        assert client.answered() == number
    assert [request.headers["authorization"] for request in client.server.requests][1:] == ["Bearer second"] * 2


def test_a_message_is_sent_no_more_than_twice_whatever_the_token(home, shim):
    def script(request):
        home.endpoint(client.server.port, f"token-{len(client.server.requests)}")
        request.answer(b"Wrong token.", 401)

    client = shim(script)
    client.call(1)
    assert client.error() == (1, "Wrong token.")
    assert len(client.server.requests) == 2


def test_a_server_that_moved_to_another_port_is_found(home, shim, listener):
    client = shim()
    client.call(1)
    assert client.answered() == 1
    second = listener(result)
    home.endpoint(second.port, "another")
    client.server.close()
    client.call(2)
    assert client.answered() == 2
    assert second.requests[0].headers["authorization"] == "Bearer another"


def test_a_long_call_does_not_hold_up_a_later_ping(shim):
    release = threading.Event()

    def script(request):
        if b"slow" in request.body:
            release.wait(60)
        result(request)

    client = shim(script)
    client.call(1, "tools/call", name="slow")
    client.call(2)
    assert client.answered() == 2
    release.set()
    assert client.answered() == 1
    assert client.finish() == []


def test_messages_go_out_in_order(shim):
    client = shim()
    client.write(b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % number for number in range(100)))
    client.end_input()
    assert [json.loads(line)["id"] for line in client.finish()] == list(range(100))
    assert [json.loads(request.body)["id"] for request in client.server.requests] == list(range(100))


def test_answers_on_their_way_arrive_after_the_input_has_ended(shim):
    release = threading.Event()

    def script(request):
        release.wait(60)
        result(request)

    client = shim(script)
    client.call(1)
    client.write(b'{"jsonrpc":"2.0","id":2,"method":"ping"}')  # its last line without an end
    client.end_input()
    with pytest.raises(subprocess.TimeoutExpired):
        client.process.wait(0.3)  # it is not over while an answer is missing
    release.set()
    assert sorted(json.loads(line)["id"] for line in client.finish()) == [1, 2]


def test_megabytes_pass_both_ways_though_the_client_reads_only_after_it_wrote(shim):
    client = shim()
    text = "x" * (6 << 20)
    client.call(1, "x", text=text)
    for number in range(2, 12):
        client.call(number, "x", text=text[: 1 << 19])
    replies = {reply["id"]: reply["result"] for reply in (client.reply() for _ in range(1, 12))}
    assert replies == {number: {"text": text if number == 1 else text[: 1 << 19]} for number in range(1, 12)}


def up(port: int) -> str:
    """A `kg start` after which the endpoint file names this port."""
    return f"""
folder = '.local/state/knowledge-graph'
open(folder + '/new', 'w').write('{port} new\\n')
os.replace(folder + '/new', folder + '/endpoint')
open('started', 'a').write(repr(sys.argv[1:]) + '\\n')"""


@pytest.mark.parametrize("stale", [False, True])
def test_a_server_that_is_down_is_started_once_and_gets_the_message(home, listener, start_shim, stale):
    server = listener(result)
    home.kg_server(up(server.port))
    if stale:
        home.endpoint(listener(result, listening=False).port)
    client = start_shim()
    client.call(1, "initialize", **INITIALIZE)
    client.call(2)
    assert [client.answered(), client.answered()] == [1, 2]
    assert (home.folder / "started").read_text(encoding="utf-8") == "['start']\n"
    assert [len(server.requests), client.finish()] == [2, []]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="no older Python can keep them out, and none runs a server")
def test_modules_of_the_project_it_runs_in_do_not_get_into_the_start(home, listener, start_shim, monkeypatch, tmp_path):
    server = listener(result)
    home.kg_server("import json\n" + up(server.port))
    (tmp_path / "json.py").write_text("raise SystemExit(3)", encoding="utf-8")
    (tmp_path / "kg_shim").mkdir()
    monkeypatch.chdir(tmp_path)
    client = start_shim(command=("-c", "import sys; del sys.path[0]; from kg_shim.mcp import main; main()"))
    client.call(1)
    assert client.answered() == 1


@pytest.mark.parametrize("alone", [False, True])
def test_a_restart_of_the_server_by_somebody_else_goes_unnoticed(home, listener, start_shim, lone_shim, alone):
    first = listener(result)
    home.endpoint(first.port)
    home.kg_server("return 0")
    client = start_shim(command=lone_shim) if alone else start_shim()
    client.call(1)
    assert client.answered() == 1
    first.close()
    (home.state / "endpoint").unlink()
    client.call(2)
    second = listener(result)
    home.endpoint(second.port, "second")
    assert client.answered() == 2


def test_a_start_that_fails_is_reported_at_once_with_its_cause(home, start_shim):
    home.kg_server(
        "open('.local/state/knowledge-graph/last_start_error', 'w').write('Port 8765 is taken.\\ndetail')\nreturn 1"
    )
    client = start_shim()
    client.call(1)
    number, sentence = client.error()
    assert number == 1
    assert sentence == "The memory server did not start: Port 8765 is taken. `kg logs` tells more."
    assert client.finish() == []


def test_a_start_that_failed_is_tried_again_for_the_next_message(home, listener, start_shim):
    server = listener(result)
    home.kg_server(
        f"if not os.path.exists('failed'):\n    open('failed', 'w')\n    return 1\n{up(server.port).strip()}\nreturn 0"
    )
    client = start_shim()
    client.call(1)
    assert client.error()[0] == 1
    client.call(2)
    assert client.answered() == 2


def test_a_start_that_fails_without_a_word_is_reported_with_its_exit_code(home, start_shim):
    (home.state / "last_start_error").write_text("of long ago", encoding="utf-8")
    os.utime(home.state / "last_start_error", (1, 1))
    home.kg_server("return 3")
    client = start_shim()
    client.call(1)
    assert client.error() == (
        1,
        "The memory server did not start: `kg start` ended with exit code 3. `kg logs` tells more.",
    )


def test_without_an_installed_server_the_error_says_what_to_install(home, start_shim, lone_shim):
    client = start_shim(command=lone_shim)
    client.call(1)
    number, sentence = client.error()
    assert number == 1
    assert "Install the package kg-server" in sentence
    assert client.finish() == []


def test_without_an_installed_server_one_that_runs_is_used(home, listener, start_shim, lone_shim):
    home.endpoint(listener(result).port)
    client = start_shim(command=lone_shim)
    client.call(1)
    assert client.answered() == 1


def test_a_server_elsewhere_is_used_with_its_own_token_and_path(home, listener, start_shim):
    (home.folder / "token").write_text("own-token-0123456789\n", encoding="utf-8")
    home.endpoint(1)
    server = listener(result)
    client = start_shim(KG_URL=f"http://localhost:{server.port}/memory/", KG_TOKEN_FILE=str(home.folder / "token"))
    client.call(1)
    client.reply()
    (home.folder / "token").write_text("own-token-2-0123456789\n", encoding="utf-8")
    client.call(2)
    client.reply()
    first, second = server.requests
    assert (first.target, first.headers["authorization"]) == ("POST /memory/", "Bearer own-token-0123456789")
    assert second.headers["authorization"] == "Bearer own-token-2-0123456789"
    assert first.headers["host"] == f"localhost:{server.port}"
    assert "x-kg-root" not in first.headers


def test_an_answer_in_chunks_passes_whole(start_shim, listener):
    def script(request):
        request.raw(
            b'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n7;x=1\r\n{"id":1\r\n10\r\n,"jsonrpc":"2.0"\r\n'
        )
        request.raw(b"1\r\n}\r\n0\r\n\r\n")

    client = start_shim(KG_URL=f"http://127.0.0.1:{listener(script).port}")
    client.call(1)
    assert client.reply() == {"id": 1, "jsonrpc": "2.0"}


def test_https_needs_a_certificate_that_is_trusted(start_shim, tls_listener):
    server = tls_listener(result)
    for trusted in (True, False):
        client = start_shim(
            KG_URL=f"https://localhost:{server.port}", SSL_CERT_FILE=server.certificate if trusted else ""
        )
        client.call(1, "x", text="x" * 100_000)
        if trusted:
            assert client.answered() == 1
        else:
            assert "cannot be reached" in client.error()[1]
        assert client.finish() == []


@pytest.mark.parametrize(
    ("environ", "word"),
    [
        ({"KG_URL": "localhost:8765"}, "http://host:port"),
        ({"KG_URL": "http://127.0.0.1:1", "KG_TOKEN_FILE": "/nowhere/token"}, "KG_TOKEN_FILE"),
        ({"KG_URL": "http://no-such-host.invalid:1"}, "no-such-host.invalid:1 cannot be reached"),
        ({"KG_HTTP_PORT": "http"}, "KG_HTTP_PORT is 'http'"),
    ],
    ids=str,
)
def test_settings_that_lead_nowhere_are_explained_to_each_request(start_shim, environ, word):
    client = start_shim(**environ)
    client.call(1)
    client.call(2)
    for number in (1, 2):
        answered, sentence = client.error()
        assert answered == number
        assert word in sentence
    assert client.finish() == []


def test_another_port_has_a_state_folder_of_its_own(home, shim, listener):
    server = listener(result)
    home.state = home.state / "port-9000"
    home.state.mkdir()
    home.endpoint(server.port)
    client = shim(KG_HTTP_PORT="9000")
    client.call(1)
    assert client.answered() == 1


def test_it_ends_when_its_client_was_killed_though_its_input_stays_open(home, listener):
    home.endpoint(listener(result).port)
    theirs, ours = os.pipe()
    code = "import subprocess, sys; subprocess.run(sys.argv[1:])"
    with subprocess.Popen(
        [sys.executable, "-c", code, sys.executable, "-m", "kg_shim", "mcp"],
        stdin=theirs,
        stdout=subprocess.PIPE,
        env=home.environ,
    ) as client:
        os.write(ours, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        assert client.stdout.readline().startswith(b"{")  # the shim is up, with the client as its parent
        client.send_signal(signal.SIGKILL)
        assert client.stdout.read() == b""  # comes back once nobody holds the other end: the shim has ended
    os.close(theirs)
    os.close(ours)


def test_it_ends_when_nobody_reads_its_answers(shim):
    client = shim()
    client.process.stdout.close()
    client.call(1)
    assert client.process.wait(60) == 0
    assert client.process.stderr.read() == b""


def test_an_interrupt_ends_it_without_a_traceback(shim):
    client = shim()
    client.call(1)
    client.line()
    client.process.send_signal(signal.SIGINT)
    assert client.process.wait(60) == -signal.SIGINT
    assert client.process.stderr.read() == b""


def test_no_module_of_weight_is_loaded_while_all_goes_well(home, listener):
    home.endpoint(listener(result).port)
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "kg_shim", "mcp"],
        input=json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}).encode(),
        env=home.environ,
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout)["id"] == 1
    lines = [line.rsplit("|", 1)[1].strip() for line in done.stderr.decode().splitlines() if line.startswith("import")]
    shim = lines[lines.index("kg_shim") :]
    assert {name for name in shim if not name.startswith("kg_shim")} <= {
        "__future__",
        "_queue",
        "_signal",
        "_socket",
        "time",
    }
    assert "kg_shim.starter" not in shim
