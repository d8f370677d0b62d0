# SPDX-License-Identifier: GPL-2.0-or-later
"""The native replica: threads on the host's CPUs repeat an operation's accesses to a structure.

On hardware with enough cores, it tests what the coherence model predicts. All arms' layouts run in
turns (lessons/*/native/replica.c). Offsets come from the DWARF of the arms' kernels. The order of
the accesses and the work between them come from counted accesses.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

from duet.base.errors import InfraError, InputError
from duet.base.native import program
from duet.kernels.vmlinux import ask as dwarf
from duet.lenses.scope.coherence import stated, stated_settings
from duet.lenses.scope.model import work_of
from duet.lessons.load import LessonFolder
from duet.processes.owned import parent_death_prefix

OPERATION: Final = "native/operation.json"
"""The replica's accesses, in the folder of a lesson that has a replica."""
LEAST_CORES: Final = 4
GRACE_S: Final = 30
"""Extra time that a run gets on a busy host, in addition to its planned duration, before it times
out.
"""
STEPS: Final = {"read": "r", "get": "g", "put": "p"}
FIGURES: Final = re.compile(
    r"^replica: threads=(?P<threads>\d+) ns=(?P<ns>\d+) ops=(?P<ops>\d+) "
    r"retries=(?P<retries>\d+) stuck=(?P<stuck>\d+)$"
)

Doing = Literal["read", "get", "put"]


@dataclass(frozen=True, slots=True)
class Access:
    """One access in an operation.

    It consists of the function that makes the access, the member, and the byte offset in the
    member.
    """

    function: str
    member: str
    plus: int
    doing: Doing


