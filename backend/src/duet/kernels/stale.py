# SPDX-License-Identifier: GPL-2.0-or-later
"""Find the objects that a small change makes stale, so that make need not search the whole tree.

Before kbuild links a kernel, it looks into each of some 300 folders for work, which takes almost as
long as the link. kbuild records what each of its products was made from. After a change to a few
source files, these records name the stale objects, and make compiles only these before it links.
The resulting kernel is byte for byte the kernel that a search of the whole tree would give.

The records do not cover everything, for example generated files and folders' Makefiles. Where the
records may not suffice, the caller must let make search the whole tree.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import subprocess
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from duet.kernels.compiler import make_words, tool_versions
from duet.kernels.recipe import BUILD_ENV

MOST_OBJECTS = 100
"""Limit on the objects that are compiled without a search. With more, the search costs little in
comparison."""
ARCHIVE = "vmlinux.a"
"""Thin archive of all objects in the kernel. It stores names, so it is valid after they change."""
_SEARCHES = re.compile(r"^\$\(build-dir\): prepare\n\t.* \$\(single-goals\)$", re.MULTILINE)
"""Rule of the search (Makefile of Linux 6.1 to 7.3). `build-dir` is the folder in which it starts;
`single-goals` are the products to which it is limited, if any."""
_FIXED = re.compile(
    r"^(?:Documentation|certs|samples|scripts|tools|usr)/|(?:^|/)uapi/|^arch/.*\.h$"
)
"""Files from which kbuild generates others, or that programs of the build read."""
_OPTIONS = ("CONFIG_TRIM_UNUSED_KSYMS=y", "CONFIG_LTO=y", "CONFIG_IKHEADERS=y")
"""Options with which a changed source affects other products than its objects."""


def stale_objects(src: Path, changed: Collection[str]) -> list[str] | None:
    """Return the objects to compile after these files have changed; None if this is unknown.

    All objects of the tree must have been up to date before the change.

    Args:
        changed: paths in the tree, each of which existed before the change and exists now.
    """
    if not all(name.endswith((".c", ".h")) for name in changed) or any(map(_FIXED.search, changed)):
        return None
    try:
        config = (src / ".config").read_text(encoding="utf-8").splitlines()
        makefile = (src / "Makefile").read_text(encoding="utf-8")
    except OSError:
        return None
    if any(option in config for option in _OPTIONS) or not _SEARCHES.search(makefile):
        return None
    linked = _linked(src)
    found: set[str] = set()
    for product in _made_from(src, changed):
        if product not in linked:
            return None
        found.add(product)
    return sorted(found) if len(found) <= MOST_OBJECTS else None


def fingerprint(src: Path) -> str:
    """Return a digest of everything that affects the objects, except their sources."""
    tools = (make_words(src, 1), tool_versions(), sorted(BUILD_ENV.items()))
    digest = hashlib.sha256(repr((str(src), tools)).encode())
    digest.update((src / ".config").read_bytes())
    return digest.hexdigest()


def search_limit(objects: Sequence[str]) -> str:
    """Return the argument with which make compiles these objects alone, and then links.

    make links only if the archive is newer than the kernel, so touch_archive() must come first.
    """
    return f"single-goals={' '.join(f'./{name}' for name in objects)}" if objects else "build-dir="


def touch_archive(src: Path) -> None:
    """Ensure that make links the kernel, although the archive has the same members."""
    os.utime(src / ARCHIVE)


def are_fresh(src: Path, objects: Sequence[str]) -> bool:
    """Whether make has compiled these objects since the archive was touched."""
    began_ns = (src / ARCHIVE).stat().st_mtime_ns
    return all((src / name).stat().st_mtime_ns >= began_ns for name in objects)


def _linked(src: Path) -> frozenset[str]:
    """Return the objects in the kernel; none if they are unknown."""
    command = ["ar", "t", ARCHIVE]
    done = subprocess.run(command, cwd=src, capture_output=True, text=True, check=False)
    return frozenset(done.stdout.split()) if done.returncode == 0 else frozenset()


def _made_from(src: Path, names: Collection[str]) -> Iterator[str]:
    """Yield the path of each product that is made from one of these files."""
    sought = [name.rpartition("/")[2].encode() for name in names]
    wanted = {name.encode() for name in names}
    root = f"{src}/".encode()
    for folder, _, entries in os.walk(src):
        for entry in entries:
            if not (entry.endswith(".cmd") and entry.startswith(".")):
                continue
            record = Path(folder, entry).read_bytes()
            if any(part in record for part in sought) and _names(record, root) & wanted:
                product = os.path.join(folder, entry[1 : -len(".cmd")])  # noqa: PTH118
                yield os.path.relpath(product, src)


def _names(record: bytes, root: bytes) -> set[bytes]:
    """Return the words of a record as paths in the tree, without steps such as 'kernel/../lib'."""
    return {posixpath.normpath(word.removeprefix(root)) for word in record.split()}
