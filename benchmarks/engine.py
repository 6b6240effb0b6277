"""The memory engine by itself: compaction, opening, memory, bytes on disk; many writers; server-memory beside."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import memory
from bench import TOOLS, Bench
from graphs import gist, graph, lay
from kg_server.graph.compaction import compact, over_budget
from kg_server.graph.graph import Graph
from kg_server.graph.model import Change
from kg_server.service.memory import Memory
from kg_server.storage.json_files import JsonFiles
from kg_server.storage.layout import GraphKey, Layout
from place import scratch
from report import Table
from servers import ours, ready
from stats import Series
from talk import Silent, talking
from wire import call, text_of

APP = GraphKey("project", "shop")
DENSE, LARGE = 2_000, 10_000
WRITERS, WRITES = 8, 60
SERVER_MEMORY = "@modelcontextprotocol/server-memory@2026.8.31"
UPDATES = 100_000
ME = {"name": "bench", "version": "1"}
EMPTY, WRITE = "empty tool call, one client", "kg_put_node, eight at once"


def measure(bench: Bench) -> Iterator[Table]:
    """All tables of this group."""
    yield _compaction(bench)
    yield _opening(bench)
    yield _held(bench)
    yield _disk(bench)
    yield _writers(bench)
    yield _server_memory(bench)


def _compaction(bench: Bench) -> Table:
    table = Table(f"Compaction: one run on a graph of {DENSE:,} active nodes and four edges a node", "ms")
    run = []
    for _ in range(max(5, bench.starts)):
        dense = _dense(DENSE)
        run.append(_took(lambda one=dense: compact(one, time.time())))  # type: ignore[misc]
    small = _dense(40)
    table.add(
        {"a run that acts": run, "the check after a write": [_took(lambda: over_budget(small)) for _ in range(200)]}
    )
    table.limit("compaction of a dense graph", "a run that acts", 100.0)
    return table


def _dense(count: int) -> Graph:
    chance = random.Random(count)
    made = Graph("project")
    now = time.time()
    made.apply(Change("node", f"n{n}", None, _plain(f"n{n}", gist(chance), now - n * 3_600)) for n in range(count))
    for n in range(count):
        for turn in range(4):
            edge: Any = {"from": f"n{n}", "to": f"n{(n * 7 + turn * 13) % count}", "rel": f"r{turn}"}
            made.apply([Change("edge", f"{edge['from']}->{edge['to']}:{edge['rel']}", None, edge)])
    return made


def _plain(name: str, text: str, ts: float) -> Any:
    return {"id": name, "gist": text, "_created_ts": ts, "_written": {"ts": ts, "by": "bench"}}


def _opening(bench: Bench) -> Table:
    table = Table(f"Opening a graph of {LARGE:,} nodes that nobody has compacted, and the first write to it", "s")
    content = graph(LARGE)
    for one in content["nodes"].values():
        one.pop("_archived", None)
        one.pop("_orphaned_ts", None)
    series: Series = {"open": [], "first write, with the compaction": []}
    for _ in range(max(3, bench.starts // 2)):
        with tempfile.TemporaryDirectory() as folder:
            layout = Layout(Path(folder))
            layout.snapshot(APP).parent.mkdir(parents=True)
            layout.snapshot(APP).write_text(json.dumps(content), encoding="utf-8")
            storage = JsonFiles(layout)
            memory = Memory(storage, time.time)
            series["open"].append(_took(lambda held=memory: held.graph(APP)) / 1e3)  # type: ignore[misc]
            change = Change("node", "fresh", None, _plain("fresh", "A new lesson.", time.time()))
            series["first write, with the compaction"].append(
                _took(lambda held=memory, one=change: held.commit(APP, [one], "bench").result()) / 1e3  # type: ignore[misc]
            )
            storage.close()
    table.add(series)
    total = sum(table.lines[name].median for name in series)
    table.goal("opening 10,000 nodes and the first write", total, 2.0, "s")
    return table


def _held(bench: Bench) -> Table:
    """What a graph takes in memory: the process's own pages before and after it is loaded."""
    table = Table("Memory of a settled graph with all its indexes", "MB")
    if not memory.available():
        bench.skip("memory of a graph: no /proc here")
        return table
    for size in (1_000, LARGE):
        took = []
        for _ in range(3):
            done = subprocess.run(
                [bench.python, "-c", _LOAD, str(size)],
                cwd=Path(__file__).parent,
                capture_output=True,
                text=True,
                check=True,
            )
            took.append(float(done.stdout) / 1024)
        table.add({f"{size:,} nodes": took})
    return table


_LOAD = """
import gc, json, sys
from graphs import graph
from kg_server.storage.snapshot import decode
def own():
    rows = open("/proc/self/smaps_rollup").read().splitlines()
    return sum(int(row.split()[1]) for row in rows if row.startswith("Private_Dirty"))
decode("project", json.dumps(graph(50)).encode())
data = json.dumps(graph(int(sys.argv[1]))).encode()
gc.collect()
before = own()
held = decode("project", data)
gc.collect()
print(own() - before)
"""


