# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest of the stage `stream`: a scratch lesson, and one guest for all of its runs.

The lesson is lessons/91-stream beside this file. Its kernel is the stock kernel of lesson 02, so
nothing is built for it. trace-cmd and its libraries come from this machine.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from duet.base.errors import InfraError
from duet.base.settings import repo_root
from duet.guests import Guest, vcpu_time
from duet.guests.machine import Console, Machine, MachineGuest
from duet.guests.qemu import QemuGuest
from duet.guests.types import Accel
from duet.kernels import KernelSettings
from duet.lessons.load import load
from duet.runs.sources import kernel_sources
from duet.session import GuestRequest, LaneGuests, LaneSource, RunSession, SessionSink
from duet.session.events import LaneResult, Line
from duet.session.spec import check_run
from tools.bench.speed.guests.tree_cpu import tree_cpu_s

SLUG = "91-stream"
ARM = "stock"
LIKE = "02-grace-periods"
"""Lesson whose stock kernel is used."""
TRACE_CMD = "trace-cmd"
DEBUGFS = "debugfs"
DISK = "disk0"
BEGINS = re.compile(r"\w+: begins$")
ENDED = re.compile(r"\w+: \w+=\d+ seconds=")
NS = 1e9
LDD_S = 20.0


def write_stream(folder: Path) -> Path:
    """Write the lesson and its patches below `folder`, in the layout of DUET_LESSONS.

    Returns:
        The lesson's folder.
    """
    lesson = folder / "lessons" / SLUG
    patches = folder / "kernel-patches" / SLUG
    for made in (lesson, patches):
        shutil.rmtree(made, ignore_errors=True)
    shutil.copytree(Path(__file__).with_name("lessons") / SLUG, lesson)
    shutil.copytree(repo_root() / "kernel-patches" / LIKE / "both", patches / "both")
    shutil.copyfile(repo_root() / "kernel-patches" / LIKE / "srcu.patch", patches / "srcu.patch")
    for place, file in trace_cmd_files().items():
        target = lesson / "workload" / "files" / place
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    return lesson


def trace_cmd_files() -> dict[str, Path]:
    """Return path in the guest -> file, of trace-cmd and its libraries; empty if not installed."""
    program = shutil.which(TRACE_CMD)
    if program is None:
        return {}
    done = subprocess.run(
        ["ldd", program], capture_output=True, text=True, check=True, timeout=LDD_S
    )
    found = re.findall(r"(/\S+) \(0x", done.stdout)
    return {"usr/bin/trace-cmd": Path(program)} | {path[1:]: Path(path) for path in found}


class LineCounter(Console):
    """A serial console that counts the events of trace_pipe. It keeps only the newest output.

    Args:
        word: text that every event's line contains once.

    Attributes:
        at: host time of the last event, in s of the monotonic clock.
    """

    def __init__(self, word: bytes) -> None:
        super().__init__()
        self._word = word
        self._rest = b""
        self.count = 0
        self.at = 0.0

    def feed(self, text: bytes) -> None:
        """Count the events in lines that are complete."""
        super().feed(text)
        whole, _, self._rest = (self._rest + text).rpartition(b"\n")
        if new := whole.count(self._word):
            self.count += new
            self.at = time.monotonic()


class CountingGuest(QemuGuest):
    """A sealed guest whose serial console counts the events that arrive as text."""

    def __init__(self, guest: MachineGuest, word: bytes) -> None:
        super().__init__(guest.spec)
        self.lines = LineCounter(word)

    def machine(self, accel: Accel, verbose: bool) -> Machine:
        """Create a machine with the counting console."""
        made = super().machine(accel, verbose)
        made.console = self.lines
        return made


@dataclass(frozen=True, slots=True)
class Reading:
    """Times at one moment, in s.

    Args:
        at: monotonic clock of the host.
        vcpu: CPU time of the guest's vCPUs.
        host: CPU time of QEMU's other threads, of this process and of its other children.
    """

    at: float
    vcpu: float
    host: float

    @classmethod
    def now(cls, qemu: int) -> Reading:
        """Read the times. `qemu` is the process id of QEMU."""
        at = time.monotonic()
        vcpus = vcpu_time(qemu)
        vcpu = vcpus.ran_ns / NS if vcpus else 0.0
        return cls(at, vcpu, tree_cpu_s() - vcpu)


@dataclass
class Watch(SessionSink):
    """Readings when the program begins, and when it has ended."""

    qemu: Callable[[], int]
    begin: Reading | None = None
    end: Reading | None = None
    said: list[str] = field(default_factory=list)

    def on_line(self, arm: str, line: Line) -> None:
        """Store the line, and read the times at the program's first and last line."""
        self.said.append(line.text)
        if BEGINS.match(line.text):
            self.begin = Reading.now(self.qemu())
        elif ENDED.match(line.text):
            self.end = Reading.now(self.qemu())


