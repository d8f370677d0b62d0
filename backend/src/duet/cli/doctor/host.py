# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of the host that need no guest: enforced budgets, a sandboxed build, disk speed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Final

from duet.base.settings import cache_dir
from duet.cli.doctor.line import DELEGATE, Failure
from duet.confine import BoxLimits, Job, Step, Wanted, missing_box, run_boxed
from duet.confine.box import PROBE_S
from duet.confine.control_groups import Budget, Group

GROUP_BYTES: Final = 64 << 20
TAKES_BYTES: Final = 192 << 20
HOG_S: Final = 30.0
"""Time limit within which a process that exceeds its budget must be killed. Usual: 0.1 s."""
HOG: Final = """
import os, sys
for name in sys.argv[2:]:
    open(name, "w").write(str(os.getpid()))
held = bytearray(int(sys.argv[1]))
"""
DISK_BYTES: Final = 128 << 20
PIECE_BYTES: Final = 4 << 20
DISK_S: Final = 10.0
"""Time limit for writing. The speed is computed from what was written by then."""
SLOW_BYTES_PER_S: Final = 30 << 20
"""On a slower disk a build waits for the disk, because a kernel's objects and links take some 2
GiB.
"""
SOURCE: Final = "int main(void) { return 0; }\n"


def budget_is_enforced() -> str:
    """Check that a process is killed when it exceeds its control group's memory.

    Raises:
        Failure: no control group can be created, or the process survives.
    """
    with Group(Budget(GROUP_BYTES, 64), "doctor") as group:
        if group.missing:
            raise Failure("no control group for memory can be made here", DELEGATE)
        words = [sys.executable, "-c", HOG, str(TAKES_BYTES), *group.procs_files()]
        try:
            ended = subprocess.run(words, capture_output=True, timeout=HOG_S, check=False)
        except subprocess.TimeoutExpired:
            raise Failure(
                f"a process that exceeded its memory limit was stuck for {HOG_S:g} s",
                "Check the host's memory and swap.",
            ) from None
        killed = group.killed_for_memory()
    took, has = TAKES_BYTES >> 20, GROUP_BYTES >> 20
    if not killed or not ended.returncode:
        raise Failure(
            f"a process took {took} MiB in a control group of {has} MiB and was not killed",
            "Check whether this host has swap, because lanes may use swap beyond their memory "
            "limit.",
        )
    return f"a process that used {took} MiB in a control group of {has} MiB was killed"


def try_box() -> str:
    """Compile a C file in a sandbox.

    Raises:
        Failure: no sandbox can be created.
        DuetError: the build failed.
    """
    if why := missing_box():
        raise Failure(why, "docs/SANDBOX.md says what a sandbox needs.")
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="duet-deep-") as folder:
        tree = Path(folder) / "tree"
        tree.mkdir()
        (tree / "a.c").write_text(SOURCE)
        job = Job(
            tree=str(tree),
            steps=(Step("gcc", ("gcc", "-c", "a.c")),),
            environment={"PATH": "/usr/bin:/bin"},
            results=(Wanted("a.o", str(Path(folder) / "a.o"), "object", 1 << 20),),
        )
        done = run_boxed(job, replace(BoxLimits(), wall_s=PROBE_S))
    if done.failed:
        last = (done.tail.splitlines() or ["no output"])[-1]
        raise Failure(
            f"a C file could not be compiled in a sandbox: {last:.200}", "Install gcc, libc6-dev."
        )
    return f"a C file was compiled in a box in {time.monotonic() - began:.1f} s"


def disk_speed() -> str:
    """Measure how fast the disk of the cache folder writes and syncs.

    Raises:
        Failure: the disk is slow, or cannot be written to.
    """
    folder = cache_dir()
    there = next(path for path in (folder, *folder.parents) if path.exists())
    piece, written = os.urandom(PIECE_BYTES), 0
    try:
        with tempfile.TemporaryFile(dir=there, buffering=0) as file:
            began = time.monotonic()
            while written < DISK_BYTES and time.monotonic() - began < DISK_S:
                written += file.write(piece)
                os.fdatasync(file.fileno())
            took_s = time.monotonic() - began
    except OSError as error:
        raise Failure(
            f"{there} cannot be written to: {error.strerror}",
            "Free space, or set DUET_CACHE to another folder.",
        ) from None
    speed = written / took_s
    said = f"{speed / 2**20:.0f} MiB/s, {written >> 20} MiB written and synced in {there}"
    if speed < SLOW_BYTES_PER_S:
        raise Failure(
            f"{said}: slow", f"Set DUET_CACHE to a disk of {SLOW_BYTES_PER_S >> 20} MiB/s or more."
        )
    return said
