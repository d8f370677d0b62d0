# SPDX-License-Identifier: GPL-2.0-or-later
"""Convert diffs from any tool to the strict form of kernels/diffs.py.

A part is a diff's text for one file. Like `git apply`, this module skips text around the parts, and
ends a part after its last hunk. It strips one folder from the file names, such as a/, i/ or
linux-6.1.orig/. File names without this prefix (`diff.noprefix`, svn) are used unchanged, as with
-p0.
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
"""Top folders of a kernel tree. A name that begins with one of them has no prefix."""
TOP_FILES = frozenset(["COPYING", "CREDITS", "Kbuild", "Kconfig", "MAINTAINERS", "Makefile"])
BACKUPS = (".orig", ".old", ".bak", ".new", ".mine", "~")
"""Suffixes of a backup copy next to the file that the diff changes."""
GIT = re.compile(r'diff --git ("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)\s*$')
BLANKS = re.compile(r"diff --git (\S*?/(.+)) (\S*?/\2)\s*$")
"""`diff --git` line whose names contain blanks. git does not quote such names."""
EXTENDED = re.compile(
    r"(?:old mode|new mode|new file mode|deleted file mode|(?:dis)?similarity index|index|"
    r"rename from|rename to|copy from|copy to) \S|GIT binary patch|Binary files "
)
MOVED = re.compile(r"(?:rename|copy) (from|to) (.*)$")
OWN_HUNK = re.compile(r"@@ -\d{1,9}(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? @@")
DATE = re.compile(r"\t.*|\s+(?:\d{4}-\d\d-\d\d\s.*|\(.*\))$")
EPOCH = re.compile(r"\s(?:1970-01-01|1969-12-31) ")
"""Pattern of the timestamp that diff(1) writes for a missing file."""
ABOVE = ("Index: ", "=====", "diff -", "=== ", "RCS file: ", "retrieving revision ", "Only in ")
"""Beginnings of lines that tools other than git write above a part."""
CONTEXT = re.compile(r"^\*\*\* .*\n--- .*\n\*{10,}\s*$", re.MULTILINE)
NORMAL = re.compile(r"^\d+(?:,\d+)?[acd]\d+(?:,\d+)?\n[<>] ", re.MULTILINE)
COLOURED = re.compile(r"^\x1b\[[\d;]*m(?:diff |--- |@@ )", re.MULTILINE)
COMBINED = re.compile(r"^diff --(?:cc|combined) ", re.MULTILINE)
PIECE = re.compile(
    r"^(?:diff --git .*|--- \S+.*\n\+\+\+ \S.*|@@ -\d+(?:,\d+)? \+\d.*)$", re.MULTILINE
)
SEPARATOR = re.compile(r"---\s*$")
"""Line that ends the commit message in a mail."""


@dataclass(frozen=True, slots=True)
class Diff:
    """The diff that was found in a text.

    Args:
        start: index of the diff's first line in the text.
        text: the diff in the strict form.
        bare: a file whose name has no prefix; "" if all names have a prefix.
        damage: what is wrong, as the end of a sentence; "" if nothing is wrong.
    """

    start: int
    text: str
    bare: str = ""
    damage: str = ""


def find_diff(text: str) -> Diff | None:
    """Find the diff in a text, and convert it. Return None if the text contains no diff."""
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
    """Return what is wrong if text outside the parts contains a piece of a diff, otherwise ""."""
    if COMBINED.search(text):
        return "it is the combined diff of a merge, which does not change a single file"
    if CONTEXT.search(text):
        return "it is a context diff (diff -c)"
    if NORMAL.search(text):
        return "it is a diff without context (make it with diff -u)"
    if COLOURED.search(text):
        return "it contains terminal colours (make it with git diff --no-color)"
    if found := PIECE.search(text):
        line = text.count("\n", 0, found.start()) + 1
        return f"line {line}, {found[0].splitlines()[0][:60]!r}, does not begin a complete part"
    return ""


@dataclass(slots=True)
class _Part:
    """The part of a diff for one file, and the index of the line after this part."""

    text: str
    name: str
    end: int
    bare: bool = False
    damage: str = ""


def _part(lines: list[str], at: int) -> _Part | None:
    """Parse one file's part of a diff that begins at this line, or return None."""
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
    """Parse the names in a `diff --git` line, or return None for another line."""
    if found := GIT.match(line):
        return found[1], found[2]
    found = BLANKS.match(line)
    return (found[1], found[3]) if found else None


