"""The journal: what is acknowledged is in the file, and one bad line or one failed sync harms nothing else."""

from __future__ import annotations

import errno
import json
import logging
import os
import stat
import subprocess
import threading
import zlib
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from graph_builders import edge, histories, node, put
from hypothesis import given
from hypothesis import strategies as st
from kg_server.graph.model import Change
from kg_server.graph.versions import ChangeSet
from kg_server.storage.files import Disk
from kg_server.storage.journal import Journal, decode, encode, read, without

GIVE_UP = 30.0
Journals = Callable[..., Journal]


def line(seq: int, gist: str = "a gist") -> bytes:
    return encode(ChangeSet(seq, float(seq), "s", (put(node("a", gist)),)))


def numbers(path: Path) -> list[int]:
    return [entry.seq for entry in read(path)]


entries = st.builds(
    ChangeSet,
    st.integers(1, 2**53),
    st.floats(0, 4e9),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    histories.map(tuple),
    st.lists(st.tuples(st.sampled_from(("a", "ключ")), st.sampled_from(("active", "archived"))), max_size=2).map(tuple),
    st.lists(st.tuples(st.just("a"), st.just("b")), max_size=1).map(tuple),
    st.booleans(),
)


@given(entries)
def test_a_change_set_comes_back_from_its_line_as_it_was(entry: ChangeSet) -> None:
    encoded = encode(entry)
    assert encoded.count(b"\n") == 1
    assert encoded.endswith(b"\n")
    assert decode(encoded[:-1]) == entry


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_no_text_breaks_a_line_in_two(text: str) -> None:
    entry = ChangeSet(1, 1.0, text, (put(node("a", text, notes=[text])),))
    assert encode(entry).splitlines() == [encode(entry)[:-1]]
    assert decode(encode(entry)[:-1]) == entry


@pytest.mark.requirement("saving.journal-line")
def test_a_line_is_json_that_names_what_stood_before_and_after() -> None:
    entry = ChangeSet(7, 12.5, "s", (Change("node", "a", node("a", "old"), node("a", "new")),))
    content = json.loads(encode(entry))
    assert content["c"]["seq"] == 7
    assert content["c"]["set"] == [["node", "a", {"id": "a", "gist": "old"}, {"id": "a", "gist": "new"}]]


@given(st.data())
def test_a_line_cut_short_anywhere_is_no_entry(data: st.DataObject) -> None:
    whole = line(1, "über 漢字")[:-1]
    assert decode(whole[: data.draw(st.integers(0, len(whole) - 1))]) is None


@pytest.mark.requirement("saving.journal-line")
@given(st.data())
def test_a_line_with_one_changed_byte_is_no_entry(data: st.DataObject) -> None:
    whole = line(1)[:-1]
    at = data.draw(st.integers(0, len(whole) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda byte: byte != whole[at]))
    assert decode(whole[:at] + bytes([other]) + whole[at + 1 :]) is None


@given(st.binary(max_size=80))
def test_foreign_bytes_are_no_entry(data: bytes) -> None:
    assert decode(data) is None


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"seq":1}', b'{"seq":1,"ts":1,"session":"","set":[[1]]}'])
def test_a_right_checksum_over_something_else_is_no_entry(body: bytes) -> None:
    assert decode(b'{"crc":%d,"c":%b}' % (zlib.crc32(body), body)) is None


def test_a_checksum_of_absurd_length_is_no_entry() -> None:
    assert decode(b'{"crc":' + b"9" * 10_000 + b',"c":{}}') is None


@pytest.mark.requirement("saving.torn-line")
def test_a_torn_last_line_is_dropped_with_a_log_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "j"
    path.write_bytes(line(1) + line(2) + line(3)[:-9])
    with caplog.at_level(logging.WARNING):
        assert numbers(path) == [1, 2]
    assert "line 3" in caplog.text
    assert str(path) in caplog.text


def test_a_damaged_middle_line_is_left_out_and_the_rest_is_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "j"
    path.write_bytes(line(1) + line(2).replace(b"gist", b"lost") + line(3))
    assert numbers(path) == [1, 3]
    assert "line 2" in caplog.text


def test_no_journal_is_an_empty_one(tmp_path: Path) -> None:
    assert numbers(tmp_path / "none") == []


def test_an_acknowledged_line_is_in_the_file(tmp_path: Path, new_journal: Journals) -> None:
    journal = new_journal()
    for seq in (1, 2, 3):
        journal.append(tmp_path / "j", line(seq)).result(GIVE_UP)
        assert numbers(tmp_path / "j")[-1] == seq


@pytest.mark.requirement("saving.durable-before-reply")
def test_a_reply_waits_until_the_sync_is_done(tmp_path: Path, new_journal: Journals, gate: Any) -> None:
    gate.hold()
    done = new_journal(gate).append(tmp_path / "j", line(1))
    gate.arrived.get(timeout=GIVE_UP)
    assert not done.done()
    gate.let_go()
    assert done.result(GIVE_UP) is None


