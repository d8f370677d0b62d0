# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel builds of the stage `build`, in a separate process, which prints one JSON document.

    python -m tools.bench.speed.build_inside arm|search|change [ARGUMENT...]

The process runs over a copy of the cache that keeps the cache's path (see build.Overlay), because
kbuild compiles everything again in a tree at another path.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event

from duet.base.errors import InfraError
from duet.kernels import ArmSpec, KernelSettings
from duet.kernels.arms import arm_spec
from duet.kernels.builder import compile_in_tree
from duet.kernels.compiler import Make
from duet.kernels.image import build_ids
from duet.kernels.tree import WorkTree, read_tree_state, write_tree_state
from duet.lessons import load as lessons
from tools.bench.speed.pairs import Turn, measured

FILE = "fs/pipe.c"
PLACE = "\t/* Null read succeeds. */\n"
"""Line of pipe_read() in FILE, before which a change is put."""
KERNEL = ("vmlinux", "System.map", "arch/x86/boot/bzImage")


def patch_of(source: str, number: int) -> str:
    """Return a patch of FILE's function pipe_read(); each `number` gives a different kernel.

    Raises:
        InfraError: the source is not that of Linux 6.1.
    """
    if PLACE not in source:
        raise InfraError(
            f"{FILE} of this source has no line {PLACE.strip()!r}.",
            remedy="Leave DUET_SOURCE and DUET_BASE unset.",
        )
    change = f"\tif (unlikely(total_len == {number}))\n\t\treturn -EINVAL;\n"
    at = source.index(PLACE)
    before = source.splitlines(keepends=True)
    after = (source[:at] + change + source[at:]).splitlines(keepends=True)
    diff = "".join(difflib.unified_diff(before, after, f"a/{FILE}", f"b/{FILE}"))
    return f"diff --git a/{FILE} b/{FILE}\n{diff}"


def source_of(tree: WorkTree) -> str:
    """Return FILE without patches."""
    return tree.texts([], [FILE])[FILE]


def ids_of(vmlinux: Path) -> list[str]:
    return sorted(part.hex() for part in build_ids(vmlinux))


class Inside:
    """The tree of the default base."""

    def __init__(self) -> None:
        self.settings = KernelSettings.default()
        self.base = self.settings.base
        digest = self.settings.tarball(self.base).sha256
        self.tree = self.settings.tree(self.base, None, digest)

    def compile(self, arm: ArmSpec) -> None:
        """Switch the tree to an arm and link its kernel, as a build does before storing it."""
        compile_in_tree(arm, self.settings, lambda progress: None, Event())

    def search(self) -> None:
        """Run make as a person runs it: make searches the tree for stale objects, and links."""
        handle = os.open(os.devnull, os.O_RDONLY)
        try:
            Make(
                self.tree.src,
                self.settings.cache / "logs" / "bench.log",
                jobs=self.settings.jobs,
                lock_fd=handle,
                ccache=self.settings.beside("ccache", self.base),
            ).run("bzImage")
        finally:
            os.close(handle)

    def kernel(self) -> str:
        """Return a digest of the kernel's files in the tree."""
        whole = hashlib.sha256()
        for name in KERNEL:
            whole.update((self.tree.src / name).read_bytes())
        return whole.hexdigest()

    @contextmanager
    def without_ccache(self) -> Iterator[None]:
        """Compile everything again inside the `with` block."""
        path = self.settings.beside("ccache", self.base) / "ccache.conf"
        before = path.read_text() if path.exists() else ""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{before}\ndisable = true\n")
        try:
            yield
        finally:
            path.write_text(before)


def arm(lesson: str, name: str) -> object:
    """Switch the tree to an arm of a lesson, and let make search the tree once."""
    inside = Inside()
    write_tree_state(inside.tree.folder, read_tree_state(inside.tree.folder))
    inside.compile(arm_spec(lessons.load(lesson), name))
    return None


def search() -> object:
    """Measure make in the tree as it is; the output is the build IDs of the kernel."""
    inside = Inside()
    return measured(inside.search)._replace(output=ids_of(inside.tree.src / "vmlinux"))


def change(lesson: str, name: str, pairs: str) -> object:
    """Measure builds after a change of FILE on a lesson's arm: our build, and plain make.

    Both compile the file and link once, and both begin with a tree in which only this file is
    stale. Only plain make searches the tree.

    Returns:
        Two lists of turns, whose outputs are digests of the kernel.
    """
    inside = Inside()
    source = source_of(inside.tree)
    spec = arm_spec(lessons.load(lesson), name)
    ours, theirs = [], []
    with inside.without_ccache(), tempfile.TemporaryDirectory() as folder:
        patch = Path(folder) / "change.patch"
        changed = replace(spec, patches=(*spec.patches, patch))
        for number in range(int(pairs)):
            patch.write_text(patch_of(source, 1000 + number))
            ours.append(_turn(lambda: inside.compile(changed), inside))
            (inside.tree.src / FILE).touch()
            theirs.append(_turn(inside.search, inside))
    return [ours, theirs]


def _turn(body: Callable[[], object], inside: Inside) -> Turn:
    return measured(body)._replace(output=inside.kernel())


OPERATIONS: dict[str, Callable[..., object]] = {"arm": arm, "search": search, "change": change}

if __name__ == "__main__":
    operation, *arguments = sys.argv[1:]
    print(json.dumps(OPERATIONS[operation](*arguments)))