def _hunks(lines: list[str], start: int, name: str) -> tuple[int, str]:
    """Return the index after the last line of the hunks, and what is wrong with the last hunk."""
    at = start
    while at < len(lines) and OWN_HUNK.match(lines[at]):
        head = at
        at, whole = hunk_end(lines, head)
        if not whole:
            return at, _damage(lines, head, at, name)
    if at < len(lines) and re.match(r"[ +]|-(?!-)", lines[at]):
        damage = f"line {at + 1} continues the hunk of {name} beyond its line count"
        return at, damage
    return at, ""


def _damage(lines: list[str], head: int, at: int, name: str) -> str:
    where = f"the hunk of {name} that begins at line {head + 1}"
    if at >= len(lines) - 1 or lines[at].startswith(("@@ -", "diff -", "-- ")):
        return f"{where} is cut off"
    if lines[at][:1] in (" ", "+", "-", ""):
        return f"{where} has a wrong line count"
    return f"line {at + 1}, {lines[at][:60]!r}, breaks {where}, probably a wrapped line"


def _names(
    head: tuple[str, str] | None, headers: list[str], files: tuple[str, str]
) -> tuple[str, str, bool]:
    """Return the old name, the new name, and whether the names have no prefix."""
    moved = {found[1]: _name(found[2]) for line in headers if (found := MOVED.match(line))}
    if {"from", "to"} <= moved.keys():
        return moved["from"], moved["to"], False
    names, bare = _stripped(head or files, head is not None)
    if not names:
        return "", "", False
    again = _stripped(files, by_git=True)[0] if head is not None else []
    names += again if len(again) == 2 else []  # the lines --- and +++ may have other prefixes
    first = names[0]
    other = next((name for name in names if name != first), first)
    if any(first == other + ending for ending in BACKUPS):
        first = other
    elif any(other == first + ending for ending in BACKUPS):
        other = first
    return first, other, bare


def _stripped(said: tuple[str, str], by_git: bool) -> tuple[list[str], bool]:
    """Strip the folder prefix from file names. Return them, and whether they had no prefix."""
    names = [_name(one) for one in said if one and not _absent(one)]
    if not names:
        return [], False
    if len(names) == 2 and (tail := _tail(*(name.split("/") for name in names))):
        return [tail, tail], False
    depth = _depth(names, by_git)
    return [name.split("/", depth)[-1] for name in names], depth == 0


def _tail(first: list[str], second: list[str]) -> str:
    """Return the kernel path with which both names end, or "" if there is no such path."""
    ends = zip(reversed(first), reversed(second), strict=False)
    common = next((n for n, (one, other) in enumerate(ends) if one != other), None)
    if common is None:
        common = min(len(first), len(second)) * (first != second)
    above = {*first[: len(first) - common], *second[: len(second) - common]}
    tail = first[len(first) - common :]
    known = (tail[:1] and tail[0] in TOP_FOLDERS) or (len(tail) == 1 and tail[0] in TOP_FILES)
    return "/".join(tail) if known and not above & TOP_FOLDERS else ""


def _depth(names: list[str], by_git: bool) -> int:
    """Return the number of leading folders to strip from the names."""
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
    """Parse a file name in a diff, and drop the date after it. git quotes names like C strings."""
    said = said.rstrip("\r\n")
    if said.startswith('"') and (end := said.rfind('"')) > 0:
        raw = said[1:end].encode("latin-1", "backslashreplace")
        return raw.decode("unicode_escape").encode("latin-1", "replace").decode(errors="replace")
    return DATE.sub("", said).rstrip().removeprefix("./")


def _absent(said: str) -> bool:
    return DATE.sub("", said).strip() == "/dev/null"