@pytest.mark.requirement("saving.shared-sync")
def test_writers_that_arrive_during_a_sync_share_the_next_one(tmp_path: Path, new_journal: Journals, gate: Any) -> None:
    journal = new_journal(gate)
    gate.hold()
    first = journal.append(tmp_path / "j", line(1))
    gate.arrived.get(timeout=GIVE_UP)  # the first sync is under way
    later = [journal.append(tmp_path / "j", line(seq)) for seq in range(2, 52)]
    gate.let_go()
    for done in (first, *later):
        done.result(GIVE_UP)
    assert journal.syncs == 2
    assert numbers(tmp_path / "j") == list(range(1, 52))


def test_each_file_of_a_batch_is_synced_once(tmp_path: Path, new_journal: Journals, gate: Any) -> None:
    journal = new_journal(gate)
    gate.hold()
    first = journal.append(tmp_path / "a", line(1))
    gate.arrived.get(timeout=GIVE_UP)
    later = [journal.append(tmp_path / name, line(seq)) for seq in (2, 3) for name in "abc"]
    gate.let_go()
    for done in (first, *later):
        done.result(GIVE_UP)
    assert journal.syncs == 4
    assert [numbers(tmp_path / name) for name in "abc"] == [[1, 2, 3], [2, 3], [2, 3]]


def test_many_threads_lose_nothing_and_keep_their_own_order(tmp_path: Path, new_journal: Journals) -> None:
    journal = new_journal()

    def write(name: str) -> None:
        waits = [journal.append(tmp_path / "j", encode(ChangeSet(seq, 1.0, name, ()))) for seq in range(50)]
        for done in waits:
            done.result(GIVE_UP)

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(GIVE_UP)
    written = list(read(tmp_path / "j"))
    for name in "abcdefgh":
        assert [entry.seq for entry in written if entry.session == name] == list(range(50))
    assert journal.syncs <= 400


@pytest.mark.requirement("saving.failed-batch")
def test_a_failed_sync_fails_its_batch_alone_and_the_thread_goes_on(
    tmp_path: Path, new_journal: Journals, gate: Any, caplog: pytest.LogCaptureFixture
) -> None:
    journal = new_journal(gate)
    gate.errors.append(OSError(errno.EIO, "input/output error"))
    with pytest.raises(OSError, match="input/output error"):
        journal.append(tmp_path / "j", line(1)).result(GIVE_UP)
    assert "not written" in caplog.text
    journal.append(tmp_path / "j", line(2)).result(GIVE_UP)
    assert numbers(tmp_path / "j")[-1] == 2


def test_a_failure_at_one_file_leaves_the_others_of_the_batch_alone(
    tmp_path: Path, new_journal: Journals, gate: Any
) -> None:
    journal = new_journal(gate)
    (tmp_path / "folder").mkdir()
    gate.hold()
    first = journal.append(tmp_path / "good", line(1))
    gate.arrived.get(timeout=GIVE_UP)
    bad = journal.append(tmp_path / "folder", line(2))  # a folder cannot be opened for writing
    good = journal.append(tmp_path / "good", line(2))
    gate.let_go()
    first.result(GIVE_UP)
    good.result(GIVE_UP)
    with pytest.raises(IsADirectoryError):
        bad.result(GIVE_UP)


def test_a_waiter_that_gives_up_does_not_end_the_thread(tmp_path: Path, new_journal: Journals, gate: Any) -> None:
    journal = new_journal(gate)
    gate.hold()
    given_up = journal.append(tmp_path / "j", line(1))
    given_up.cancel()
    gate.let_go()
    journal.append(tmp_path / "j", line(2)).result(GIVE_UP)
    assert numbers(tmp_path / "j") == [1, 2]


FULL_DISK = """
import os, resource, signal, sys
from pathlib import Path
from kg_server.storage.files import Disk
from kg_server.storage.journal import Journal, encode, read
from kg_server.graph.versions import ChangeSet

def lift(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path, journal = Path(sys.argv[1]), Journal()
line = lambda seq: encode(ChangeSet(seq, 1.0, "s" * 100, ()))
journal.append(path, line(1)).result(30)
lift(path.stat().st_size + 40)  # room for part of a line
try:
    journal.append(path, line(2)).result(30)
except OSError:
    print("refused")
torn = path.stat().st_size
lift(resource.RLIM_INFINITY)
journal.append(path, line(3)).result(30)
journal.close()
print(torn - len(line(1)), [entry.seq for entry in read(path)])
"""


@pytest.mark.skipif(os.name == "nt", reason="no limit on file sizes there")
def test_after_a_full_disk_tore_a_line_the_next_one_stands_alone(
    tmp_path: Path, python: Callable[..., subprocess.Popen[str]]
) -> None:
    out, errors = python(FULL_DISK, tmp_path / "j").communicate(timeout=GIVE_UP)
    assert out.splitlines() == ["refused", "40 [1, 3]"], errors


