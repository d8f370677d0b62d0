# SPDX-License-Identifier: GPL-2.0-or-later
"""The x-ray's process: `python -m duet.lenses.worker SOCKET VMLINUX [UID]`.

Only this process reads a guest's memory and its kernel's DWARF, so it confines itself first
(duet.confine.sandbox). It runs as the user of its guest's QEMU, with limits on memory, CPU time and
files. It can reach only that QEMU's sockets and memory.

Commands are JSON lines on standard input: {"run": 3, "probes": [{"probe", "hz", "of", "lesson"}]};
an empty list pauses. If a list names a probe more than once, its samples are named PROBE:OF.
Answers are frames (duet.base.frames) on standard output, each with a msgpack map. The process ends
when its standard input is closed, so it never outlives its owner.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import threading
import time
from collections import deque
from functools import partial
from pathlib import Path
from typing import Any

import drgn
import msgpack

from duet.base.budgets import LENS_CPU_S, LENS_FILES, LENS_MEMORY_BYTES
from duet.base.errors import DuetError
from duet.base.frames import MESSAGE, pack_frame, write_all
from duet.confine.sandbox import CHILD_ID, Limits, Permits, can_change_user, enter
from duet.lenses.attach import attach
from duet.lenses.clock import GuestClock
from duet.lenses.kernel import Kernel, LensError
from duet.lenses.limits import FAILED_IN_A_ROW, MAX_HZ, QUEUE_BYTES
from duet.lenses.loading import Probes, fault_of
from duet.lenses.memory import Gone, Memory
from duet.lenses.records import DTYPES
from duet.lenses.registry import Probe

GUEST, VMLINUX = "duet-guest", "duet-vmlinux"
"""Names of the guest's folder and the vmlinux in this process's root folder."""
FLUSH_S = 2.0
"""Timeout of the final flush."""
MOST_NAME = 63
"""Maximum length of a sample's probe name (duet.lenses.records)."""


class OutputQueue:
    """Writes a bounded queue to standard output in a thread, so a slow reader blocks nothing."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._queue: deque[bytes] = deque()
        self._bytes = 0
        self._change = threading.Condition()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()
        self.dropped = 0

    def put(self, tree: dict[str, Any], droppable: bool = False) -> bool:
        """Queue a message. Return False if the message is droppable and the queue is full."""
        frame = pack_frame(MESSAGE, msgpack.packb(tree))
        with self._change:
            if droppable and self._bytes + len(frame) > QUEUE_BYTES:
                self.dropped += 1
                return False
            self._queue.append(frame)
            self._bytes += len(frame)
            self._change.notify()
        return True

    def _write(self) -> None:
        while True:
            with self._change:
                while not self._queue:
                    self._change.wait()
                frame = self._queue[0]
            try:
                write_all(partial(os.write, self._fd), frame)
            except OSError:
                os._exit(0)  # the owner has closed the pipe
            with self._change:
                self._queue.popleft()
                self._bytes -= len(frame)
                self._change.notify()

    def flush(self) -> None:
        """Wait until the queue is written, but at most FLUSH_S."""
        end = time.monotonic() + FLUSH_S
        with self._change:
            while self._queue and (left := end - time.monotonic()) > 0:
                self._change.wait(left)


class Commands:
    """Reads commands in a thread, keeps the newest one, and exits when standard input ends."""

    def __init__(self) -> None:
        self._newest: dict[str, Any] | None = None
        self._change = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in sys.stdin:
            with self._change:
                self._newest = json.loads(line)
                self._change.notify()
        os._exit(0)

    def wait(self, seconds: float | None) -> dict[str, Any] | None:
        """Return a new command, or None after a timeout."""
        with self._change:
            if self._newest is None:
                self._change.wait(seconds)
            found, self._newest = self._newest, None
            return found


class ScheduledProbe:
    """A probe and the time of its next sample."""

    def __init__(self, name: str, probe: Probe, hz: float) -> None:
        self.name, self.probe = name, probe
        self.period = 1 / min(max(hz, 0.01), MAX_HZ)
        self.next = time.monotonic()
        self.seq = 0
        self.failed_in_a_row = 0

    def advance(self, now: float) -> int:
        """Move `next` into the future. Return how many samples were missed."""
        missed = max(0, int((now - self.next) / self.period))
        self.next += (missed + 1) * self.period
        return missed


def sample_name(probe: str, of: str, names: list[str]) -> str:
    """Return the name of a probe's samples, unique among the requested probes."""
    return probe if names.count(probe) < 2 else f"{probe}:{of}"[:MOST_NAME]


