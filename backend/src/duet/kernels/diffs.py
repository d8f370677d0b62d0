# SPDX-License-Identifier: GPL-2.0-or-later
"""The strict form of a diff: which files it changes and how, read once, before patch(1) sees it.

patch(1) guesses: it takes names from several places, ed scripts, links, and diffs in the text of a
mail. Here a file begins with its `diff --git` line, its names agree, its hunks have as
many lines as they say, and nothing else is passed on. So what was looked at is what is applied.
The form is that of git-diff(1), "Generating patch text with -p".
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from duet.base.errors import InputError

# Names in a diff, and how one is refused.

_NAME = re.compile(r"[A-Za-z0-9_+,.@#=~-]+(?:/[A-Za-z0-9_+,.@#=~-]+)*")

GIT_REMEDY = "Make it with `git format-patch`, without files that are not text."


class PatchRefused(InputError):
    """A patch that is not in the strict form, or that changes what patches may not."""

    code = "patch-refused"


def check_name(name: str) -> None:
    """Refuse a path that could lie outside of the tree.

    Raises:
        PatchRefused: it is absolute, has '..', '.git', or letters that no file of a kernel has.
    """
    parts = name.split("/")
    if name.startswith("/") or ".." in parts or "." in parts or "" in parts:
        raise PatchRefused(
            f"the patch changes {name[:80]!r}, which does not lie in the kernel's tree.",
            remedy="Name files by their path from the top of the tree, without '..'.",
        )
    if ".git" in parts or not _NAME.fullmatch(name) or len(name) > 255:
        raise PatchRefused(
            f"the patch changes {name[:80]!r}, and no file of a kernel has such a name.",
            remedy="Use letters, digits and the signs _ + , . @ # = ~ - in names.",
        )


def other_names(name: str, line: str) -> PatchRefused:
    """A line that speaks of another file than the 'diff --git' line above it."""
    return PatchRefused(
        f"the patch names {name} in its 'diff --git' line and another file after it:"
        f" {line[:80]!r}.",
        remedy=GIT_REMEDY,
    )


def cut(name: str) -> PatchRefused:
    """Hunks that are shorter or longer than they say."""
    return PatchRefused(
        f"the patch's part about {name} is cut off or damaged: a hunk has not the lines it says.",
        remedy="Save the patch again, as the mail or `git format-patch` has it.",
    )


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


# Which files of a kernel a stranger's patch may change.
#
# A build runs programs of the tree on the host: what Makefiles, Kconfig files and scripts say, and
# host programs that are compiled on the way. So a patch that is not the operator's own changes what
# becomes part of the kernel: C and assembler sources, and headers. That alone makes no build safe
# (the compiler and objtool read hostile text), so such builds run in `duet.confine`, too.


SUFFIXES = (".c", ".h", ".S")
HOST_FOLDERS = (
    *("scripts/", "tools/", "usr/", "certs/", "arch/x86/boot/", "arch/x86/tools/"),
    *("arch/x86/entry/vdso/", "samples/", "Documentation/"),
)
"""Here the build compiles or starts programs for the host (hostprogs of the Makefiles of 6.1), or
what it makes is no part of the kernel."""
HOST_FILES = (
    *("lib/gen_crc*.c", "lib/raid6/mktables.c", "drivers/tty/vt/conmakehash.c", "*/relocs*"),
    *("drivers/gpu/drm/radeon/mkregtable.c", "lib/crypto/*.pl", "kernel/gen_*"),
)
MOST_BYTES = 256 << 10
"""Of a patch. Usual: 1-20 KB."""
MOST_FILES = 64
"""That a patch changes. Usual: 1-5."""

TAKE_OUT = "Take that file out of the patch, or ask who operates this server: DUET_PATCH_FILES."


def check_patch(text: str, more: tuple[str, ...] = ()) -> tuple[FileDiff, ...]:
    """The files that a patch changes, if it may change all of them.

    Args:
        text: of the patch or its mail.
        more: what the operator allows beyond sources and headers: patterns of fnmatch on whole
            names, "*" for every file. Links, modes and binary files are never allowed.

    Raises:
        PatchRefused: it may not; the sentence names the first such file.
    """
    if len(text.encode()) > MOST_BYTES:
        raise PatchRefused(
            f"the patch has {len(text.encode()):,} bytes, and at most {MOST_BYTES:,} are taken.",
            remedy="Send the part that matters.",
        )
    files = read_diff(text)
    if not files:
        raise PatchRefused(
            "the patch changes no file: it has no 'diff --git' line.",
            remedy="Make it with `git format-patch` or `git diff`.",
        )
    if len(files) > MOST_FILES:
        raise PatchRefused(
            f"the patch changes {len(files)} files, and at most {MOST_FILES} are taken.",
            remedy="Send the part that matters.",
        )
    for one in files:
        if one.mode:
            raise PatchRefused(
                f"the patch changes the mode of {one.name} {one.mode}, and modes stay as they are.",
                remedy="Leave the lines about modes out of the patch.",
            )
        for name in one.names:
            if not any(fnmatchcase(name, pattern) for pattern in more):
                _check_kind(name)
    return files


def _check_kind(name: str) -> None:
    if not name.endswith(SUFFIXES):
        raise PatchRefused(
            f"the patch changes {name}, and patches may change sources and headers only"
            f" ({', '.join(SUFFIXES)}).",
            remedy=TAKE_OUT,
        )
    folder = next((folder for folder in HOST_FOLDERS if name.startswith(folder)), None)
    if folder or any(fnmatchcase(name, pattern) for pattern in HOST_FILES):
        raise PatchRefused(
            f"the patch changes {name}, which is there for programs that run while a kernel is"
            " built, on the server itself.",
            remedy=TAKE_OUT,
        )


# Applying a diff by patch(1), and what is wrong when it does not fit.


_HUNK_FAILED = re.compile(r"^Hunk #(\d+) FAILED at (\d+)", re.MULTILINE)
_NO_FILE = re.compile(r"^can't find file to patch.*?^\|\+\+\+ b/(\S+)", re.MULTILINE | re.DOTALL)
_PATCHING = re.compile(
    r"^(?:checking|patching) file '?([^'\n]+?)'?(?: \((?:renamed|copied) from .*\))?$", re.MULTILINE
)
_NO_NAMES = "Cannot rename file without two valid file names"
"""patch(1): the file that a patch renames is not there."""


# Unified only: patch(1) would hand an ed script to ed(1), which starts programs.
PATCH_OPTIONS = (
    *("--unified", "--strip=1", "--fuzz=0", "--force", "--no-backup-if-mismatch"),
    "--reject-file=-",
)


class PatchFails(InputError):
    """A patch does not fit the source."""

    code = "patch-fails"


def apply_diff(name: str, diff: tuple[FileDiff, ...], folder: Path) -> None:
    """Apply a diff in `folder`, without fuzz.

    Args:
        name: of its patch, for sentences.

    Raises:
        PatchFails: naming the file and hunk that did not fit.
        PatchRefused: they would fit with other blanks and tabs.
    """
    check_targets(name, diff, folder)
    done = _patch(diff, folder)
    if done.returncode == 0:
        return
    failed = patch_fails(name, done.stdout + done.stderr)
    if _HUNK_FAILED.search(done.stdout):
        dry = _patch(diff, folder, "--dry-run", "--ignore-whitespace")
        if dry.returncode == 0:
            raise PatchRefused(
                f"{str(failed).rstrip('.')}: it fits only where blanks and tabs count as the same,"
                " so a mail program has probably changed them.",
                remedy="Take the mail as its archive has it, or have it sent by `git send-email`"
                " or as an attachment.",
                detail=failed.detail,
            )
    raise failed


def check_targets(name: str, diff: tuple[FileDiff, ...], folder: Path) -> None:
    """No file is renamed to a name that another file has; patch(1) would overwrite it.

    Raises:
        PatchFails: one is.
    """
    gone = {one.old for one in diff if "\nrename from " in one.text}
    gone |= {one.name for one in diff if "\ndeleted file mode " in one.text}
    for one in diff:
        if one.old and one.name not in gone and (folder / one.name).exists():
            raise PatchFails(
                f"wanted to apply {name}, but it names {one.old} {one.name}, and this kernel has"
                " such a file already.",
                remedy="Rebase the patch on this kernel (kernel-patches/README.md says how).",
            )


def _patch(
    diff: tuple[FileDiff, ...], folder: Path, *more: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["patch", *PATCH_OPTIONS, *more, "--directory", str(folder)],
        input=strict(diff), capture_output=True, encoding="utf-8", errors="replace", check=False,
        env={**os.environ, "LC_ALL": "C"},
    )  # fmt: skip


def patch_fails(name: str, said: str) -> PatchFails:
    """What is wrong, from what patch(1) printed."""
    return PatchFails(
        f"wanted to apply {name}, but {_failure(said)}.",
        remedy="Rebase the patch on this kernel (kernel-patches/README.md says how).",
        detail=said[-4000:],
    )


def _failure(said: str) -> str:
    """'hunk 2 (line 764) does not fit mm/vmscan.c' from what patch(1) printed."""
    if failed := _HUNK_FAILED.search(said):
        name = _PATCHING.findall(said[: failed.start()])[-1]
        return f"hunk {failed[1]} (line {failed[2]}) does not fit {name}"
    if lost := _NO_FILE.search(said):
        return f"this kernel has no {lost[1]}"
    if _NO_NAMES in said:
        return "this kernel has not the file that it renames or copies"
    return f"patch(1) refused it: {said.strip().splitlines()[-1] if said.strip() else 'no reason'}"
