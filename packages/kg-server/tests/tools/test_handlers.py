"""What each tool does with its arguments, and how mistakes are answered."""

from __future__ import annotations

import asyncio
import errno
from typing import Any

import pytest
from kg_server.plugins import EventSource
from kg_server.tools.handlers import ToolReply, call
from kg_server.tools.schemas import BY_NAME
from kg_world import World

ACME = EventSource(user_agent="acme/7.0 (kg mcp)")


def use(world: World, tool: str, source: EventSource | None = None, **arguments: Any) -> ToolReply:
    """Call a tool to its end."""
    return asyncio.run(call(world.context, tool, arguments, source or EventSource()))


def text(world: World, tool: str, **arguments: Any) -> str:
    """The text of a call that must succeed."""
    reply = use(world, tool, **arguments)
    assert not reply.is_error, reply.text
    return reply.text


def error(world: World, tool: str, **arguments: Any) -> str:
    """The text of a call that must fail."""
    reply = use(world, tool, **arguments)
    assert reply.is_error, reply.text
    return reply.text


def test_a_whole_session_of_tool_calls_works(world: World) -> None:
    opened = text(world, "kg_read", cwd=str(world.project))
    session = opened.partition("Session: ")[2][:8]
    where = {"session_id": session, "level": "project"}
    assert "saved" in text(world, "kg_put_node", **where, id="cache-layer", gist="The cache.", notes=["a"])
    assert "saved" in text(world, "kg_put_node", **where, id="redis", gist="The database.")
    ends = {"from": "cache-layer", "to": "redis", "rel": "needs"}
    assert "saved" in text(world, "kg_put_edge", **where, **ends)
    assert "cache-layer --needs--> redis" in text(world, "kg_read", session_id=session, id="cache-layer")
    assert "▸ redis" in text(world, "kg_read", session_id=session, ids=["redis", "cache-layer"])
    assert "▸ cache-layer" in text(world, "kg_search", session_id=session, query="cache")
    assert "Marked useful" in text(world, "kg_useful", session_id=session, ids=["redis"])
    assert "is now 'redis-setup'" in text(
        world, "kg_rename_node", session_id=session, old_id="redis", new_id="redis-setup"
    )
    assert "No changes" in text(world, "kg_sync", session_id=session)
    ends["to"] = "redis-setup"
    assert "deleted" in text(world, "kg_delete_edge", session_id=session, **ends)
    assert "deleted" in text(world, "kg_delete_node", session_id=session, id="redis-setup")
    world.crash()
    assert set(world.graph().nodes) == {"cache-layer"}


def test_one_id_and_several_are_read_together(world: World) -> None:
    world.remember({"one": "First.", "two": "Second."})
    reply = text(world, "kg_read", cwd=str(world.project), id="one", ids=["two"])
    assert "First." in reply
    assert "Second." in reply


def test_the_client_of_a_session_is_known_by_its_call(world: World) -> None:
    use(world, "kg_read", ACME, cwd=str(world.project))
    (session,) = world.context.sessions.live()
    assert session.harness == "acme"


@pytest.mark.parametrize("arguments", [{"query": "cache"}, {}])
def test_a_tool_that_is_said_to_read_only_changes_nothing_that_another_session_sees(
    world: World, arguments: dict[str, str]
) -> None:
    world.remember({"cache-layer": "The cache."})
    world.remember({"old-cache": "The former cache."}, tier="archived")
    session, before = world.open(), dict(world.graph().nodes)
    tool = "kg_search" if arguments else "kg_sync"
    assert BY_NAME[tool].read_only
    text(world, tool, session_id=session.id, **arguments)
    assert world.graph().nodes == before
    assert len(world.context.sessions.live()) == 1


def test_a_read_that_brings_back_or_opens_is_not_said_to_read_only(world: World) -> None:
    world.remember({"old-cache": "The former cache."}, tier="archived")
    text(world, "kg_read", cwd=str(world.project), id="old-cache")
    assert world.graph().in_tier("active") == {"old-cache"}
    assert len(world.context.sessions.live()) == 1
    assert not BY_NAME["kg_read"].read_only


def test_a_maintenance_pass_is_flagged_for_good(world: World) -> None:
    world.remember({"old-cache": "Asleep."}, tier="archived")
    text(world, "kg_read", cwd=str(world.project), maintenance=True)
    world.crash()
    (session,) = world.context.sessions.live()
    assert session.maintenance
    text(world, "kg_read", session_id=session.id, id="old-cache")
    assert world.graph().in_tier("archived") == {"old-cache"}