@dataclass(frozen=True, slots=True)
class Ran:
    """One run in the guest.

    Args:
        work, work_s: what the program did, and how long this took on the guest's clock.
        vcpu_s: CPU time of the vCPUs while the program ran.
        host_s: CPU time of the host from the program's start to the end of the session, without the
            vCPUs.
        wall_s: host time from the program's start until the session was over.
        events: events that the session decoded; 0 if nothing was traced.
        lost: events that were lost; for a run of another tool, the kernel's count.
        begun_at: host time of the program's start, in s of the monotonic clock.
        said: the workload's lines.
    """

    work: int
    work_s: float
    vcpu_s: float
    host_s: float
    wall_s: float
    events: int
    lost: int
    begun_at: float
    said: tuple[str, ...]

    @property
    def per_s(self) -> float:
        """Work per second of the guest's clock."""
        return self.work / self.work_s

    def number(self, name: str) -> int:
        """Return NAME of the line `peer: NAME=...`; 0 if there is none."""
        found = [re.match(rf"peer: {name}=(\d+)$", line) for line in self.said]
        return next((int(match[1]) for match in found if match), 0)


class Rig:
    """One booted guest, in which all runs take turns, from open() to close().

    Args:
        root: folder that write_stream() has filled; it must be in DUET_LESSONS.
    """

    def __init__(self, root: Path) -> None:
        self._folder = load(SLUG, root)
        self._lanes = LaneGuests()
        self._source: LaneSource | None = None
        self._guest: CountingGuest | None = None

    async def open(self) -> None:
        """Find the kernel, and build the guest's root. The first run boots the guest.

        Raises:
            InfraError: the kernel is not built, or the root cannot be built.
        """
        sources = await kernel_sources(self._folder, (ARM,), KernelSettings.default())
        plain = sources[ARM]

        def guest(request: GuestRequest) -> Guest:
            made = plain.guest(request)
            assert isinstance(made, MachineGuest)
            self._guest = CountingGuest(made, b": task_rename: ")
            return self._guest

        self._source = replace(plain, guest=guest)
        await self._lanes.__aenter__()

    async def close(self) -> None:
        """End the guest."""
        await self._lanes.__aexit__(None, None, None)

    async def run(self, workload: str, probes: frozenset[str] = frozenset(), **params: int) -> Ran:
        """Run a workload in the guest, which is booted first if it is not running.

        Args:
            probes: events that the agent streams; if empty, the agent traces nothing.

        Raises:
            DuetError: the run failed.
        """
        assert self._source is not None
        spec = check_run(self._folder, [ARM], workload, "wall", params)
        spec = replace(spec, run_id="bench", traced=bool(probes), probes=probes, purpose="measure")
        watch = Watch(self._pid)
        session = RunSession(self._lanes, spec, {ARM: self._source}, watch)
        result = (await session.execute()).lanes[ARM]
        ended = Reading.now(self._pid())
        if result.error is not None:
            raise result.error
        if result.status:
            raise InfraError(
                f"{workload} ended with {result.status} in the guest: {' '.join(watch.said[-1:])}.",
                remedy="Run it again; if it happens again, look at guests/lessons/91-stream.",
            )
        return ran(result, watch, ended)

    def _pid(self) -> int:
        return (self._guest.facts.pid if self._guest else None) or 0

    @property
    def serial_events(self) -> int:
        """Events that have come over the serial port since the guest's boot."""
        return self._guest.lines.count if self._guest else 0

    @property
    def serial_at(self) -> float:
        """Host time of the last event that came over the serial port."""
        return self._guest.lines.at if self._guest else 0.0

    def copy_from_disk(self, name: str, target: Path) -> None:
        """Copy a file from the guest's scratch disk, which the guest has synced, to the host.

        Raises:
            InfraError: debugfs is missing, or there is no such file.
        """
        assert self._guest is not None
        socket = self._guest.facts.qmp_socket
        assert socket is not None
        program = shutil.which(DEBUGFS, path="/usr/sbin:/sbin")
        if program is None:
            raise InfraError("debugfs is missing.", remedy="Run: apt-get install e2fsprogs")
        target.unlink(missing_ok=True)
        disk = socket.parent / DISK
        subprocess.run(
            [program, "-R", f"dump /{name} {target}", str(disk)], check=True, capture_output=True
        )
        if not target.is_file():
            raise InfraError(f"the guest's disk has no {name}.", remedy="Run it again.")


def ran(result: LaneResult, watch: Watch, ended: Reading) -> Ran:
    """Summarize a finished run."""
    work, per_s = result.ops or 0, result.ops_per_s or 0.0
    begin = watch.begin or ended
    over = watch.end or ended
    made = Ran(
        work=work,
        work_s=work / per_s if per_s else 0.0,
        vcpu_s=over.vcpu - begin.vcpu,
        host_s=ended.host - begin.host,
        wall_s=ended.at - begin.at,
        events=result.metrics.events_read,
        lost=result.metrics.events_lost,
        begun_at=begin.at,
        said=tuple(watch.said),
    )
    return replace(made, lost=made.lost + made.number("overrun"))
