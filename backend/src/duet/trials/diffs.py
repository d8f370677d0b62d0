# SPDX-License-Identifier: GPL-2.0-or-later
"""Diffs as people have them, written in the strict form that kernels/diffs.py takes.

As `git apply` does, text around the parts is left out, a part ends where its hunks end, and one
folder is taken off the names: a/, i/, linux-6.1.orig/. A diff whose names have no such folder
(`diff.noprefix`, svn) is taken as with -p0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from duet.kernels.diffs import hunk_end

TOP_FOLDERS = frozenset(
    [
        *("Documentation", "LICENSES", "arch", "block", "certs", "crypto", "drivers", "fs"),
        *("include", "init", "io_uring", "ipc", "kernel", "lib", "mm", "net", "rust", "samples"),
        *("scripts", "security", "sound", "tools", "usr", "virt"),
    ]
)
"""Of a kernel: a name that begins with one of them has no prefix."""
TOP_FILES = frozenset(["COPYING", "CREDITS", "Kbuild", "Kconfig", "MAINTAINERS", "Makefile"])
BACKUPS = (".orig", ".old", ".bak", ".new", ".mine", "~")
"""Endings of a file that lies beside the one that is meant."""
GIT = re.compile(r'diff --git ("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)\s*$')
BLANKS = re.compile(r"diff --git (\S*?/(.+)) (\S*?/\2)\s*$")
"""Names with blanks, which git does not quote."""
EXTENDED = re.compile(
    r"(?:old mode|new mode|new file mode|deleted file mode|(?:dis)?similarity index|index|"
    r"rename from|rename to|copy from|copy to) \S|GIT binary patch|Binary files "
)
MOVED = re.compile(r"(?:rename|copy) (from|to) (.*)$")
OWN_HUNK = re.compile(r"@@ -\d{1,9}(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? @@")
DATE = re.compile(r"\t.*|\s+(?:\d{4}-\d\d-\d\d\s.*|\(.*\))$")
EPOCH = re.compile(r"\s(?:1970-01-01|1969-12-31) ")
"""Of a file that is not there, as diff(1) writes it."""
ABOVE = ("Index: ", "=====", "diff -", "=== ", "RCS file: ", "retrieving revision ", "Only in ")
"""Lines that other tools write above a part."""
CONTEXT = re.compile(r"^\*\*\* .*\n--- .*\n\*{10,}\s*$", re.MULTILINE)
NORMAL = re.compile(r"^\d+(?:,\d+)?[acd]\d+(?:,\d+)?\n[<>] ", re.MULTILINE)
COLOURED = re.compile(r"^\x1b\[[\d;]*m(?:diff |--- |@@ )", re.MULTILINE)
COMBINED = re.compile(r"^diff --(?:cc|combined) ", re.MULTILINE)
PIECE = re.compile(
    r"^(?:diff --git .*|--- \S+.*\n\+\+\+ \S.*|@@ -\d+(?:,\d+)? \+\d.*)$", re.MULTILINE
)
SEPARATOR = re.compile(r"---\s*$")
"""Ends the message of a commit in a mail."""


@dataclass(frozen=True, slots=True)
class Diff:
    """What a text holds.

    Args:
        start: the line at which it begins, from 0.
        text: in the strict form.
        bare: a file whose name is taken without taking a folder off; "": none.
        damage: what is wrong with it, from "at line 3" on; "": nothing.
    """

    start: int
    text: str
    bare: str = ""
    damage: str = ""


def find_diff(text: str) -> Diff | None:
    """All parts of a text; None where there is none."""
    lines = text.split("\n")
    parts: list[_Part] = []
    start, at, rest = len(lines), 0, list(lines)
    while at < len(lines):
        part = _part(lines, at)
        if part is None:
            at += 1
            continue
        if not parts:
            start = at
            while start and lines[start - 1].startswith(ABOVE):
                start -= 1
        parts.append(part)
        end = max(part.end, at + 1)
        rest[at:end] = [""] * (end - at)
        at = end
        if part.damage:
            break
    above = lines[:start] if parts else []
    message = next((n for n, line in enumerate(above) if SEPARATOR.match(line)), 0)
    damage = parts[-1].damage if parts else ""
    damage = damage or _stray("\n".join([""] * message + rest[message:]))
    if not parts and not damage:
        return None
    bare = next((part.name for part in parts if part.bare), "")
    return Diff(start, "".join(part.text for part in parts), bare, damage)


def _stray(text: str) -> str:
    """What is wrong with a text that should have no part of a diff; "": it has none."""
    if COMBINED.search(text):
        return "it is the combined diff of a merge, which changes no one file"
    if CONTEXT.search(text):
        return "it is a context diff (diff -c)"
    if NORMAL.search(text):
        return "it is a diff without context (diff -u gives one)"
    if COLOURED.search(text):
        return "it has the colours of a terminal in it (git diff --no-color leaves them out)"
    if found := PIECE.search(text):
        line = text.count("\n", 0, found.start()) + 1
        return f"line {line}, {found[0].splitlines()[0][:60]!r}, begins no whole part of a diff"
    return ""


@dataclass(slots=True)
class _Part:
    """What a diff does to one file, and the line after it."""

    text: str
    name: str
    end: int
    bare: bool = False
    damage: str = ""


def _part(lines: list[str], at: int) -> _Part | None:
    """The part that begins at a line; None: none does."""
    head = _head(lines[at])
    headers: list[str] = []
    pair = at
    if head is not None:
        pair += 1
        while pair < len(lines) and EXTENDED.match(lines[pair]):
            headers.append(lines[pair].rstrip("\r"))
            pair += 1
    with_hunks = (
        pair + 2 < len(lines)
        and lines[pair].startswith("--- ")
        and lines[pair + 1].startswith("+++ ")
        and OWN_HUNK.match(lines[pair + 2]) is not None
    )
    changed = with_hunks or any(not line.startswith("index ") for line in headers)
    if not changed:
        return None
    files = (lines[pair][4:], lines[pair + 1][4:]) if with_hunks else ("", "")
    old, new, bare = _names(head, headers, files)
    out = [f"diff --git a/{old} b/{new}", *headers]
    if not with_hunks:
        return _Part("\n".join([*out, ""]), new, pair, bare)
    hunk = lines[pair + 2]
    no_old = _absent(files[0]) or (EPOCH.search(files[0]) and hunk.startswith("@@ -0,0 "))
    no_new = _absent(files[1]) or (EPOCH.search(files[1]) and " +0,0 @@" in hunk)
    out.append("--- /dev/null" if no_old else f"--- a/{old}")
    out.append("+++ /dev/null" if no_new else f"+++ b/{new}")
    end, damage = _hunks(lines, pair + 2, new)
    return _Part("\n".join([*out, *lines[pair + 2 : end], ""]), new, end, bare, damage)


def _head(line: str) -> tuple[str, str] | None:
    """The names in a line of git; None: it is another line."""
    if found := GIT.match(line):
        return found[1], found[2]
    found = BLANKS.match(line)
    return (found[1], found[3]) if found else None


def _hunks(lines: list[str], start: int, name: str) -> tuple[int, str]:
    """Where they end, and what is wrong with the last of them."""
    at = start
    while at < len(lines) and OWN_HUNK.match(lines[at]):
        head = at
        at, whole = hunk_end(lines, head)
        if not whole:
            return at, _damage(lines, head, at, name)
    if at < len(lines) and re.match(r"[ +]|-(?!-)", lines[at]):
        damage = f"line {at + 1} goes on with the hunk of {name}, which says that it ends before"
        return at, damage
    return at, ""


def _damage(lines: list[str], head: int, at: int, name: str) -> str:
    where = f"the hunk of {name} that begins at line {head + 1}"
    if at >= len(lines) - 1 or lines[at].startswith(("@@ -", "diff -", "-- ")):
        return f"{where} is cut off"
    if lines[at][:1] in (" ", "+", "-", ""):
        return f"{where} has not the lines that it says"
    return f"line {at + 1}, {lines[at][:60]!r}, breaks {where}, as broken long lines do"


def _names(
    head: tuple[str, str] | None, headers: list[str], files: tuple[str, str]
) -> tuple[str, str, bool]:
    """Old and new name, and whether no folder was taken off them."""
    moved = {found[1]: _name(found[2]) for line in headers if (found := MOVED.match(line))}
    if {"from", "to"} <= moved.keys():
        return moved["from"], moved["to"], False
    names, bare = _stripped(head or files, head is not None)
    if not names:
        return "", "", False
    again = _stripped(files, by_git=True)[0] if head is not None else []
    names += again if len(again) == 2 else []  # with prefixes of their own
    first = names[0]
    other = next((name for name in names if name != first), first)
    if any(first == other + ending for ending in BACKUPS):
        first = other
    elif any(other == first + ending for ending in BACKUPS):
        other = first
    return first, other, bare


def _stripped(said: tuple[str, str], by_git: bool) -> tuple[list[str], bool]:
    """Names in a line without their prefix, and whether they have none."""
    names = [_name(one) for one in said if one and not _absent(one)]
    if not names:
        return [], False
    if len(names) == 2 and (tail := _tail(*(name.split("/") for name in names))):
        return [tail, tail], False
    depth = _depth(names, by_git)
    return [name.split("/", depth)[-1] for name in names], depth == 0


def _tail(first: list[str], second: list[str]) -> str:
    """What two names have in common below different folders, if it is a name in a kernel."""
    ends = zip(reversed(first), reversed(second), strict=False)
    common = next((n for n, (one, other) in enumerate(ends) if one != other), None)
    if common is None:
        common = min(len(first), len(second)) * (first != second)
    above = {*first[: len(first) - common], *second[: len(second) - common]}
    tail = first[len(first) - common :]
    known = (tail[:1] and tail[0] in TOP_FOLDERS) or (len(tail) == 1 and tail[0] in TOP_FILES)
    return "/".join(tail) if known and not above & TOP_FOLDERS else ""


def _depth(names: list[str], by_git: bool) -> int:
    """How many folders are no part of the names."""
    parts = [name.split("/") for name in names]
    if any(len(one) == 1 for one in parts):
        return 0
    if len({one[0] for one in parts}) > 1:
        return 1
    first, second = parts[0][0], parts[0][1]
    if first in TOP_FOLDERS or first in ("", "..", "."):
        return 0
    ours = second in TOP_FOLDERS or (len(parts[0]) == 2 and second.split(".")[0] in TOP_FILES)
    return 1 if ours or (len(names) == 1 and not by_git) else 0


def _name(said: str) -> str:
    """A name as a line has it, without its date; git quotes unusual ones as C does."""
    said = said.rstrip("\r\n")
    if said.startswith('"') and (end := said.rfind('"')) > 0:
        raw = said[1:end].encode("latin-1", "backslashreplace")
        return raw.decode("unicode_escape").encode("latin-1", "replace").decode(errors="replace")
    return DATE.sub("", said).rstrip().removeprefix("./")


def _absent(said: str) -> bool:
    return DATE.sub("", said).strip() == "/dev/null"