def test_the_maintenance_level_is_read_on_demand(world: World) -> None:
    session = world.open()
    world.put(session, "merge-first", "Merge before you delete.", level="maintain")
    assert "merge-first" in text(world, "kg_read", session_id=session.id, level="maintain")
    assert "▸ merge-first" in text(world, "kg_read", session_id=session.id, level="maintain", id="merge-first")


def test_an_unknown_tool_is_told_with_the_known_ones(world: World) -> None:
    told = error(world, "kg_forget", session_id="x")
    assert told.startswith("There is no tool 'kg_forget'. Tools: ")
    assert all(name in told for name in BY_NAME)
    assert len(error(world, "x" * 10_000)) < 500


def test_arguments_are_checked_before_anything_happens(world: World) -> None:
    assert "gist missing" in error(world, "kg_put_node", session_id=world.open().id, level="project", id="x")
    assert world.graph().nodes == {}


@pytest.mark.parametrize("tool", [name for name in BY_NAME if name not in ("kg_read", "kg_search")])
def test_an_unknown_session_is_told_with_the_remedy(world: World, tool: str) -> None:
    sample: dict[str, Any] = {"string": "x", "array": ["x"], "integer": 1, "boolean": True}
    schema = BY_NAME[tool].schema
    arguments = {
        name: schema["properties"][name].get("enum", [sample[schema["properties"][name]["type"]]])[0]
        for name in schema["required"]
    }
    told = error(world, tool, **{**arguments, "session_id": "cafecafe"})
    assert "session_id 'cafecafe' is unknown or has expired: call kg_read with cwd=" in told


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("kg_read", {"cwd": "relative"}, "not absolute"),
        ("kg_read", {"cwd": "/with\0nul"}, "NUL"),
        ("kg_read", {"session_id": "cafecafe"}, "call kg_read with cwd="),
        ("kg_search", {"query": "?"}, "holds no word"),
    ],
)
def test_a_users_mistake_is_a_sentence_and_never_an_internal_error(
    world: World, tool: str, arguments: dict[str, Any], told: str
) -> None:
    assert told in error(world, tool, **arguments)


def test_a_graph_that_cannot_be_read_is_told_with_its_files(world: World) -> None:
    for name in ("graph.json", "graph.prev"):
        file = world.layout.projects / "app" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"{")
    told = error(world, "kg_read", cwd=str(world.project))
    assert "graph.json" in told
    assert "graph.prev" in told
    assert "Nothing was overwritten" in told
    assert not use(world, "kg_read").is_error


def test_a_write_that_the_disk_refuses_is_told_as_not_saved_yet(world: World) -> None:
    session = world.open()
    world.disk.journal = OSError(errno.ENOSPC, "No space left on device")
    told = error(world, "kg_put_node", session_id=session.id, level="project", id="lesson", gist="A lesson.")
    assert told.startswith("NOT SAVED YET: the disk refused the write (No space left on device).")
    assert "next snapshot" in told
    assert "kg status" in told
    world.context.memory.save_changed()
    world.disk.journal = None
    world.crash()
    assert "lesson" in world.graph().nodes


def test_a_read_that_brings_a_node_back_is_told_as_not_saved_yet_too(world: World) -> None:
    world.remember({"asleep": "An old lesson."}, tier="archived")
    session = world.open()
    world.disk.journal = OSError(errno.EIO, "Input/output error")
    assert "NOT SAVED YET" in error(world, "kg_read", session_id=session.id, id="asleep")


def test_a_caller_that_goes_away_leaves_the_write_whole(world: World) -> None:
    session = world.open()

    async def cancelled() -> None:
        arguments = {"session_id": session.id, "level": "project", "id": "lesson", "gist": "A lesson."}
        task = asyncio.ensure_future(call(world.context, "kg_put_node", arguments, EventSource()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    world.put(session, "next", "Goes on.")
    world.crash()
    assert set(world.graph().nodes) == {"lesson", "next"}


def test_every_listed_tool_has_a_handler(world: World) -> None:
    for name in BY_NAME:
        assert "no tool" not in use(world, name).text


@pytest.mark.requirement("levels.maintain-for-maintenance")
def test_the_maintenance_level_is_said_to_be_for_maintenance_and_refused_to_nobody(world: World) -> None:
    assert "maintenance sessions only" in BY_NAME["kg_put_node"].schema["properties"]["level"]["description"]
    lesson = {"id": "craft", "gist": "Merge before you delete."}
    assert "saved" in text(world, "kg_put_node", session_id=world.open().id, level="maintain", **lesson)
