"""The poster while a server is there, and while none is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest
from kg_shim import state

ANSWER = '{"hookSpecificOutput":{"additionalContext":"é 漢字 😀 \\ud83d"}}'.encode()
HOOK = Path(state.__file__).with_name("hook.py")
PAYLOAD = '{"prompt":"é 漢字 😀 \\ud800 C:\\\\x\r\n'.encode() + b'\xed\xa0\x80 \xff\x00"}'


def test_the_payload_goes_out_and_the_answer_comes_back_byte_for_byte(home, listener, run_hook, python):
    server = listener(lambda request: request.answer(ANSWER))
    home.endpoint(server.port)
    assert run_hook("PostToolUse", "claude-code", payload=PAYLOAD, python=python) == ANSWER
    (request,) = server.requests
    assert request.target == "POST /api/hook/PostToolUse"
    assert request.body == PAYLOAD
    assert request.headers["authorization"] == f"Bearer {'t' * 43}"
    assert request.headers["user-agent"] == "kg-hook/1 (claude-code)"
    assert request.headers["host"] == f"127.0.0.1:{server.port}"
    assert unquote_to_bytes(request.headers["x-kg-root"]) == b"~/.knowledge-graph"


def test_without_a_harness_name_the_user_agent_has_none(home, listener, run_hook):
    server = listener(lambda request: request.answer(b""))
    home.endpoint(server.port)
    run_hook("Stop")
    assert server.requests[0].headers["user-agent"] == "kg-hook/1"


def test_an_empty_answer_prints_nothing(home, listener, run_hook):
    home.endpoint(listener(lambda request: request.answer(b"")).port)
    assert run_hook("Stop") == b""


@pytest.mark.parametrize("status", [201, 204, 302, 400, 401, 403, 404, 409, 413, 421, 500, 503])
def test_any_status_but_200_is_silent(home, listener, run_hook, status):
    home.endpoint(listener(lambda request: request.answer(ANSWER, status)).port)
    assert run_hook("UserPromptSubmit") == b""


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(ANSWER) + 1, ANSWER), id="cut short"),
        pytest.param(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(ANSWER) - 1, ANSWER), id="too long"),
        pytest.param(b"HTTP/1.1 200 OK\r\n\r\n" + ANSWER, id="no length"),
        pytest.param(b"HTTP/1.1 200 OK\r\ncontent-length: 2", id="cut in the head"),
        pytest.param(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", id="another program's page"),
        pytest.param(ANSWER, id="not HTTP"),
        pytest.param(b"", id="hung up"),
    ],
)
def test_an_answer_that_is_not_whole_or_not_ours_is_silent(home, listener, run_hook, answer):
    home.endpoint(listener(lambda request: request.raw(answer)).port)
    assert run_hook("PostToolUse") == b""


def test_a_connection_reset_inside_the_answer_is_silent(home, listener, run_hook):
    def script(request):
        request.raw(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n{}")
        request.reset()

    home.endpoint(listener(script).port)
    assert run_hook("PostToolUse") == b""


@pytest.mark.parametrize(
    "content", [None, "", "8765", "a b", "8765 t extra", "99999999 t", "-1 t", "{}", "\0 \0"], ids=repr
)
def test_no_endpoint_or_a_senseless_one_is_silent(home, run_hook, content):
    if content is not None:
        (home.state / "endpoint").write_text(content, encoding="utf-8")
    assert run_hook("PostToolUse") == b""


def test_a_refused_connection_is_silent_and_starts_nothing(home, listener, run_hook):
    home.kg("open('started', 'w')")
    home.endpoint(listener(lambda request: None, listening=False).port)
    assert run_hook("PostToolUse") == b""
    assert not (home.folder / "started").exists()


def test_without_home_or_event_it_is_silent(run_hook):
    assert run_hook("Stop", HOME="") == b""
    assert run_hook() == b""


def test_without_any_stream_it_ends_well(home, listener):
    home.endpoint(listener(lambda request: request.answer(ANSWER)).port)
    closing = "import os, sys; os.close(0); os.close(1); os.execv(sys.argv[1], sys.argv[1:])"
    command = [sys.executable, "-c", closing, sys.executable, "-I", "-S", str(HOOK), "Stop"]
    done = subprocess.run(command, env=home.environ, stderr=subprocess.PIPE, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    "switch", [{"KG_HOOKS": "off"}, {"KG_HOOKS": "OFF"}, {"KG_HOOKS": "0"}, {"KG_CHORE": "1"}], ids=str
)
def test_switched_off_it_ends_without_reading_or_calling(home, listener, start_hook, switch):
    server = listener(lambda request: request.answer(ANSWER))
    home.endpoint(server.port)
    process = start_hook("SessionStart", payload=None, **switch).process
    assert process.wait(60) == 0  # its input is still open
    assert process.stdout.read() + process.stderr.read() == b""
    assert server.requests == []


@pytest.mark.parametrize("value", ["on", "1", ""])
def test_other_values_of_the_switch_leave_it_on(home, listener, run_hook, value):
    home.endpoint(listener(lambda request: request.answer(ANSWER)).port)
    assert run_hook("Stop", KG_HOOKS=value) == ANSWER


@pytest.mark.parametrize("root", ["/srv/memory", "~/memory", "/a b/é漢/100%41\r\nX-Evil: 1"])
def test_the_storage_root_is_named_as_the_user_wrote_it(home, listener, run_hook, root):
    server = listener(lambda request: request.answer(b""))
    home.endpoint(server.port)
    run_hook("Stop", KG_STORAGE_ROOT=root)
    assert unquote_to_bytes(server.requests[0].headers["x-kg-root"]) == root.encode()
    assert "x-evil" not in server.requests[0].headers


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"KG_HTTP_PORT": ""},
        {"KG_HTTP_PORT": "8765"},
        {"KG_HTTP_PORT": "9000"},
        {"KG_HTTP_PORT": "09000"},
        {"XDG_STATE_HOME": "{home}/elsewhere"},
        {"XDG_STATE_HOME": "{home}/elsewhere", "KG_HTTP_PORT": "9000"},
        {"XDG_STATE_HOME": "relative/folder"},
        {"XDG_STATE_HOME": ""},
    ],
    ids=str,
)
def test_the_poster_reads_the_same_state_folder_as_everybody_else(home, listener, run_hook, environ):
    environ = {name: value.format(home=home.folder) for name, value in environ.items()}
    home.state = Path(state.state_folder({**home.environ, **environ}, "linux"))
    home.state.mkdir(parents=True, exist_ok=True)
    home.endpoint(listener(lambda request: request.answer(ANSWER)).port)
    assert run_hook("Stop", **environ) == ANSWER


def test_a_port_that_is_no_number_is_silent(home, listener, run_hook):
    home.endpoint(listener(lambda request: request.answer(ANSWER)).port)
    assert run_hook("Stop", KG_HTTP_PORT="http") == b""


def test_the_acknowledgement_follows_once_the_whole_answer_was_written(home, listener, start_hook):
    body = b'{"a":"' + b"x" * 500_000 + b'"}'
    read, at_ack = 0, []

    def script(request):
        if request.target == "POST /api/ack":
            at_ack.append(read)
            request.answer(b'{"ok":true}')
        else:
            request.answer(body, X_KG_Ack="Pkt-7f/A=")

    server = listener(script)
    home.endpoint(server.port)
    process = start_hook("PostToolUse").process
    output = b""
    while part := os.read(process.stdout.fileno(), 4096):
        output += part
        read = len(output)
    assert output == body  # nothing of the second answer
    assert process.wait(60) == 0
    assert [request.target for request in server.requests] == ["POST /api/hook/PostToolUse", "POST /api/ack"]
    ack = server.requests[1]
    assert ack.body == b'{"id": "Pkt-7f/A="}'
    assert ack.headers["authorization"] == f"Bearer {'t' * 43}"
    assert at_ack[0] >= len(body) - 65536 - 4096  # what the pipe holds may be written and not yet read


def test_nothing_is_acknowledged_when_nobody_could_read_the_answer(home, listener, start_hook):
    server = listener(lambda request: request.answer(ANSWER, X_KG_Ack="1"))
    home.endpoint(server.port)
    hook = start_hook("PostToolUse", payload=None)
    hook.process.stdout.close()
    hook.feed(b"{}")
    assert hook.process.wait(60) == 0
    assert hook.process.stderr.read() == b""
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [200, 500])
def test_nothing_is_acknowledged_when_the_answer_was_not_printed(home, listener, run_hook, status):
    cut = b"HTTP/1.1 %d X\r\ncontent-length: 9\r\nX-KG-Ack: 1\r\n\r\n{}" % status
    server = listener(lambda request: request.raw(cut))
    home.endpoint(server.port)
    assert run_hook("PostToolUse") == b""
    assert len(server.requests) == 1


@pytest.mark.parametrize(("size", "posted"), [(16 << 20, 1), ((16 << 20) + 1, 0)])
def test_payloads_up_to_16_mib_are_posted(home, listener, run_hook, size, posted):
    server = listener(lambda request: request.answer(b'{"size":%d}' % len(request.body)))
    home.endpoint(server.port)
    assert run_hook("PostToolUse", payload=b"x" * size) == b'{"size":%d}' % size * posted
    assert len(server.requests) == posted


def test_many_at_once_get_their_own_answers(home, listener, start_hook):
    server = listener(lambda request: request.answer(b'{"you":%b}' % request.body))
    home.endpoint(server.port)
    hooks = [start_hook("PostToolUse", payload=b"%d" % number) for number in range(10)]
    assert [hook.output() for hook in hooks] == [b'{"you":%d}' % number for number in range(10)]


def imported(command: list[str], environ: dict[str, str]) -> set[str]:
    """The modules that a run imported, as `-X importtime` tells."""
    done = subprocess.run(command, env=environ, input=b"{}", capture_output=True, timeout=60, check=True)
    return {line.rsplit("|", 1)[1].strip() for line in done.stderr.decode().splitlines() if line.startswith("import")}


def test_no_module_beyond_the_interpreters_own_is_imported(home, listener, python):
    server = listener(lambda request: request.answer(ANSWER))
    home.endpoint(server.port)
    flags = [python, "-I", "-S", "-X", "importtime"]
    bare = imported([*flags, "-c", "pass"], home.environ)
    assert imported([*flags, str(HOOK), "PostToolUse"], home.environ) - bare <= {"_socket", "time", "posix"}
    assert server.requests


def test_the_poster_stays_flat_and_short():
    """Its source is compiled at each start: forty lines more cost 0.4 ms."""
    lines = HOOK.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 70
    assert not [line for line in lines if line.lstrip().startswith(("def ", "class "))]
