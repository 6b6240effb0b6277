"""Which operands of a command are files that it shows: a row a command, for the options that its arguments may hold."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from kg_server.plugins.shell.words import Word

_NUMBER = re.compile(r"-\d+[a-z]?|\+\d+")


@dataclass(frozen=True, slots=True)
class Reader:
    """How a command takes its arguments.

    `values` are short options that take one; `long` maps long ones to how many they take. `first` tells that the first
    operand is no file (a pattern, a script, a filter) unless one of the options in `instead` was given. With an option
    in `never`, or without one in `needs`, it shows no file. `flags` and `long_flags`, where given, are all it knows:
    with any other option nothing is certain.
    """

    values: str = ""
    long: dict[str, int] = field(default_factory=dict)
    first: bool = False
    instead: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    flags: str | None = None
    long_flags: frozenset[str] | None = None
    numbers: bool = False


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _taking(one: str, two: str = "") -> dict[str, int]:
    return dict.fromkeys(one.split(), 1) | dict.fromkeys(two.split(), 2)


_GREP = Reader(
    values="efmABCdD",
    long=_taking(
        "regexp file max-count after-context before-context context label directories devices include exclude "
        "exclude-from exclude-dir binary-files"
    ),
    first=True,
    instead=_names("e f regexp file"),
)
READERS: dict[str, Reader] = {
    "cat": Reader(),
    "head": Reader(values="nc", long=_taking("lines bytes"), numbers=True),
    "tail": Reader(values="ncs", long=_taking("lines bytes pid sleep-interval max-unchanged-stats"), numbers=True),
    "less": Reader(
        values="bhjkoOpPtTxyz", long=_taking("pattern prompt tag tag-file tabs window jump-target"), numbers=True
    ),
    "sed": Reader(
        values="efl",
        long=_taking("expression file line-length"),
        first=True,
        instead=_names("e f expression file"),
        never=_names("i in-place"),
        needs=_names("n quiet silent"),
    ),
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "nl": Reader(
        values="bdfhilnsvw",
        long=_taking(
            "body-numbering section-delimiter footer-numbering header-numbering line-increment join-blank-lines "
            "number-format number-separator starting-line-number number-width"
        ),
        flags="p",
        long_flags=_names("no-renumber"),
    ),
    "jq": Reader(
        values="fL",
        long=_taking("from-file indent", "arg argjson slurpfile rawfile"),
        first=True,
        instead=_names("f from-file"),
        never=_names("n null-input args jsonargs"),
        flags="rscCMSjaeR",
        long_flags=_names(
            "raw-output compact-output slurp sort-keys color-output monochrome-output join-output ascii-output "
            "exit-status raw-input raw-output0 tab seq stream unbuffered"
        ),
    ),
    "rg": Reader(
        values="eEfgjmMrtTABCd",
        long=_taking(
            "regexp file glob iglob type type-not max-count max-columns max-depth context after-context before-context "
            "replace sort sortr threads encoding color colors context-separator max-filesize engine"
        ),
        first=True,
        instead=_names("e f regexp file"),
        never=_names("files type-list"),
        flags="abcFhHiIlLnNoPpqsSuUvwxz0.",
        long_flags=_names(
            "ignore-case smart-case case-sensitive line-number no-line-number fixed-strings word-regexp line-regexp "
            "count count-matches files-with-matches files-without-match hidden no-ignore no-heading heading vimgrep "
            "multiline multiline-dotall pcre2 only-matching invert-match with-filename no-filename column no-column "
            "json stats trim pretty text unrestricted follow null quiet passthru no-messages no-config"
        ),
    ),
}


def shown_files(name: str, arguments: Sequence[Word]) -> list[Word]:
    """The operands of a command that name files it shows, in order; none where that is not certain."""
    reader = READERS.get(name)
    if reader is None:
        return []
    operands: list[Word] = []
    given: set[str] = set()
    rest = deque(arguments)
    while rest:
        word = rest.popleft()
        if word.text == "--" and word.literal:
            operands += rest
            break
        if len(word.text) < 2 or not word.text.startswith(("-", "+")) or not _is_option(word, reader):
            operands.append(word)
            continue
        if reader.numbers and _NUMBER.fullmatch(word.text):
            continue
        taken = _option(word.text, reader, given)
        if taken is None:
            return []
        for _ in range(min(taken, len(rest))):
            rest.popleft()
    if given & reader.never or (reader.needs and not given & reader.needs):
        return []
    if reader.first and not given & reader.instead:
        operands = operands[1:]
    return operands


def _is_option(word: Word, reader: Reader) -> bool:
    return word.text.startswith("-") or reader.numbers


def _option(text: str, reader: Reader, given: set[str]) -> int | None:
    """How many of the following words belong to an option; None for one that is not known where all must be."""
    if text.startswith("--"):
        name, has_value, _ = text[2:].partition("=")
        given.add(name)
        if name in reader.long:
            return 0 if has_value else reader.long[name]
        known = reader.long_flags is None or name in reader.long_flags or name in reader.never
        return 0 if known else None
    for at, letter in enumerate(text[1:], start=1):
        given.add(letter)
        if letter in reader.values:
            return 0 if at + 1 < len(text) else 1
        if letter == "i" and "i" in reader.never:  # what follows is the ending of the copy that it keeps
            return 0
        if reader.flags is not None and letter not in reader.flags and letter not in reader.never:
            return None
    return 0
