# SPDX-License-Identifier: GPL-2.0-or-later
"""Parse diffs in a strict form, and find which files they change, before patch(1) runs.

patch(1) guesses: it reads file names from several places, and accepts ed scripts, links, and diffs
in the text of a mail. In the strict form, each file's part starts with a `diff --git` line, all its
names agree, and each hunk has as many lines as it announces. patch(1) gets only these parts, so
exactly the checked text is applied. The form is that of git-diff(1), "Generating patch text with
-p".
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from duet.base.errors import InputError

# Check file names in a diff, and create the errors for refused diffs.

_NAME = re.compile(r"[A-Za-z0-9_+,.@#=~-]+(?:/[A-Za-z0-9_+,.@#=~-]+)*")

GIT_REMEDY = "Make the patch with `git format-patch`, without binary files."


class PatchRefused(InputError):
    """The patch is not in the strict form, or changes a forbidden file."""

    code = "patch-refused"


def check_name(name: str) -> None:
    """Refuse a path that could leave the tree.

    Raises:
        PatchRefused: the path is absolute, or contains '..', '.git' or characters that no kernel
            file name has.
    """
    parts = name.split("/")
    if name.startswith("/") or ".." in parts or "." in parts or "" in parts:
        raise PatchRefused(
            f"the patch changes {name[:80]!r}, which is not inside the kernel's tree.",
            remedy="Name files by their path from the top of the tree, without '..'.",
        )
    if ".git" in parts or not _NAME.fullmatch(name) or len(name) > 255:
        raise PatchRefused(
            f"the patch changes {name[:80]!r}, but no kernel file has such a name.",
            remedy="Use letters, digits and the characters _ + , . @ # = ~ - in names.",
        )


def other_names(name: str, line: str) -> PatchRefused:
    """Return the error for a line that names another file than the 'diff --git' line names."""
    return PatchRefused(
        f"the patch names {name} in its 'diff --git' line, but then another file: {line[:80]!r}.",
        remedy=GIT_REMEDY,
    )


def cut_off_error(name: str) -> PatchRefused:
    """Return the error for hunks whose length differs from the length in their `@@` line."""
    return PatchRefused(
        f"the patch's part about {name} is cut off or damaged: a hunk's line count is wrong.",
        remedy="Save the patch again from the mail or from `git format-patch`.",
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
    """The change of one file in a diff.

    Args:
        name: path relative to the source tree.
        text: the file's part of the diff, as patch(1) receives it; "" if only the mode changes.
        mode: description of the change of the file mode; "" if the mode does not change.
        old: former path of a renamed file, or original of a copied file; "" for other files.
    """

    name: str
    text: str
    mode: str = ""
    old: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """All files that the change reads or writes."""
        return (self.old, self.name) if self.old else (self.name,)


def read_diff(text: str) -> tuple[FileDiff, ...]:
    """Parse a patch into parts, one per file, in order. Skip text around the diff, such as a mail.

    Raises:
        PatchRefused: the patch has a path outside the tree, a link, a submodule, a binary file,
            names that disagree, or a truncated part.
    """
    if re.search(r"^diff --git .*\r$", text, re.MULTILINE):
        text = text.replace("\r\n", "\n")
    lines = text.split("\n")
    starts = [n for n, line in enumerate(lines) if line.startswith("diff --git ")]
    found: list[FileDiff] = []
    after = 0
    for start in starts:
        if start < after:  # this line is part of a hunk
            continue
        for line in lines[after:start] if found else ():
            _refuse_stray(line)
        one, after = _file(lines, start)
        found.append(one)
    for line in lines[after:] if found else ():
        _refuse_stray(line)
    return tuple(found)


def exact_diff(files: tuple[FileDiff, ...]) -> str:
    """Return the text that patch(1) receives."""
    return "".join(one.text for one in files)


def _file(lines: list[str], start: int) -> tuple[FileDiff, int]:
    """Parse one file's part, which begins at a `diff --git` line; also return where it ends."""
    head = _HEAD.match(lines[start])
    if head is None or head[1] is None:
        raise PatchRefused(
            f"the patch has a line that does not name two files: {lines[start][:80]!r}.",
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
            raise cut_off_error(name)
        out += hunks
        at += 2 + len(hunks)
        if at < len(lines) and re.match(r"[ +]|-(?!-)", lines[at]):
            raise cut_off_error(name)  # the last hunk has more lines than it announces
    elif not any(line.startswith(("new ", "old ", "del", *_MOVED)) for line in headers):
        raise cut_off_error(name)
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
            f"the patch makes or changes {name} as {kind}, but only plain files are allowed.",
            remedy="Leave that file out of the patch.",
        )
    if mode is None and not re.fullmatch(r"((dis)?similarity )?index [\w.]+%?", line):
        raise PatchRefused(
            f"the patch has a header line for {name} that git never writes: {line[:80]!r}.",
            remedy=GIT_REMEDY,
        )


