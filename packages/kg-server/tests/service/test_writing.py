"""kg_put_node, kg_put_edge, kg_delete_node, kg_delete_edge: what is stored, and what is refused."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import pytest
from kg_server.graph.errors import InvalidEntry, UnknownEntry, WriteRefused
from kg_server.graph.model import Level
from kg_server.service.curation import retire
from kg_server.service.searching import search_memory
from kg_server.service.sessions import Session
from kg_server.service.writing import put_node
from kg_world import World, done, wait

LEVELS: tuple[Level, ...] = ("user", "project")

# --- creating and updating


@pytest.mark.requirement("entries.private-fields")
def test_a_new_node_is_stored_with_its_text_and_its_writer(world: World) -> None:
    session = world.open()
    text = world.put(session, "cache-layer", "The cache.", ["a note"], ["src/cache.py"])
    assert text == "Node 'cache-layer' saved to the project graph."
    node = world.node("cache-layer")
    assert (node["gist"], node["notes"], node["touches"]) == ("The cache.", ["a note"], ["src/cache.py"])
    assert node["_created_ts"] == world.clock.time
    assert node["_written"] == {"ts": world.clock.time, "by": session.id, "author": session.id}


def test_an_acknowledged_write_is_there_after_a_crash(world: World) -> None:
    session = world.open()
    world.put(session, "cache-layer", "The cache.", ["a note"])
    world.put(session, "cache-layer", "The cache, corrected.")
    world.link(session, "cache-layer", "src/cache.py")
    world.crash()
    assert world.node("cache-layer")["gist"] == "The cache, corrected."
    assert world.node("cache-layer")["notes"] == ["a note"]
    assert list(world.graph().edges) == ["cache-layer->src/cache.py:needs"]


@pytest.mark.requirement("saving.durable-before-reply")
def test_a_write_that_waits_for_the_disk_is_not_acknowledged_before(world: World) -> None:
    outcome = put_node(world.context, world.open(), "project", "cache-layer", "The cache.", None, None)
    assert len(outcome.writes) == 1
    wait(outcome.writes)
    journal = world.layout.journal(world.key).read_text(encoding="utf-8")
    assert "The cache." in journal


def test_each_level_is_a_graph_of_its_own(world: World) -> None:
    session = world.open()
    world.put(session, "style", "Of the user.", level="user")
    world.put(session, "style", "Of the project.")
    assert world.node("style", "user")["gist"] == "Of the user."
    assert world.node("style")["gist"] == "Of the project."


def test_lists_that_are_not_sent_stay(world: World) -> None:
    session = world.open()
    world.put(session, "cache-layer", "The cache.", ["a note"], ["src/cache.py"])
    world.put(session, "cache-layer", "The cache, corrected.")
    node = world.node("cache-layer")
    assert (node["gist"], node["notes"], node["touches"]) == ("The cache, corrected.", ["a note"], ["src/cache.py"])


def test_lists_that_are_sent_replace_the_stored_ones_and_what_went_is_told(world: World) -> None:
    session = world.open()
    world.put(session, "cache-layer", "The cache.", ["keep", "drop"], ["src/cache.py"])
    text = world.put(session, "cache-layer", "The cache.", ["keep", "new"], ["src/new.py"])
    node = world.node("cache-layer")
    assert (node["notes"], node["touches"]) == (["keep", "new"], ["src/new.py"])
    assert "'drop'" in text
    assert "'src/cache.py'" in text
    assert "'keep'" not in text
    assert "To take it back" in text


def test_an_empty_list_removes_the_stored_one(world: World) -> None:
    session = world.open()
    world.put(session, "cache-layer", "The cache.", ["a note"], ["src/cache.py"])
    world.put(session, "cache-layer", "The cache.", [], [])
    node = world.node("cache-layer")
    assert "notes" not in node
    assert "touches" not in node


@pytest.mark.requirement("files.same-node-again")
def test_an_identical_write_changes_nothing(world: World) -> None:
    session = world.open()
    world.put(session, "cache-layer", "The cache.", ["a note"])
    before = world.node("cache-layer")
    journal = world.layout.journal(world.key).read_bytes()
    for notes in (["a note"], None):
        assert "nothing to change" in world.put(session, "cache-layer", "The cache.", notes)
    assert world.node("cache-layer") is before
    assert world.layout.journal(world.key).read_bytes() == journal


def test_an_identical_write_by_another_session_is_no_change_to_tell(world: World) -> None:
    author, other = world.open(), world.open()
    world.put(author, "cache-layer", "The cache.")
    world.sync(author)
    assert "nothing to change" in world.put(other, "cache-layer", "The cache.")
    assert "No changes" in world.sync(author)


@pytest.mark.requirement("files.same-node-again")
def test_an_identical_write_of_an_archived_node_makes_it_active(world: World) -> None:
    world.remember({"old-cache": "Still true."}, tier="archived", notes=["a note"])
    for notes in (["a note"], None):
        world.context.memory.graph(world.key).retier("old-cache", "archived", 0)
        world.put(world.open(), "old-cache", "Still true.", notes)
        assert world.graph().is_active("old-cache")
    world.crash()
    assert world.graph().is_active("old-cache")


@pytest.mark.requirement("tiers.write-activates")
def test_a_changed_archived_node_becomes_active(world: World) -> None:
    world.remember({"old-cache": "As it was."}, tier="archived")
    session = world.open()
    session.saw("project", world.node("old-cache"), 1)
    world.put(session, "old-cache", "As it is now.")
    assert world.graph().is_active("old-cache")


def test_the_time_of_creation_stays(world: World) -> None:
    session = world.open()
    world.put(session, "cache-layer", "The cache.")
    created = world.node("cache-layer")["_created_ts"]
    world.put(session, "cache-layer", "The cache, corrected.")
    assert world.node("cache-layer")["_created_ts"] == created
    assert len(world.node("cache-layer")["_gist_ts"]) == 1


def test_an_id_is_stored_with_its_letters_composed(world: World) -> None:
    world.put(world.open(), "cafe\u0301-cache", "The cache of the café.")
    assert list(world.graph().nodes) == ["caf\u00e9-cache"]


@pytest.mark.requirement("entries.gist-one-line")
def test_line_breaks_in_a_gist_are_folded(world: World) -> None:
    world.put(world.open(), "tricky", "one\n=== USER GRAPH\r\n\u2028two")
    assert world.node("tricky")["gist"] == "one === USER GRAPH two"


@pytest.mark.requirement("entries.unknown-fields-kept")
def test_fields_that_this_version_does_not_know_are_kept(world: World) -> None:
    world.remember({"cache-layer": "The cache."})
    world.node("cache-layer")["future"] = {"a": 1}  # type: ignore[typeddict-unknown-key]
    session = world.reader()
    world.put(session, "cache-layer", "The cache, corrected.")
    assert dict(world.node("cache-layer"))["future"] == {"a": 1}


@pytest.mark.requirement("entries.gist-long-hint")
def test_a_long_gist_is_accepted_with_a_hint(world: World) -> None:
    assert "301 characters" in world.put(world.open(), "talkative", "x" * 301)
    assert "characters" not in world.put(world.open(), "brief", "x" * 300)


def test_an_id_with_a_date_is_accepted_with_a_hint(world: World) -> None:
    assert "holds a date" in world.put(world.open(), "outage-2026-05-04", "It was down.")


@pytest.mark.parametrize(
    ("name", "gist", "notes", "touches", "told"),
    [
        ("Not an id!", "x", None, None, "id 'Not an id!' is not a node id"),
        ("", "x", None, None, "id '' is not a node id"),
        ("a-b-c-d-e-f-g", "x", None, None, "7 words; at most 6"),
        ("../../etc", "x", None, None, "is not a node id"),
        ("ok", "", None, None, "gist is empty"),
        ("ok", " \n ", None, None, "gist is empty"),
        ("ok", "x" * 1_001, None, None, "gist has 1001 characters; at most 1000"),
        ("ok", "x", ["y" * 4_001], None, "note 1 has 4001 characters; at most 4000"),
        ("ok", "x", ["y"] * 101, None, "notes has 101 entries; at most 100"),
        ("ok", "x", None, ["y"] * 101, "touches has 101 entries; at most 100"),
        ("ok", "x", None, ["a\0b"], "touch 1"),
        ("ok", "half \ud800", None, None, "gist holds half a character"),
        ("ok", "x", ["half \udfff"], None, "note 1 holds half a character"),
    ],
)
def test_an_entry_that_breaks_a_rule_is_refused_by_field_and_stored_nowhere(
    world: World, name: str, gist: str, notes: list[str] | None, touches: list[str] | None, told: str
) -> None:
    with pytest.raises(InvalidEntry, match=told) as refused:
        world.put(world.open(), name, gist, notes, touches)
    assert len(str(refused.value)) < 400
    assert world.graph().nodes == {}


SECRET = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize("field", ["gist", "notes", "touches"])
def test_a_credential_is_refused_never_repeated_and_in_no_file(world: World, field: str) -> None:
    sent = {"gist": "A lesson.", field: SECRET if field == "gist" else [SECRET]}
    with pytest.raises(WriteRefused, match="a GitHub token") as refused:
        world.put(world.open(), "deploy-key", **sent)  # type: ignore[arg-type]
    assert SECRET not in str(refused.value)
    world.restart()
    files = [path for path in world.layout.root.rglob("*") if path.is_file()]
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]


# --- the guard against writing over what was not seen


def refuse(world: World, session: Session, name: str, gist: str, **lists: Any) -> str:
    """A write that must be refused without a change; what is said."""
    before = world.node(name)
    with pytest.raises(WriteRefused, match=r"^NOT WRITTEN: ") as refused:
        world.put(session, name, gist, **lists)
    assert world.node(name) is before
    return str(refused.value)


def test_a_node_that_was_never_seen_is_not_overwritten(world: World) -> None:
    world.remember({"cache-layer": "Somebody's lesson."}, notes=["somebody's note"])
    told = refuse(world, world.open(), "cache-layer", "Mine now.")
    assert "has not read the node" in told
    assert "Somebody's lesson." in told
    assert "somebody's note" in told


def test_a_node_that_changed_since_it_was_seen_is_not_overwritten(world: World) -> None:
    world.remember({"cache-layer": "First."})
    slow, quick = world.open(), world.open()
    for session in (slow, quick):
        world.read(session, "cache-layer")
    world.put(quick, "cache-layer", "Second.")
    told = refuse(world, slow, "cache-layer", "Also second.")
    assert "changed since" in told
    assert "Second." in told


def test_a_version_that_another_text_has_since_a_crash_is_not_taken_for_the_one_that_was_seen(world: World) -> None:
    world.remember({"cache-layer": "First."})
    slow, quick = world.open(), world.open()
    world.read(slow, "cache-layer")
    world.read(quick, "cache-layer")
    project = world.layout.snapshot(world.key).parent
    shutil.copytree(project, project.with_name("as-it-was"))
    world.put(slow, "cache-layer", "Second, never on disk.")
    world.context.sessions.save()
    world.close()
    shutil.rmtree(project)
    project.with_name("as-it-was").rename(project)
    world.crash()
    slow, quick = world.context.session(slow.id), world.context.session(quick.id)
    world.put(quick, "cache-layer", "Second of another.")
    assert "Second of another." in refuse(world, slow, "cache-layer", "Third.")


def test_bringing_back_an_archived_node_by_its_gist_is_not_reading_notes_that_changed_since(world: World) -> None:
    world.remember({"cache-layer": "The cache."}, notes=["first"])
    slow, quick = world.open(), world.open()
    for session in (slow, quick):
        world.read(session, "cache-layer")
    world.put(quick, "cache-layer", "The cache.", ["second"])
    world.graph().retier("cache-layer", "archived", 0)
    world.put(slow, "cache-layer", "The cache.")
    assert "second" in refuse(world, slow, "cache-layer", "The cache.", notes=["third"])


def test_two_sessions_that_add_a_note_each_lose_none(world: World) -> None:
    world.remember({"cache-layer": "The cache."}, notes=["a"])
    one, two = world.open(), world.open()
    for session in (one, two):
        world.read(session, "cache-layer")
    world.put(one, "cache-layer", "The cache.", ["a", "b"])
    refuse(world, two, "cache-layer", "The cache.", notes=["a", "c"])
    world.put(two, "cache-layer", "The cache.", ["a", "b", "c"])
    assert world.node("cache-layer")["notes"] == ["a", "b", "c"]


@pytest.mark.parametrize("way", ["preload", "full read", "search", "recall"])
def test_notes_that_were_not_shown_are_not_replaced(world: World, way: str, show: Callable[[str], Session]) -> None:
    world.remember({"cache-layer": "Redis keeps the sessions."}, notes=["unseen note"])
    world.node("cache-layer")["touches"] = ["src/cache.py"]
    session = show(way)
    told = refuse(world, session, "cache-layer", "Redis keeps the sessions.", notes=["mine"])
    assert "notes or touches that this session has not read" in told
    assert "unseen note" in told


@pytest.fixture
def show(world: World) -> Callable[[str], Session]:
    """Let a session see the gist of the one node that there is, in one of the ways."""

    def see(way: str) -> Session:
        if way == "preload":
            world.start()
            return world.bound()
        if way == "recall":
            world.start()
            session = world.bound()
            session.full_read_ts = world.clock.time
            session.seen.clear()
            session.viewed.clear()
            assert "Redis" in world.ask("where do the redis sessions live?")
            return session
        session = world.open()
        if way == "search":
            session.seen["project:cache-layer"] = 0
            search_memory(world.context, session, "redis")
        else:
            world.read_all(session)
        return session

    return see


def test_a_gist_that_was_seen_may_be_corrected_without_reading_the_notes(world: World) -> None:
    world.remember({"cache-layer": "The cache."}, notes=["unseen note"])
    world.start()
    world.put(world.bound(), "cache-layer", "The cache, corrected.")
    assert world.node("cache-layer")["notes"] == ["unseen note"]


@pytest.mark.parametrize("sent", [{"notes": ["mine"]}, {"touches": []}])
def test_correcting_a_gist_is_not_reading_the_notes(world: World, sent: dict[str, list[str]]) -> None:
    world.remember({"cache-layer": "The cache."}, notes=["unseen note"])
    world.node("cache-layer")["touches"] = ["src/unseen.py"]
    world.start()
    world.put(world.bound(), "cache-layer", "The cache, corrected.")
    assert "unseen note" in refuse(world, world.bound(), "cache-layer", "The cache, corrected.", **sent)


def test_a_refusal_shows_the_node_and_counts_as_reading_it(world: World) -> None:
    world.remember({"cache-layer": "The cache."}, notes=["a"])
    session = world.open()
    refuse(world, session, "cache-layer", "Mine.", notes=["b"])
    world.put(session, "cache-layer", "Mine.", ["a", "b"])
    assert world.node("cache-layer")["notes"] == ["a", "b"]


def test_a_refusal_of_a_node_that_changes_again_is_repeated(world: World) -> None:
    world.remember({"cache-layer": "First."})
    session, other = world.open(), world.open()
    refuse(world, session, "cache-layer", "Mine.")
    world.read(other, "cache-layer")
    world.put(other, "cache-layer", "Second.")
    assert "changed since" in refuse(world, session, "cache-layer", "Mine.")


def test_after_a_compaction_a_stale_write_is_still_refused(world: World) -> None:
    world.remember({"cache-layer": "First."})
    session, other = world.reader(), world.open()
    session.forget_context()
    world.read(other, "cache-layer")
    world.put(other, "cache-layer", "Second.")
    refuse(world, session, "cache-layer", "Mine.")


def test_a_session_may_write_on_what_it_wrote_itself(world: World) -> None:
    session = world.open()
    world.put(session, "cache-layer", "First.", ["a"])
    world.put(session, "cache-layer", "Second.", ["b"])
    assert world.node("cache-layer")["notes"] == ["b"]


def test_after_a_crash_lists_are_not_replaced_by_a_session_whose_reading_was_not_saved(world: World) -> None:
    world.remember({"cache-layer": "The cache."}, notes=["a"])
    session = world.open()
    world.read(session, "cache-layer")
    world.crash()
    again = world.context.sessions.get(session.id)
    assert again is not None
    refuse(world, again, "cache-layer", "The cache.", notes=["mine"])


def test_a_node_that_was_deleted_and_written_anew_is_not_overwritten(world: World) -> None:
    world.remember({"cache-layer": "First."})
    session, other = world.open(), world.open()
    for one in (session, other):
        world.read(one, "cache-layer")
    world.delete(other, "cache-layer")
    world.put(other, "cache-layer", "Another lesson under the same id.")
    refuse(world, session, "cache-layer", "Mine.")


@pytest.mark.requirement("entries.locked-untouched")
def test_a_locked_node_stays_as_it_is(world: World) -> None:
    world.remember({"house-rule": "Never push on Fridays."}, locked=True)
    session = world.reader()
    world.read(session, "house-rule")
    with pytest.raises(WriteRefused, match="locked by the user"):
        world.put(session, "house-rule", "Push when you like.")
    with pytest.raises(WriteRefused, match="locked by the user"):
        world.delete(session, "house-rule")
    assert world.node("house-rule")["gist"] == "Never push on Fridays."


def test_a_project_write_without_a_project_says_what_to_do(world: World) -> None:
    session = world.open_user_only()
    writes: list[Callable[[], str]] = [
        lambda: world.put(session, "cache-layer", "The cache."),
        lambda: world.link(session, "a", "b"),
        lambda: world.delete(session, "cache-layer", "project"),
    ]
    for write in writes:
        with pytest.raises(WriteRefused, match="this session has no project: call kg_read with session_id and cwd="):
            write()


@pytest.mark.requirement("tiers.maintenance-is-not-use")
def test_a_maintenance_rewrite_changes_content_only(world: World) -> None:
    world.remember({"old-cache": "As it was."}, tier="archived")
    session = world.open()
    session.maintenance = True
    world.read(session, "old-cache")
    world.put(session, "old-cache", "Tidied.")
    assert world.node("old-cache")["gist"] == "Tidied."
    assert world.graph().in_tier("archived") == {"old-cache"}


# --- edges


@pytest.mark.requirement("entries.edge-upsert")
def test_an_edge_is_stored_and_linked_again_only_updated(world: World) -> None:
    session = world.open()
    world.put(session, "a", "A.")
    world.put(session, "b", "B.")
    assert "a --needs--> b saved to the project graph" in world.link(session, "a", "b", notes=["why"])
    assert "nothing to change" in world.link(session, "a", "b")
    world.link(session, "a", "b", notes=["another reason"])
    (edge,) = world.graph().edges.values()
    assert edge["notes"] == ["another reason"]
    world.crash()
    assert len(world.graph().edges) == 1


def test_an_edge_may_come_before_its_nodes_with_a_hint(world: World) -> None:
    world.remember({"cache-layer": "The cache.", "cache-warmup": "Warm it."})
    text = world.link(world.open(), "cache-layer", "cache-layers")
    assert "No node 'cache-layers' yet" in text
    assert "Nearest ids: " in text
    assert "cache-layer" in text.partition("Nearest ids: ")[2]


@pytest.mark.requirement("files.dangling-dropped")
def test_an_edge_whose_node_never_came_is_dropped_at_the_next_load(world: World) -> None:
    world.remember({"cache-layer": "The cache."})
    session = world.open()
    world.link(session, "cache-layer", "never-came")
    world.link(session, "cache-layer", "src/app.py")
    world.put(session, "habit", "A habit.", level="user")
    world.link(session, "cache-layer", "habit")
    world.restart()
    assert {edge["to"] for edge in world.graph().edges.values()} == {"src/app.py", "habit"}
    assert [name for name in world.graph().meta["versions"] if "never-came" in name] == []


@pytest.mark.parametrize("path", ["src/app.py", "./README.md", "~/notes.md", "/etc/hosts", "docs/ein Ort/ä.md"])
def test_an_edge_may_end_at_a_file_without_a_hint(world: World, path: str) -> None:
    world.remember({"cache-layer": "The cache."})
    assert "yet" not in world.link(world.open(), "cache-layer", path)


def test_a_project_edge_may_end_at_a_user_node_without_a_hint(world: World) -> None:
    world.remember({"cache-layer": "The cache."})
    world.remember({"habit": "A habit."}, level="user")
    assert "yet" not in world.link(world.open(), "cache-layer", "habit")


def test_a_user_edge_to_a_project_node_draws_a_hint(world: World) -> None:
    world.remember({"cache-layer": "The cache."})
    world.remember({"habit": "A habit."}, level="user")
    assert "No node 'cache-layer' yet" in world.link(world.open(), "habit", "cache-layer", level="user")


@pytest.mark.parametrize(
    ("source", "target", "rel", "told"),
    [
        ("src/a.py", "src/b.py", "needs", "both paths"),
        ("not an id!", "b", "needs", "from 'not an id!'"),
        ("a", "not an id!", "needs", "to 'not an id!'"),
        ("a", "b", "not a rel!", "rel 'not a rel!'"),
        ("a", "/" + "x" * 300, "needs", "at most 255"),
        ("a", "src/\x07.py", "needs", "cannot be printed"),
        ("a", "b", "x" * 64, "rel"),
    ],
)
def test_an_edge_that_breaks_a_rule_is_refused_by_field(
    world: World, source: str, target: str, rel: str, told: str
) -> None:
    with pytest.raises(InvalidEntry, match=told):
        world.link(world.open(), source, target, rel)
    assert world.graph().edges == {}


# --- deleting


def test_a_deleted_node_takes_its_edges_with_it_for_good(world: World) -> None:
    world.remember({"a": "A.", "b": "B.", "c": "C."})
    world.remember_edges(("a", "needs", "b"), ("b", "needs", "c"), ("c", "needs", "a"), ("b", "is-in", "src/b.py"))
    text = world.delete(world.open(), "b")
    assert "Node 'b' and 3 edge(s) deleted from the project graph" in text
    world.crash()
    assert set(world.graph().nodes) == {"a", "c"}
    assert list(world.graph().edges) == ["c->a:needs"]


def test_a_deleted_user_node_takes_the_edges_of_projects_with_it(world: World) -> None:
    world.remember({"habit": "A habit."}, level="user")
    world.remember({"a": "A."})
    world.remember_edges(("a", "follows", "habit"))
    text = world.delete(world.open_user_only(), "habit")
    assert "1 edge(s)" in text
    assert world.graph().edges == {}


def test_a_node_of_both_levels_is_deleted_only_where_the_level_is_named(world: World) -> None:
    world.remember({"style": "Of the project."})
    world.remember({"style": "Of the user."}, level="user")
    session = world.open()
    with pytest.raises(InvalidEntry, match="both user and project hold a node 'style': say which with level"):
        world.delete(session, "style")
    world.delete(session, "style", "user")
    assert "style" not in world.graph("user").nodes
    assert "style" in world.graph().nodes


def test_a_node_that_does_not_exist_cannot_be_deleted(world: World) -> None:
    with pytest.raises(UnknownEntry, match="node 'ghost' does not exist in user or project"):
        world.delete(world.open(), "ghost")


def test_a_deleted_edge_is_gone_for_good(world: World) -> None:
    world.remember({"a": "A.", "b": "B."})
    world.remember_edges(("a", "needs", "b"), ("a", "knows", "b"))
    assert "a --needs--> b deleted from the project graph" in world.unlink(world.open(), "a", "b")
    world.crash()
    assert list(world.graph().edges) == ["a->b:knows"]


def test_an_edge_that_does_not_exist_cannot_be_deleted(world: World) -> None:
    with pytest.raises(UnknownEntry, match=r"edge 'a --needs--> b' does not exist .* kg_read with the id"):
        world.unlink(world.open(), "a", "b")


def test_an_edge_of_both_levels_is_deleted_only_where_the_level_is_named(world: World) -> None:
    for level in LEVELS:
        world.remember({"a": "A.", "b": "B."}, level=level)
        world.remember_edges(("a", "needs", "b"), level=level)
    session = world.open()
    with pytest.raises(InvalidEntry, match="say which with level"):
        world.unlink(session, "a", "b")
    world.unlink(session, "a", "b", level="project")
    assert world.graph("user").edges
    assert not world.graph().edges


def test_an_id_is_deleted_however_its_letters_are_composed(world: World) -> None:
    session = world.open()
    world.put(session, "caf\u00e9", "One.")
    world.link(session, "caf\u00e9", "src/x.py")
    world.unlink(session, "cafe\u0301", "src/x.py")
    world.delete(session, "cafe\u0301")
    assert world.graph().nodes == world.graph().edges == {}


@pytest.mark.requirement("tiers.retired-hidden")
def test_a_retired_node_is_not_written_where_nobody_would_see_it(world: World) -> None:
    session = world.open()
    world.put(session, "lesson", "A lesson.")
    done(retire(world.context, world.key, "lesson", "it was wrong", "user"))
    for gist in ("A lesson.", "A better lesson."):
        with pytest.raises(WriteRefused, match=r"it was wrong.*`kg restore lesson --project"):
            world.put(session, "lesson", gist)
    assert world.node("lesson")["gist"] == "A lesson."
