# SPDX-License-Identifier: GPL-2.0-or-later
"""The work tree in which all arms are built, and switching it from one arm to the next.

make recompiles each source file that is newer than its object. So a switch writes only files whose
content differs, and leaves the mtime of every other file unchanged. Before a switch writes a
file for the first time, it copies the original to the folder `pristine`. After a killed switch, the
originals and the patches determine what the tree must contain, so no log is necessary.
"""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event

from duet.base import files as durable
from duet.base.errors import DuetError, InfraError
from duet.kernels.bases import Base
from duet.kernels.diffs import PatchRefused, apply_diff, read_diff
from duet.kernels.recipe import ArmSpec, arm_patches, read_patch


class WorkTree:
    """An unpacked kernel at `folder`/src with originals of patched files in `folder`/pristine.

    For a file that a patch creates, `pristine` contains an empty file '<name>.absent'.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.src = folder / "src"
        self._pristine = folder / "pristine"

    def switch(self, patches: Sequence[Path]) -> list[str]:
        """Make the tree equal to the originals plus `patches`; return the written files.

        Raises:
            PatchFails: the message names patch, file and hunk; the tree is then unchanged.
            PatchRefused: a patch is not in the strict form, or has a path outside the tree; the
                tree is then unchanged.
        """
        changes = self.changes(patches)
        self.write(changes)
        return list(changes)

    def edits_only(self, changes: Mapping[str, bytes | None]) -> bool:
        """Whether `changes`, which are not written yet, neither create nor delete a file."""
        return all(
            content is not None and (self.src / name).exists() for name, content in changes.items()
        )

    def write(self, changes: Mapping[str, bytes | None]) -> None:
        """Write what changes() returned."""
        for name, content in changes.items():
            self._save_original(name)
            _write(self.src / name, content)

    def changes(self, patches: Sequence[Path]) -> dict[str, bytes | None]:
        """Return the content that switch() would write to each file (None to delete the file).

        Raises:
            PatchFails, PatchRefused: see switch().
        """
        wanted = self._patched(patches)
        for name in self._seen() - wanted.keys():
            wanted[name] = self._original(name)
        return {
            name: content
            for name, content in sorted(wanted.items())
            if _content(self.src / name) != content
        }

    def texts(self, patches: Sequence[Path], names: Iterable[str]) -> dict[str, str]:
        """Return files as patched by `patches`; the tree may contain any arm. Omit absent files.

        Raises:
            PatchFails, PatchRefused: see switch().
        """
        patched = self._patched(patches)
        found = {name: patched[name] if name in patched else self._original(name) for name in names}
        return {
            name: content.decode(errors="replace")
            for name, content in found.items()
            if content is not None
        }

    def objects(self) -> int:
        """Count compiled objects by their .cmd files. kbuild writes one .cmd file per object."""
        return sum(name.endswith(".o.cmd") for _, _, names in os.walk(self.src) for name in names)

    def reach(self, changed: Sequence[str]) -> int:
        """Estimate, from kbuild's records, how many objects become stale if these files change."""
        units = sum(name.endswith((".c", ".S")) for name in changed)
        headers = [name for name in changed if name.endswith(".h")]
        if not headers:
            return units
        return units + len(frozenset().union(*self.behind(headers).values()))

    def behind(self, names: Sequence[str]) -> dict[str, frozenset[str]]:
        """Return the objects that depend on each of these files; none if no object is compiled."""
        found: dict[str, set[str]] = {name: set() for name in names}
        searched = {name: f" {name} ".encode() for name in names}
        for folder, _, entries in os.walk(self.src):
            for entry in entries:
                if not entry.endswith(".o.cmd"):
                    continue
                # Lines that contain file names look like 'source_X := mm/a.c' or '
                # include/linux/fs.h \\'.
                record = Path(folder, entry).read_bytes().replace(b"\n", b" ")
                for name, text in searched.items():
                    if text in record:
                        found[name].add(f"{folder}/{entry}")
        return {name: frozenset(objects) for name, objects in found.items()}

    def _patched(self, patches: Sequence[Path]) -> dict[str, bytes | None]:
        """Return the patched content of each file that the patches touch (None if deleted)."""
        # Patches are read as bytes, because a carriage return in a hunk is content.
        diffs = [(path.name, read_diff(path.read_bytes().decode())) for path in patches]
        names = {name for _, diff in diffs for one in diff for name in one.names}
        for name in sorted(names):
            _refuse_link(self.src, name)
        with tempfile.TemporaryDirectory(prefix="duet-patch-") as folder:
            scratch = Path(folder)
            for name in names:
                if (original := self._original(name)) is not None:
                    (scratch / name).parent.mkdir(parents=True, exist_ok=True)
                    (scratch / name).write_bytes(original)
            for patch, diff in diffs:
                apply_diff(patch, diff, scratch)
            return {name: _content(scratch / name) for name in names}

    def _seen(self) -> set[str]:
        """Return every file of the tree that a switch has ever patched."""
        if not self._pristine.is_dir():
            return set()
        pristine = (path for path in self._pristine.rglob("*") if path.is_file())
        names = (path.relative_to(self._pristine).as_posix() for path in pristine)
        return {name.removesuffix(".absent") for name in names if not name.endswith(".part")}

    def _original(self, name: str) -> bytes | None:
        if (self._pristine / f"{name}.absent").exists():
            return None
        pristine = _content(self._pristine / name)
        return pristine if pristine is not None else _content(self.src / name)

    def _save_original(self, name: str) -> None:
        """Copy a file's original to `pristine`, either completely or not at all."""
        pristine = self._pristine / name
        absent = self._pristine / f"{name}.absent"
        if pristine.exists() or absent.exists():
            return
        pristine.parent.mkdir(parents=True, exist_ok=True)
        source = self.src / name
        if not source.exists():
            absent.touch()
            return
        part = pristine.with_name(pristine.name + ".part")
        shutil.copyfile(source, part)
        durable.sync_file(part)
        part.rename(pristine)
        durable.sync_folder(pristine.parent)


