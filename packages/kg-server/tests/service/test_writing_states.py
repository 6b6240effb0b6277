"""Two sessions and two ids, every order of writing, reading, renaming and forgetting: nobody's text is lost unseen.

The real operations make each step, on a store that is nowhere. Beside them stands what each session can know, read out
of the replies that it got.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations
from typing import Any, Literal, cast

import pytest
from graph_builders import graph_of, node
from kg_server.graph.errors import DomainError
from kg_server.graph.graph import Graph
from kg_server.graph.model import Node
from kg_server.graph.versions import tombstones, versions
from kg_server.service.context import Context
from kg_server.service.memory import Memory
from kg_server.service.reading import full_read, read_nodes
from kg_server.service.renaming import rename_node
from kg_server.service.sessions import Session, Sessions, View, text_mark
from kg_server.service.writing import delete_node, put_node
from kg_server.storage.layout import USER, GraphKey
from kg_world import NOON, World
from state_space import Step, explore

IDS = ("x", "y")
PROJECT = GraphKey("project", "app")
Letter = Literal["a", "b"]
"""A session; its texts carry its letter."""


@dataclass(frozen=True, slots=True, order=True)
class Text:
    """A node's gist and notes by the letters of who wrote them; `notes` is None where a reader does not know them."""

    gist: str
    notes: str | None = ""


@dataclass(frozen=True, slots=True)
class Known:
    """What a session and its record hold of one id."""

    version: int = -1
    whole: bool = False
    viewed: Text | None = None
    marked: str = ""
    """Letter of the gist that counts as seen."""
    told: str = ""
    """Letter of the gist that last reached it since its context was emptied."""
    had: Text | None = None
    """The text that it last got or wrote."""


@dataclass(frozen=True, slots=True)
class State:
    """Both ids: text, version (that of a deleted one is kept), tier, and what the sessions know of them."""

    texts: tuple[Text | None, ...] = (None, None)
    versions: tuple[int, ...] = (-1, -1)
    archived: tuple[bool, ...] = (False, False)
    known: tuple[tuple[Known, ...], ...] = ((Known(), Known()), (Known(), Known()))


def gist_of(letter: str) -> str:
    return f"Lesson of {letter}."


def note_of(letter: str) -> str:
    return f"Note of {letter}."


def stored(name: str, text: Text) -> Node:
    notes = {"notes": [note_of(text.notes)]} if text.notes else {}
    return node(name, gist_of(text.gist), **notes)


MARKS: dict[Text | None, int] = {
    None: 0,
    **{text: text_mark(stored("", text)) for text in (Text(gist, notes) for gist in "ab" for notes in ("", "a", "b"))},
}
TEXTS = {mark: text for text, mark in MARKS.items()}


class Nowhere:
    """A store that keeps nothing and is always done at once."""

    def exists(self, key: GraphKey) -> bool:
        return True

    def project_slugs(self) -> dict[str, str]:
        return {}

    def append(self, key: GraphKey, entry: object) -> Future[None]:
        done: Future[None] = Future()
        done.set_result(None)
        return done


class Unsaved(Sessions):
    """A registry that is never written."""

    def save(self) -> None:
        """Nothing to keep."""


