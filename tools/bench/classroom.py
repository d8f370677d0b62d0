# SPDX-License-Identifier: GPL-2.0-or-later
"""`bench class`: all students of a class press *run live*. Is everybody served, and how fast?

A real server with real guests runs in one process. The students run in another process.
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
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from duet.cli.output import emit
from duet.lessons import load as lessons
from duet.lessons.load import knob
from tools.bench.costs import TreeUse
from tools.bench.results import Answers, ClassResult
from tools.bench.stored import of_class, store
from tools.bench.viewers import helper, line_of

LANES = 2
"""Number of lanes per run (students.arms_of)."""
PROBE_S = 0.1
READ_S = 10.0
"""Time limit for reading the students' figures after all students have ended. Usual: 10 ms."""
HEALTH, PAGE = "/api/health", "/"
TARGET_MS = 200.0


def classroom(lesson: str, students: int, different: int, js: bool) -> int:
    """Measure, store and print the result; return the exit code."""
    result = measure(lesson, students, different)
    store(of_class(result))
    if js:
        emit(result)
    else:
        print(text_of(result))
    return 0


def measure(lesson: str, students: int, different: int) -> ClassResult:
    """Let the students press *run live*. Meanwhile, time requests for /api/health and the page.

    Raises:
        InfraError: a process failed.
    """
    settings = settings_of(lesson, different)
    health: list[float] = []
    page: list[float] = []
    with server() as (process, address):
        for path in (HEALTH, PAGE):
            request_ms(address, path)
        words = (address, lesson, str(students), json.dumps(settings))
        use = TreeUse(process.pid)
        with helper("students", *words) as crowd, ThreadPoolExecutor(1) as reader:
            reading = reader.submit(line_of, crowd)
            while not reading.done() and process.poll() is None:
                health.append(request_ms(address, HEALTH))
                page.append(request_ms(address, PAGE))
                use.look()
                time.sleep(PROBE_S)
            found = reading.result(READ_S)
    ends = [one["end"] for one in found]
    waits = [one["waited_s"] for one in found]
    # A run's time is the longest that any student measured, because students who joined later
    # watched less of the run.
    lasted = {one["run"]: 0.0 for one in found if one["run"]}
    for one in found:
        if one["run"] and one["end"] == "done":
            lasted[one["run"]] = max(lasted[one["run"]], one["took_s"] - one["waited_s"])
    runs, run_s = set(lasted), float(np.median([*lasted.values()])) if lasted else 0.0
    return ClassResult(
        lesson=lesson,
        students=students,
        different=len(settings),
        runs=len(runs),
        served=ends.count("done"),
        not_served=sorted({end for end in ends if end != "done"}),
        longest_wait_s=round(max(waits), 1),
        longest_s=round(max(one["took_s"] for one in found), 1),
        health=answers(health),
        page=answers(page),
        socket=answers([ms for one in found for ms in one.get("answers_ms", [])]),
        run_s=round(run_s, 1),
        lane_cores=round(use.cpu_s / (len(runs) * LANES * run_s), 2) if run_s else 0.0,
        lane_mib=round(use.guest_bytes / (1 << 20), 1),
        load=round(os.getloadavg()[0], 1),
    )


def settings_of(lesson: str, different: int) -> list[dict[str, int]]:
    """Return settings that differ in the number of threads.

    If no knob of the lesson sets the number of threads, return one empty setting.
    """
    found = lessons.load(lesson).lesson
    name = knob(found, "threads")
    if name is None:
        return [{}]
    param = found.params[name]
    low = 1 if param.min is None else param.min
    high = low if param.max is None else param.max
    return [{name: low + n} for n in range(min(different, high - low + 1))]


@contextlib.contextmanager
def server(*words: str, **variables: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a real `duet serve` that stores data in a temporary folder. Yield process, host:port.

    Args:
        words: further options of `duet serve`.
        variables: environment variables, in addition to those of this process.
    """
    command = [sys.executable, "-m", "duet", "serve", "--port", "0", "--no-build", "--json"]
    command += words
    with tempfile.TemporaryDirectory(prefix="duet-class-") as folder:
        environment = os.environ | own_places(folder) | variables
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


def own_places(folder: str) -> dict[str, str]:
    """Return environment variables that make a server store all its data in `folder`."""
    return {
        "DUET_RUNS": f"{folder}/runs",
        "DUET_CLASSES_DB": f"sqlite:///{folder}/classes.sqlite",
        "DUET_SETUP": "skip",
    }


def answers(ms: list[float]) -> Answers:
    """Return quantiles of the answer times in ms, or zeros if there is no answer."""
    if not ms:
        return Answers(0, 0.0, 0.0)
    return Answers(len(ms), round(float(np.percentile(ms, 99)), 1), round(max(ms), 1))


def request_ms(address: str, path: str) -> float:
    """Send a GET on a new connection, and return the time until the answer in ms."""
    began = time.perf_counter()
    connection = http.client.HTTPConnection(address, timeout=60)
    try:
        connection.request("GET", path)
        connection.getresponse().read()
    finally:
        connection.close()
    return (time.perf_counter() - began) * 1e3


def text_of(result: ClassResult) -> str:
    missed = f"; not: {' '.join(result.not_served)}" if result.not_served else ""
    return "\n".join(
        (
            f"{result.students} students press run live on {result.lesson} at once, with "
            f"{result.different} settings: {result.runs} runs",
            f"served: {result.served}{missed}; the last run began after {result.longest_wait_s} s "
            f"and was over after {result.longest_s} s",
            answers_line("/api/health", result.health),
            answers_line("the page (/)", result.page),
            answers_line("a light question on each student's socket", result.socket),
            f"a run had its slot for {result.run_s} s; a lane took {result.lane_cores:.2f} CPUs "
            f"and {result.lane_mib:.0f} MiB, its share of the server included",
            f"load of the host: {result.load}",
        )
    )


def answers_line(what: str, found: Answers) -> str:
    if not found.n:
        return f"{what}: no answer came"
    met = "within" if found.longest_ms <= TARGET_MS else "beyond"
    return (
        f"{what}: {found.n} answers, p99 {found.p99_ms} ms, longest {found.longest_ms} ms "
        f"({met} {TARGET_MS:.0f} ms)"
    )
