# SPDX-License-Identifier: GPL-2.0-or-later
"""Base of `qemu` and `vng`: a guest's process with its ports, its console and its exit."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import stat
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from duet.base.errors import DuetError, InfraError, KernelError
from duet.confine.sandbox import Identity, Limits
from duet.guests.boot import BootFailed, BootReport, boot
from duet.guests.enclosure import Enclosure, lane_budget
from duet.guests.limits import CONSOLE_TAIL_BYTES, HANG_UP_S, MAX_CPUS
from duet.guests.ports import Ports
from duet.guests.types import Accel, Chunk, GuestFacts, GuestSpec
from duet.processes.owned import OwnedProcess
from duet.processes.run_dir import OWNER, RunDir
from duet.wire.frames import FrameType

# Last bytes of a serial console, and the panic or OOM kill that these bytes report.

_PANIC = re.compile(r"Kernel panic - not syncing: ?([^\n\r]*)")
_OUT_OF_MEMORY = re.compile(
    r"^(?:\[[^]\n]*\] )?Out of memory: Killed process \d+ \(([^)\n]*)\)", re.MULTILINE
)
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1bc|\r")


class Console:
    """The newest bytes of an output stream.

    Args:
        limit: largest number of bytes to keep.
    """

    def __init__(self, limit: int = CONSOLE_TAIL_BYTES) -> None:
        self._limit = limit
        self._tail = bytearray()

    def feed(self, text: bytes) -> None:
        """Append bytes, and drop the oldest bytes beyond the limit."""
        self._tail += text
        if len(self._tail) > self._limit:
            del self._tail[: len(self._tail) - self._limit]

    def tail(self) -> str:
        """Return the kept bytes as text, without terminal control sequences."""
        return _ESCAPES.sub("", self._tail.decode("utf-8", "replace")).lstrip("\x00")

    def panic(self) -> str | None:
        """Return the reason for a kernel panic; None if the kept bytes report no panic.

        Source: panic() in kernel/panic.c, 6.1.
        """
        found = _PANIC.search(self.tail())
        return found[1].strip() if found else None


def killed_for_memory(text: str) -> str | None:
    """Return the name of the last process that the guest's OOM killer killed, or None.

    Kills caused by a memory cgroup's limit do not count, because a workload may cause them
    intentionally.

    Source: __oom_kill_process() in mm/oom_kill.c, 6.1.
    """
    found = _OUT_OF_MEMORY.findall(text)
    return str(found[-1]) if found else None


QMP_SOCKET = "qmp.sock"
"""Name, in the run directory, of the socket of QEMU's monitor for our own commands."""
SCOPE_SOCKET = "scope.sock"
"""Name, in the run directory, of the microscope's socket."""
_SHUTDOWN_TYPE = FrameType.SHUTDOWN.to_bytes(2, "little")