def _refuse_link(src: Path, name: str) -> None:
    """Refuse a path that contains a symbolic link, because the link could lead out of the tree."""
    path = src
    for part in name.split("/"):
        path /= part
        if path.is_symlink():
            raise PatchRefused(
                f"the patch changes {name}, but its path passes through a symbolic link in the "
                "tree.",
                remedy="Name the file by its path without the link.",
            )


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _write(path: Path, content: bytes | None) -> None:
    if content is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    part = path.with_name(f".{path.name}.duet")
    part.write_bytes(content)
    part.chmod(mode)
    part.rename(path)


# State of the work tree: the last arm, which determines the cost of the next switch.

Content = Mapping[str, tuple[str, ...]]
"""An arm's patches: the files that each patch touches, by the SHA-256 of its diff."""


@dataclass(frozen=True, slots=True)
class TreeState:
    """An arm and its patches."""

    lesson: str
    arm: str
    content: Content

    @classmethod
    def of(cls, arm: ArmSpec, patches_dir: Path, base: Base) -> TreeState:
        """Read the arm's patches.

        Raises:
            InputError: a patch is missing or has no diff.
        """
        paths = arm_patches(arm, patches_dir, base)
        read = (read_patch(path, patches_dir, base.folder) for path in paths)
        return cls(arm.lesson, arm.name, {patch.sha256: patch.files for patch in read})


