"""Decision logs: one JSON object a line, bounded, and never a reason for the caller to fail."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path

import pytest
from kg_server.storage.jsonlog import JsonLog


def entries(path: Path) -> list[object]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_entries_stand_one_a_line_in_their_order(tmp_path: Path) -> None:
    log = JsonLog(tmp_path / "new" / "recall.jsonl")
    log.write({"reason": "no_hits", "terms": ["漢字", "a\nb"], "path": tmp_path})
    log.write({"n": 2})
    assert entries(tmp_path / "new" / "recall.jsonl") == [
        {"reason": "no_hits", "terms": ["漢字", "a\nb"], "path": str(tmp_path)},
        {"n": 2},
    ]


def test_a_full_log_becomes_the_previous_one_and_two_are_all_there_ever_is(tmp_path: Path) -> None:
    path = tmp_path / "recall.jsonl"
    log = JsonLog(path, most=100)
    for number in range(60):
        log.write({"number": number})
    kept = entries(path.with_name("recall.jsonl.prev")) + (entries(path) if path.exists() else [])
    assert kept == [{"number": number} for number in range(60 - len(kept), 60)]
    assert len(kept) >= 100 // len('{"number":59}\n')
    assert len(os.listdir(tmp_path)) <= 2
    assert path.with_name("recall.jsonl.prev").stat().st_size <= 100 + len('{"number":59}\n')


def test_the_lines_are_read_from_the_file_before_and_this_one(tmp_path: Path) -> None:
    log = JsonLog(tmp_path / "recall.jsonl", most=25)
    assert list(log.lines()) == []
    for number in (1, 2, 3):
        log.write({"number": number})
    assert [json.loads(line)["number"] for line in log.lines()] == [1, 2, 3]
    assert (tmp_path / "recall.jsonl.prev").exists()


@pytest.mark.parametrize("entry", [{"text": "\ud83d"}, {1: "x"}, {"n": 2**70}])
def test_an_entry_that_cannot_be_written_is_left_out_with_a_log_line(
    tmp_path: Path, entry: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "recall.jsonl"
    log = JsonLog(path)
    log.write(entry)
    log.write({"n": 1})
    assert entries(path) == [{"n": 1}]
    assert "not logged" in caplog.text


def test_a_file_that_cannot_be_written_never_reaches_the_caller(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "folder").mkdir()
    JsonLog(tmp_path / "folder").write({"n": 1})
    (tmp_path / "file").write_bytes(b"")
    JsonLog(tmp_path / "file" / "recall.jsonl").write({"n": 1})
    assert caplog.text.count("not logged") == 2


def test_writers_at_once_never_mix_their_lines(tmp_path: Path) -> None:
    log = JsonLog(tmp_path / "recall.jsonl")

    def write(name: str) -> None:
        for number in range(50):
            log.write({"name": name, "number": number})

    threads = [threading.Thread(target=write, args=(name * 50,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(entries(tmp_path / "recall.jsonl")) == 200


@pytest.mark.skipif(os.name == "nt", reason="no POSIX modes there")
def test_logs_are_for_the_user_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        log = JsonLog(tmp_path / "new" / "recall.jsonl", most=20)
        for _ in range(3):
            log.write({"number": 10_000_000})
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "new").iterdir()} == {0o600}
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
