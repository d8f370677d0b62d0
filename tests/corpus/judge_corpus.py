#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Inspect and replay recordings, each in a process of its own, and say what came of each.

    .venv/bin/python -m tests.corpus.judge_corpus DIR [NAME...]

One JSON line a case and verb: exit code or signal, CPU seconds and peak memory (of the process and
of the children it waited for), what was printed. The process imports the program once and forks.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path

# What the verbs import when they are called; a process that is forked has it already.
import duet.cli.inspect
import duet.cli.replay
import duet.lenses
import duet.runs.compare
import duet.runs.replay
from duet import confine as confined
from duet.cli.arguments import find_recording  # noqa: F401
from duet.cli.entry import main as duet
from tests.corpus import hostile_case  # noqa: F401  (finds the program)

VERBS = ("inspect", "replay")
CPU_LIMIT_S = 90
"""Beyond it the kernel ends the process; what a case may really take stands in the test."""
SPACE_BYTES = 12 << 30
WAIT_S = 240
MOST_TEXT = 20_000


def judge(file: Path, verb: str) -> dict[str, object]:
    """Run one verb on one file."""
    with tempfile.TemporaryFile() as out:
        began = time.monotonic()
        pid = os.fork()
        if pid == 0:
            _run(file, verb, out.fileno())
        status, used = _wait(pid, began)
        out.seek(0)
        text = out.read().decode(errors="replace")
    return {
        "name": file.stem,
        "verb": verb,
        "code": os.waitstatus_to_exitcode(status),
        "cpu_s": round(used.ru_utime + used.ru_stime, 2),
        "rss_mb": used.ru_maxrss >> 10,
        "wall_s": round(time.monotonic() - began, 2),
        "text": text[:MOST_TEXT],
    }


def _run(file: Path, verb: str, out: int) -> None:
    """In the child: never returns."""
    os.setpgid(0, 0)
    os.dup2(out, 1)
    os.dup2(out, 2)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT_S, CPU_LIMIT_S))
    resource.setrlimit(resource.RLIMIT_AS, (SPACE_BYTES, SPACE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    code = 70
    try:
        code = duet([verb, str(file)])
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _wait(pid: int, began: float) -> tuple[int, resource.struct_rusage]:
    while True:
        done, status, used = os.wait4(pid, os.WNOHANG)
        if done:
            return status, used
        if time.monotonic() - began > WAIT_S:
            os.killpg(pid, signal.SIGKILL)
        time.sleep(0.01)


def main() -> int:
    """See the head of this file."""
    folder, *names = sys.argv[1:]
    confined.start()  # once for all; its imports take longer than a case
    found = sorted(Path(folder).glob("*.duet"))
    for file in found:
        if not names or file.stem in names:
            for verb in VERBS:
                print(json.dumps(judge(file, verb)), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