class Machine(ABC):
    """One attempt to run a guest's process. A Guest owns at most one Machine at a time."""

    def __init__(self, spec: GuestSpec, accel: Accel, verbose: bool) -> None:
        self.spec = spec
        self.accel = accel
        self.verbose = verbose
        self.cpus = 1 if spec.clock == "count" else spec.vcpus
        self.console = Console()
        self.errors = Console()
        self.folder = Path()
        self._stack = AsyncExitStack()
        self._asked_to_end = spec.boot_plan is not None
        self._process: OwnedProcess | None = None
        self._ports: Ports | None = None
        self._run_dir: RunDir | None = None
        self._descriptors: list[int] = []
        self._readable: list[Path] = []
        self._enclosure = Enclosure(self._stack, self.death_signal)
        self.uid: int | None = None
        """User id of the process, if the process has a separate user."""

    folder_base: Path | None = None  # parent of the run directory; None: the default of RunDir
    confines = False
    """Whether the process gets a separate user, limits and namespaces (duet.guests.enclosure)."""

    def limits(self) -> Limits:
        """Return the resource limits of a confined process."""
        return Limits()

    def groups(self) -> tuple[int, ...]:
        """Return the supplementary groups of a confined process."""
        return ()

    def reach(self, path: Path) -> str:
        """Return a path through which the process can read a file.

        The process may run as a user that cannot access the parent folders, so it gets an open file
        descriptor. A file that this user cannot read is made readable for all, because kernels and
        root images are not secret.

        Raises:
            InfraError: the file cannot be opened.
        """
        if self.uid is None:
            self._readable.append(path.absolute())
            return str(path.absolute())
        number = open_for_all(path, self.spec.arm)
        self._stack.callback(os.close, number)
        self._descriptors.append(number)
        return f"/proc/self/fd/{number}"

    @abstractmethod
    def argv(self, folder: Path, sockets: dict[int, Path]) -> Sequence[str]:
        """Return the command line.

        Args:
            folder: the run directory.
            sockets: stream -> path of a port's socket, on which the host already listens.
        """

    death_signal = "KILL"
    grace_s: float = 0

    @property
    def pid(self) -> int:
        """Process id of QEMU or of its launcher; 0 if it is not yet known."""
        return self._enclosure.pid(self._process.pid) if self._process else 0

    @property
    def ports(self) -> Ports:
        assert self._ports is not None, "the machine was not started"
        return self._ports

    async def start(self) -> None:
        """Start the process, and return before the agent has sent a byte.

        Raises:
            InfraError: the spec has an invalid number of vCPUs, or QEMU cannot start.
        """
        check_cpus(self.cpus)
        if self.confines:
            self.uid = self._stack.enter_context(Identity()).uid
        self._run_dir = RunDir(self.folder_base, uid=self.uid)
        self.folder = self._stack.enter_context(self._run_dir)
        self._ports = await self._stack.enter_async_context(Ports(self.folder, self.cpus))
        words = self.argv(self.folder, self._ports.paths)
        for path in self.folder.iterdir():
            if path.name != OWNER:
                self._run_dir.give_to_guest(path)
        if self.confines:
            self._enclosure.join(lane_budget(self.spec.memory_mib))
            user = (self.uid, self.groups())
            words = self._enclosure.wrap(
                words, self.folder, self.limits(), self.accel, self._readable, user
            )
        self._process = OwnedProcess(
            words,
            before=self._enclosure.before,
            folder=self.folder if self.confines else None,
            descriptors=self._descriptors,
            joins=self._enclosure.joins,
            console=self.console,
            errors=self.errors,
            on_exit=self._on_exit,
            death_signal=self.death_signal,
            grace_s=self.grace_s,
        )
        await self._stack.enter_async_context(self._process)

    def seal(self) -> None:
        if self._run_dir:
            self._run_dir.seal()

    async def close(self) -> None:
        """End the process and remove its directory."""
        self._asked_to_end = True
        await self._stack.aclose()

    def _on_exit(self) -> None:
        # The sockets may still contain bytes. The sockets close when QEMU's buffers are empty. The
        # host waits at most HANG_UP_S for this.
        loop = asyncio.get_running_loop()
        loop.call_later(0.0 if self.ports.closed.is_set() else HANG_UP_S, self.ports.finish)

    async def wait_end(self) -> None:
        """Wait until the process has ended."""
        assert self._process is not None
        await self._process.wait()

    async def chunks(self) -> AsyncGenerator[Chunk, None]:
        async for chunk in self.ports.chunks():
            yield chunk
        failure = self.failure()
        if failure:
            raise failure

    async def send(self, frame: bytes) -> None:
        if frame[4:6] == _SHUTDOWN_TYPE:
            self._asked_to_end = True
        await self.ports.send(frame)

    def tail(self) -> str:
        """Return the last output on console and standard error, for the detail of an error."""
        errors = self.errors.tail().strip()
        return self.console.tail() + (f"\n--- standard error ---\n{errors}\n" if errors else "")

    def failure(self) -> DuetError | None:
        """Return an error that says why the process ended; None if it still runs or we ended it."""
        code = self._enclosure.code(self._process.returncode if self._process else None)
        return why_ended(
            self.spec.arm,
            panic=self.console.panic(),
            code=None if self._asked_to_end else code,
            used_up=self._enclosure.used_up(),
            detail=self.tail(),
        )


def check_cpus(cpus: int) -> None:
    """Raise InfraError unless the number of vCPUs is from 1 to MAX_CPUS."""
    if not 1 <= cpus <= MAX_CPUS:
        raise InfraError(
            f"a guest has 1 to {MAX_CPUS} vCPUs, not {cpus}.",
            remedy="Choose another number of vCPUs.",
        )


def open_for_all(path: Path, arm: str) -> int:
    """Make a file readable for every user and open it; the caller closes the file descriptor.

    Raises:
        InfraError: the file cannot be opened.
    """
    number = -1
    try:
        number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        mode = os.fstat(number).st_mode
        if not mode & stat.S_IROTH:
            os.fchmod(number, stat.S_IMODE(mode) | stat.S_IROTH)
    except OSError as failed:
        if number >= 0:
            os.close(number)
        raise InfraError(
            f"the guest of lane {arm} cannot read a file: {failed}.",
            remedy="Build it again with ./duet build, into a writable cache.",
        ) from failed
    return number