def read_tree_state(folder: Path) -> TreeState | None:
    """Read which arm the tree contains; None if unknown, or if a switch was interrupted."""
    try:
        found = json.loads((folder / "stands.json").read_bytes())
        content = {str(key): tuple(map(str, files)) for key, files in found["content"].items()}
        return TreeState(str(found["lesson"]), str(found["arm"]), content)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def read_fingerprint(folder: Path) -> str:
    """Return the fingerprint of all objects of the tree; "" if some may be stale."""
    try:
        return str(json.loads((folder / "stands.json").read_bytes())["compiled"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def write_tree_state(folder: Path, standing: TreeState | None, fingerprint: str = "") -> None:
    """Record which arm the tree contains; None while a switch is in progress.

    Args:
        fingerprint: fingerprint of the arm's objects (duet.kernels.stale); "" unless all of them
            are up to date.
    """
    path = folder / "stands.json"
    if standing is None:
        path.unlink(missing_ok=True)
    else:
        durable.write(path, json.dumps(asdict(standing) | {"compiled": fingerprint}).encode())


# Allow only one build at a time per cache, across all processes.
#
# The lock uses flock(2) instead of the filelock package, because make inherits the descriptor. If
# the builder is killed by kill -9, the lock remains held until the last compiler has ended. So two
# builds never write the same objects.

POLL_S = 0.2


def wanted_at(path: Path) -> int:
    """Return when a process last waited for a lock, as mtime in ns; 0 if no process ever waited."""
    try:
        return _wanted(path).stat().st_mtime_ns
    except OSError:
        return 0


def _wanted(path: Path) -> Path:
    return path.with_name(f"{path.name}.wanted")


class BuildBusy(InfraError):
    """Another process still holds the build lock after the caller's timeout."""

    code = "build-busy"


class BuildStopped(DuetError):
    """The caller cancelled the build."""

    code = "build-stopped"


@contextmanager
def build_lock(
    path: Path, *, wait_s: float, on_wait: Callable[[str], None], stop: Event | None = None
) -> Iterator[int]:
    """Hold the build lock; yield the lock's descriptor, which make inherits.

    Args:
        path: lock file, which is created if it is missing, and never removed.
        wait_s: how long to wait while another build holds the lock.
        on_wait: called once per second with a sentence about the lock's holder; may raise an error
            to stop waiting.
        stop: ends the wait when it is set.

    Raises:
        BuildBusy: the lock is still held after `wait_s`.
        BuildStopped: `stop` was set before the lock was free.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        _acquire(fd, path, wait_s, on_wait, stop or Event())
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        yield fd
    finally:
        os.close(fd)  # no LOCK_UN: a compiler that outlives this process keeps the lock


def _acquire(
    fd: int, path: Path, wait_s: float, on_wait: Callable[[str], None], stop: Event
) -> None:
    deadline = time.monotonic() + wait_s
    reported = float("-inf")
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            now = time.monotonic()
            holder = os.pread(fd, 32, 0).decode(errors="replace").strip() or "unknown"
            if now >= deadline:
                raise BuildBusy(
                    f"wanted to build, but process {holder} is still building after"
                    f" {wait_s:.0f} s (lock {path}).",
                    remedy="Wait until that process ends, then start again. Its kernels are kept.",
                ) from None
            if now - reported >= 1:
                reported = now
                _wanted(path).touch()  # make_ready() stops when this mtime changes
                on_wait(f"Process {holder} is building kernels; waiting for it to finish.")
            if stop.wait(POLL_S):
                raise BuildStopped(
                    f"the build was stopped while process {holder} was building.",
                    remedy="Start the build again; it has changed nothing.",
                ) from None


# Use ccache under kbuild, so that switching back to an arm does not recompile the arm's objects.
#
# The tree contains only the objects of its current arm. A switch from an arm that changes fs.h or
# dcache.h makes a thousand objects stale, but most of the new objects were already compiled for
# another arm. ccache is optional. Without ccache all stale objects are recompiled, and the kernels
# are identical.
#
# Only C files use ccache. ccache 4.7 detects `.incbin` in preprocessor output, but not if ccache
# relies on dependency files, as it does here. piggy.S includes the compressed kernel with
# `.incbin`, and otherwise contains only the length of this kernel. So if the kernels of two arms
# had equal lengths, the second arm would boot the first arm's kernel.

LIMIT = "3G"
"""ccache size limit. An arm that changes a widely included header adds some 250 MB of compressed
objects."""
COMPILER = """#!/bin/sh
# gcc, run through ccache except for assembler files (backend/src/duet/kernels/tree.py says why).
for word; do
	case $word in *.S | *.s) exec {gcc} "$@" ;; esac
done
exec {ccache} {gcc} "$@"
"""


def ccache_environment(store: Path, path: str) -> dict[str, str]:
    """Return environment variables for make; none if ccache is not installed.

    Args:
        store: ccache's folder, which ccache creates. The gcc wrapper is in STORE-bin.
        path: PATH without ccache.
    """
    gcc, ccache = shutil.which("gcc", path=path), shutil.which("ccache", path=path)
    if gcc is None or ccache is None:
        return {}
    return {
        # The wrapper is called gcc, so that kbuild's commands do not change.
        "PATH": f"{_stand_in(store.with_name(store.name + '-bin'), gcc, ccache)}:{path}",
        "CCACHE_DIR": str(store),
        "CCACHE_MAXSIZE": LIMIT,
        # kbuild requests dependency files in any case. If ccache uses these files, it need not run
        # the preprocessor after a cache miss.
        "CCACHE_DEPEND": "1",
        # After a header was patched and restored, its timestamps differ although its content is the
        # same.
        "CCACHE_SLOPPINESS": "include_file_mtime,include_file_ctime",
    }


def _stand_in(folder: Path, gcc: str, ccache: str) -> Path:
    """Write a `gcc` wrapper that uses ccache for C files; return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    script = COMPILER.format(gcc=shlex.quote(gcc), ccache=shlex.quote(ccache))
    durable.write(folder / "gcc", script.encode(), mode=0o755)
    return folder