class House:
    """The product's operations, put into any state and read back from it."""

    def __init__(self, world: World, names: Sequence[str], *, crashes: bool) -> None:
        self._names = names
        self._crashes = crashes
        self._memory = Memory(cast(Any, Nowhere()), lambda: NOON)
        self._context: Context = replace(
            world.context, memory=self._memory, sessions=Unsaved(world.layout.sessions, lambda: NOON, lambda: "")
        )
        self._user = Graph("user")

    def steps(self, state: State) -> Iterable[Step[State]]:
        if state.texts[0] is not None and not state.archived[0]:
            yield "x goes to the archive", partial(self._archive, state)
        for who in (0, 1):
            letter = "ab"[who]
            for name in self._names:
                for put in _puts(state, who, name):
                    text = f"{letter} writes {name}: {put.gist}{f' with note {put.notes}' if put.notes else ''}"
                    yield text, partial(self._put, state, who, name, put)
                    if self._crashes:
                        yield f"{text}, and it never reaches the disk", partial(self._lost, state, who, name, put)
                yield f"{letter} reads {name}", partial(self._step, state, who, partial(self._read, name))
                yield f"{letter} deletes {name}", partial(self._step, state, who, partial(self._delete, name))
            for old, new in permutations(self._names, 2):
                yield f"{letter} renames {old}", partial(self._rename, state, who, old, new)
            yield f"{letter} reads all", partial(self._step, state, who, self._read_all)
            yield f"{letter} forgets", partial(self._forget, state, who)

    # --- steps

    def _read(self, name: str, session: Session) -> str:
        return read_nodes(self._context, session, [name], None)[0]

    def _read_all(self, session: Session) -> str:
        return full_read(self._context, session)

    def _delete(self, name: str, session: Session) -> str:
        return delete_node(self._context, session, name, None).text

    def _step(self, state: State, who: int, act: Callable[[Session], str]) -> State:
        sessions = self._enter(state)
        try:
            reply = act(sessions[who])
        except DomainError as error:
            reply = str(error)
        return self._leave(state, sessions, _heard(state, who, reply))

    def _put(self, state: State, who: int, name: str, put: Text) -> State:
        sessions = self._enter(state)
        standing = state.texts[IDS.index(name)]
        try:
            self._write(sessions[who], name, put)
        except DomainError as error:
            after = self._leave(state, sessions, _heard(state, who, str(error)))
            assert after.texts == state.texts, "a refused write changed something"
            self._write(self._enter(after)[who], name, put)  # who has read the refusal can write
            return after
        had = state.known[who][IDS.index(name)].had
        if standing is not None and self._text(name) != standing:
            assert had is not None, f"{standing} was written over, and the session never had it"
            assert had.gist == standing.gist, f"{standing} was written over, and the session had {had}"
            lost = put.notes and standing.notes
            assert not lost or had.notes == standing.notes, f"notes of {standing} were replaced, and it had {had}"
        return self._leave(state, sessions, _wrote(state, who, name, put))

    def _lost(self, state: State, who: int, name: str, put: Text) -> State:
        """The server dies before the write is on disk; what the sessions know had been saved."""
        sessions = self._enter(state)
        try:
            self._write(sessions[who], name, put)
        except DomainError:
            return state
        self._memory._graphs[PROJECT] = self._graph(state)
        return self._leave(state, sessions, _wrote(state, who, name, put))

    def _write(self, session: Session, name: str, put: Text) -> None:
        notes = [note_of(put.notes)] if put.notes else None
        put_node(self._context, session, "project", name, gist_of(put.gist), notes, None)

    def _archive(self, state: State) -> State:
        sessions = self._enter(state)
        self._memory._graphs[PROJECT].retier("x", "archived", NOON)
        return self._leave(state, sessions, state.known)

    def _rename(self, state: State, who: int, old: str, new: str) -> State:
        sessions = self._enter(state)
        try:
            rename_node(self._context, sessions[who], old, new, None)
        except DomainError as error:
            return self._leave(state, sessions, _heard(state, who, str(error)))
        at, to = IDS.index(old), IDS.index(new)
        known = [list(one) for one in state.known]
        for one in known:
            one[to] = replace(one[to], told=one[at].told or one[to].told, had=one[at].had)
            one[at] = replace(one[at], told="", had=None)
        return self._leave(state, sessions, known)

    def _forget(self, state: State, who: int) -> State:
        sessions = self._enter(state)
        sessions[who].forget_context()
        known = [list(one) for one in state.known]
        known[who] = [replace(one, told="") for one in known[who]]
        return self._leave(state, sessions, known)

    # --- in and out

    def _graph(self, state: State) -> Graph:
        made = [stored(name, text) for name, text in zip(IDS, state.texts, strict=True) if text is not None]
        graph = graph_of(*made, meta={"project_path": "/app"})
        for name, away in zip(IDS, state.archived, strict=True):
            if away:
                graph.retier(name, "archived", NOON)
        for name, text, version in zip(IDS, state.texts, state.versions, strict=True):
            if version >= 0:
                kept: Any = versions(graph.meta) if text is not None else tombstones(graph.meta)
                kept[f"node:{name}"] = {"v": version, "ts": 0.0, "session": "s"}
        return graph

    def _enter(self, state: State) -> list[Session]:
        self._memory._graphs = {USER: self._user, PROJECT: self._graph(state)}
        sessions = []
        for letter, known in zip("ab", state.known, strict=True):
            session = Session(letter, NOON, NOON, "/app", "app", full_read_ts=1.0)
            for name, one in zip(IDS, known, strict=True):
                if one.version >= 0:
                    session.viewed[f"project:{name}"] = View(one.version, one.whole, MARKS[one.viewed])
                if one.marked:
                    session.seen[f"project:{name}"] = zlib.crc32(gist_of(one.marked).encode())
            sessions.append(session)
        self._context.sessions._sessions = {session.id: session for session in sessions}
        return sessions

    def _text(self, name: str) -> Text | None:
        one = self._memory._graphs[PROJECT].nodes.get(name)
        if one is None:
            return None
        return Text(one["gist"][-2], one["notes"][0][-2] if one.get("notes") else "")

    def _leave(self, state: State, sessions: list[Session], known: Iterable[Iterable[Known]]) -> State:
        graph = self._memory._graphs[PROJECT]
        marks = {zlib.crc32(gist_of(letter).encode()): letter for letter in "ab"}
        rows = []
        for session, ghosts in zip(sessions, known, strict=True):
            row = []
            for name, ghost in zip(IDS, ghosts, strict=True):
                view = session.viewed.get(f"project:{name}", View(-1))
                marked = marks.get(session.seen.get(f"project:{name}", 0), "")
                one = graph.nodes.get(name)
                if one is not None and session.has_seen("project", one):
                    assert gist_of(ghost.told) == one["gist"], f"{session.id} never got what counts as seen: {name}"
                row.append(
                    replace(ghost, version=view.version, whole=view.whole, viewed=TEXTS[view.text], marked=marked)
                )
            rows.append(tuple(row))
        texts = tuple(self._text(name) for name in IDS)
        counted = tuple(
            (versions if name in graph.nodes else tombstones)(graph.meta).get(f"node:{name}", {"v": -1})["v"]
            for name in IDS
        )
        archived = tuple(name in graph.in_tier("archived") for name in IDS)
        return _canonical(State(texts, counted, archived, tuple(rows)))


