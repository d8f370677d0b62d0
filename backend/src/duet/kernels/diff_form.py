# SPDX-License-Identifier: GPL-2.0-or-later
"""The strict form of a diff: which files it changes and how, read once, before patch(1) sees it.

patch(1) guesses: it takes names from several places, ed scripts, links, and diffs in the text of a
mail. Here a file begins with its `diff --git` line, its names agree, its hunks have as
many lines as they say, and nothing else is passed on. So what was looked at is what is applied.
The form is that of git-diff(1), "Generating patch text with -p".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from duet.kernels.diff_names import GIT_REMEDY, PatchRefused, check_name, cut, other_names

_HEAD = re.compile(r'^diff --git (?:a/(\S+) b/(\S+)|(".*|.* .* .*))$')
_HUNK = re.compile(r"^@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")
_MODE = re.compile(r"^(?:old mode|new mode|new file mode|deleted file mode|index \S+) (\d+)$")
_BINARY = ("GIT binary patch", "Binary files ")
_MOVED = ("rename ", "copy ")
_HEADERS = ("old mode ", "new mode ", "new file mode ", "deleted file mode ", "index ")
_NO_OLD, _NO_NEW = "--- /dev/null", "+++ /dev/null"
_PLAIN = re.compile(r"100[0-7]{3}")


@dataclass(frozen=True, slots=True)
class FileDiff:
    """What a diff does to one file.

    Args:
        name: relative to the source tree.
        text: its part of the diff, for patch(1); empty where only its mode changes.
        mode: "" or the change of its mode, in words.
        old: the file that it is renamed or copied from; "": itself.
    """

    name: str
    text: str
    mode: str = ""
    old: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """All files that it reads or writes."""
        return (self.old, self.name) if self.old else (self.name,)


def read_diff(text: str) -> tuple[FileDiff, ...]:
    """The files of a patch, in its order; text around them (a mail) is left out.

    Raises:
        PatchRefused: a path out of the tree, a link, a submodule, a binary file, names that
            disagree, or a part that is cut off.
    """
    if re.search(r"^diff --git .*\r$", text, re.MULTILINE):
        text = text.replace("\r\n", "\n")
    lines = text.split("\n")
    starts = [n for n, line in enumerate(lines) if line.startswith("diff --git ")]
    found: list[FileDiff] = []
    after = 0
    for start in starts:
        if start < after:  # a line within a hunk
            continue
        for line in lines[after:start] if found else ():
            _refuse_stray(line)
        one, after = _file(lines, start)
        found.append(one)
    for line in lines[after:] if found else ():
        _refuse_stray(line)
    return tuple(found)


def strict(files: tuple[FileDiff, ...]) -> str:
    """The diff that is applied."""
    return "".join(one.text for one in files)


def _file(lines: list[str], start: int) -> tuple[FileDiff, int]:
    """One file's part from its `diff --git` line, and where the next may begin."""
    head = _HEAD.match(lines[start])
    if head is None or head[1] is None:
        raise PatchRefused(
            f"the patch has a line that names no two files: {lines[start][:80]!r}.",
            remedy=GIT_REMEDY,
        )
    old, name = head[1], head[2]
    check_name(old)
    check_name(name)
    at = start + 1
    headers: list[str] = []
    while at < len(lines) and lines[at].startswith((*_HEADERS, *_BINARY, *_MOVED, "dissim", "sim")):
        _check_header(name, lines[at])
        headers.append(lines[at])
        at += 1
    moves = [line for line in headers if line.startswith(_MOVED)]
    _check_moves(old, name, moves)
    kept = (line for line in headers if line.startswith(("new f", "del", "index", *_MOVED)))
    out = [lines[start], *kept]
    if at + 1 < len(lines) and lines[at].startswith("--- "):
        _check_pair(old, name, lines[at], lines[at + 1])
        out += lines[at : at + 2]
        hunks = _hunks(name, lines, at + 2)
        if not hunks:
            raise cut(name)
        out += hunks
        at += 2 + len(hunks)
        if at < len(lines) and re.match(r"[ +]|-(?!-)", lines[at]):
            raise cut(name)  # more lines than the last hunk says
    elif not any(line.startswith(("new ", "old ", "del", *_MOVED)) for line in headers):
        raise cut(name)
    mode = _mode_change(headers)
    only_mode = all(line.startswith(("diff", "index")) for line in out)
    text = "" if only_mode else "\n".join(out) + "\n"
    return FileDiff(name, text, mode, old if moves else ""), at


