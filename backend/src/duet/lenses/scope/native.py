# SPDX-License-Identifier: GPL-2.0-or-later
"""The replica: an operation's accesses to a structure, by threads on the host's own CPUs.

What the coherence model predicts, hardware can be asked, if there are cores enough: the layouts of
all arms run by turns (lessons/*/native/replica.c). Offsets come from the DWARF of the arms'
kernels, the order of the accesses and the work between them from what was counted.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from duet.errors import InfraError, InputError
from duet.kernels import dwarf
from duet.lenses.scope.stated import stated, stated_settings
from duet.lenses.scope.streams import work_of
from duet.lessons.load import LessonFolder
from duet.native import program
from duet.processes.owned import mortal_words

LEAST_CORES: Final = 4
GRACE_S: Final = 30
"""Beyond the run itself, on a busy host."""
STEPS: Final = {"read": "r", "get": "g", "put": "p"}
FIGURES: Final = re.compile(
    r"^replica: threads=(?P<threads>\d+) ns=(?P<ns>\d+) ops=(?P<ops>\d+) "
    r"retries=(?P<retries>\d+) stuck=(?P<stuck>\d+)$"
)

Doing = Literal["read", "get", "put"]


@dataclass(frozen=True, slots=True)
class Access:
    """One access of an operation: who, to which member, how many bytes into it."""

    function: str
    member: str
    plus: int
    doing: Doing


@dataclass(frozen=True, slots=True)
class Operation:
    """What the threads do to one structure, of whichever layout."""

    source: Path
    struct: str
    accesses: tuple[Access, ...]
    host_what: str = ""
    host_steps: tuple[str, ...] = ()
    """What the host's own kernel is asked for, in words of the program; {folder} is a tmpfs."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where an arm's kernel has the members; lines count from the structure's start."""

    arm: str
    size: int
    offsets: Mapping[str, int]

    def at(self, access: Access) -> int:
        """Byte of an access."""
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
        """Operations a second, of all threads."""
        return self.ops * 1e9 / self.ns


def read_operation(lesson: LessonFolder) -> Operation:
    """What a lesson's replica does.

    Raises:
        InputError: the lesson has none.
    """
    folder = lesson.folder / "native"
    try:
        tree = json.loads((folder / "operation.json").read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(
            f"lesson {lesson.slug} has no native replica.",
            remedy="Leave --native away, or add native/ to the folder of the lesson.",
        ) from error
    accesses = tuple(Access(*row) for row in tree["accesses"])
    host = tree.get("host", {"what": "", "steps": []})
    source = folder / "replica.c"
    return Operation(source, tree["struct"], accesses, host["what"], tuple(host["steps"]))


def layout_of(arm: str, vmlinux: Path, operation: Operation) -> Layout:
    """The layout in a kernel.

    Raises:
        InputError: it has no such structure or member.
        InfraError: it cannot be read.
    """
    kind = f"struct {operation.struct}"
    members = dict.fromkeys(access.member for access in operation.accesses)
    offsets = {name: dwarf.read(vmlinux, f"offsetof {kind}.{name}") for name in members}
    return Layout(arm, dwarf.read(vmlinux, f"sizeof {kind}"), offsets)


def steps_of(operation: Operation, layout: Layout) -> list[str]:
    """The replica's words: the accesses, and the private work before each where it was counted."""
    counted = stated()["counted"]
    # A get and a put are two accesses; the work lies before the first.
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
    """CPUs of the socket that has most cores for us, the first of each core; two threads of a
    core share its cache, so that no line would travel between them."""
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
    """Which CPUs get a thread.

    Args:
        cores: one CPU of each.
        threads: forced; 0: as many as there are cores, at most `usual`.

    Raises:
        InfraError: too few cores, and nothing was forced.
    """
    if threads:
        return [cores[n % len(cores)] for n in range(threads)]
    if len(cores) < LEAST_CORES:
        raise InfraError(
            f"the native replica is not run here: it wants {LEAST_CORES} cores of one socket, and "
            f"this host gives {len(cores)}.",
            remedy="Run it on a larger machine; --threads 2 runs it all the same, for a trial.",
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
    """Run one layout; also what the command wrote on stderr.

    Args:
        before: a command that runs it, such as perf stat.
        steps: in place of the operation's.

    Raises:
        InfraError: it does not compile, run, or come to an end.
    """
    command = [
        *mortal_words(),
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
        f"the native replica did not run: {why.splitlines()[0] if why else 'it said nothing'}.",
        remedy="Look whether this process may use the CPUs it is given.",
    )


def usual_threads() -> int:
    """The mail's."""
    return int(stated()["mail"]["cpus"])


def allowed_cpus() -> list[int]:
    """CPUs of this process."""
    return sorted(os.sched_getaffinity(0))
