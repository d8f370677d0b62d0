# SPDX-License-Identifier: GPL-2.0-or-later
"""The one work tree that all arms are built in, and switching it from one arm to the next.

make rebuilds what is newer than its object, so a switch writes only files whose content
differs and leaves every other mtime alone. The untouched original of each patched file is
kept aside *before* the file is first written; a killed switch therefore needs no log: what
the tree should be follows from the originals and the patches alone.
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

from duet.base import files as durable
from duet.base.errors import InfraError
from duet.kernels.bases import Base
from duet.kernels.diffs import PatchRefused, apply_diff, read_diff
from duet.kernels.recipe import ArmSpec, arm_patches, read_patch


class WorkTree:
    """An unpacked kernel at `folder`/src with originals of patched files in `folder`/pristine.

    A file that a patch creates has an original that says so: '<name>.absent'.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.src = folder / "src"
        self._pristine = folder / "pristine"

    def switch(self, patches: Sequence[Path]) -> list[str]:
        """Make the tree equal to the originals plus `patches`; returns the files written.

        Raises:
            PatchFails: naming patch, file and hunk; the tree is then unchanged.
            PatchRefused: a patch is not in the strict form, or leads out of the tree; as above.
        """
        changes = self.changes(patches)
        for name, content in changes.items():
            self._save_original(name)
            _write(self.src / name, content)
        return list(changes)

    def changes(self, patches: Sequence[Path]) -> dict[str, bytes | None]:
        """What switch() would write, by name (None: no file). Raises as it does."""
        wanted = self._patched(patches)
        for name in self._seen() - wanted.keys():
            wanted[name] = self._original(name)
        return {
            name: content
            for name, content in sorted(wanted.items())
            if _content(self.src / name) != content
        }

    def texts(self, patches: Sequence[Path], names: Iterable[str]) -> dict[str, str]:
        """Files as they are with `patches`, wherever the tree stands; absent ones are left out.

        Raises:
            PatchFails, PatchRefused: as switch().
        """
        patched = self._patched(patches)
        found = {name: patched[name] if name in patched else self._original(name) for name in names}
        return {
            name: content.decode(errors="replace")
            for name, content in found.items()
            if content is not None
        }

    def objects(self) -> int:
        """How many objects are compiled already: kbuild keeps one .cmd file for each."""
        return sum(name.endswith(".o.cmd") for _, _, names in os.walk(self.src) for name in names)

    def reach(self, changed: Sequence[str]) -> int:
        """About how many objects a change of these files makes stale, from kbuild's records."""
        units = sum(name.endswith((".c", ".S")) for name in changed)
        headers = [name for name in changed if name.endswith(".h")]
        if not headers:
            return units
        return units + len(frozenset().union(*self.behind(headers).values()))

    def behind(self, names: Sequence[str]) -> dict[str, frozenset[str]]:
        """The objects made from each of these files; none where nothing is compiled yet."""
        found: dict[str, set[str]] = {name: set() for name in names}
        searched = {name: f" {name} ".encode() for name in names}
        for folder, _, entries in os.walk(self.src):
            for entry in entries:
                if not entry.endswith(".o.cmd"):
                    continue
                # Two kinds of line: 'source_X := mm/a.c' and '  include/linux/fs.h \\'.
                record = Path(folder, entry).read_bytes().replace(b"\n", b" ")
                for name, text in searched.items():
                    if text in record:
                        found[name].add(f"{folder}/{entry}")
        return {name: frozenset(objects) for name, objects in found.items()}

    def _patched(self, patches: Sequence[Path]) -> dict[str, bytes | None]:
        """Files that the patches touch, with the content they should have (None: no file)."""
        # Bytes: a carriage return in a hunk is content.
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
        """Every file that some arm has patched in this tree so far."""
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
        """Put the original aside, complete or not at all."""
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
    """No file is read or written through a symbolic link: it could lead out of the tree."""
    path = src
    for part in name.split("/"):
        path /= part
        if path.is_symlink():
            raise PatchRefused(
                f"the patch changes {name}, which is reached through a symbolic link of the tree.",
                remedy="Name the file itself, by the path without the link.",
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


# Which arm the work tree was last switched to: from there the way to the next one is counted.

Content = Mapping[str, tuple[str, ...]]
"""What an arm is made of: SHA-256 of each patch's diff -> the files that the patch touches."""


@dataclass(frozen=True, slots=True)
class Standing:
    """An arm and what it is made of."""

    lesson: str
    arm: str
    content: Content

    @classmethod
    def of(cls, arm: ArmSpec, patches_dir: Path, base: Base) -> Standing:
        """Read the arm's patches.

        Raises:
            InputError: one of them is missing or has no diff.
        """
        paths = arm_patches(arm, patches_dir, base)
        read = (read_patch(path, patches_dir, base.folder) for path in paths)
        return cls(arm.lesson, arm.name, {patch.sha256: patch.files for patch in read})


def read_standing(folder: Path) -> Standing | None:
    """Where the tree in `folder` stands; None: nothing says, or a switch was cut off."""
    try:
        found = json.loads((folder / "stands.json").read_bytes())
        content = {str(key): tuple(map(str, files)) for key, files in found["content"].items()}
        return Standing(str(found["lesson"]), str(found["arm"]), content)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def write_standing(folder: Path, standing: Standing | None) -> None:
    """Write down where the tree stands; None: between two arms."""
    path = folder / "stands.json"
    if standing is None:
        path.unlink(missing_ok=True)
    else:
        durable.write(path, json.dumps(asdict(standing)).encode())


# One build at a time per cache, across processes.
#
# flock(2) by hand rather than the filelock package: make inherits the descriptor, so after a
# kill -9 of the builder the lock stays taken until its last compiler has gone, and nobody
# starts writing the same objects meanwhile.

POLL_S = 0.2


def wanted_at(path: Path) -> int:
    """When somebody last waited for a lock, ns; 0: nobody ever did."""
    try:
        return _wanted(path).stat().st_mtime_ns
    except OSError:
        return 0


def _wanted(path: Path) -> Path:
    return path.with_name(f"{path.name}.wanted")


class BuildBusy(InfraError):
    """Another process has been building for longer than we may wait."""

    code = "build-busy"


@contextmanager
def build_lock(path: Path, *, wait_s: float, on_wait: Callable[[str], None]) -> Iterator[int]:
    """Hold the lock; yields its descriptor, to be passed on to make.

    Args:
        path: lock file; created when absent, never removed.
        wait_s: how long to wait for another builder before giving up.
        on_wait: called with one sentence about who holds it, once a second; may raise to give up.

    Raises:
        BuildBusy: still taken after `wait_s`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        _acquire(fd, path, wait_s, on_wait)
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        yield fd
    finally:
        os.close(fd)  # not LOCK_UN: a compiler that outlives us keeps the lock


def _acquire(fd: int, path: Path, wait_s: float, on_wait: Callable[[str], None]) -> None:
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
                    f"waited {wait_s:.0f} s to build, but process {holder} is still building"
                    f" (lock {path}).",
                    remedy="Let it finish and call again; what it builds will not be rebuilt.",
                ) from None
            if now - reported >= 1:
                reported = now
                _wanted(path).touch()  # who builds ahead of need gives way
                on_wait(f"Process {holder} is building kernels; waiting for it to finish.")
            time.sleep(POLL_S)


# ccache under kbuild: objects that were compiled once come back when an arm is left again.
#
# The tree keeps the objects of the arm it stands at. Leaving an arm that touches fs.h or dcache.h
# makes a thousand of them stale, although most were compiled before, for another arm. Optional:
# without ccache everything is compiled, and the kernels are the same to the byte.
#
# Only C goes through it. ccache 4.7 sees `.incbin` in what the preprocessor gives, and that it is
# not given when it trusts dependency files. piggy.S brings the compressed kernel in so, and says
# nothing of it but its length: of two arms with equal lengths the second would boot the first one's
# kernel.

LIMIT = "3G"
"""Objects with DWARF, compressed: some 250 MB an arm that touches a far-reaching header."""
COMPILER = """#!/bin/sh
# gcc, by way of ccache unless it is to assemble (backend/src/duet/kernels/tree.py says why).
for word; do
	case $word in *.S | *.s) exec {gcc} "$@" ;; esac