def why_ended(
    arm: str, *, panic: str | None, code: int | None, used_up: bool, detail: str
) -> DuetError | None:
    """Return the error of a machine that ended; None if the machine runs or we ended it.

    Args:
        panic: reason for the guest kernel's panic, if any.
        code: exit code, negative for a signal; None if the machine runs or we ended it.
        used_up: whether the host's kernel killed the machine because the lane exceeded its memory
            limit.
        detail: last output on console and standard error.
    """
    if panic is not None:
        return KernelError(
            f"the kernel of lane {arm} panicked: {panic}.",
            remedy="Start the run again; if it panics again, look at this arm's patch.",
            detail=detail,
        )
    if code is None:
        return None
    if used_up:
        return InfraError(
            f"QEMU of lane {arm} has used up the memory of its lane, and the host killed it.",
            remedy="Reduce the work of the lesson's guests; docs/OPERATING.md has the limits.",
            detail=detail,
        )
    if code < 0:
        how = f"was killed by {signal.Signals(-code).name}"
    elif code > 0:
        how = f"ended with exit code {code}"
    else:
        how = "ended unexpectedly"
    return InfraError(
        f"QEMU of lane {arm} {how}.",
        remedy="Start the run again; if it happens again, look at the detail and at dmesg.",
        detail=detail,
    )


class MachineGuest(ABC):
    """A guest that is a process. Implements duet.guests.types.Guest."""

    kind = "machine"
    deadline_s: float = 0

    def __init__(self, spec: GuestSpec) -> None:
        self.spec = spec
        self.facts = GuestFacts(self.kind, Accel.NONE, None, "", 0.0)
        self.reports: tuple[BootReport, ...] = ()
        self.cloned = False
        self._machine: Machine | None = None

    @abstractmethod
    async def prepare(self) -> tuple[Accel, str]:
        """Check the spec, and return the accelerator and QEMU's version.

        Raises:
            InputError: this kind of guest does not support the spec.
            InfraError: QEMU or a file of the guest is missing.
        """

    @abstractmethod
    def machine(self, accel: Accel, verbose: bool) -> Machine:
        """Create a machine for one attempt to boot."""

    async def start(self, accel: Accel, version: str) -> Machine:
        """Boot a machine and return it once its agent has sent a byte.

        Raises:
            DuetError: no attempt to boot succeeded.
        """
        try:
            machine, self.reports = await boot(
                lambda verbose: self.machine(accel, verbose), self.deadline_s
            )
        except BootFailed as failed:
            self.reports = failed.reports
            raise failed.error from None
        return machine

    async def __aenter__(self) -> MachineGuest:
        accel, version = await self.prepare()
        began = time.monotonic()
        self._machine = await self.start(accel, version)
        self.facts = GuestFacts(
            kind=self.kind,
            accel=accel,
            pid=self._machine.pid,
            qemu_version=version,
            boot_s=time.monotonic() - began,
            qmp_socket=self._machine.folder / QMP_SOCKET,
            scope_socket=self._machine.folder / SCOPE_SOCKET if self.spec.microscope else None,
            uid=self._machine.uid,
            cloned=self.cloned,
            extra={"attempts": str(len(self.reports))},
        )
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._machine:
            await self._machine.close()

    def chunks(self) -> AsyncIterator[Chunk]:
        assert self._machine is not None, "the guest was not entered"
        return self._machine.chunks()

    async def send(self, frame: bytes) -> None:
        assert self._machine is not None, "the guest was not entered"
        await self._machine.send(frame)

    def console_tail(self) -> str:
        return self._machine.tail() if self._machine else ""


# Measure how much memory of the host a guest's process uses.


def pss_bytes(pid: int) -> int:
    """Return the proportional set size, in which a page shared by n processes counts 1/n.

    Source: /proc/PID/smaps_rollup (proc(5)).

    Raises:
        InfraError: the process does not exist, or this user may not read it.
    """
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        return next(int(line.split()[1]) << 10 for line in text.splitlines() if line[:4] == "Pss:")
    except (OSError, StopIteration, ValueError) as error:
        raise InfraError(
            f"the memory of process {pid} cannot be read: {error}.",
            remedy="Run this as the user that started the guest, or as root.",
        ) from error