def test_a_line_after_a_crash_in_the_middle_of_one_stands_alone(tmp_path: Path, new_journal: Journals) -> None:
    path = tmp_path / "j"
    path.write_bytes(line(1) + line(2)[:20])  # what a killed server leaves behind
    new_journal().append(path, line(3)).result(GIVE_UP)
    assert numbers(path) == [1, 3]


def test_a_journal_that_ended_well_gets_no_empty_line(tmp_path: Path, new_journal: Journals) -> None:
    path = tmp_path / "j"
    path.write_bytes(line(1))
    new_journal().append(path, line(2)).result(GIVE_UP)
    assert path.read_bytes() == line(1) + line(2)


def test_a_rotation_closes_the_segment_after_all_lines_queued_before(
    tmp_path: Path, new_journal: Journals, gate: Any
) -> None:
    journal = new_journal(gate)
    gate.hold()
    waits: list[Future[None]] = [journal.append(tmp_path / "j", line(1)), journal.append(tmp_path / "j", line(2))]
    waits += [
        journal.rotate(tmp_path / "j", lambda last: tmp_path / f"closed-{last}"),
        journal.append(tmp_path / "j", line(3)),
    ]
    gate.let_go()
    for done in waits:
        done.result(GIVE_UP)
    assert numbers(tmp_path / "closed-2") == [1, 2]
    assert numbers(tmp_path / "j") == [3]


def test_a_rotation_of_nothing_does_nothing(tmp_path: Path, new_journal: Journals) -> None:
    new_journal().rotate(tmp_path / "j", lambda last: tmp_path / "closed").result(GIVE_UP)
    assert list(tmp_path.iterdir()) == []


def test_a_rewrite_replaces_the_lines_and_later_ones_follow(tmp_path: Path, new_journal: Journals) -> None:
    journal = new_journal()
    for seq in (1, 2, 3):
        journal.append(tmp_path / "j", line(seq)).result(GIVE_UP)
    journal.rewrite(tmp_path / "j", lambda one: b"" if b'"seq":2' in one else one).result(GIVE_UP)
    journal.append(tmp_path / "j", line(4)).result(GIVE_UP)
    assert numbers(tmp_path / "j") == [1, 3, 4]


def test_without_takes_a_node_and_its_edges_out_of_a_line_and_keeps_its_number() -> None:
    changes = (put(node("a", "secret")), put(node("b")), put(edge("a", "b")), put(edge("b", "x/y")))
    entry = ChangeSet(4, 1.0, "s", changes, (("a", "active"), ("b", "archived")))
    left = decode(without(encode(entry), {"a"})[:-1])
    assert left is not None
    assert [change.key for change in left.changes] == ["b", "b->x/y:requires"]
    assert left.moves == (("b", "archived"),)
    assert left.seq == 4
    assert without(encode(entry), {"c"}) == encode(entry)


def test_without_leaves_nothing_of_a_line_that_does_not_hold() -> None:
    torn = encode(ChangeSet(4, 1.0, "s", (put(node("a", "secret")),)))[:-5]
    assert without(torn, {"a"}) == b""


def test_without_takes_out_what_stood_before_as_well() -> None:
    gone = encode(ChangeSet(4, 1.0, "s", (Change("node", "a", node("a", "secret"), None),)))
    edges = encode(ChangeSet(5, 1.0, "s", (Change("edge", "k", edge("a", "b"), None),)))
    assert b"secret" not in without(gone, {"a"})
    assert b"requires" not in without(edges, {"a"})


@pytest.mark.skipif(os.name == "nt", reason="no POSIX modes there")
def test_journals_are_for_the_user_alone_whatever_the_umask(tmp_path: Path, new_journal: Journals) -> None:
    before = os.umask(0)
    try:
        new_journal().append(tmp_path / "new" / "deep" / "j", line(1)).result(GIVE_UP)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new" / "deep" / "j").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "new" / "deep").stat().st_mode) == 0o700


class Recording(Disk):
    """A disk that notes what it makes durable."""

    def __init__(self) -> None:
        self.synced: list[tuple[int, int]] = []

    def sync(self, descriptor: int) -> None:
        found = os.fstat(descriptor)
        self.synced.append((found.st_dev, found.st_ino))
        super().sync(descriptor)


@pytest.mark.skipif(os.name == "nt", reason="folders cannot be synced there")
def test_a_new_journal_is_durable_in_its_folder_before_the_first_line_is_acknowledged(
    tmp_path: Path, new_journal: Journals
) -> None:
    disk = Recording()
    new_journal(disk).append(tmp_path / "j", line(1)).result(GIVE_UP)
    assert (tmp_path.stat().st_dev, tmp_path.stat().st_ino) in disk.synced


def test_close_writes_what_is_queued(tmp_path: Path) -> None:
    journal = Journal()
    waits = [journal.append(tmp_path / "j", line(seq)) for seq in range(1, 40)]
    journal.close()
    assert all(done.done() for done in waits)
    assert numbers(tmp_path / "j") == list(range(1, 40))
