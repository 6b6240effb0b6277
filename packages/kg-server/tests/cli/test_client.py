"""The command line as a client: of the server here, or of the one that KG_URL names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from kg_processes import Machine
from kg_server.cli.client import Refused, request
from kg_server.settings import read_settings


def test_a_server_that_is_down_is_started(remembering: Machine) -> None:
    assert remembering.health_or_none() is None
    assert remembering.kg("lock", "habit", "--user") == "Node 'habit' is locked.\n"
    assert len(remembering.processes()) == 1


def test_a_server_that_cannot_start_is_told_as_by_kg_start(machine: Machine, here: Any) -> None:
    told = here.refused("history", "--user", KG_TOKEN_FILE=str(machine.home / "missing"))
    assert told.startswith(f"KG_TOKEN_FILE: {machine.home / 'missing'} cannot be read")


def test_a_server_without_its_endpoint_file_is_told_with_the_remedy(machine: Machine, here: Any) -> None:
    machine.kg("start")
    (machine.state / "endpoint").unlink()
    assert "`kg restart`" in here.refused("history", "--user")
    machine.kg("restart")
    assert here.kg("history", "--user") == "No recorded change.\n"


# --- a server elsewhere


@pytest.fixture
def elsewhere(remembering: Machine, free_port: Callable[[], int]) -> dict[str, str]:
    """What leads to a machine's server as if it were another one's."""
    token = remembering.home / "token"
    token.write_text("my-own-token-0123456789\n", encoding="ascii")
    remembering.kg("start", KG_TOKEN_FILE=str(token))
    url = f"http://127.0.0.1:{remembering.port}"
    return {"KG_URL": url, "KG_TOKEN_FILE": str(token), "KG_HTTP_PORT": str(free_port()), "KG_STORAGE_ROOT": "/no/such"}


def test_a_server_elsewhere_is_used_and_none_is_started(
    remembering: Machine, here: Any, elsewhere: dict[str, str]
) -> None:
    assert here.kg("lock", "habit", "--user", **elsewhere) == "Node 'habit' is locked.\n"
    assert "habit" in here.kg("history", "--user", **elsewhere)
    assert len(remembering.processes()) == 1


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"KG_TOKEN_FILE": "/no/such/token"}, "KG_TOKEN_FILE: /no/such/token cannot be read"),
        ({"KG_TOKEN_FILE": ""}, "the token is missing or wrong"),
        ({"KG_URL": "http://127.0.0.1:1"}, "the server at 127.0.0.1:1 did not answer"),
        ({"KG_URL": "https://127.0.0.1:1"}, "the server at 127.0.0.1:1 did not answer"),
    ],
    ids=str,
)
def test_a_server_elsewhere_that_cannot_be_used_is_one_sentence(
    remembering: Machine, here: Any, elsewhere: dict[str, str], change: dict[str, str], told: str
) -> None:
    assert told in here.refused("history", "--user", **{**elsewhere, **change})


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (b"<html>hello", "<html>hello"),
        (b"", "the server answered 500"),
        (b'{"error": "no"}', "no"),
        (b"[1]", "[1]"),
    ],
)
def test_an_answer_of_another_program_is_shown_and_not_taken_apart(
    environment: Machine, foreign: Any, monkeypatch: pytest.MonkeyPatch, answer: bytes, told: str
) -> None:
    with foreign(answer, 500) as port:
        monkeypatch.setenv("KG_URL", f"http://127.0.0.1:{port}")
        with pytest.raises(Refused) as refused:
            request(read_settings({}), "GET", "/api/history", {})
    assert str(refused.value) == told
