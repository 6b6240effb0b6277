"""Skills against the server: what they tell a model to call is there to be called."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from kg_server.tools.schemas import BY_NAME

ROOT = Path(__file__).parents[1]
SKILLS = sorted(ROOT.glob("packages/*/src/*/plugin/skills/*/SKILL.md"))
CALL = re.compile(r"`(kg_\w+)(?:\(([^)`]*)\))?`")


@pytest.mark.parametrize("skill", SKILLS, ids=lambda path: f"{path.parents[3].name}-{path.parent.name}")
def test_a_skill_names_only_tools_and_parameters_that_the_server_has(skill: Path) -> None:
    calls = CALL.findall(skill.read_text("utf-8"))
    assert calls
    for name, parameters in calls:
        assert name in BY_NAME, f"{skill}: no tool {name}"
        named = {part.split("=")[0].strip() for part in parameters.split(",") if part.strip()}
        assert named <= set(BY_NAME[name].schema["properties"]), f"{skill}: {name}({parameters})"


def test_the_skills_are_found() -> None:
    assert SKILLS
