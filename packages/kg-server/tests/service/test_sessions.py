"""The session registry: what it keeps, for how long, and what survives a restart."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kg_server.graph.errors import UnknownEntry
from kg_server.graph.limits import SESSION_KEPT_S, SESSION_TTL_S
from kg_server.service.sessions import Session, Sessions
from kg_world import NOON, World

Stored = Callable[[], dict[str, Any]]


@pytest.fixture
def stored(world: World) -> Stored:
    """The registry as it lies on disk."""
    return lambda: dict(json.loads(world.layout.sessions.read_text(encoding="utf-8")))


def test_a_new_session_is_on_disk_before_it_is_used(world: World, stored: Stored) -> None:
    session = world.open()
    assert stored()[session.id]["project_path"] == str(world.project)


def test_an_id_is_eight_hex_digits(world: World) -> None:
    session = world.open()
    assert len(session.id) == 8
    assert set(session.id) <= set("0123456789abcdef")


def test_an_id_that_is_still_kept_is_not_given_again(world: World) -> None:
    ids = iter(["aaaaaaaa", "aaaaaaaa", "bbbbbbbb"])
    sessions = Sessions(world.layout.sessions, world.clock, lambda: next(ids))
    first = sessions.open("", "", "acme")
    world.clock.passes(SESSION_TTL_S + 1)
    assert sessions.get(first.id) is None
    assert sessions.open("", "", "acme").id == "bbbbbbbb"


def test_binding_a_client_session_and_a_project_is_on_disk_at_once(world: World, stored: Stored) -> None:
    session = world.open_user_only()
    world.context.sessions.bind(session, project_path="/p", slug="p", client_session="chat-9")
    record = stored()[session.id]
    assert (record["project_path"], record["slug"], record["client_session"]) == ("/p", "p", "chat-9")


def test_a_bound_project_is_never_exchanged_for_another(world: World) -> None:
    session = world.open()
    world.context.sessions.bind(session, project_path="/other", slug="other")
    assert session.project_path == str(world.project)


def test_a_session_is_found_by_its_clients_own_id_and_harness(world: World) -> None:
    world.start("chat-1")
    world.start("chat-2")
    sessions = world.context.sessions
    one, two = (sessions.of_client("acme", chat) for chat in ("chat-1", "chat-2"))
    assert one is not None
    assert two is not None
    assert one.id != two.id
    assert sessions.of_client("acme", "chat-3") is None
    assert sessions.of_client("zeta", "chat-1") is None


def test_no_client_session_finds_no_session(world: World) -> None:
    world.open()
    assert world.context.sessions.of_client("", "") is None


def test_of_two_sessions_of_one_conversation_the_later_counts(world: World) -> None:
    sessions = world.context.sessions
    sessions.open("", "", "acme", "chat-1")
    second = sessions.open("", "", "acme", "chat-1")  # in the same instant
    found = sessions.of_client("acme", "chat-1")
    assert found is second


def test_what_a_session_has_seen_survives_a_restart(world: World) -> None:
    world.remember({"known": "Seen before the restart."}, notes=["a note"])
    session = world.reader()
    world.read(session, "known")
    world.restart()
    again = world.context.sessions.get(session.id)
    assert again == session
    assert again is not session
    assert again.has_seen("project", world.node("known"))
    assert again.viewed["project:known"].whole


def test_after_a_crash_a_view_that_was_not_saved_counts_as_never_read(world: World) -> None:
    world.remember({"known": "Read just before the crash."}, notes=["a note"])
    session = world.reader()
    world.read(session, "known")
    world.crash()
    again = world.context.sessions.get(session.id)
    assert again is not None
    view = again.viewed.get("project:known")
    assert view is None or not view.whole


def test_a_session_lives_a_day_from_its_last_activity(world: World) -> None:
    session = world.open()
    sessions = world.context.sessions
    world.clock.passes(SESSION_TTL_S - 1)
    sessions.active(session)
    world.clock.passes(SESSION_TTL_S)
    assert sessions.get(session.id) is session
    world.clock.passes(1)
    assert sessions.get(session.id) is None
    assert sessions.live() == []


def test_an_expired_session_is_not_found_by_its_client_either(world: World) -> None:
    world.start("chat-1")
    world.clock.passes(SESSION_TTL_S + 1)
    assert world.context.sessions.of_client("acme", "chat-1") is None


def test_a_record_is_kept_for_thirty_days_more_and_then_dropped(world: World, stored: Stored) -> None:
    session = world.open()
    world.clock.passes(SESSION_TTL_S + SESSION_KEPT_S)
    world.context.sessions.save_changed()
    assert session.id in stored()
    world.clock.passes(1)
    world.context.sessions.save_changed()
    assert stored() == {}


def test_an_unknown_session_is_an_error_that_says_how_to_get_one(world: World) -> None:
    with pytest.raises(UnknownEntry, match=r"'cafecafe' is unknown or has expired: call kg_read with cwd="):
        world.context.session("cafecafe")


def test_the_error_about_a_session_does_not_repeat_a_long_text(world: World) -> None:
    with pytest.raises(UnknownEntry) as refused:
        world.context.session("x" * 10_000 + "\nforged line")
    assert len(str(refused.value)) < 300
    assert "\n" not in str(refused.value)


def test_activity_alone_is_saved_with_the_next_tick(world: World, stored: Stored) -> None:
    session = world.open()
    world.clock.passes(60)
    world.context.sessions.active(session)
    assert stored()[session.id]["last_activity"] == NOON
    world.context.sessions.save_changed()
    assert stored()[session.id]["last_activity"] == NOON + 60


def test_a_tick_without_a_change_writes_nothing(world: World) -> None:
    world.open()
    world.context.sessions.save_changed()
    world.layout.sessions.unlink()
    world.context.sessions.save_changed()
    assert not world.layout.sessions.exists()


def test_a_registry_that_cannot_be_written_is_told_and_written_with_the_next_tick(
    world: World, stored: Stored, caplog: pytest.LogCaptureFixture
) -> None:
    temporary = world.layout.sessions.with_name("sessions.json.tmp")
    temporary.mkdir(parents=True)
    session = world.open()
    assert "sessions not written" in caplog.text
    temporary.rmdir()
    world.context.sessions.save_changed()
    assert session.id in stored()


def test_saving_while_sessions_see_more_never_fails(world: World) -> None:
    world.remember({f"node-{number}": "A gist." for number in range(400)})
    session, graph = world.open(), world.graph()
    errors: list[BaseException] = []

    def save() -> None:
        try:
            for _ in range(40):
                world.context.sessions.save()
        except BaseException as error:
            errors.append(error)

    saver = threading.Thread(target=save)
    saver.start()
    while saver.is_alive():
        session.seen.clear()
        session.viewed.clear()
        for name in graph.nodes:
            session.saw("project", graph.nodes[name], 1)
    saver.join()
    assert errors == []


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]", b"null", b'"text"', b"7", b'{"a": 1, "b": null}'])
def test_a_registry_that_cannot_be_read_starts_an_empty_one(world: World, content: bytes) -> None:
    world.layout.sessions.write_bytes(content)
    world.crash()
    assert world.context.sessions.live() == []
    assert world.start()


GOOD = {"start_ts": NOON, "last_activity": NOON, "harness": "acme", "client_session": "chat-1"}
BAD = [
    {"start_ts": "yesterday"},
    {"last_activity": None},
    {"last_activity": [1]},
    {"seen": ["project:x"]},
    {"seen": {"project:x": "mark"}},
    {"viewed": {"project:x": 3}},
    {"viewed": {"project:x": {"unknown": 1}}},
    {"viewed": {"project:x": {"version": "one"}}},
    {"viewed": []},
    {"preloaded": "project:x"},
    {"preloaded": [3]},
    {"slug": 7},
    {"project_path": None},
    {"client_session": {}},
    {"full_read_ts": "never"},
    {"maintenance": "maybe"},
    {"endorsed": {}},
    {"likes": "many"},
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_a_record_that_cannot_be_meant_is_left_out_and_the_others_kept(
    world: World, bad: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    records = {"00000bad": {**GOOD, **bad}, "0000900d": {**GOOD, "client_session": "chat-2"}}
    world.layout.sessions.write_text(json.dumps(records), encoding="utf-8")
    world.crash()
    assert [session.id for session in world.context.sessions.live()] == ["0000900d"]
    assert "00000bad" in caplog.text
    world.context.sessions.save()


def test_fields_of_a_newer_version_are_forgiven(world: World) -> None:
    records = {"0000900d": {**GOOD, "from_the_future": [1]}}
    world.layout.sessions.write_text(json.dumps(records), encoding="utf-8")
    world.crash()
    assert world.bound().id == "0000900d"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from([name for name in Session.__slots__ if name != "id"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.dictionaries(FIELDS, JSON, max_size=4))
def test_whatever_a_record_holds_the_registry_works(world: World, record: dict[str, Any]) -> None:
    world.layout.sessions.write_text(json.dumps({"0000900d": {**GOOD, **record}}), encoding="utf-8")
    sessions = Sessions(world.layout.sessions, world.clock, lambda: "11111111")
    sessions.of_client("acme", "chat-1")
    for session in sessions.live():
        session.has_seen("project", {"id": "x", "gist": "g"})
        session.saw("project", {"id": "x", "gist": "g"}, 1)
    sessions.save_changed()
    sessions.open("", "", "acme", "chat-3")
    assert "11111111" in json.loads(world.layout.sessions.read_text(encoding="utf-8"))


def test_a_renamed_node_is_still_known_to_every_session_of_its_project(world: World) -> None:
    world.remember({"old-name": "A gist."})
    session, stranger = world.reader(), world.open_user_only()
    world.read(session, "old-name")
    world.context.sessions.renamed("project", "app", "old-name", "new-name")
    assert session.viewed["project:new-name"].whole
    assert "project:old-name" not in session.seen
    assert stranger.seen == {}


def test_after_a_compaction_nothing_counts_as_seen_but_views_stay(world: World) -> None:
    world.remember({"known": "A gist."})
    session = world.reader()
    views = dict(session.viewed)
    session.forget_context()
    assert (session.seen, session.preloaded, session.preloaded_ts, session.full_read_ts) == ({}, [], 0.0, 0.0)
    assert session.viewed == views


def test_a_changed_gist_has_not_been_seen(world: World) -> None:
    world.remember({"known": "As it was."})
    session = world.reader()
    assert session.has_seen("project", world.node("known"))
    assert not session.has_seen("project", {"id": "known", "gist": "As it is now."})
    assert not session.has_seen("user", world.node("known"))
