"""A command line as words and operators: quotes, escapes, expansions, comments and here-documents of a POSIX shell.

One pass from left to right. Written by hand: the one library that parses this (tree-sitter with its bash grammar) is
two compiled packages and some 3 MB for what a few rules do, and answers a broken line with a guess, where silence is
wanted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

DEPTH_MAX = 40
_BLANK = " \t\r"
_OPERATOR = re.compile(r"\d*(?:<<<|<<-|<<|<>|<&|>>|>\||>&|<|>)|&>>|&>|&&|\|\||\|&|;;&|;;|;&|[;&|()\n]")
_REDIRECTION = re.compile(r"\d*(?:<|>)|&>")
_PLAIN = re.compile(r"[^\s'\"\\$`<>&|;()*?\[\]{}#~!]+")
_QUOTED = re.compile(r'(?:[^"\\]|\\.)*+"', re.DOTALL)
_GLOB = "*?[]{}"
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}


class Unparsable(Exception):
    """The line does not hold together: an open quote, an open bracket, or too deep a nesting."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word as the command gets it. Not `literal` when the shell makes something of it that is not known here."""

    text: str
    literal: bool = True


@dataclass(frozen=True, slots=True)
class Operator:
    """A control operator, a redirection (`is_redirection`), or the end of a line."""

    text: str

    @property
    def is_redirection(self) -> bool:
        """Whether the next word is a file, a descriptor or a delimiter."""
        return _REDIRECTION.match(self.text) is not None


Token = Word | Operator


def tokens(line: str) -> Iterator[Token]:
    """The tokens of a command line without its here-documents. Unparsable where it ends in the middle of something."""
    return _Lexer(line).tokens()


class _Lexer:
    def __init__(self, line: str) -> None:
        self._line = line
        self._at = 0
        self._delimiters: list[tuple[str, bool]] = []
        self._awaits: str = ""

    def tokens(self) -> Iterator[Token]:
        while self._at < len(self._line):
            character = self._line[self._at]
            if character in _BLANK:
                self._at += 1
            elif self._line.startswith("\\\n", self._at):
                self._at += 2
            elif character == "#":
                self._at = self._end_of_line()
            elif (operator := self._operator()) is not None:
                yield operator
                if operator.text == "\n":
                    self._skip_here_documents()
            else:
                word = self._word()
                if self._awaits:
                    self._delimiters.append((word.text, self._awaits == "<<-"))
                    self._awaits = ""
                yield word

    def _operator(self) -> Operator | None:
        found = _OPERATOR.match(self._line, self._at)
        if found is None or self._line.startswith(("<(", ">("), self._at):
            return None
        self._at = found.end()
        text = found.group()
        bare = text.lstrip("0123456789")
        if bare in ("<<", "<<-"):
            self._awaits = bare
        return Operator(text)

    def _end_of_line(self) -> int:
        end = self._line.find("\n", self._at)
        return len(self._line) if end < 0 else end

    def _skip_here_documents(self) -> None:
        for delimiter, tabs in self._delimiters:
            while self._at < len(self._line):
                end = self._end_of_line()
                row = self._line[self._at : end]
                self._at = end + 1
                if (row.lstrip("\t") if tabs else row) == delimiter:
                    break
        self._delimiters.clear()

    def _word(self) -> Word:
        parts: list[str] = []
        literal = True
        while self._at < len(self._line):
            plain = _PLAIN.match(self._line, self._at)
            if plain is not None:
                parts.append(plain.group())
                self._at = plain.end()
                continue
            character = self._line[self._at]
            if character in _BLANK or character == "\n" or (character in "<>&|;()" and not self._is_substitution()):
                break
            text, sure = self._part(character)
            parts.append(text)
            literal = literal and sure
        return Word("".join(parts), literal)

    def _is_substitution(self) -> bool:
        return self._line.startswith(("<(", ">("), self._at)

    def _part(self, character: str) -> tuple[str, bool]:
        """One quoted, escaped, expanded or odd piece of a word, and whether its text is what the command gets."""
        if character == "'":
            return self._until("'", self._at + 1), True
        if character == '"':
            self._at += 1
            return self._double_quoted()
        if character == "\\":
            self._at += 2
            return ("" if self._line[self._at - 1 : self._at] == "\n" else self._line[self._at - 1 : self._at]), True
        if character in "$`<>":
            return self._expansion()
        self._at += 1
        return character, character not in _GLOB

    def _until(self, quote: str, start: int) -> str:
        end = self._line.find(quote, start)
        if end < 0:
            raise Unparsable(quote)
        self._at = end + 1
        return self._line[start:end]

    def _double_quoted(self) -> tuple[str, bool]:
        parts: list[str] = []
        literal = True
        while True:
            if self._at >= len(self._line):
                raise Unparsable('"')
            character = self._line[self._at]
            if character == '"':
                self._at += 1
                return "".join(parts), literal
            if character == "\\":
                following = self._line[self._at + 1 : self._at + 2]
                parts.append({"\n": ""}.get(following, following) if following in '"\\$`\n' else character + following)
                self._at += 2
            elif character in "$`":
                text, sure = self._expansion()
                parts.append(text)
                literal = literal and sure
            else:
                parts.append(character)
                self._at += 1

    def _expansion(self) -> tuple[str, bool]:
        if self._line.startswith("$'", self._at):
            return self._ansi_quoted()
        if self._line.startswith('$"', self._at):
            self._at += 2
            return self._double_quoted()
        if self._line[self._at] == "`":
            self._at += 1
            self._skip_backquoted()
            return "", False
        if self._line.startswith(("$(", "<(", ">("), self._at):
            self._at += 2
            self._skip_to(")", 1)
            return "", False
        if self._line.startswith("${", self._at):
            self._at += 2
            self._skip_to("}", 1)
            return "", False
        self._at += 1
        following = self._line[self._at : self._at + 1]
        return "$", not (
            following.isalnum() or (following in ("_", "@", "*", "#", "?", "$", "!", "-") and following != "")
        )

    def _ansi_quoted(self) -> tuple[str, bool]:
        self._at += 2
        parts: list[str] = []
        literal = True
        while True:
            if self._at >= len(self._line):
                raise Unparsable("$'")
            character = self._line[self._at]
            self._at += 1
            if character == "'":
                return "".join(parts), literal
            if character == "\\":
                escaped = self._line[self._at : self._at + 1]
                literal = literal and escaped in _ESCAPES
                parts.append(_ESCAPES.get(escaped, escaped))
                self._at += 1
            else:
                parts.append(character)

    def _skip_backquoted(self) -> None:
        while self._at < len(self._line):
            character = self._line[self._at]
            self._at += 2 if character == "\\" else 1
            if character == "`":
                return
        raise Unparsable("`")

    def _skip_to(self, closing: str, depth: int) -> None:
        """Pass over what a substitution holds, quotes and brackets within it included."""
        opening = {")": "(", "}": "{"}[closing]
        while self._at < len(self._line):
            character = self._line[self._at]
            if character == "\\":
                self._at += 2
            elif character == "'" and closing == ")":
                self._until("'", self._at + 1)
            elif character == '"':
                self._at += 1
                self._skip_double_quoted()
            else:
                self._at += 1
                depth += (character == opening) - (character == closing)
                if depth > DEPTH_MAX:
                    raise Unparsable(opening)
                if depth == 0:
                    return
        raise Unparsable(opening)

    def _skip_double_quoted(self) -> None:
        found = _QUOTED.match(self._line, self._at)
        if found is None:
            raise Unparsable('"')
        self._at = found.end()
