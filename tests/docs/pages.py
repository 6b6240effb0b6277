"""The repository's own pages: their text, headings, links and code."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_SPAN = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True)
class Page:
    """One Markdown file."""

    path: Path

    def __str__(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @cached_property
    def text(self) -> str:
        """All of it."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def prose(self) -> str:
        """The text without code blocks."""
        return _FENCE.sub("", self.text)

    @cached_property
    def anchors(self) -> set[str]:
        """The anchors of its headings, as they are made from the headings' words."""
        found: set[str] = set()
        for heading in _HEADING.findall(self.prose):
            name = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
            number = next(n for n in range(len(found) + 1) if (f"{name}-{n}" if n else name) not in found)
            found.add(f"{name}-{number}" if number else name)
        return found

    @property
    def links(self) -> list[str]:
        """Where its links lead."""
        return _LINK.findall(self.prose)

    def blocks(self, language: str) -> list[str]:
        """Its code blocks in one language."""
        return [code for found, code in _FENCE.findall(self.text) if found == language]

    def section(self, heading: str) -> str:
        """What stands under a heading, up to the next one of any level."""
        _, found, rest = self.text.partition(f"\n{heading}\n")
        assert found, f"{self} has no heading {heading!r}"
        return re.split(r"^#{1,6} ", rest, maxsplit=1, flags=re.MULTILINE)[0]

    def marked(self, mark: str) -> str:
        """The code block behind the comment `<!-- checked: mark -->`."""
        _, found, rest = self.text.partition(f"<!-- checked: {mark} -->\n")
        assert found, f"{self} has no block marked {mark!r}"
        block = _FENCE.match(rest)
        assert block, f"{self}: no code block follows the mark {mark!r}"
        return block[2]

    @property
    def commands(self) -> list[str]:
        """Every piece of code that may hold a command: lines of console blocks, and code spans."""
        lines = [line.partition("$ ")[2] for block in self.blocks("console") for line in block.splitlines()]
        return [*filter(None, lines), *_SPAN.findall(self.prose)]


def tracked() -> list[Path]:
    """The files that git tracks, and those it would track once they are added."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, capture_output=True, check=True, encoding="utf-8").stdout.split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


@cache
def pages() -> tuple[Page, ...]:
    """The Markdown files of the repository, without changelog fragments."""
    return tuple(Page(path) for path in tracked() if path.suffix == ".md" and path.parent.name != "changelog.d")


def page(name: str) -> Page:
    """One page, by its path from the root."""
    return Page(ROOT / name)
