# SPDX-License-Identifier: GPL-2.0-or-later
"""Which fields of structures a diff adds or moves, and who uses them.

A structure is found as a function is (duet.kernels.functions): by its first line in the first
column, or by the heading of a hunk.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from duet.kernels.functions import FILE, HUNK, defined

STRUCT = re.compile(r"^struct (\w+) \{?\s*$")
MEMBER = re.compile(
    r"^\s+(?!return\b|typedef\b|else\b|goto\b)[A-Za-z_][\w\s*]*?[\s*](\w+)"
    r"(?:\[[^]]*])*(?:\s*:\s*\d+)?(?:\s+__\w+(?:\([^)]*\))*)*;"
)
POINTER = re.compile(r"^\s+[A-Za-z_][\w\s*]*\(\*(\w+)\)\s*\(")
"""A member that is a pointer to a function."""
TOPS = ("fs", "mm", "kernel", "lib", "block", "ipc")
"""Folders whose files are searched for users of a field that only a header declares."""


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A member of `struct STRUCT`."""

    struct: str
    name: str


def field_changes(diff: str) -> list[FieldChange]:
    """Members whose lines were added, or taken from elsewhere, in the order of the diff."""
    found: dict[FieldChange, None] = {}
    inside, read = "", False
    for line in diff.splitlines():
        if match := FILE.match(line):
            inside, read = "", match[1].endswith((".c", ".h"))
        elif match := HUNK.match(line):
            inside = _struct(match[1])
        elif read and line[:1] in (" ", "+", "-") and not line.startswith(("---", "+++")):
            text = line[1:]
            if text[:1].strip():  # the first column has something
                inside = _struct(text)
            elif inside and line[0] == "+" and (name := _member(text)):
                found[FieldChange(inside, name)] = None
    return list(found)


def users(src: Path, files: Iterable[str], fields: Iterable[str]) -> list[str]:
    """Functions that name one of these members behind an arrow or a dot.

    Args:
        src: a source tree.
        files: of the patch; where none of them uses a field, the files of TOPS are searched.
        fields: names of members.
    """
    names = "|".join(re.escape(name) for name in dict.fromkeys(fields))
    if not names:
        return []
    used = re.compile(rf"(?:->|\.)(?:{names})\b")
    found = _using([src / name for name in files if name.endswith(".c")], used)
    return found or _using([path for top in TOPS for path in sorted((src / top).glob("*.c"))], used)


def _using(paths: Iterable[Path], used: re.Pattern[str]) -> list[str]:
    found: dict[str, None] = {}
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if not used.search(text):
            continue
        inside = ""
        for line in text.splitlines():
            inside = defined(line) or ("" if line.startswith("}") else inside)
            if inside and line[:1].isspace() and used.search(line):
                found[inside] = None
    return list(found)


def _struct(text: str) -> str:
    match = STRUCT.match(text)
    return match[1] if match else ""


def _member(text: str) -> str:
    match = MEMBER.match(text) or POINTER.match(text)
    return match[1] if match else ""
