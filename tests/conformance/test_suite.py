"""The official MCP conformance suite, in the versions and with the requirements that this server promises to meet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .programs import HERE, Programs
from .server import Server

pytestmark = [pytest.mark.client, pytest.mark.timeout(300)]

DATED, STABLE = "conformance-dated", "conformance-stable"
BASELINE = ("--expected-failures", str(HERE / "baseline.yaml"))
"""What a server without sessions cannot do in the older versions: ask the client back, and tell two streams apart."""


@pytest.mark.parametrize(
    ("package", "options", "scenarios", "checks"),
    [
        pytest.param(DATED, ("--requirements", "2026-07-28"), 37, 140, id="2026-07-28"),
        pytest.param(DATED, ("--requirements", "2025-11-25", *BASELINE), 30, 55, id="2025-11-25"),
        pytest.param(STABLE, BASELINE, 30, 26, id="stable"),
    ],
)
def test_the_server_meets_the_requirements(
    programs: Programs,
    suite_server: Server,
    tmp_path: Path,
    package: str,
    options: tuple[str, ...],
    scenarios: int,
    checks: int,
) -> None:
    asked = ("server", "--url", suite_server.url, *options, "--output-dir", str(tmp_path / "results"))
    done = programs.run(f"{package}/dist/index.js", *asked, cwd=tmp_path)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    results = [json.loads(path.read_text("utf-8")) for path in (tmp_path / "results").rglob("checks.json")]
    passed = sum(check["status"] == "SUCCESS" for one in results for check in one)
    assert len(results) >= scenarios, "the suite ran fewer scenarios than it has"
    assert passed >= checks