@dataclass(frozen=True, slots=True)
class Operation:
    """What the threads do to one structure, in any layout."""

    source: Path
    struct: str
    accesses: tuple[Access, ...]
    host_what: str = ""
    host_steps: tuple[str, ...] = ()
    """System calls that measure the host's own kernel, in the replica program's syntax. {folder} is
    a folder on a tmpfs."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Offsets of the structure's members in an arm's kernel."""

    arm: str
    size: int
    offsets: Mapping[str, int]

    def at(self, access: Access) -> int:
        return self.offsets[access.member] + access.plus


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one layout."""

    threads: int
    ns: int
    ops: int
    retries: int
    stuck: int

    @property
    def per_s(self) -> float:
        """Operations per second of all threads together."""
        return self.ops * 1e9 / self.ns


def read_operation(lesson: LessonFolder) -> Operation:
    """Read the operation that a lesson's replica performs.

    Raises:
        InputError: the lesson has no replica.
    """
    path = lesson.folder / OPERATION
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(
            f"lesson {lesson.slug} has no native replica.",
            remedy="Leave out --native, or add native/ to the folder of the lesson.",
        ) from error
    accesses = tuple(Access(*row) for row in tree["accesses"])
    host = tree.get("host", {"what": "", "steps": []})
    source = path.with_name("replica.c")
    return Operation(source, tree["struct"], accesses, host["what"], tuple(host["steps"]))


def layout_of(arm: str, vmlinux: Path, operation: Operation) -> Layout:
    """Read the structure's layout from a kernel.

    Raises:
        InputError: the kernel has no such structure or member.
        InfraError: the vmlinux cannot be read.
    """
    kind = f"struct {operation.struct}"
    members = dict.fromkeys(access.member for access in operation.accesses)
    offsets = {name: dwarf.read(vmlinux, f"offsetof {kind}.{name}") for name in members}
    return Layout(arm, dwarf.read(vmlinux, f"sizeof {kind}"), offsets)


def steps_of(operation: Operation, layout: Layout) -> list[str]:
    """Return the replica's arguments, which are the operation's accesses in order.

    If an access's private work was counted, the private work precedes the access.
    """
    counted = stated()["counted"]
    # A get makes two accesses, and so does a put. The private work precedes the first of these two
    # accesses.
    names = [a.function for a in operation.accesses for _ in range(1 + (a.doing != "read"))]
    weights = work_of(names, counted["at"], counted["instructions"])
    own_ns = stated_settings().own_ns
    steps: list[str] = []
    place = 0
    for access in operation.accesses:
        width = 1 + (access.doing != "read")
        work_ns = round(own_ns * sum(weights[place : place + width]) / counted["instructions"])
        place += width
        if work_ns:
            steps.append(f"w{work_ns}")
        steps.append(f"{STEPS[access.doing]}{layout.at(access)}")
    return steps


def one_cpu_a_core(
    allowed: Sequence[int], topology: Path = Path("/sys/devices/system/cpu")
) -> list[int]:
    """Return one CPU per core of the socket that has the most usable cores.

    Two threads of a core share its cache, so no line would travel between them.
    """
    sockets: dict[str, dict[str, int]] = {}
    for cpu in sorted(allowed):
        place = topology / f"cpu{cpu}" / "topology"
        try:
            socket = (place / "physical_package_id").read_text().strip()
            core = (place / "core_id").read_text().strip()
        except OSError:
            socket, core = "", str(cpu)
        sockets.setdefault(socket, {}).setdefault(core, cpu)
    return sorted(max(sockets.values(), key=len, default={}).values())


def choose_cpus(cores: Sequence[int], threads: int, usual: int) -> list[int]:
    """Choose the CPUs that get a thread.

    Args:
        cores: one CPU of each core.
        threads: forced number of threads; 0 means one per core, but at most `usual`.

    Raises:
        InfraError: there are too few cores, and no number was forced.
    """
    if threads:
        return [cores[n % len(cores)] for n in range(threads)]
    if len(cores) < LEAST_CORES:
        raise InfraError(
            f"the native replica is not run, because it needs {LEAST_CORES} cores on one "
            "socket, but "
            f"this host has {len(cores)}.",
            remedy="Run the replica on a larger machine, or try it here with --threads 2.",
        )
    return list(cores[:usual])


def run_once(
    operation: Operation,
    layout: Layout,
    cpus: Sequence[int],
    ms: int,
    before: Sequence[str] = (),
    steps: Sequence[str] = (),
) -> tuple[Run, str]:
    """Run one layout. Return its figures and what the command wrote to stderr.

    Args:
        before: a command that runs the replica, such as perf stat.
        steps: replace the operation's steps.

    Raises:
        InfraError: the replica does not compile, fails, or times out.
    """
    command = [
        *parent_death_prefix(),
        *before,
        str(program(operation.source)),
        "--cpus",
        ",".join(map(str, cpus)),
    ]
    command += [
        "--ms",
        str(ms),
        "--size",
        str(layout.size),
        *(steps or steps_of(operation, layout)),
    ]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=ms / 1000 + GRACE_S, check=False,
            env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _failed(str(error)) from error
    matches = [match for line in done.stdout.splitlines() if (match := FIGURES.match(line))]
    if done.returncode or not matches:
        raise _failed(done.stderr.strip()[-300:] or f"exit code {done.returncode}")
    return Run(**{name: int(value) for name, value in matches[0].groupdict().items()}), done.stderr


def _failed(why: str) -> InfraError:
    return InfraError(
        f"the native replica did not run: {why.splitlines()[0] if why else 'it printed nothing'}.",
        remedy="Check that this process may use these CPUs.",
    )


def usual_threads() -> int:
    return int(stated()["mail"]["cpus"])


def allowed_cpus() -> list[int]:
    return sorted(os.sched_getaffinity(0))


# Measures how rates scale with the number of threads, for each layout and for the host's own
# kernel.


TMPFS: Final = Path("/dev/shm")
RUNS: Final = 3
"""Number of runs per point of a curve."""


@dataclass(frozen=True, slots=True)
class Point:
    """Operations per second with that many threads."""

    threads: int
    median: float
    low: float
    high: float


def thread_counts(most: int) -> list[int]:
    """Return 1, 2, 4 and so on up to `most`, which is included."""
    return sorted({most, *(1 << n for n in range(most.bit_length()) if 1 << n <= most)})


def point(threads: int, rates: Sequence[float]) -> Point:
    return Point(threads, statistics.median(rates), min(rates), max(rates))


def curve(run: Callable[[Sequence[int]], Run], cpus: Sequence[int]) -> list[Point]:
    """Measure a point for each thread count. Thread n runs on the nth CPU."""
    return [point(n, [run(cpus[:n]).per_s for _ in range(RUNS)]) for n in thread_counts(len(cpus))]


def layout_curve(operation: Operation, layout: Layout, cpus: Sequence[int], ms: int) -> list[Point]:
    """Measure the replica with one layout."""
    return curve(lambda some: run_once(operation, layout, some, ms)[0], cpus)


def host_curve(
    operation: Operation, layout: Layout, cpus: Sequence[int], ms: int
) -> tuple[list[Point], str]:
    """Measure the host's own kernel by thread count.

    If that fails, return no points but a reason.
    """
    if not operation.host_steps:
        return [], ""
    if not os.access(TMPFS, os.W_OK):
        return [], f"{TMPFS} is not writable, so the host's own kernel is not measured."
    with tempfile.TemporaryDirectory(dir=TMPFS) as folder:
        steps = [step.format(folder=folder) for step in operation.host_steps]
        for step in steps:
            Path(step[1:]).touch()  # a step is a letter and the path that it acts on
        try:
            found = curve(lambda some: run_once(operation, layout, some, ms, (), steps)[0], cpus)
        except InfraError as error:
            return [], f"the host's own kernel is not measured: {error}"
    return found, ""


def provenance() -> dict[str, str]:
    """Return a measurement's provenance: CPU model, kernel, compiler and time."""
    return {
        "cpu": cpu_model(Path("/proc/cpuinfo")),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "compiler": _compiler(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def cpu_model(cpuinfo: Path) -> str:
    """Return the CPU's name from cpuinfo, or "unknown CPU" if there is none."""
    lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next((name for name in names if name), "unknown CPU")


def _compiler() -> str:
    try:
        done = subprocess.run(
            ["cc", "--version"], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return (done.stdout.splitlines() or ["unknown"])[0]


# Runs the replica under perf, to count events, and to count the loads that another CPU's cache
# answered.
#
# Without a performance monitoring unit, as in most virtual machines, perf counts nothing. Then only
# rates are reported, with a sentence about the reason.


EVENTS: Final = ("cycles:u", "instructions:u", "cache-misses:u")
REPORT_S: Final = 120
SEPARATOR: Final = ","
C2C: Final = {
    "loads": re.compile(r"^\s*Load Operations\s*:\s*(\d+)", re.MULTILINE),
    "hitm_local": re.compile(r"^\s*Load Local HITM\s*:\s*(\d+)", re.MULTILINE),
    "hitm_remote": re.compile(r"^\s*Load Remote HITM\s*:\s*(\d+)", re.MULTILINE),
}
"""Lines of `perf c2c report --stats`. HITM means that a modified line came from another cache."""
NO_PERF: Final = "perf is not installed, so only rates are measured."
NO_EVENTS: Final = "perf counts no events on this host, so only rates are measured."
NO_C2C: Final = "perf c2c has no memory events on this host, so no transfers are sampled."


def count_events(
    operation: Operation, layout: Layout, cpus: Sequence[int], ms: int
) -> tuple[dict[str, float], str]:
    """Count one run's events per operation under perf stat.

    If that fails, return an empty dict and the reason.

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
    """Parse the output of perf stat -x. Events that perf could not count are left out."""
    found: dict[str, int] = {}
    for line in said.splitlines():
        value, _, event, *_ = [*line.split(SEPARATOR), "", "", ""]
        if event in EVENTS and value.isdecimal():
            found[event] = int(value)
    return found


def sample_transfers(
    operation: Operation, layout: Layout, cpus: Sequence[int], ms: int
) -> tuple[dict[str, int], str]:
    """Sample one run with perf c2c. Count its loads, and the loads that another cache answered."""
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
    """Parse the report's three figures. Missing figures are left out."""
    matches = {name: pattern.search(report) for name, pattern in C2C.items()}
    return {name: int(match[1]) for name, match in matches.items() if match}
