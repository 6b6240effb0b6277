"""The same system under other settings: token file, port, a server elsewhere, hooks off."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .house import House, context

TOKEN = "a-token-of-my-own-0123456789"


@pytest.fixture
def token_file(tmp_path: Path) -> str:
    """A token of the user's own."""
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n", "ascii")
    file.chmod(0o600)
    return str(file)


@pytest.fixture
def locked(make_house: Callable[..., House], token_file: str) -> House:
    """A house with a token of its own, its server up, a lesson in the memory."""
    house = make_house("locked", KG_TOKEN_FILE=token_file)
    house.remember({"team-habit": "Reviews come before lunch"})
    house.kg("start")
    return house


def test_hook_shim_and_commands_work_with_a_token_of_the_users_own(open_house: House) -> None:
    session, shim = open_house.begin("first"), open_house.shim()
    shim.put(session, "retry-policy", "Retry five times")
    assert "retry-policy" in open_house.kg("history", "retry-policy", "--project", str(open_house.project))
    assert (open_house.state / "endpoint").read_text("ascii") == f"{open_house.port} {TOKEN}\n"


def test_a_token_of_the_users_own_is_still_good_after_a_kill(locked: House) -> None:
    session, shim = locked.begin("first"), locked.shim()
    locked.kill_server()
    shim.put(session, "retry-policy", "Retry five times")
    locked.kill_server()
    assert "retry-policy" in context(locked.hook("SessionStart.startup", "second"))


@pytest.mark.parametrize("authorization", ["", "Bearer wrong-token-0123456789", f"Basic {TOKEN}", "Bearer"])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/"),
        ("GET", "/"),
        ("POST", "/api/hook/SessionStart"),
        ("POST", "/api/hook/UserPromptSubmit"),
        ("GET", "/api/history?id=team-habit"),
        ("POST", "/api/purge"),
        ("GET", "/nothing/here"),
    ],
)
def test_a_request_without_the_token_gets_401_and_nothing_else(
    open_house: House, method: str, path: str, authorization: str
) -> None:
    payload = json.dumps(open_house.payload("SessionStart.startup", "stranger"))
    headers = {"Content-Type": "application/json", **({"Authorization": authorization} if authorization else {})}
    before = open_house.health()["sessions"]
    status, body = open_house.request(method, path, payload if method == "POST" else "", **headers)
    assert status == 401
    assert b"token is missing or wrong" in body
    assert b"team-habit" not in body
    assert b"lunch" not in body
    assert open_house.health()["sessions"] == before


@pytest.fixture(scope="module")
def open_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A running house that all these tests knock at."""
    folder = tmp_path_factory.mktemp("open")
    (folder / "token").write_text(TOKEN, "ascii")
    house = House(folder, environ={"KG_TOKEN_FILE": str(folder / "token")})
    house.remember({"team-habit": "Reviews come before lunch"})
    house.kg("start")
    yield house
    house.close()


def test_every_port_has_a_state_folder_and_a_server_of_its_own(lodger: House, make_house: Callable[..., House]) -> None:
    other = make_house("other", XDG_STATE_HOME=lodger.environ["XDG_STATE_HOME"])
    other.kg("start")
    assert other.health()["storage_root"] == str(other.store)
    assert lodger.health()["storage_root"] == str(lodger.store)
    assert sorted(path.name for path in lodger.state.parent.iterdir()) == sorted(
        [f"port-{lodger.port}", f"port-{other.port}"]
    )
    other.kg("stop")
    assert lodger.health()["status"] == "ok"


@pytest.fixture
def guest(locked: House, make_house: Callable[..., House], token_file: str) -> House:
    """A house whose memory is kept by the locked one's server."""
    guest = make_house("guest", KG_URL=f"http://127.0.0.1:{locked.port}", KG_TOKEN_FILE=token_file)
    guest.project = locked.project  # as on a machine that shares the server's folders
    return guest


def test_a_server_elsewhere_serves_hook_shim_and_commands_and_none_is_started_here(locked: House, guest: House) -> None:
    preload = context(guest.hook("SessionStart.startup", "visitor"))
    assert "team-habit: Reviews come before lunch" in preload
    guest.shim().put(guest.begin("another-visitor"), "retry-policy", "Retry five times")
    assert "retry-policy" in guest.kg("history", "retry-policy", "--project", str(guest.project))
    assert str(locked.store) in guest.kg("status")
    assert guest.servers() == []
    assert not guest.store.exists()
    assert not guest.state.parent.exists()
    locked.kg("stop")
    assert list(locked.saved()) == ["retry-policy"]


def test_a_server_elsewhere_that_is_down_is_silence_for_hooks_and_a_sentence_for_people(
    locked: House, guest: House
) -> None:
    locked.kg("stop")
    assert [guest.hook(name) for name in ("SessionStart.startup", "UserPromptSubmit", "PostToolUse.Read")] == [{}] * 3
    assert guest.refused("history", "team-habit")
    assert guest.falls_silent()


def test_hooks_that_are_off_say_nothing_and_start_nothing(house: House, version: str) -> None:
    house.environ["KG_HOOKS"] = "off"
    for name in ("SessionStart.startup", "UserPromptSubmit", "PostToolUse.Read"):
        assert house.hook(name, version=version) == {}
    assert house.processes() == []
    assert not house.store.exists()


def test_tools_work_without_hooks_and_open_a_session_of_their_own(lodger: House) -> None:
    shim = lodger.shim(KG_HOOKS="off")
    session = shim.call("kg_read", cwd=str(lodger.project)).partition("Session: ")[2][:8]
    shim.put(session, "retry-policy", "Retry five times")
    assert "Retry five times" in lodger.journal_file.read_text("utf-8")
