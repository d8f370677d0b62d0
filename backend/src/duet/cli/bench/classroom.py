# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet bench class`: a class presses *run live* at once; who is served, and does the page answer.

The server is the real one with real guests, in a process of its own, and so are the students.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import numpy as np

from duet.cli.bench.viewers import helper, line_of
from duet.cli.output import emit
from duet.cli.results.benching import ClassResult
from duet.lessons import load as lessons
from duet.lessons.roles import knob

PROBE_S = 0.1
TARGET_MS = 200.0


def classroom(lesson: str, students: int, different: int, js: bool) -> int:
    """See `duet bench class --help`."""
    result = measure(lesson, students, different)
    if js:
        emit(result)
    else:
        print(text_of(result))
    return 0


def measure(lesson: str, students: int, different: int) -> ClassResult:
    """Serve, let them press, and ask for health meanwhile.

    Raises:
        InfraError: a process did not do its part.
    """
    settings = settings_of(lesson, different)
    answers: list[float] = []
    with server() as (process, address):
        health_ms(address)
        words = (address, lesson, str(students), json.dumps(settings))
        with helper("students", *words) as crowd:
            while crowd.poll() is None and process.poll() is None:
                answers.append(health_ms(address))
                time.sleep(PROBE_S)
            found = line_of(crowd)
    ends = [one["end"] for one in found]
    waits = [one["waited_s"] for one in found]
    return ClassResult(
        lesson=lesson,
        students=students,
        different=len(settings),
        runs=len({one["run"] for one in found} - {""}),
        served=ends.count("done"),
        not_served=sorted({end for end in ends if end != "done"}),
        longest_wait_s=round(max(waits), 1),
        longest_s=round(max(one["took_s"] for one in found), 1),
        health_n=len(answers),
        health_p99_ms=round(float(np.percentile(answers, 99)), 1),
        health_longest_ms=round(max(answers), 1),
        load=round(os.getloadavg()[0], 1),
    )


def settings_of(lesson: str, different: int) -> list[dict[str, int]]:
    """Params that differ in the number of threads; a lesson without that knob has one setting."""
    found = lessons.load(lesson).lesson
    name = knob(found, "threads")
    if name is None:
        return [{}]
    param = found.params[name]
    low = 1 if param.min is None else param.min
    high = low if param.max is None else param.max
    return [{name: low + n} for n in range(min(different, high - low + 1))]


@contextlib.contextmanager
def server(**variables: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A real `duet serve` with a folder of its own for saved runs; yields host:port.

    Args:
        variables: of its environment, beside those of this process.
    """
    command = [sys.executable, "-m", "duet", "serve", "--port", "0", "--no-build", "--json"]
    with tempfile.TemporaryDirectory(prefix="duet-class-") as folder:
        environment = os.environ | {"DUET_RUNS": folder, "DUET_SETUP": "skip"} | variables
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=environment
        ) as process:
            try:
                tree = line_of(process)
                yield process, f"{tree['host']}:{tree['port']}"
            finally:
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(20)
                process.kill()


def health_ms(address: str) -> float:
    """How long /api/health takes, on a connection of its own."""
    began = time.perf_counter()
    connection = http.client.HTTPConnection(address, timeout=60)
    try:
        connection.request("GET", "/api/health")
        connection.getresponse().read()
    finally:
        connection.close()
    return (time.perf_counter() - began) * 1e3


def text_of(result: ClassResult) -> str:
    """The result as lines."""
    missed = f"; not: {' '.join(result.not_served)}" if result.not_served else ""
    met = "within" if result.health_longest_ms <= TARGET_MS else "beyond"
    return "\n".join(
        (
            f"{result.students} students press run live on {result.lesson} at once, with "
            f"{result.different} settings: {result.runs} runs",
            f"served: {result.served}{missed}; the last run began after {result.longest_wait_s} s "
            f"and was over after {result.longest_s} s",
            f"/api/health: {result.health_n} answers, p99 {result.health_p99_ms} ms, longest "
            f"{result.health_longest_ms} ms ({met} {TARGET_MS:.0f} ms); load of the host: "
            f"{result.load}",
        )
    )
