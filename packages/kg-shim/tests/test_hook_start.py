"""The poster at a session's start while no server listens. `kg` is a scripted command on PATH."""

from __future__ import annotations

import json
import os
import threading

import pytest

ANSWER = b'{"systemMessage":"hello"}'
STATE = ".local/state/knowledge-graph"


def comes_up(port: int, token: str = "new") -> str:
    """A `kg start` after which the endpoint file names this port."""
    return f"""
new = '{STATE}/new-%d' % os.getpid()
open(new, 'w').write('{port} {token}\\n')
os.replace(new, '{STATE}/endpoint')
open('started', 'a').write(' '.join(sys.argv[1:]) + '\\n')"""


@pytest.fixture
def refused(listener) -> int:
    """A port that refuses connections."""
    return listener(lambda request: None, listening=False).port


@pytest.mark.parametrize("stale", [None, "PORT old", "half"])
def test_the_server_is_started_and_the_payload_posted_to_it(home, listener, run_hook, refused, python, stale):
    server = listener(lambda request: request.answer(ANSWER, X_KG_Ack="1"))
    home.kg(comes_up(server.port))
    if stale:
        (home.state / "endpoint").write_text(stale.replace("PORT", str(refused)), encoding="utf-8")
    assert run_hook("SessionStart", "claude-code", payload=b'{"source":"startup"}', python=python) == ANSWER
    assert (home.folder / "started").read_text(encoding="utf-8") == "start\n"
    hook, ack = server.requests
    assert (hook.target, hook.body) == ("POST /api/hook/SessionStart", b'{"source":"startup"}')
    assert {hook.headers["authorization"], ack.headers["authorization"]} == {"Bearer new"}


def test_it_goes_on_when_the_endpoint_is_there_though_the_command_still_runs(home, listener, run_hook, refused):
    server = listener(lambda request: request.answer(ANSWER))
    home.kg(comes_up(server.port) + "\n" + home.hanging)
    home.endpoint(refused, "old")
    assert run_hook("SessionStart") == ANSWER


def test_a_token_of_the_users_own_stays_the_same_over_a_restart(home, listener, run_hook):
    server = listener(lambda request: request.answer(ANSWER), listening=False)
    os.mkfifo(home.folder / "started")
    home.kg("open('started', 'w').close()")
    home.endpoint(server.port, "own")

    def come_up():
        (home.folder / "started").read_text(encoding="utf-8")
        server.listen()

    threading.Thread(target=come_up, daemon=True).start()
    assert run_hook("SessionStart") == ANSWER
    assert server.requests[0].headers["authorization"] == "Bearer own"


def test_the_old_token_is_not_sent_to_a_server_that_has_yet_to_write_its_own(home, listener, run_hook):
    server = listener(lambda request: request.answer(ANSWER), listening=False)
    os.mkfifo(home.folder / "started")
    home.kg("open('started', 'w').close()\n" + home.hanging)
    home.endpoint(server.port, "old")

    def come_up():
        (home.folder / "started").read_text(encoding="utf-8")
        server.listen()
        server.connected.wait(0.2)  # several looks of the poster at the port, none of which may become a request
        home.endpoint(server.port, "new")

    threading.Thread(target=come_up, daemon=True).start()
    assert run_hook("SessionStart") == ANSWER
    assert [request.headers["authorization"] for request in server.requests] == ["Bearer new"]


def test_a_server_that_listens_is_not_started_again(home, listener, run_hook):
    home.kg("open('started', 'w')")
    home.endpoint(listener(lambda request: request.answer(b"", 503)).port)
    assert run_hook("SessionStart") == b""
    assert not (home.folder / "started").exists()


def test_a_server_that_dies_before_the_acknowledgement_is_not_started_for_it(home, listener, run_hook):
    def script(request):
        server.close()
        request.answer(ANSWER, X_KG_Ack="1")

    server = listener(script)
    home.kg("open('started', 'w')")
    home.endpoint(server.port)
    assert run_hook("SessionStart") == ANSWER
    assert not (home.folder / "started").exists()


def test_the_command_holds_no_stream_of_the_client_and_leads_its_own_session(home, run_hook):
    home.kg("""
null = os.stat(os.devnull)
for number in range(3):
    assert os.path.samestat(os.fstat(number), null)
assert os.getsid(0) == os.getpid()
open('apart', 'w')
sys.exit(1)""")
    assert run_hook("SessionStart") == b""
    assert (home.folder / "apart").exists()


@pytest.mark.parametrize("endpoint", [False, True])
def test_without_the_command_it_says_so_once_and_how_to_install_it(home, run_hook, refused, python, endpoint):
    if endpoint:
        home.endpoint(refused)
    output = run_hook("SessionStart", python=python)
    assert output.count(b"\n") == 0
    ((key, text),) = json.loads(output).items()
    assert key == "systemMessage"
    assert "the memory is off in this session" in text
    assert "`kg` is not on PATH" in text
    assert "Install the packages kg-shim, kg-server" in text


def test_a_command_that_may_not_be_run_counts_as_missing(home, run_hook):
    home.kg("")
    (home.bin / "kg").write_text("no program", encoding="utf-8")
    (home.bin / "kg").chmod(0o644)
    assert "not on PATH" in json.loads(run_hook("SessionStart"))["systemMessage"]


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PostToolUse", "sessionstart"])
def test_other_events_stay_silent_without_the_command(run_hook, event):
    assert run_hook(event) == b""


def record(text: str, age: int = 0) -> str:
    """A `kg start` that fails and leaves a record of this age."""
    file = f"'{STATE}/last_start_error'"
    return f"open({file}, 'w').write({text!r}); then = time.time() - {age}; os.utime({file}, (then, then)); sys.exit(1)"


def test_the_record_of_a_failed_start_is_read_out(home, run_hook, refused, python):
    home.endpoint(refused)
    home.kg(record('Port 8765 is taken by "nginx" (é).\nTraceback: …\n'))
    text = json.loads(run_hook("SessionStart", python=python))["systemMessage"]
    assert text.endswith('its server did not start. Port 8765 is taken by "nginx" (é).')


@pytest.mark.parametrize("script", [record("long ago", age=3600), "sys.exit(1)", "os.kill(os.getpid(), 9)"], ids=repr)
def test_a_failed_start_without_a_record_of_its_own_is_silent(home, run_hook, script):
    home.kg(script)
    assert run_hook("SessionStart") == b""


def test_ten_sessions_at_once_all_get_their_answers(home, listener, start_hook):
    server = listener(lambda request: request.answer(request.body))
    home.kg(comes_up(server.port))
    hooks = [start_hook("SessionStart", payload=b'{"n":%d}' % number) for number in range(10)]
    assert [hook.output() for hook in hooks] == [b'{"n":%d}' % number for number in range(10)]


def test_with_its_hooks_off_a_session_starts_nothing(home, run_hook):
    home.kg("open('started', 'w')")
    assert run_hook("SessionStart", KG_HOOKS="off") == b""
    assert not (home.folder / "started").exists()
