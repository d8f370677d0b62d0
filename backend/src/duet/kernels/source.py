# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel sources: find a tarball, digest it, and unpack it into the work tree."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from duet.base import files as durable
from duet.base.errors import InfraError, InputError
from duet.kernels.bases import BOTH, Base, Source

# A kernel source that is not a tarball: a commit of a git repository, or a folder.
#
# The identity of a commit is its tree id. The identity of a folder is a digest of all its files,
# which are read again only if the size or mtime of any file has changed.

BUILT = (".config", "vmlinux", "include/generated", "include/config")
"""Products of make. A source must not have them, because objects of another configuration would be
mistaken for ours."""


class BadFolder(InputError):
    """The folder is not a clean kernel source."""

    code = "bad-source-folder"


def git_digest(repository: Path, ref: str) -> str:
    """Return a SHA-256 that identifies the tree of a commit.

    Raises:
        BadFolder: there is no such commit.
    """
    command = ["git", "-C", str(repository), "rev-parse", "--verify", f"{ref}^{{tree}}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BadFolder(
            f"wanted the commit {ref} of {repository}, but git cannot find it.",
            remedy="Correct `git` or `ref` in base.yaml.",
            detail=done.stderr[-2000:],
        )
    return hashlib.sha256(b"git tree " + done.stdout.strip().encode()).hexdigest()


IMAGE = ("bzImage", "vmlinux")
"""Files of a kernel that was built elsewhere."""


def image_digest(folder: Path) -> str:
    """Digest the files of a prebuilt kernel.

    Raises:
        OSError: a file is missing.
    """
    whole = hashlib.sha256()
    for name in IMAGE:
        with (folder / name).open("rb") as stream:
            whole.update(hashlib.file_digest(stream, "sha256").digest())
    return whole.hexdigest()


def image_stamp(folder: Path) -> str:
    """Return a stamp that changes with the size or mtime of a prebuilt kernel's files.

    Raises:
        OSError: a file is missing.
    """
    statuses = [(folder / name).stat() for name in IMAGE]
    return " ".join(f"{status.st_size} {status.st_mtime_ns}" for status in statuses)


def folder_stamp(folder: Path) -> str:
    """Return a stamp that changes with any file's name, size or mtime, without reading files.

    Raises:
        BadFolder: make was run in the folder.
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
    """Return folder_stamp(), cached: it takes 0.5 s for 80,000 files, and each arm needs it."""
    digest = hashlib.sha256()
    for path in _files(folder):
        status = path.lstat()
        name = path.relative_to(folder).as_posix()
        digest.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def folder_digest(folder: Path) -> str:
    """Digest the folder's names, contents, modes and links; leave out .git."""
    digest = hashlib.sha256()
    for path in _files(folder):
        content = bytes(path.readlink()) if path.is_symlink() else path.read_bytes()
        name = path.relative_to(folder).as_posix()
        executable = bool(path.lstat().st_mode & 0o100)
        digest.update(f"{name}\0{executable}\0{len(content)}\n".encode() + content)
    return digest.hexdigest()


def packing(kind: str, path: Path, ref: str) -> list[str]:
    """Return the command that writes the source to stdout as a tar archive."""
    if kind == "git":
        return ["git", "-C", str(path), "archive", "--format=tar", ref]
    return ["tar", "--create", "--exclude=./.git", "--directory", str(path), "."]


def _files(folder: Path) -> Iterator[Path]:
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != ".git")
        links = [name for name in folders if Path(top, name).is_symlink()]
        yield from (Path(top, name) for name in sorted([*names, *links]))


# The unpacked source of 6.1 takes 1.4 GB, its objects take 1.1 GB, and a stored kernel takes 0.2
# GB.
TREE_BYTES = 3_000_000_000
IMAGE_BYTES = 400_000_000
MEMORY = "tarballs.json"
"""File in the cache with the digests of sources by path, size and mtime."""
SOURCES = "sources"
"""Folder in the cache that has a subfolder for each package whose source was fetched."""


class NoSource(InfraError):
    """The kernel source does not exist."""

    code = "no-kernel-source"


