# SPDX-License-Identifier: GPL-2.0-or-later
"""C source without its comments, line by line: what two versions of a file differ in as code. Pure.

Comments are taken away and lines stay, so that a line of the result is the line of the file.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)
"""A comment, or a literal in which nothing begins one."""
_KBUILD = re.compile(r"(?:^|/)(?:Kconfig|Makefile|Kbuild)[^/]*$")
C_NAMES = (".c", ".h", ".S")


def without_comments(text: str) -> str:
    """The same lines, with a blank in place of each comment."""

    def keep(match: re.Match[str]) -> str:
        token = match[0]
        return " " + "\n" * token.count("\n") if token.startswith("/") else token

    return _TOKEN.sub(keep, text)


def same_code(name: str, one: str, other: str) -> bool:
    """Whether two versions of a file differ in comments, blank lines and white space alone.

    A line stays a line: a preprocessor's ends with it. Of Kconfig and Makefiles comments are whole
    lines; white space counts there, and in all that is not C.
    """
    return _code(name, one) == _code(name, other)


def _code(name: str, text: str) -> list[list[str]]:
    if name.endswith(C_NAMES):
        lines = without_comments(text).splitlines()
        return [words for line in lines if (words := _words(line))]
    comments = _KBUILD.search(name) is not None
    lines = [line.rstrip() for line in text.splitlines()]
    return [[one] for one in lines if one and not (comments and one.lstrip().startswith("#"))]


def _words(line: str) -> list[str]:
    """Its words; literals are kept whole, blanks within them too."""
    parts = re.split(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')""", line)
    words: list[str] = []
    for number, part in enumerate(parts):
        words += [part] if number % 2 else part.split()
    return words