class Sampler:
    """Takes samples at the times when they are due. A command can change the probes."""

    def __init__(
        self, socket: Path, vmlinux: Path, outlet: OutputQueue, named: Path, probes: Probes
    ) -> None:
        self._outlet = outlet
        self._known = probes
        program, self.route = attach(socket, vmlinux, named)
        self.kernel = Kernel(program)
        self.memory = Memory(program)
        self.clock = GuestClock(self.kernel, self.memory)
        self._probes: dict[tuple[str, str, str], Probe] = {}
        self._due: list[ScheduledProbe] = []
        self._run = 0
        self._late = 0

    def set_probes(self, command: dict[str, Any]) -> None:
        """Start or stop sampling for a run, and reset the counters."""
        self._run, self._due, self._late = int(command["run"]), [], 0
        self.memory.torn = self.memory.failed = self._outlet.dropped = 0
        faults: list[tuple[str, Exception]] = []
        names = [str(config["probe"]) for config in command["probes"]]
        for config in command["probes"]:
            key = str(config["probe"]), str(config.get("lesson", "")), str(config.get("of", ""))
            try:
                if key not in self._probes:
                    name, lesson, of = key
                    probe = self._known.make(name, lesson, self.kernel, self.memory, of)
                    self._probes[key] = probe
                due = ScheduledProbe(
                    sample_name(key[0], key[2], names), self._probes[key], config.get("hz", 10)
                )
                self._due.append(due)
            except (DuetError, Gone) as error:
                faults.append((key[0], error))
        for name, fault in faults:
            self._tell_fault(name, fault)
        self._outlet.put({"kind": "ordered", "run": self._run, "probes": len(self._due)})

    def seconds_to_next(self) -> float | None:
        """Return the seconds until the next sample is due; None if there is no probe."""
        if not self._due:
            return None
        return max(0.0, min(due.next for due in self._due) - time.monotonic())

    def take_due_samples(self) -> None:
        """Take the samples that are due."""
        now = time.monotonic()
        for due in [due for due in self._due if due.next <= now]:
            self._late += due.advance(now)
            try:
                self._take_sample(due)
                due.failed_in_a_row = 0
            except Exception as error:  # reading inconsistent memory may raise any error
                due.failed_in_a_row += 1
                if not isinstance(error, Gone):
                    self.memory.failed += 1
                if due.failed_in_a_row >= FAILED_IN_A_ROW:
                    self._due.remove(due)
                    self._tell_fault(due.name, error)

    def _take_sample(self, due: ScheduledProbe) -> None:
        self.memory.begin()
        before = self.clock.read()
        worked = time.thread_time_ns()
        began = time.monotonic_ns()
        reading = due.probe.sample()
        ended = time.monotonic_ns()
        worked = time.thread_time_ns() - worked
        after = self.clock.read()
        sent = self._outlet.put(
            {
                "kind": "sample",
                "run": self._run,
                "probe": due.name,
                "seq": due.seq,
                "began_ns": began,
                "ended_ns": ended,
                "before_ns": before.at_least_ns,
                "after_ns": after.at_least_ns,
                "tick_ns": self.clock.tick_ns,
                "torn": self.memory.torn,
                "failed": self.memory.failed,
                "dropped": self._outlet.dropped + self._late,
                "n": reading.n,
                "columns": {name: column.tobytes() for name, column in reading.columns.items()},
                "dtypes": {name: DTYPES[c.dtype.str] for name, c in reading.columns.items()},
                "facts": reading.facts
                | {"quiet": float(before.event_ns == after.event_ns), "cpu_us": worked / 1e3},
                "texts": list(reading.texts),
            },
            droppable=True,
        )
        due.seq += sent

    def _tell_fault(self, probe: str, error: Exception) -> None:
        if isinstance(error, DuetError):
            message, remedy = error.sentence, error.remedy
        elif isinstance(error, Gone):
            message = f"{probe} cannot be read any more: {error}."
            remedy = "Check that the guest runs; if it does, report this."
        else:
            fault = fault_of(probe, error)
            message, remedy = fault.sentence, fault.remedy
        self._outlet.put(
            {
                "kind": "fault",
                "run": self._run,
                "probe": probe,
                "message": message,
                "remedy": remedy,
                "left": len(self._due),
                "torn": self.memory.torn,
                "failed": self.memory.failed,
            }
        )


def confine(socket: Path, vmlinux: Path, uid: int) -> tuple[Path, Path]:
    """Give up all permissions that reading does not need.

    Return the new paths of the socket and the vmlinux.

    If the process is root, its new root folder contains only the socket's folder and the vmlinux.
    Otherwise the process may be unable to traverse the parent folders. Then the socket's folder
    becomes the working directory, and the vmlinux is read through an open file descriptor.
    """
    drgn.Program()  # makes drgn import all its modules before the confinement
    permits = Permits(reads=True, unix=True, peek=True)
    limits = Limits(LENS_MEMORY_BYTES, LENS_CPU_S, LENS_FILES)
    if socket.parent.is_dir():
        os.chdir(socket.parent)
    reached = vmlinux
    shown = {GUEST: socket.parent}
    if vmlinux.is_file():
        number = os.open(vmlinux, os.O_RDONLY)
        mode = os.fstat(number).st_mode
        if can_change_user() and not mode & stat.S_IROTH:
            os.fchmod(number, stat.S_IMODE(mode) | stat.S_IROTH)
        reached = Path(f"/proc/self/fd/{number}")
        shown[VMLINUX] = vmlinux
    # `duet doctor` reports which confinement is missing.
    enter(limits, permits, uid=uid, shown=shown if socket.parent.is_dir() else None)
    own = Path("/", GUEST)
    return (own / socket.name, Path("/", VMLINUX)) if own.is_dir() else (Path(socket.name), reached)


def main() -> int:
    """Attach to the guest, then sample until the owner closes standard input."""
    output = os.dup(1)
    os.dup2(2, 1)  # drgn's own output must not mix with messages
    vmlinux = Path(sys.argv[2])
    uid = int(sys.argv[3]) if len(sys.argv) > 3 else CHILD_ID
    probes = Probes()
    socket, reached = confine(Path(sys.argv[1]), vmlinux, uid)
    outlet = OutputQueue(output)
    commands = Commands()
    try:
        sampler = Sampler(socket, reached, outlet, vmlinux, probes)
    except (LensError, Gone) as error:
        lens_error = error if isinstance(error, LensError) else LensError(str(error), remedy="")
        outlet.put({"kind": "failed", "message": lens_error.sentence, "remedy": lens_error.remedy})
        outlet.flush()
        return 3
    outlet.put({"kind": "attached", "route": sampler.route, "tick_ns": sampler.clock.tick_ns})
    while True:
        command = commands.wait(sampler.seconds_to_next())
        if command is not None:
            sampler.set_probes(command)
        sampler.take_due_samples()


if __name__ == "__main__":
    sys.exit(main())