done
exec {ccache} {gcc} "$@"
"""


def ccache_environment(store: Path, path: str) -> dict[str, str]:
    """Variables for make; empty when ccache is not installed.

    Args:
        store: folder for the objects; made by ccache. The compiler's stand-in goes into STORE-bin.
        path: PATH as it would be without ccache.
    """
    gcc, ccache = shutil.which("gcc", path=path), shutil.which("ccache", path=path)
    if gcc is None or ccache is None:
        return {}
    return {
        # By its own name, so that kbuild's commands do not change.
        "PATH": f"{_stand_in(store.with_name(store.name + '-bin'), gcc, ccache)}:{path}",
        "CCACHE_DIR": str(store),
        "CCACHE_MAXSIZE": LIMIT,
        # kbuild asks for dependency files anyway; with them a miss needs no preprocessor run.
        "CCACHE_DEPEND": "1",
        # Patching a header and taking the patch back gives it a new time, and the old content.
        "CCACHE_SLOPPINESS": "include_file_mtime,include_file_ctime",
    }


def _stand_in(folder: Path, gcc: str, ccache: str) -> Path:
    """The folder of a `gcc` that asks ccache for what may be asked of it."""
    folder.mkdir(parents=True, exist_ok=True)
    script = COMPILER.format(gcc=shlex.quote(gcc), ccache=shlex.quote(ccache))
    durable.write(folder / "gcc", script.encode(), mode=0o755)
    return folder