def _check_header(name: str, line: str) -> None:
    if line.startswith(_BINARY):
        raise PatchRefused(f"the patch changes {name}, which is not text.", remedy=GIT_REMEDY)
    if line.startswith(_MOVED):
        return
    mode = _MODE.match(line)
    if mode is not None and not _PLAIN.fullmatch(mode[1]):
        kind = {"120000": "a symbolic link", "160000": "a submodule"}.get(mode[1], "no plain file")
        raise PatchRefused(
            f"the patch makes or changes {name} as {kind}, and patches hold plain files only.",
            remedy="Leave that file out of the patch.",
        )
    if mode is None and not re.fullmatch(r"((dis)?similarity )?index [\w.]+%?", line):
        raise PatchRefused(
            f"the patch has a line about {name} that git does not write: {line[:80]!r}.",
            remedy=GIT_REMEDY,
        )


def _check_moves(old: str, name: str, moves: list[str]) -> None:
    """`rename from OLD` and `rename to NAME`, or a copy, where the two names differ."""
    wanted = [[f"{how} from {old}", f"{how} to {name}"] for how in ("rename", "copy")]
    if moves not in ([[]] if old == name else wanted):
        raise other_names(name, moves[0] if moves else f"diff --git a/{old} b/{name}")


def _check_pair(old_name: str, name: str, old: str, new: str) -> None:
    """`--- a/NAME` and `+++ b/NAME`; one of them may be /dev/null."""
    first, second = (line.split("\t", 1)[0].rstrip() for line in (old, new))
    named = (first in (f"--- a/{old_name}", _NO_OLD), second in (f"+++ b/{name}", _NO_NEW))
    nothing = (first == _NO_OLD) + (second == _NO_NEW)
    if not all(named) or nothing > (old_name == name):
        raise other_names(name, old if not named[0] else new)


def hunk_end(lines: list[str], head: int) -> tuple[int, bool]:
    """Where the hunk that begins with the line `head` ends, and whether it is whole.

    Args:
        lines: of a text that was split at its line ends: the last piece is no line.

    Returns:
        The line itself where none begins there.
    """
    said = _HUNK.match(lines[head])
    if said is None:
        return head, False
    old, new = (1 if count is None else int(count) for count in said.groups())
    at = head + 1
    while old > 0 or new > 0:
        # A mailer may cut the blank of an empty line.
        kind = lines[at][:1] if at < len(lines) - 1 else "end"
        if kind not in ("", " ", "+", "-", "\\"):
            return at, False
        old -= kind in ("", " ", "-")
        new -= kind in ("", " ", "+")
        if old < 0 or new < 0:
            return at, False
        at += 1
    return at + (at < len(lines) and lines[at].startswith("\\ ")), True


def _hunks(name: str, lines: list[str], start: int) -> list[str]:
    """The lines of all hunks of a file, as many as each says."""
    at = start
    while at < len(lines) and _HUNK.match(lines[at]):
        at, whole = hunk_end(lines, at)
        if not whole:
            raise cut(name)
    return lines[start:at]


def _mode_change(headers: list[str]) -> str:
    modes = {line.rsplit(" ", 1)[0]: line.rsplit(" ", 1)[1] for line in headers if " mode " in line}
    if "old mode" in modes or "new mode" in modes:
        return f"from {modes.get('old mode', '?')} to {modes.get('new mode', '?')}"
    created = modes.get("new file mode", "100644")
    return f"to {created}" if created not in ("100644", "100664") else ""


def _refuse_stray(line: str) -> None:
    """After the first file, no line may look like a file or a hunk that was not counted."""
    if re.match(r"--- (?:a/|/dev/null)|\+\+\+ b/|@@ -\d", line):
        raise PatchRefused(
            f"the patch has a part without its 'diff --git' line: {line[:80]!r}.",
            remedy=GIT_REMEDY,
        )
