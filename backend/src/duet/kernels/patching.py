# SPDX-License-Identifier: GPL-2.0-or-later
"""Applying a diff by patch(1), and what is wrong when it does not fit."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from duet.errors import InputError
from duet.kernels.diff_form import FileDiff, strict
from duet.kernels.diff_names import PatchRefused

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
