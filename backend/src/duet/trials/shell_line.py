# SPDX-License-Identifier: GPL-2.0-or-later
"""Parse a shell line into simple commands and their words, without running it. Pure.

Variables, patterns and command substitutions are left unexpanded. Source: POSIX.1-2017, "Shell
Command Language", 2.9.1 and 2.10.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

TOKEN = re.compile(
    r"""(?P<operator>[;|&()<>\n]+)|[ \t\r]+"""
    r"""|(?P<word>(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s;|&()<>'"\\])+)|(?P<open>.)""",
    re.DOTALL,
)
OPENERS = frozenset({"if", "then", "elif", "else", "do", "while", "until", "!", "{"})
"""Reserved words that a command may follow."""
RESERVED = OPENERS | {"for", "case", "in", "done", "fi", "esac", "}", "select", "function"}
ASH = (
    ". : [ [[ alias bg break cd chdir command continue echo eval exec exit export false fg getopts"
    " hash help jobs kill let local printf pwd read readonly return set shift source test times"
    " trap true type ulimit umask unalias unset wait"
)
BUILTINS = frozenset(ASH.split())
"""Builtins of busybox's ash."""
SHELLS = frozenset({"sh", "ash", "bash", "dash"})
WRAPPERS: dict[str, tuple[str, int]] = {
    "chrt": ("TPD", 1),
    "command": ("", 0),
    "env": ("uCS", 0),
    "exec": ("a", 0),
    "ionice": ("cn", 0),
    "nice": ("n", 0),
    "nohup": ("", 0),
    "setarch": ("", 0),
    "setsid": ("", 0),
    "stdbuf": ("ioe", 0),
    "strace": ("aeEIoOPsSUX", 0),
    "taskset": ("", 1),
    "time": ("fo", 0),
    "timeout": ("ks", 1),
    "unshare": ("SGRw", 0),
    "xargs": ("adEILnPs", 0),
}
"""Maps a program that starts another program to (its options that take a value, number of words
before the other program).
"""
LONG_VALUES = frozenset({"--signal", "--kill-after", "--adjustment", "--unset", "--chdir"})
"""Long options of the WRAPPERS whose value may be the next word."""
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
OPAQUE = re.compile(r"<<|\(\(|[<>]+\(")
"""Operators that are not followed by a simple command."""
LIVE = re.compile(r"[$`*?\[]")
"""Characters that the shell may expand."""


@dataclass(frozen=True, slots=True)
class Simple:
    """One simple command.

    Args:
        words: the command's name and arguments, unquoted, with variables unexpanded.
        assignments: assignments before the name.
        targets: targets of redirections.
        nested: whether the command is inside `sh -c '...'`.
    """

    words: tuple[str, ...]
    assignments: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    nested: bool = False

    @property
    def chain(self) -> tuple[str, ...]:
        """Names of the wrapper programs, and last the wrapped program's name.

        For example, the chain of `timeout 5 ./x` is (timeout, ./x).
        """
        return tuple(self.words[at] for at in _chain(self.words))

    @property
    def started(self) -> tuple[str, ...]:
        """The last program of the chain and its arguments, or () for a line of assignments."""
        return self.words[_chain(self.words)[-1] :] if self.words else ()


@dataclass(frozen=True, slots=True)
class Line:
    """A parsed shell line.

    Args:
        known: whether all parts of the line are understood. False for `case` or a here-document.
        functions: names of functions that the line defines.
        joined: whether the line has operators or reserved words, so that only a shell can run it.
    """

    commands: tuple[Simple, ...]
    known: bool = True
    functions: frozenset[str] = frozenset()
    joined: bool = False

    @property
    def words(self) -> list[str]:
        return [
            word for one in self.commands for word in (*one.assignments, *one.words, *one.targets)
        ]


def read_line(text: str, *, nested: bool = False) -> Line:
    """Parse a shell line.

    Raises:
        ValueError: a quotation mark is not closed.
    """
    found: list[Simple] = []
    functions: set[str] = set()
    known, joined = True, False
    words: list[str] = []
    before: list[str] = []
    targets: list[str] = []
    target = comment = False

    def end() -> None:
        if words or before or targets:
            found.append(Simple(tuple(words), tuple(before), tuple(targets), nested))
        for held in (words, before, targets):
            held.clear()

    for token, operator in _tokens(text):
        if comment and "\n" not in token:
            continue
        comment = not operator and token.startswith("#")
        if comment:
            continue
        if operator:
            known = known and not OPAQUE.search(token) and not (words and words[-1].endswith("$"))
        if operator and ("<" in token or ">" in token):
            if words and words[-1].isdigit():
                words.pop()  # a file descriptor
            target = True
        elif operator:
            if token.startswith("(") and words:
                functions.update(words[-1:])
                words.clear()
            joined = joined or bool(words) or token != "\n"
            end()
            target = False
        elif target:
            targets.append(_plain(token))
            target = False
        elif not words and token in OPENERS:
            joined = True
        elif not words and ASSIGNMENT.match(token):
            before.append(_plain(token))
        else:
            known = known and "`" not in token and not (not words and token == "case")
            joined = joined or (not words and token in RESERVED)
            words.append(_plain(token))
    end()
    inner = [_inside(one) for one in found]
    return Line(
        tuple(command for one, line in zip(found, inner, strict=True)
              for command in (one, *(line.commands if line else ()))),
        known and all(line is None or line.known for line in inner),
        frozenset(functions).union(*(line.functions for line in inner if line)),
        joined,
    )  # fmt: skip


def _tokens(text: str) -> Iterator[tuple[str, bool]]:
    """Yield (text, whether the text is an operator) for each operator and each raw word."""
    for match in TOKEN.finditer(text.replace("\\\n", "")):
        if match["open"]:
            raise ValueError(f"a quotation mark is not closed: {match['open']}")
        if match["operator"] or match["word"]:
            yield match["operator"] or match["word"], bool(match["operator"])


def _plain(word: str) -> str:
    return "".join(shlex.split(word))


def _inside(one: Simple) -> Line | None:
    """Parse the line that a command passes to `sh -c`. Return None for other commands."""
    name, *arguments = one.started or ("",)
    flags = [at for at, word in enumerate(arguments[:-1]) if re.fullmatch(r"-\w*c", word)]
    if PurePosixPath(name).name not in SHELLS or not flags:
        return None
    return read_line(arguments[flags[0] + 1], nested=True)


def _chain(words: Sequence[str]) -> list[int]:
    found, at = [0] if words else [], 0
    while at < len(words) and (name := PurePosixPath(words[at]).name) in WRAPPERS:
        valued, before = WRAPPERS[name]
        at += 1
        while at < len(words):
            word = words[at]
            if word == "--":
                at += 1
                break
            if word.startswith("-") and word != "-":
                short = not word.startswith("--") and word[-1] in valued
                at += 2 if short or word in LONG_VALUES else 1
            elif name == "env" and ASSIGNMENT.match(word):
                at += 1
            else:
                break
        at += before
        if at < len(words):
            found.append(at)
    return found