class BadTarball(InputError):
    """The tarball is not a kernel of the series to which the patches apply."""

    code = "bad-tarball"


class DiskFull(InfraError):
    """There is too little disk space before or during a build."""

    code = "disk-full"


@dataclass(frozen=True, slots=True)
class Tarball:
    """A kernel source (an archive, a commit or a folder) or a prebuilt kernel, and its digest.

    Args:
        ref: commit, tag or branch if the source is a git repository.
    """

    path: Path
    sha256: str
    kind: Literal["tarball", "git", "tree", "image"] = "tarball"
    ref: str = ""


def fetched_tarball(base: Base, cache: Path) -> Path:
    """Return the path to which the base's tarball is extracted from its Debian package."""
    return cache / SOURCES / base.package / base.tarball.name


def own_source(base: Base, cache: Path) -> Path:
    """Return the base's own source: the path in base.yaml, or else the fetched tarball."""
    fetched = fetched_tarball(base, cache)
    return fetched if not base.tarball.exists() and fetched.exists() else base.tarball


def find_tarball(base: Base, source: Path | None, cache: Path) -> Tarball:
    """Return the source to build from, with its digest, which is cached by size and mtime.

    Args:
        base: the base, which names the location of its source.
        source: a tarball or folder given by --source; None for the base's own source.
        cache: folder that contains fetched sources and the file of digests.

    Raises:
        NoSource: the source does not exist, and its digest is unknown. Stored kernels require only
            the digest, which was recorded when the source existed.
        BadFolder: the folder or commit is not a clean kernel source.
    """
    memory = cache / MEMORY
    path = (source or own_source(base, cache)).expanduser().absolute()
    if path.is_dir():
        return _find_folder(path, base.source, source, memory)
    seen = _read_memory(memory)
    try:
        status = path.stat()
    except OSError:
        if source is None:
            for once in (str(fetched_tarball(base, cache).absolute()), str(path)):
                if once in seen:
                    return Tarball(Path(once), str(seen[once]["sha256"]))
        raise no_source(base, path, given=source is not None) from None
    stamp = {"size": status.st_size, "mtime_ns": status.st_mtime_ns}
    known = seen.get(str(path))
    if known is not None and {key: known.get(key) for key in stamp} == stamp:
        return Tarball(path, str(known["sha256"]))
    with path.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    seen[str(path)] = {**stamp, "sha256": sha256}
    memory.parent.mkdir(parents=True, exist_ok=True)
    durable.write(memory, json.dumps(seen, indent=1).encode())
    return Tarball(path, sha256)


def _find_folder(path: Path, known: Source, given: Path | None, memory: Path) -> Tarball:
    """Implement find_tarball() for a folder. If --source is not given, a base may name a commit."""
    if given is None and known.kind == "git":
        return Tarball(path, git_digest(path, known.ref), "git", known.ref)
    image = given is None and known.kind == "image"
    seen, stamp = _read_memory(memory), (image_stamp if image else folder_stamp)(path)
    before = seen.get(str(path))
    if before is None or before.get("stamp") != stamp:
        digest = (image_digest if image else folder_digest)(path)
        before = seen[str(path)] = {"stamp": stamp, "sha256": digest}
        memory.parent.mkdir(parents=True, exist_ok=True)
        durable.write(memory, json.dumps(seen, indent=1).encode())
    return Tarball(path, str(before["sha256"]), "image" if image else "tree")


def no_source(base: Base, path: Path, *, given: bool) -> NoSource:
    """Return the error for a missing tarball."""
    option = "" if base.both == BOTH else f" --base {base.name}"
    remedy = f"Run ./duet build{option}, which fetches it, or name one with --source TARBALL."
    if given:
        remedy = "Name an existing linux-*.tar.xz, or a folder, with --source."
    elif not base.source.package:
        remedy = f"Correct `source` in the base.yaml of {base.name}, or name one with --source."
    return NoSource(f"wanted the kernel source {path}, but there is no such file.", remedy=remedy)


