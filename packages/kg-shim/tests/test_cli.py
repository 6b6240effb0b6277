"""The command `kg`: which words it carries out itself, and what it says where the server is missing."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import kg_shim
import pytest


@pytest.fixture
def kg(home):
    """Run `kg` with these words to its end."""

    def run(*words: str, payload: bytes = b"", command: tuple[str, ...] = ("-m", "kg_shim"), **environ: str):
        return subprocess.run(
            [sys.executable, *command, *words],
            input=payload,
            env={**home.environ, **environ},
            capture_output=True,
            timeout=60,
            check=False,
        )

    return run


@pytest.fixture
def alone(tmp_path: Path) -> tuple[str, ...]:
    """The arguments of an interpreter in whose environment only the shim is installed."""
    shutil.copytree(Path(kg_shim.__file__).parent, tmp_path / "lone" / "kg_shim")
    code = f"import sys; sys.path.insert(0, {str(tmp_path / 'lone')!r}); from kg_shim.cli import main; main()"
    return ("-I", "-S", "-c", code)


@pytest.mark.parametrize("words", [(), ("--help",), ("status", "--json"), ("nonsense",), ("hooks",)], ids=str)
def test_every_other_word_is_the_servers(home, kg, words):
    home.kg_server("print(*sys.argv[1:]); return 7")
    done = kg(*words)
    assert (done.returncode, done.stdout.decode(), done.stderr) == (7, " ".join(words) + "\n", b"")


@pytest.mark.parametrize("words", [("hook",), ("hook", "--event"), ("mcp", "now")], ids=str)
def test_words_that_lack_something_get_their_usage_and_exit_code_2(kg, words):
    done = kg(*words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"Usage: kg " + words[0].encode())


@pytest.mark.parametrize("word", ["hook", "mcp"])
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_is_printed_for_the_words_carried_out_here(kg, word, flag):
    done = kg(word, flag)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"Usage: kg " + word.encode())


def test_hook_is_the_poster(home, kg, listener):
    server = listener(lambda request: request.answer(b'{"n":1}'))
    home.endpoint(server.port)
    done = kg("hook", "PostToolUse", "codex", payload=b'{"x":1}')
    assert (done.returncode, done.stdout, done.stderr) == (0, b'{"n":1}', b"")
    (request,) = server.requests
    assert (request.target, request.body) == ("POST /api/hook/PostToolUse", b'{"x":1}')
    assert request.headers["user-agent"] == "kg-hook/1 (codex)"


def test_hook_starts_the_server_beside_it_without_a_kg_on_path(home, kg, listener):
    server = listener(lambda request: request.answer(b"{}"))
    home.kg_server(f"open('.local/state/knowledge-graph/endpoint', 'w').write('{server.port} t'); return 0")
    assert kg("hook", "SessionStart").stdout == b"{}"
    assert len(server.requests) == 1


def test_hook_tells_when_there_is_no_server_beside_it(home, kg):
    """Its `kg start` finds nothing to start and leaves a record of that, which is read out."""
    home.kg_server("")
    missing = "raise ModuleNotFoundError('No module named kg_server', name='kg_server')\n"
    (home.packages / "kg_server" / "__init__.py").write_text(missing, encoding="utf-8")
    done = kg("hook", "SessionStart")
    assert (done.returncode, done.stderr) == (0, b"")
    assert "is not installed beside this `kg`" in json.loads(done.stdout)["systemMessage"]


@pytest.mark.parametrize("words", [(), ("start",), ("status",)], ids=str)
def test_a_missing_server_is_one_sentence_and_exit_code_2(home, kg, alone, words):
    done = kg(*words, command=alone)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1
    assert b"install the package kg-server" in done.stderr
    record = home.state / "last_start_error"
    assert (record.read_bytes() in done.stderr) if words == ("start",) else not record.exists()


@pytest.mark.parametrize(
    "script", ["import kg_server.missing", "import no_such_module", "from os import no_such_name"], ids=str
)
def test_an_import_that_fails_inside_an_installed_server_is_not_called_missing(home, kg, script):
    home.kg_server(script)
    main = home.packages / "kg_server" / "cli" / "main.py"
    main.write_text(script + "\n", encoding="utf-8")
    done = kg("status")
    assert done.returncode == 1
    assert script.split()[-1].encode() in done.stderr
    assert b"not installed" not in done.stderr
