# SPDX-License-Identifier: GPL-2.0-or-later
"""`bench link`: compare real viewers who share a limited link with the simulation of `duet plan`.

The measurement (link_measured.py) runs in its own network namespace, where the bandwidth of the
loopback device can be limited. This file compares the results with the simulation.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from duet.base.errors import InfraError, InputError
from duet.base.settings import repo_root
from duet.cli.output import emit, note, split_names
from duet.plugins.cluster.capacity.simulation import Scene, Simulated, simulate
from tools.bench.results import LinkResult, LinkRow
from tools.bench.viewers import line_of

TOOLS: Final = ("unshare", "ip", "tc")
PATHS: Final = "/usr/sbin:/sbin:/usr/bin:/bin"
MOST_VIEWERS: Final = 1000
"""Maximum number of viewers. All are in one process, and each has four connections."""
WIRE: Final = 0.94
"""Share of the link's bits that are content. A 1,514-byte frame carries 1,448 bytes of content, and
acknowledgements use the same link here.
"""
OWN_BYTES_PER_S: Final = 1e9
"""Simulated bandwidth of a viewer's own link. It is practically unlimited, because real viewers on
loopback have no such links.
"""
END_S: Final = 30.0
"""Time limit for the measurement to stop its server. Usual: 1 s."""


def bench(lesson: str, viewers: str, mbit: float, js: bool) -> int:
    """Measure and print the result; return the exit code."""
    result = measure(lesson, counts_of(viewers), mbit)
    if js:
        emit(result)
    else:
        print(text_of(result))
    return 0


def counts_of(text: str) -> list[int]:
    """Parse the numbers of viewers.

    Raises:
        InputError: the text is not a list of whole numbers from 1 to MOST_VIEWERS.
    """
    parts = split_names(text)
    if not parts or not all(one.isdecimal() and 1 <= int(one) <= MOST_VIEWERS for one in parts):
        raise InputError(
            f"--viewers needs whole numbers from 1 to {MOST_VIEWERS}, separated by commas, but got "
            f"'{text:.40}'.",
            remedy="Write for example --viewers 30,120.",
        )
    return [int(one) for one in parts]


def missing() -> str:
    """Return why the measurement is impossible here, or "" if it is possible."""
    absent = [name for name in TOOLS if shutil.which(name, path=PATHS) is None]
    if absent:
        return f"{absent[0]} is not installed"
    try:
        words = [*prefix(), "sh", "-c", "ip link set lo up && tc qdisc add dev lo root pfifo"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=END_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"a network namespace cannot be made ({error})"
    why = done.stderr.strip().rpartition("\n")[2]
    return f"a network namespace cannot be made ({why:.120})" if done.returncode else ""


def prefix() -> list[str]:
    """Return a command prefix that gives a program its own network namespace to configure."""
    return ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]


def measure(lesson: str, counts: Sequence[int], mbit: float) -> LinkResult:
    """Measure viewers that all arrive at the same time, separately for each number of viewers.

    Raises:
        InfraError: no network namespace can be made, or a process failed.
    """
    if why := missing():
        raise InfraError(
            f"the limited link cannot be set up: {why}.",
            remedy="Install iproute2 and util-linux, or run the benchmark as root.",
        )
    words = [lesson, str(mbit), ",".join(str(count) for count in counts)]
    command = [*prefix(), sys.executable, "-m", "tools.bench.link_measured", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=repo_root()) as process:
        try:
            scene, segment_nginx_s = scene_of(line_of(process), mbit)
            rows = []
            for count in counts:
                note(f"{count} viewers")
                rows.append(row_of(line_of(process), simulate(scene, count)))
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(END_S)
        finally:
            process.terminate()  # on SIGTERM, the process ends its server and nginx
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(END_S)
            process.kill()
    return LinkResult(
        lesson=lesson,
        mbit_per_s=mbit,
        segments=len(scene.segment_bytes),
        bytes=scene.total_bytes,
        segment_nginx_ms=round(segment_nginx_s * 1e3, 4),
        rows=rows,
        load=round(os.getloadavg()[0], 1),
    )


def scene_of(tree: dict[str, Any], mbit: float) -> tuple[Scene, float]:
    """Return the simulation's parameters, and the CPU time of nginx per segment."""
    nginx_s = float(tree["nginx_s"])
    scene = Scene(
        segment_bytes=tree["sizes"],
        link_bytes_per_s=mbit * 1e6 / 8 * WIRE,
        own_bytes_per_s=OWN_BYTES_PER_S,
        nginx_s=nginx_s,
    )
    return scene, nginx_s


def row_of(tree: dict[str, Any], expected: Simulated) -> LinkRow:
    """Compare the measured times with the simulated times."""
    first = [float(one) for one in np.percentile(tree["first_s"], [50, 99])]
    whole = [float(one) for one in np.percentile(tree["whole_s"], [50, 99])]
    fair = (
        (first[0], expected.first_s[0]),
        (whole[0], expected.whole_s[0]),
        (whole[1], expected.whole_s[2]),
    )
    return LinkRow(
        viewers=expected.viewers,
        first_p50_s=round(first[0], 4),
        first_p50_simulated_s=round(expected.first_s[0], 4),
        first_p99_s=round(first[1], 4),
        first_p99_simulated_s=round(expected.first_s[2], 4),
        whole_p50_s=round(whole[0], 4),
        whole_p50_simulated_s=round(expected.whole_s[0], 4),
        whole_p99_s=round(whole[1], 4),
        whole_p99_simulated_s=round(expected.whole_s[2], 4),
        nginx_s=round(float(tree["nginx_s"]), 4),
        nginx_simulated_s=round(expected.nginx_s, 4),
        farthest=round(max(max(a / b, b / a) for a, b in fair), 2),
    )


def text_of(result: LinkResult) -> str:
    """Format a table."""
    lines = [
        f"a recording of {result.lesson}, {result.segments} segments, {result.bytes / 1e3:.0f} KB, "
        f"at a link of {result.mbit_per_s:g} Mbit/s; all viewers arrive at once",
        "in brackets: simulated",
        f"{'viewers':>7}  {'first, p50':>16} {'p99':>16}  {'whole, p50':>16} {'p99':>16}  "
        f"{'nginx, CPU s':>14}  apart",
    ]
    for one in result.rows:
        cells = [
            f"{seen:6.2f} ({simulated:6.2f}) s"
            for seen, simulated in (
                (one.first_p50_s, one.first_p50_simulated_s),
                (one.first_p99_s, one.first_p99_simulated_s),
                (one.whole_p50_s, one.whole_p50_simulated_s),
                (one.whole_p99_s, one.whole_p99_simulated_s),
            )
        ]
        lines.append(
            f"{one.viewers:7}  {cells[0]:>16} {cells[1]:>16}  {cells[2]:>16} {cells[3]:>16}  "
            f"{one.nginx_s:5.2f} ({one.nginx_simulated_s:5.2f})  {one.farthest:.2f} times"
        )
    return "\n".join([*lines, f"load of the host: {result.load}"])
