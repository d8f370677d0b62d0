# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel source that is no tarball: a commit of a git repository, or a folder as it stands.

A commit is known by the id of its tree. A folder is known by all its files, which are read again
only when the size or time of one of them changed.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from duet.errors import InputError

BUILT = (".config", "vmlinux", "include/generated", "include/config")
"""What make leaves behind; objects of another configuration would be taken for ours."""


class BadFolder(InputError):
    """The folder cannot be built from."""

    code = "bad-source-folder"


def git_digest(repository: Path, ref: str) -> str:
    """SHA-256 that stands for the tree of a commit.

    Raises:
        BadFolder: there is no such commit.
    """
    command = ["git", "-C", str(repository), "rev-parse", "--verify", f"{ref}^{{tree}}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BadFolder(
            f"wanted the commit {ref} of {repository}, but git does not know it.",
            remedy="Correct `git` or `ref` in base.yaml.",
            detail=done.stderr[-2000:],
        )
    return hashlib.sha256(b"git tree " + done.stdout.strip().encode()).hexdigest()


IMAGE = ("bzImage", "vmlinux")
"""Files of a kernel that was built elsewhere."""


def image_digest(folder: Path) -> str:
    """SHA-256 of the files of a built kernel, one after another.

    Raises:
        OSError: one is missing.
    """
    whole = hashlib.sha256()
    for name in IMAGE:
        with (folder / name).open("rb") as stream:
            whole.update(hashlib.file_digest(stream, "sha256").digest())
    return whole.hexdigest()


def image_stamp(folder: Path) -> str:
    """Changes with size and time of the files of a built kernel.

    Raises:
        OSError: one is missing.
    """
    statuses = [(folder / name).stat() for name in IMAGE]
    return " ".join(f"{status.st_size} {status.st_mtime_ns}" for status in statuses)


def folder_stamp(folder: Path) -> str:
    """Changes with name, size and time of each file. Reads no file.

    Raises:
        BadFolder: make was run in it.
    """
    if built := next((name for name in BUILT if (folder / name).exists()), None):
        raise BadFolder(
            f"wanted a kernel source without objects in {folder}, but make was run there"
            f" ({built} exists).",
            remedy="Run `make mrproper` there, or name a git repository in a base.yaml.",
        )
    return _folder_stamp(folder)


@cache
def _folder_stamp(folder: Path) -> str:
    """Once a process: 80,000 files take half a second, and each arm asks."""
    digest = hashlib.sha256()
    for path in _files(folder):
        status = path.lstat()
        name = path.relative_to(folder).as_posix()
        digest.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def folder_digest(folder: Path) -> str:
    """SHA-256 of names, contents and links; a .git in it does not count."""
    digest = hashlib.sha256()
    for path in _files(folder):
        content = bytes(path.readlink()) if path.is_symlink() else path.read_bytes()
        name = path.relative_to(folder).as_posix()
        executable = bool(path.lstat().st_mode & 0o100)
        digest.update(f"{name}\0{executable}\0{len(content)}\n".encode() + content)
    return digest.hexdigest()


def packing(kind: str, path: Path, ref: str) -> list[str]:
    """The command that writes the source to stdout as a tar archive."""
    if kind == "git":
        return ["git", "-C", str(path), "archive", "--format=tar", ref]
    return ["tar", "--create", "--exclude=./.git", "--directory", str(path), "."]


def _files(folder: Path) -> Iterator[Path]:
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != ".git")
        links = [name for name in folders if Path(top, name).is_symlink()]
        yield from (Path(top, name) for name in sorted([*names, *links]))