def _heard(state: State, who: int, reply: str) -> list[list[Known]]:
    """What the sessions know once one of them has this reply: gists of a full read, blocks with their notes."""
    known = [list(one) for one in state.known]
    for name, letter in re.findall(r"^  ([xy]): Lesson of ([ab])\.$", reply, re.MULTILINE):
        before = known[who][IDS.index(name)]
        notes = before.had.notes if before.had is not None else None
        known[who][IDS.index(name)] = replace(before, told=letter, had=Text(letter, notes))
    for name, letter, rest in re.findall(r"▸ ([xy]) \(.*\n  gist: Lesson of ([ab])\.\n((?:  .*\n?)*)", reply):
        noted = re.search(r"Note of ([ab])\.", rest)
        at = IDS.index(name)
        known[who][at] = replace(known[who][at], told=letter, had=Text(letter, noted[1] if noted else ""))
    return known


def _puts(state: State, who: int, name: str) -> list[Text]:
    """A gist of its own, a note of its own beside the gist that stands, and that gist again; None leaves the notes."""
    own, standing = "ab"[who], state.texts[IDS.index(name)]
    gist = own if standing is None else standing.gist
    return [Text(own, None), Text(gist, own), *([Text(gist, None)] if gist != own else [])]


def _wrote(state: State, who: int, name: str, put: Text) -> list[list[Known]]:
    known = [list(one) for one in state.known]
    before = known[who][IDS.index(name)]
    notes = put.notes or (before.had.notes if before.had is not None else None)
    known[who][IDS.index(name)] = replace(before, told=put.gist, had=Text(put.gist, notes))
    return known


def _canonical(state: State) -> State:
    """Versions with their order and what is next to what, no larger than needed; the sessions in one order."""
    used = sorted({*state.versions, *(one.version for known in state.known for one in known)} - {-1, 0})
    rank, last = {-1: -1, 0: 0}, 0
    for version in used:
        rank[version] = rank[last] + min(2, version - last)
        last = version
    known = tuple(tuple(replace(one, version=rank[one.version]) for one in row) for row in state.known)
    ordered = State(state.texts, tuple(rank[one] for one in state.versions), state.archived, known)
    return min(ordered, _swapped(ordered), key=repr)


def _swapped(state: State) -> State:
    other = {"a": "b", "b": "a"}

    def text(one: Text | None) -> Text | None:
        return one and Text(other[one.gist], other.get(one.notes, "") if one.notes is not None else None)

    known = tuple(
        tuple(
            replace(
                one,
                viewed=text(one.viewed),
                marked=other.get(one.marked, ""),
                told=other.get(one.told, ""),
                had=text(one.had),
            )
            for one in row
        )
        for row in reversed(state.known)
    )
    return State(tuple(text(one) for one in state.texts), state.versions, state.archived, known)


def test_in_every_order_of_two_sessions_the_text_of_a_node_is_never_lost_unseen(
    world: World, record_property: Callable[[str, object], None]
) -> None:
    explored = explore([State()], House(world, IDS[:1], crashes=False).steps, 100_000)
    record_property("explored", str(explored))
    print(explored)
    assert explored.closed


@pytest.mark.timeout(3_600)
@pytest.mark.parametrize(("names", "crashes"), [(IDS[:1], True), (IDS, False), (IDS, True)])
def test_in_many_orders_with_crashes_a_second_id_and_renames_no_text_is_lost_unseen(
    world: World, names: Sequence[str], crashes: bool, long_run: bool, record_property: Callable[[str, object], None]
) -> None:
    limit = 100_000 if long_run else 1_500
    explored = explore([State()], House(world, names, crashes=crashes).steps, limit)
    record_property("explored", str(explored))
    print(explored)
    assert explored.closed or explored.states >= limit
