# SPDX-License-Identifier: GPL-2.0-or-later
"""A trial for tests: the sixth lesson's patch and a command."""

from __future__ import annotations

from pathlib import Path

from duet.base.settings import repo_root
from duet.trials.ask import Asked, read_trial
from duet.trials.spec import Trial
from duet.trials.tracing import Function, Mark, Tracing

PATCH = repo_root() / "tests/sixth/kernel-patches/06-pipe-herd/wake-all.patch"
KNOWN = frozenset({"stress-ng", "sh"})
TRACING = Tracing(
    functions=(
        Function("pipe_read", "pipe_read"),
        Function("vfs_read", "vfs_read_2", ("wake-all",)),
    ),
    marks=(
        Mark("sched_process_exit", "sched_process_exit", "sched/sched_process_exit", "", ("pid",)),
        Mark("x", "x()", "duet/x", "p:duet/x pipe_write arg1=$arg1:s64", ("arg1",)),
    ),
    missing=("pipe_lock() is not traced: it may be inlined",),
)


def trial(folder: Path, **more: object) -> Trial:
    words = {"run": "stress-ng --pipe 2 -t 1 --metrics", "patches": (PATCH,)} | more
    asked = Asked(**words)  # type: ignore[arg-type]
    return read_trial(asked, folder, repo_root() / "kernel-patches", KNOWN)
