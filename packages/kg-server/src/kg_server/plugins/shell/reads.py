"""Which files a shell command plainly shows: what an agent read on the command line, as if with a tool for files."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass

from kg_server.plugins.shell.commands import READERS, shown_files
from kg_server.plugins.shell.words import Operator, Token, Unparsable, Word, tokens

FILES_MAX = 8
COMMAND_CHARACTERS = 64 * 1024
SCRIPT_DEPTH = 3
_PIPES = ("|", "|&")
_KEYWORDS = frozenset(["if", "then", "elif", "else", "fi", "while", "until", "do", "done", "!", "time", "{", "}"])
_HEADS = frozenset(["for", "case", "select", "in", "esac", "function"])
_SHELLS = frozenset(["bash", "sh", "zsh", "dash", "ksh"])
_WRAPPERS = {
    "command": ("", 0),
    "builtin": ("", 0),
    "exec": ("a", 0),
    "nohup": ("", 0),
    "sudo": ("ugpCDhrtTU", 0),
    "nice": ("n", 0),
    "timeout": ("ks", 1),
    "stdbuf": ("ioe", 0),
    "env": ("uCS", 0),
}
"""Commands that run another one: their short options that take a value, and how many operands come before it."""


@dataclass(frozen=True, slots=True)
class ShellRead:
    """A file that a command shows: as it was written, and the absolute folder that it counts from ('' = unknown)."""

    path: str
    folder: str = ""


def shell_reads(command: str, folder: str = "") -> list[ShellRead]:
    """The files that `command` plainly shows when it is run in `folder`, at most 8, in order.

    Nothing for a line that does not parse or is longer than 64 KiB. A relative path counts where the folder is known,
    be it from `folder` or from a `cd` to a plain path; whether the file exists is for the caller to see.
    """
    found: list[ShellRead] = []
    if len(command) <= COMMAND_CHARACTERS:
        try:
            _Run(folder, found, SCRIPT_DEPTH).line(list(tokens(command)))
        except Unparsable:
            return []
    return list(dict.fromkeys(found))[:FILES_MAX]


class _Run:
    """Goes through a line as the shell would, keeping the folder that it is in."""

    def __init__(self, folder: str, found: list[ShellRead], depth: int) -> None:
        self._folder: str = folder
        self._found = found
        self._depth = depth
        self._outer: list[str] = []

    def line(self, line: Sequence[Token]) -> None:
        words: list[Word] = []
        inputs: list[Word] = []
        before = ""
        stream = iter(line)
        for token in stream:
            if isinstance(token, Word):
                words.append(token)
            elif token.is_redirection:
                self._redirect(token, next(stream, None), inputs)
            elif token.text == "(" and words:
                raise Unparsable("a function, which runs nothing where it is defined")
            else:
                self._command(words, inputs, scoped=before in _PIPES or token.text in (*_PIPES, "&"))
                words, inputs, before = [], [], token.text
                self._bracket(token.text)
        self._command(words, inputs, scoped=before in _PIPES)

    @staticmethod
    def _redirect(operator: Operator, target: Token | None, inputs: list[Word]) -> None:
        if isinstance(target, Word) and operator.text in ("<", "0<"):
            inputs.append(target)

    def _bracket(self, text: str) -> None:
        """A cd inside round brackets ends with them."""
        if text == "(":
            self._outer.append(self._folder)
        elif text == ")" and self._outer:
            self._folder = self._outer.pop()

    def _command(self, words: Sequence[Word], inputs: Sequence[Word], *, scoped: bool) -> None:
        words = _without_prefix(words)
        if not words or not words[0].literal:
            return
        name, arguments = posixpath.basename(words[0].text), words[1:]
        if name in ("cd", "pushd", "popd"):
            if not scoped:
                self._folder = self._after_cd(name, arguments)
        elif name in _SHELLS:
            self._script(arguments)
        elif name in READERS:
            for word in [*shown_files(name, arguments), *inputs]:
                self._take(word)

    def _after_cd(self, name: str, arguments: Sequence[Word]) -> str:
        operands = [word for word in arguments if word.text not in ("--", "-L", "-P", "-e", "-n")]
        if name == "popd" or len(operands) != 1 or not operands[0].literal or operands[0].text in ("", "-"):
            return "~" if name == "cd" and not operands else ""
        target = operands[0].text
        if target.startswith(("/", "~")):
            return target
        return posixpath.join(self._folder, target) if self._folder else ""

    def _script(self, arguments: Sequence[Word]) -> None:
        """The line that `sh -c` is given."""
        for at, word in enumerate(arguments):
            if not word.text.startswith("-"):
                return
            if word.text[1:2] != "-" and "c" in word.text:
                script = arguments[at + 1] if at + 1 < len(arguments) else None
                if script is not None and script.literal and self._depth:
                    _Run(self._folder, self._found, self._depth - 1).line(list(tokens(script.text)))
                return

    def _take(self, word: Word) -> None:
        if not word.literal or word.text in ("", "-") or "\0" in word.text:
            return
        if word.text.startswith(("/", "~")):
            self._found.append(ShellRead(word.text))
        elif self._folder.startswith("~"):
            self._found.append(ShellRead(posixpath.join(self._folder, word.text)))
        elif self._folder:
            self._found.append(ShellRead(word.text, self._folder))


def _without_prefix(words: Sequence[Word]) -> Sequence[Word]:
    """The command itself, without keywords, assignments and commands that only run it."""
    at = 0
    while at < len(words):
        text = words[at].text
        if text in _HEADS:
            return ()
        if text in _KEYWORDS or _is_assignment(text):
            at += 1
        elif text in _WRAPPERS:
            at = _behind_wrapper(words, at)
        else:
            return words[at:]
    return ()


def _is_assignment(text: str) -> bool:
    name, equals, _ = text.partition("=")
    return bool(equals) and name.rstrip("+").isidentifier()


def _behind_wrapper(words: Sequence[Word], at: int) -> int:
    """Where the command begins that the wrapper at this place runs."""
    values, operands = _WRAPPERS[words[at].text]
    at += 1
    while at < len(words) and words[at].text.startswith("-") and words[at].text != "-":
        option = words[at].text
        at += 1
        if option == "--":
            break
        if len(option) == 2 and option[1] in values:
            at += 1
    while at < len(words) and _is_assignment(words[at].text):
        at += 1
    return at + operands
