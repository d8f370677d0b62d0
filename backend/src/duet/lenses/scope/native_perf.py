# SPDX-License-Identifier: GPL-2.0-or-later
"""perf around the replica: events of a run, and loads that another CPU's cache answered.

Without a performance monitoring unit, as in most virtual machines, perf counts nothing: then a
sentence says so, and the rates stand alone.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from duet.errors import InfraError
from duet.lenses.scope.native import Layout, Operation, run_once

EVENTS: Final = ("cycles:u", "instructions:u", "cache-misses:u")
REPORT_S: Final = 120
SEPARATOR: Final = ","
C2C: Final = {
    "loads": re.compile(r"^\s*Load Operations\s*:\s*(\d+)", re.MULTILINE),
    "hitm_local": re.compile(r"^\s*Load Local HITM\s*:\s*(\d+)", re.MULTILINE),
    "hitm_remote": re.compile(r"^\s*Load Remote HITM\s*:\s*(\d+)", re.MULTILINE),
}
"""Lines of `perf c2c report --stats`; HITM: the line came from a cache that had changed it."""
NO_PERF: Final = "perf is not installed, so nothing but rates is measured."
NO_EVENTS: Final = "perf counts no events on this host, so nothing but rates is measured."
NO_C2C: Final = "perf c2c has no memory events on this host, so no transfers are sampled."


def count_events(
    operation: Operation, layout: Layout, cpus: Sequence[int], ms: int
) -> tuple[dict[str, float], str]:
    """Events per operation of one run under perf stat; none and a sentence where it cannot.

    Raises:
        InfraError: the replica itself does not run.
    """
    if shutil.which("perf") is None:
        return {}, NO_PERF
    before = ["perf", "stat", "-x", SEPARATOR, "-e", ",".join(EVENTS), "--"]
    try:
        run, said = run_once(operation, layout, cpus, ms, before)
    except InfraError:
        return {}, NO_EVENTS
    counts = parse_stat(said)
    per_op = {name.removesuffix(":u"): n / run.ops for name, n in counts.items() if run.ops}
    return per_op, "" if per_op else NO_EVENTS


def parse_stat(said: str) -> dict[str, int]:
    """What perf stat -x, counted; events that it could not count are left out."""
    found: dict[str, int] = {}
    for line in said.splitlines():
        value, _, event, *_ = [*line.split(SEPARATOR), "", "", ""]
        if event in EVENTS and value.isdecimal():
            found[event] = int(value)
    return found


def sample_transfers(
    operation: Operation, layout: Layout, cpus: Sequence[int], ms: int
) -> tuple[dict[str, int], str]:
    """What perf c2c sampled in one run: loads, and those answered by another cache."""
    if shutil.which("perf") is None:
        return {}, NO_PERF
    with tempfile.TemporaryDirectory() as folder:
        data = str(Path(folder) / "c2c.data")
        try:
            run_once(operation, layout, cpus, ms, ["perf", "c2c", "record", "-o", data, "--"])
            report = subprocess.run(
                ["perf", "c2c", "report", "-i", data, "--stats"],
                capture_output=True, text=True, errors="replace", timeout=REPORT_S, check=True,
            ).stdout  # fmt: skip
        except (InfraError, OSError, subprocess.SubprocessError):
            return {}, NO_C2C
    found = parse_c2c(report)
    return found, "" if found.get("loads") else NO_C2C


def parse_c2c(report: str) -> dict[str, int]:
    """The three numbers of the report, as far as it has them."""
    matches = {name: pattern.search(report) for name, pattern in C2C.items()}
    return {name: int(match[1]) for name, match in matches.items() if match}
