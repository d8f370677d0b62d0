# SPDX-License-Identifier: GPL-2.0-or-later
"""A source tree that gcc and make build in a second, for builds in a box."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from duet.confine import BoxLimits, Job, Outcome, Step, Wanted, missing_box, run_boxed

NEEDS_BOX = pytest.mark.skipif(bool(missing_box()), reason=f"no sandbox: {missing_box()}")

MAKEFILE = """all: vmlinux
vmlinux: main.o other.o
	ld -o $@ $^
%.o: %.c
	gcc -c -O1 -fno-pic -ffreestanding -o $@ $<
"""
MAIN = "int other(void);\nvoid _start(void)\n{\n\tfor (;;)\n\t\tother();\n}\n"
FILES = {"Makefile": MAKEFILE, "main.c": MAIN, "other.c": "int other(void)\n{\n\treturn 1;\n}\n"}
LIMITS = BoxLimits(
    wall_s=120, cpu_s=10, process_bytes=256 << 20, memory_bytes=384 << 20, disk_bytes=32 << 20,
    scratch_bytes=8 << 20, files=1000, file_bytes=24 << 20, processes=64, output_bytes=1 << 20,
)  # fmt: skip
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": "/tmp"}


def make_tree(folder: Path) -> Path:
    """The tree below `folder`, which others may not enter, as in the home of root."""
    tree = folder / "private" / "src"
    tree.mkdir(parents=True)
    tree.parent.chmod(0o700)
    for name, text in FILES.items():
        (tree / name).write_text(text)
    return tree


def digest(tree: Path) -> str:
    """Of names, kinds, modes, owners and contents."""
    found = hashlib.sha256()
    for path in sorted(tree.rglob("*")):
        about = path.lstat()
        found.update(f"{path} {about.st_mode} {about.st_uid} {about.st_mtime_ns}".encode())
        if path.is_file() and not path.is_symlink():
            found.update(path.read_bytes())
    return found.hexdigest()


def build(
    tree: Path,
    changes: dict[str, str] | None = None,
    *,
    to: Path | None = None,
    command: str = "make",
    limits: BoxLimits = LIMITS,
    kind: str = "vmlinux",
    readable: tuple[str, ...] = (),
    environment: dict[str, str] | None = None,
) -> Outcome:
    """Write the changes into the box's view of the tree, then make; the tree stays as it is."""
    changes = changes or {}
    names = {f"f{number}": name for number, name in enumerate(changes)}
    copy = " && ".join(f"cp /inputs/{key} '{name}'" for key, name in names.items()) or "true"
    results = (Wanted("vmlinux", str(to), kind, 4 << 20),) if to else ()
    job = Job(
        tree=str(tree),
        steps=(Step("change", ("/bin/sh", "-c", copy)), Step("make", ("/bin/sh", "-c", command))),
        files={key: changes[name] for key, name in names.items()},
        environment=ENVIRONMENT | (environment or {}),
        results=results,
        readable=readable,
    )
    return run_boxed(job, limits)


def box_processes(tree: Path) -> list[str]:
    """Command lines of boxes over this tree that are left."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if "bwrap" in words and str(tree) in words:
                found.append(words)
    return found
