"""The whole memory under random use, beside a model that is two dictionaries.

Sessions write, read, rename, delete, endorse, sync; compaction runs, the clock jumps both ways, appends fail, the
server is restarted or dies, somebody edits the file. After each step the promises hold: what was acknowledged is there,
the rendering is as long as its charge, budgets hold, no edge ends nowhere.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from kg_server.graph.compaction import over_budget
from kg_server.graph.dangling import dangling_edges
from kg_server.graph.errors import DomainError
from kg_server.graph.fresh import fresh_tier
from kg_server.graph.graph import Graph
from kg_server.graph.model import tier
from kg_server.graph.render import level_lines, text_of
from kg_server.service.curation import lock, retire
from kg_server.service.history import undo
from kg_server.service.renaming import rename_node
from kg_server.service.sessions import Session
from kg_server.service.useful import mark_useful
from kg_world import World, done, wait

SOAK_S = float(os.environ.get("KG_SOAK_SECONDS", "0"))
"""How long the campaign goes on; `make soak` sets an hour."""
BUDGET = 1_500
NAMES = [f"node-{letter}" for letter in "abcdefgh"]
names = st.sampled_from(NAMES)
gists = st.integers(0, 9).map(lambda number: f"Lesson {number} " + "long " * (number * 8))
who = st.integers(0, 2)


class Model(RuleBasedStateMachine):
    """`text` and `ends` are what was acknowledged: the content of nodes and the keys of edges."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.world = World(Path(self.folder.name))
        self.text: dict[str, tuple[str, tuple[str, ...]]] = {}
        self.ends: set[str] = set()
        self.locked: set[str] = set()
        self.ids: list[str] = []

    def teardown(self) -> None:
        self.world.close()
        self.folder.cleanup()

    @initialize()
    def begin(self) -> None:
        self._budget()
        for _ in range(3):
            self.ids.append(self.world.open().id)

    def _budget(self) -> None:
        self.world.context.memory.budget = BUDGET

    def _session(self, number: int) -> Session:
        session = self.world.context.sessions.get(self.ids[number])
        if session is None:  # its time is over: its agent reads once more
            session = self.world.open()
            self.ids[number] = session.id
        return session

    @property
    def graph(self) -> Graph:
        return self.world.graph()

    # --- what agents do

    @rule(number=who, name=names, gist=gists, notes=st.one_of(st.none(), st.lists(gists, max_size=2)))
    def write(self, number: int, name: str, gist: str, notes: list[str] | None) -> None:
        session = self._session(number)
        if name in self.text:
            self.world.read(session, name)
        try:
            self.world.put(session, name, gist, notes)
        except DomainError:
            assert name in self.locked or tier(self.graph.nodes[name]) == "retired"
            return
        kept = self.text.get(name, ("", ()))[1] if notes is None else tuple(note.strip() for note in notes)
        self.text[name] = (gist.strip(), kept)

    @rule(number=who, name=names, gist=gists)
    def write_blindly(self, number: int, name: str, gist: str) -> None:
        """Refused where another's text would be lost; never written half."""
        session = self._session(number)
        try:
            self.world.put(session, name, gist, ["a note"])
        except DomainError:
            return
        self.text[name] = (gist.strip(), ("a note",))

    @rule(number=who, one=names, other=names)
    def link(self, number: int, one: str, other: str) -> None:
        if one in self.text and other in self.text:
            session = self._session(number)
            try:
                self.world.link(session, one, other)
            except DomainError:  # another session wrote its notes
                return
            self.ends.add(f"{one}->{other}:needs")

    @rule(number=who, name=names)
    def read(self, number: int, name: str) -> None:
        self.world.read(self._session(number), name)

    @rule(number=who)
    def read_all(self, number: int) -> None:
        self.world.read_all(self._session(number))

    @rule(number=who)
    def sync(self, number: int) -> None:
        self.world.sync(self._session(number))

    @rule(number=who, name=names)
    def delete(self, number: int, name: str) -> None:
        try:
            self.world.delete(self._session(number), name)
        except DomainError:
            assert name in self.locked or name not in self.text
            return
        del self.text[name]
        self.ends = {key for key in self.ends if name not in key.removesuffix(":needs").split("->")}

    @rule(number=who, old=names, new=names)
    def rename(self, number: int, old: str, new: str) -> None:
        try:
            done(rename_node(self.world.context, self._session(number), old, new, None))
        except DomainError:
            assert old not in self.text or new in self.text or old in self.locked or old == new
            return
        self.text[new] = self.text.pop(old)
        self.ends = {self._renamed(key, old, new) for key in self.ends}

    @staticmethod
    def _renamed(key: str, old: str, new: str) -> str:
        source, target = key.removesuffix(":needs").split("->")
        return f"{new if source == old else source}->{new if target == old else target}:needs"

    @rule(number=who, name=names)
    def endorse(self, number: int, name: str) -> None:
        session = self._session(number)
        before = len(self.graph.nodes.get(name, {}).get("_useful_ts", ()))
        again = f"project:{name}" in session.endorsed
        outcome = mark_useful(self.world.context, session, [name], None)
        wait(outcome.writes)
        if name in self.text:
            after = len(self.graph.nodes[name].get("_useful_ts", ()))
            assert after == before if again else after in (before, before + 1)

    # --- what a person does

    @rule(name=names)
    def lock(self, name: str) -> None:
        if name in self.text:
            done(lock(self.world.context, self.world.key, name, locked=name not in self.locked))
            self.locked ^= {name}

    @rule(name=names)
    def retire(self, name: str) -> None:
        if name in self.text and name not in self.locked:
            done(retire(self.world.context, self.world.key, name, "wrong", "user"))

    @rule()
    def take_back(self) -> None:
        """Whatever an undo does, it says what it did, and the file agrees with the memory."""
        try:
            done(undo(self.world.context, self.world.key, None, "user"))
        except DomainError:
            return
        self._learn()

    @rule(name=names)
    def edit_the_file(self, name: str) -> None:
        memory = self.world.context.memory
        memory.save_changed()
        path = self.world.layout.snapshot(self.world.key)
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if name not in content.get("nodes", {}):
            return
        content["nodes"][name]["gist"] = "Edited by hand."
        path.write_text(json.dumps(content, indent=1), encoding="utf-8")
        memory.take_in_outside()
        self.text[name] = ("Edited by hand.", self.text[name][1])

    # --- what happens

    @rule(seconds=st.sampled_from([1.0, 3_600.0, 90_000.0, 40 * 86_400.0, -7_200.0]))
    def time_passes(self, seconds: float) -> None:
        self.world.clock.passes(seconds)

    @rule()
    def tick(self) -> None:
        memory = self.world.context.memory
        memory.settle_due()
        memory.take_in_outside()
        memory.save_changed()
        self.world.context.sessions.save_changed()

    @rule(number=who, name=names, gist=gists)
    def write_on_a_full_disk(self, number: int, name: str, gist: str) -> None:
        """Told as not saved: it may be there after a crash or not, but never half, and later writes are safe."""
        if name in self.text:
            return
        self.world.disk.journal = OSError(28, "No space left on device")
        try:
            self.world.put(self._session(number), name, gist)
        except OSError:
            pass
        except DomainError:
            return
        finally:
            self.world.disk.journal = None
        self.world.context.memory.save_changed()
        self._learn()

    @rule()
    def restart(self) -> None:
        self.world.restart()
        self._budget()

    @rule()
    def crash(self) -> None:
        self.world.context.sessions.save_changed()
        self.world.crash()
        self._budget()

    def _learn(self) -> None:
        """Take over what stands, where only the memory itself can know."""
        self.text = {name: (one["gist"], tuple(one.get("notes", ()))) for name, one in self.graph.nodes.items()}
        self.ends = set(self.graph.edges)
        self.locked = {name for name, one in self.graph.nodes.items() if one.get("locked")}

    # --- what always holds

    @invariant()
    def what_was_acknowledged_is_there(self) -> None:
        if self.ids:
            nodes = self.graph.nodes
            assert {name: (one["gist"], tuple(one.get("notes", ()))) for name, one in nodes.items()} == self.text
            assert set(self.graph.edges) == self.ends

    @invariant()
    def the_rendering_is_as_long_as_its_charge(self) -> None:
        if self.ids:
            assert len(text_of(level_lines(self.graph))) == self.graph.charge()

    @invariant()
    def budgets_hold(self) -> None:
        if self.ids and over_budget(self.graph, BUDGET):
            held = set(fresh_tier(self.graph, BUDGET)) | self.locked | set(self.graph.meta.get("settling", ()))
            assert self.graph.active_ids() <= held

    @invariant()
    def no_edge_ends_nowhere(self) -> None:
        if self.ids:
            assert dangling_edges(self.graph, self.world.graph("user").nodes) == []

    @precondition(lambda self: bool(self.locked))
    @invariant()
    def a_locked_node_stays_in_sight_as_it_was(self) -> None:
        assert self.locked <= set(self.graph.nodes)


@pytest.mark.timeout(SOAK_S + 120)
def test_the_promises_hold_under_random_use() -> None:
    end = time.monotonic() + SOAK_S
    profile = settings(
        max_examples=25 if not SOAK_S else 200,
        stateful_step_count=30 if not SOAK_S else 60,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    while True:
        run_state_machine_as_test(Model, settings=profile)  # type: ignore[no-untyped-call]
        if time.monotonic() >= end:
            return
