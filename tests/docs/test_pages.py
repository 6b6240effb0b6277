"""Links lead somewhere, commands exist, and no page grows beyond its purpose."""

from __future__ import annotations

import re

import pytest

from .pages import ROOT, Page, page, pages

TARGETS = set(re.findall(r"^([a-z-]+):.*  ## ", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


@pytest.mark.parametrize("shown", pages(), ids=str)
def test_the_links_of_a_page_lead_somewhere(shown: Page) -> None:
    broken = []
    for link in shown.links:
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (shown.path.parent / path).resolve() if path else shown.path
        if not target.exists() or (anchor and anchor not in Page(target).anchors):
            broken.append(link)
    assert broken == []


def test_every_page_of_the_documentation_is_reached_from_its_index() -> None:
    index = page("docs/index.md")
    reached = {(index.path.parent / link.partition("#")[0]).resolve() for link in index.links if "://" not in link}
    documentation = {shown.path for shown in pages() if ROOT / "docs" in shown.path.parents}
    assert documentation - reached - {index.path} == set()


@pytest.mark.parametrize("shown", pages(), ids=str)
def test_the_make_commands_of_a_page_exist(shown: Page) -> None:
    calls = [re.match(r"make ([a-z-]+)$", code.strip()) for code in shown.commands]
    assert {call[1] for call in calls if call} - TARGETS == set()


def test_the_readme_shows_the_two_commands() -> None:
    assert {"make demo", "make test"} <= set(page("README.md").commands)
    assert {"demo", "test"} <= TARGETS


def test_what_an_agent_reads_first_is_short() -> None:
    assert len(page("AGENTS.md").text.splitlines()) <= 60