def unpack(tarball: Tarball, base: Base, target: Path, *, lock_fd: int) -> None:
    """Unpack a source into `target`, which appears complete or not at all.

    Raises:
        NoSource, BadTarball, DiskFull: see their classes.
    """
    if not tarball.path.exists():
        raise no_source(base, tarball.path, given=tarball.path.name != base.tarball.name)
    draft = target.with_name(target.name + ".unpacking")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    done = _extract(tarball, draft, lock_fd)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        shutil.rmtree(draft, ignore_errors=True)
        if "No space left" in said:
            raise disk_full("to unpack the kernel source", TREE_BYTES, target.parent)
        raise BadTarball(
            f"wanted to unpack {tarball.path}, but tar could not read it.",
            remedy="Give a complete linux-*.tar.xz (or .gz) with --source.",
            detail=said[-2000:],
        )
    try:
        check_series(draft, base, tarball.path)
    except BadTarball:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    os.sync()  # a single call syncs all 80,000 files
    draft.rename(target)
    durable.sync_folder(target.parent)


def _extract(tarball: Tarball, draft: Path, lock_fd: int) -> subprocess.CompletedProcess[bytes]:
    """Run tar on the archive, or pipe a commit or folder into it."""
    prefix = ["nice", "-n", "10", "setpriv", "--pdeathsig", "KILL"]
    command = [*prefix, "tar", "--extract", "--directory", str(draft)]
    if tarball.kind == "tarball":
        command += ["--file", str(tarball.path), "--strip-components=1"]
        return subprocess.run(
            command,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            pass_fds=(lock_fd,),
            check=False,
        )
    pack = [*prefix, *packing(tarball.kind, tarball.path, tarball.ref)]
    with subprocess.Popen(pack, stdout=subprocess.PIPE, pass_fds=(lock_fd,)) as packer:
        done = subprocess.run(
            command,
            stderr=subprocess.PIPE,
            stdin=packer.stdout,
            pass_fds=(lock_fd,),
            check=False,
        )
    return done if packer.returncode == 0 else subprocess.CompletedProcess(pack, 1, b"", b"packing")


def kernel_version(tree: Path) -> str:
    """Return VERSION.PATCHLEVEL.SUBLEVEL from the tree's Makefile; "" if the tree is no kernel."""
    try:
        head = (tree / "Makefile").read_text(encoding="utf-8", errors="replace")[:400]
    except OSError:
        return ""
    return makefile_version(head)


def makefile_version(head: str) -> str:
    fields = dict(re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL) *= *(\d+)$", head, re.MULTILINE))
    if not {"VERSION", "PATCHLEVEL"} <= fields.keys():
        return ""
    return f"{fields['VERSION']}.{fields['PATCHLEVEL']}.{fields.get('SUBLEVEL', '0')}"


def check_series(tree: Path, base: Base, tarball: Path) -> None:
    """Raise BadTarball unless `tree` is a kernel of the base's series."""
    version = kernel_version(tree)
    if not version:
        raise BadTarball(
            f"wanted a Linux kernel source in {tarball}, but it has no kernel Makefile.",
            remedy=f"Give a linux-{base.series}.*.tar.xz with --source.",
        )
    if not version.startswith(base.series + "."):
        raise BadTarball(
            f"wanted Linux {base.series}, to which the patches apply, but {tarball} is {version}.",
            remedy=f"Give a linux-{base.series}.*.tar.xz with --source.",
        )


def check_space(folder: Path, needed_bytes: int, purpose: str) -> None:
    """Raise DiskFull if the file system of `folder` has less than `needed_bytes` free."""
    folder.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(folder).free < needed_bytes:
        raise disk_full(purpose, needed_bytes, folder)


def disk_full(purpose: str, needed_bytes: int, folder: Path) -> DiskFull:
    """Return the error that states the needed space and the free space."""
    free = shutil.disk_usage(folder).free
    return DiskFull(
        f"wanted {needed_bytes / 1e9:.1f} GB {purpose}, but {folder} has {free / 1e9:.1f} GB free.",
        remedy="Free some space, or set DUET_CACHE to a folder on a larger disk, and try again.",
    )


def _read_memory(memory: Path) -> dict[str, dict[str, str | int]]:
    try:
        found = json.loads(memory.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