def _check_moves(old: str, name: str, moves: list[str]) -> None:
    """If the names differ, require `rename from OLD` and `rename to NAME`, or `copy` lines."""
    wanted = [[f"{how} from {old}", f"{how} to {name}"] for how in ("rename", "copy")]
    if moves not in ([[]] if old == name else wanted):
        raise other_names(name, moves[0] if moves else f"diff --git a/{old} b/{name}")


def _check_pair(old_name: str, name: str, old: str, new: str) -> None:
    """Require `--- a/NAME` and `+++ b/NAME`; one of them may be /dev/null."""
    first, second = (line.split("\t", 1)[0].rstrip() for line in (old, new))
    named = (first in (f"--- a/{old_name}", _NO_OLD), second in (f"+++ b/{name}", _NO_NEW))
    nothing = (first == _NO_OLD) + (second == _NO_NEW)
    if not all(named) or nothing > (old_name == name):
        raise other_names(name, old if not named[0] else new)


def hunk_end(lines: list[str], head: int) -> tuple[int, bool]:
    """Return where the hunk that begins at line `head` ends, and whether it is complete.

    Args:
        lines: the text, split at line ends; the last element is the text after the last line end.

    Returns:
        `head` itself if no hunk begins there.
    """
    said = _HUNK.match(lines[head])
    if said is None:
        return head, False
    old, new = (1 if count is None else int(count) for count in said.groups())
    at = head + 1
    while old > 0 or new > 0:
        # A mail program may strip the blank that marks an empty context line.
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
    """Return the lines of a file's hunks; raise an error if a hunk lacks announced lines."""
    at = start
    while at < len(lines) and _HUNK.match(lines[at]):
        at, whole = hunk_end(lines, at)
        if not whole:
            raise cut_off_error(name)
    return lines[start:at]


def _mode_change(headers: list[str]) -> str:
    modes = {line.rsplit(" ", 1)[0]: line.rsplit(" ", 1)[1] for line in headers if " mode " in line}
    if "old mode" in modes or "new mode" in modes:
        return f"from {modes.get('old mode', '?')} to {modes.get('new mode', '?')}"
    created = modes.get("new file mode", "100644")
    return f"to {created}" if created not in ("100644", "100664") else ""


def _refuse_stray(line: str) -> None:
    """Refuse a line that looks like a header or hunk, but is outside every file's part."""
    if re.match(r"--- (?:a/|/dev/null)|\+\+\+ b/|@@ -\d", line):
        raise PatchRefused(
            f"the patch has a part without a 'diff --git' line: {line[:80]!r}.",
            remedy=GIT_REMEDY,
        )


# Decide which kernel files an untrusted patch may change.
#
# A build runs programs from the tree on the host: commands in Makefiles, Kconfig files and scripts,
# and host programs that the build compiles. So an untrusted patch may change only files that become
# part of the kernel: C and assembler sources, and headers. This restriction does not make a build
# safe, because the compiler and objtool still read untrusted text. So builds with untrusted patches
# also run in a sandbox (`duet.confine`).


SUFFIXES = (".c", ".h", ".S")
HOST_FOLDERS = (
    *("scripts/", "tools/", "usr/", "certs/", "arch/x86/boot/", "arch/x86/tools/"),
    *("arch/x86/entry/vdso/", "samples/", "Documentation/"),
)
"""Folders where the build compiles or starts host programs (hostprogs in the 6.1 Makefiles), or
whose products are not part of the kernel."""
HOST_FILES = (
    *("lib/gen_crc*.c", "lib/raid6/mktables.c", "drivers/tty/vt/conmakehash.c", "*/relocs*"),
    *("drivers/gpu/drm/radeon/mkregtable.c", "lib/crypto/*.pl", "kernel/gen_*"),
)
MOST_BYTES = 256 << 10
"""Size limit of a patch. Usual size: 1-20 KB."""
MOST_FILES = 64
"""Largest number of files in a patch. Usual number: 1-5."""

TAKE_OUT = "Leave that file out, or ask the operator of this server to allow it: DUET_PATCH_FILES."


def check_patch(text: str, more: tuple[str, ...] = ()) -> tuple[FileDiff, ...]:
    """Parse a patch, and check that each file that it changes is allowed.

    Args:
        text: the patch or its mail.
        more: fnmatch patterns for complete paths of files that the operator allows in addition to
            sources and headers; "*" for all files. Links, changes of modes and binary files are
            never allowed.

    Raises:
        PatchRefused: a file is forbidden; the message names the first such file.
    """
    if len(text.encode()) > MOST_BYTES:
        raise PatchRefused(
            f"the patch has {len(text.encode()):,} bytes, but at most {MOST_BYTES:,} are allowed.",
            remedy="Send only the part of the patch that you need.",
        )
    files = read_diff(text)
    if not files:
        raise PatchRefused(
            "the patch changes no file: it has no 'diff --git' line.",
            remedy="Make the patch with `git format-patch` or `git diff`.",
        )
    if len(files) > MOST_FILES:
        raise PatchRefused(
            f"the patch changes {len(files)} files, but at most {MOST_FILES} are allowed.",
            remedy="Send only the part of the patch that you need.",
        )
    for one in files:
        if one.mode:
            raise PatchRefused(
                f"the patch changes the mode of {one.name} {one.mode}, which is not allowed.",
                remedy="Leave the lines about modes out of the patch.",
            )
        for name in one.names:
            if not any(fnmatchcase(name, pattern) for pattern in more):
                _check_kind(name)
    return files