def _disk(bench: Bench) -> Table:
    updates = 5_000 if bench.quick else UPDATES
    table = Table(f"Disk: {updates:,} updates of one node, a snapshot every 2,000", "MB")
    sizes = []
    with tempfile.TemporaryDirectory() as folder:
        storage = JsonFiles(Layout(Path(folder)))
        memory = Memory(storage, time.time)
        chance = random.Random(1)
        for number in range(1, updates + 1):
            before = memory.graph(APP).nodes.get("n")
            done = memory.commit(APP, [Change("node", "n", before, _plain("n", gist(chance), time.time()))], "bench")
            if number % 2_000 == 0:
                done.result()
                memory.save_changed()
                sizes.append(sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()) / 1e6)
        storage.close()
    table.add({"bytes on disk": sizes})
    table.goal("bytes on disk after all of them", sizes[-1], 11.0, "MB")
    return table


def _writers(bench: Bench) -> Table:
    table = Table(f"{WRITERS} writers at once, {WRITES} durable writes each, 1,000 nodes", "ms")
    with scratch(bench.path) as place:
        lay(place, 1_000)
        with ours(place, bench.python) as server:
            ready(server)
            one = server.client(stays=True)
            empty = [_took(lambda: one.post("/", call("kg_search"))) for _ in range(WRITES)]
            took: list[float] = []
            threads = [threading.Thread(target=_writer, args=(server, number, took)) for number in range(WRITERS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    table.add({EMPTY: empty, WRITE: took})
    table.compare([WRITE], EMPTY)
    table.notes.append("Clients and server share the two cores.")
    # 6 and 15 ms where an empty tool call takes 0.5: told in empty calls, so that any machine can judge them.
    table.limit_ratio("8 writers at once, p50, against an empty call", WRITE, 12.0, EMPTY)
    slowest = table.lines[WRITE].p99 / table.lines[EMPTY].median
    table.goal("8 writers at once, p99, against an empty call", slowest, 30.0, "×")
    return table


def _writer(server: Any, number: int, took: list[float]) -> None:
    client = server.client(stays=True)
    text = text_of(client.post("/", call("kg_read", cwd=str(server.place.project))))
    session = re.findall(r"\b[0-9a-f]{8}\b", text)[-1]
    chance = random.Random(number)
    for turn in range(WRITES):
        name = f"writer-{number}-{turn}"
        body = call("kg_put_node", session_id=session, level="project", id=name, gist=gist(chance))
        took.append(_took(lambda sent=body: client.post("/", sent)))  # type: ignore[misc]


def _server_memory(bench: Bench) -> Table:
    table = Table("A write of server-memory, over stdio, not synced", "ms")
    try:
        command = _installed_server_memory()
        with tempfile.TemporaryDirectory() as folder:
            for size in (100, 1_000, 10_000):
                path = Path(folder) / f"{size}.jsonl"
                path.write_text("\n".join(_entity(f"n{n}", random.Random(n)) for n in range(size)) + "\n")
                environ = {"PATH": os.environ["PATH"], "MEMORY_FILE_PATH": str(path)}
                with talking(command, environ) as talker:
                    talker.ask(_request(0, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=ME))
                    took = [
                        _took(lambda turn=turn: talker.ask(_create(turn)))  # type: ignore[misc]
                        for turn in range(5 if size == 10_000 else 20)
                    ]
                table.add({f"create_entities, {size:,} entities": took})
    except (OSError, Silent, subprocess.SubprocessError, FileNotFoundError) as error:
        bench.skip(f"server-memory: {error}")
    return table


def _installed_server_memory() -> list[str]:
    folder = TOOLS / "server-memory"
    main = folder / "node_modules/@modelcontextprotocol/server-memory/dist/index.js"
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        raise FileNotFoundError("npm and node are needed")
    if not main.exists():
        folder.mkdir(parents=True, exist_ok=True)
        install = [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), SERVER_MEMORY]
        subprocess.run(install, check=True, capture_output=True, timeout=180)
    return [node, str(main)]


def _entity(name: str, chance: random.Random) -> str:
    return json.dumps({"type": "entity", "name": name, "entityType": "lesson", "observations": [gist(chance)]})


def _create(turn: int) -> bytes:
    entity = {"name": f"new-{turn}", "entityType": "lesson", "observations": [gist(random.Random(turn))]}
    return _request(turn + 1, "tools/call", name="create_entities", arguments={"entities": [entity]})


def _request(number: int, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


def _took(act: Callable[[], Any]) -> float:
    began = time.perf_counter_ns()
    act()
    return (time.perf_counter_ns() - began) / 1e6