def _check_kind(name: str) -> None:
    if not name.endswith(SUFFIXES):
        raise PatchRefused(
            f"the patch changes {name}, but patches may change sources and headers only"
            f" ({', '.join(SUFFIXES)}).",
            remedy=TAKE_OUT,
        )
    folder = next((folder for folder in HOST_FOLDERS if name.startswith(folder)), None)
    if folder or any(fnmatchcase(name, pattern) for pattern in HOST_FILES):
        raise PatchRefused(
            f"the patch changes {name}, which belongs to programs that run on the server during a"
            " kernel build.",
            remedy=TAKE_OUT,
        )


# Apply a diff with patch(1), and turn its output into errors.


_HUNK_FAILED = re.compile(r"^Hunk #(\d+) FAILED at (\d+)", re.MULTILINE)
_NO_FILE = re.compile(r"^can't find file to patch.*?^\|\+\+\+ b/(\S+)", re.MULTILINE | re.DOTALL)
_PATCHING = re.compile(
    r"^(?:checking|patching) file '?([^'\n]+?)'?(?: \((?:renamed|copied) from .*\))?$", re.MULTILINE
)
_NO_NAMES = "Cannot rename file without two valid file names"
"""What patch(1) prints if the file that a patch renames does not exist."""


# Accept only unified diffs. patch(1) would pass ed scripts to ed(1), which can run programs.
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
        name: name of the patch, for errors.

    Raises:
        PatchFails: a hunk did not fit; the message names the file and the hunk.
        PatchRefused: the patch fits only if differences in white space are ignored.
    """
    check_targets(name, diff, folder)
    done = _patch(diff, folder)
    if done.returncode == 0:
        return
    failed = apply_error(name, done.stdout + done.stderr)
    if _HUNK_FAILED.search(done.stdout):
        dry = _patch(diff, folder, "--dry-run", "--ignore-whitespace")
        if dry.returncode == 0:
            raise PatchRefused(
                f"{str(failed).rstrip('.')}: it fits only if blanks and tabs are ignored,"
                " so a mail program has probably changed them.",
                remedy="Take the raw mail from its archive, or have the patch sent again by"
                " `git send-email` or as an attachment.",
                detail=failed.detail,
            )
    raise failed


def check_targets(name: str, diff: tuple[FileDiff, ...], folder: Path) -> None:
    """Refuse to rename a file to an existing path, because patch(1) would overwrite that file.

    Raises:
        PatchFails: the target of a rename already exists.
    """
    gone = {one.old for one in diff if "\nrename from " in one.text}
    gone |= {one.name for one in diff if "\ndeleted file mode " in one.text}
    for one in diff:
        if one.old and one.name not in gone and (folder / one.name).exists():
            does = "renames" if "\nrename from " in one.text else "copies"
            raise PatchFails(
                f"wanted to apply {name}, but it {does} {one.old} to {one.name}, and this kernel"
                " already has a file of that name.",
                remedy="Rebase the patch on this kernel (kernel-patches/README.md says how).",
            )


def _patch(
    diff: tuple[FileDiff, ...], folder: Path, *more: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["patch", *PATCH_OPTIONS, *more, "--directory", str(folder)],
        input=exact_diff(diff), capture_output=True, encoding="utf-8", errors="replace",
        check=False, env={**os.environ, "LC_ALL": "C"},
    )  # fmt: skip


def apply_error(name: str, said: str) -> PatchFails:
    """Return the error for the output of patch(1)."""
    return PatchFails(
        f"wanted to apply {name}, but {_failure(said)}.",
        remedy="Rebase the patch on this kernel (kernel-patches/README.md says how).",
        detail=said[-4000:],
    )


def _failure(said: str) -> str:
    """Return the reason, such as 'hunk 2 (line 764) does not fit mm/vmscan.c'."""
    if failed := _HUNK_FAILED.search(said):
        name = _PATCHING.findall(said[: failed.start()])[-1]
        return f"hunk {failed[1]} (line {failed[2]}) does not fit {name}"
    if lost := _NO_FILE.search(said):
        return f"this kernel has no {lost[1]}"
    if _NO_NAMES in said:
        return "this kernel lacks the file that it renames or copies"
    return f"patch(1) refused it: {said.strip().splitlines()[-1] if said.strip() else 'no reason'}"
