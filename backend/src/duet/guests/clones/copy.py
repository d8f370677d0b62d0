# SPDX-License-Identifier: GPL-2.0-or-later
"""Copy of a template: a QEMU that loads the state and resumes with a new time and new entropy."""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from duet.base.errors import InfraError
from duet.guests.clones.template import (
    WITHOUT_MEMORY,
    FileMemoryMachine,
    Template,
    check_amendment,
    copy_sparse,
    split_plan,
)
from duet.guests.limits import CLOCK_STEP_S, REHEARSAL_S, RESUME_S, SETTLE_S
from duet.guests.machine import QMP_SOCKET, pss_bytes
from duet.guests.ports import Ports
from duet.guests.qmp import Monitor
from duet.guests.types import CTL_STREAM, Accel, Chunk, GuestSpec
from duet.wire import (
    ENTROPY_BYTES,
    Beat,
    Drained,
    Ended,
    Frame,
    FrameReader,
    FrameType,
    GuestError,
    HostFrame,
    Line,
    Resume,
    Resumed,
    Stats,
    decode_frame,
    encode,
    pack_frame,
)

# Load the template's state into QEMU through its monitor.

POLL_S = 0.005
"""Interval at which we poll whether a ready copy has loaded its state."""


async def wait_connected(ports: Ports, end: Coroutine[None, None, None]) -> bool:
    """Wait until QEMU has connected its control port; return False if QEMU ended instead.

    Args:
        end: awaitable that returns when QEMU has ended.
    """
    ended = asyncio.create_task(end)
    connected = asyncio.create_task(ports.joined.wait())
    try:
        await asyncio.wait((ended, connected), return_when=asyncio.FIRST_COMPLETED)
        return not ended.done()
    finally:
        for task in (ended, connected):
            task.cancel()


async def start_loading(monitor: Monitor, state: int) -> None:
    """Make QEMU start loading the state.

    Args:
        state: file descriptor of the migration stream, which QEMU has inherited.

    Raises:
        InfraError: QEMU refuses, or has ended.
    """
    await monitor.do("migrate-set-capabilities", capabilities=WITHOUT_MEMORY)
    await monitor.do("migrate-incoming", uri=f"fd:{state}")


async def wait_loaded(monitor: Monitor) -> None:
    """Wait until QEMU has loaded the state. The caller sets the timeout.

    Raises:
        InfraError: QEMU has ended, for example because it cannot load the state.
    """
    while True:
        state = await monitor.do("query-migrate")
        if state.get("status") == "completed":
            return
        await asyncio.sleep(POLL_S)


# Read a copy's ports while `duet-check` runs, and while a plan is set up.

ENDED = "it ended"
Chunks = AsyncGenerator[Chunk, None]


async def find_problem(chunks: Chunks, *, traced: bool) -> str:
    """Return the fault of a copy that runs `duet-check`; "" if all data of the copy has arrived.

    The caller sets the timeout.

    Args:
        chunks: bytes of the copy's ports after START.
        traced: whether the plan traces, so that events are expected.
    """
    run, reader = _CheckRun(traced), FrameReader()
    async with aclosing(chunks):
        async for chunk in chunks:
            if chunk.stream != CTL_STREAM:
                run.received_bytes[chunk.stream] += len(chunk.payload)
            else:
                for raw in reader.feed(chunk.payload):
                    run.add_frame(decode_frame(raw))
            if run.error or run.over:
                return run.error or run.problem()
    return ENDED


async def read_until(last: FrameType, chunks: Chunks) -> bytes:
    """Return the bytes of the control port up to the end of a frame of type `last`.

    The caller sets the timeout.

    Args:
        last: type of a frame after which the agent waits, so that no byte follows the frame.

    Raises:
        InfraError: the agent reports an error, or the guest has ended.
    """
    said, reader = bytearray(), FrameReader()
    async with aclosing(chunks):
        async for chunk in chunks:
            for raw in reader.feed(chunk.payload) if chunk.stream == CTL_STREAM else ():
                said += pack_frame(raw.type, raw.payload)
                if raw.type == FrameType.ERROR:
                    why = getattr(decode_frame(raw), "sentence", "").rstrip(".")
                    raise InfraError(f"its agent reports: {why}.", remedy="Read the detail.")
                if raw.type == last:
                    return bytes(said)
    raise InfraError(f"{ENDED}.", remedy="Read the detail.")


class _CheckRun:
    """Progress of one run of `duet-check`."""

    def __init__(self, traced: bool) -> None:
        self._traced = traced
        self.received_bytes: Counter[int] = Counter()
        """Trace bytes received, by CPU."""
        self.error = ""
        self._said, self._lost = "", 0
        self._status: int | None = None
        self._sent: tuple[int, ...] = ()
        self._drained = False

    @property
    def over(self) -> bool:
        """Whether the run has ended and all data has arrived; pages may arrive after DRAINED."""
        here = all(self.received_bytes[cpu] >= count for cpu, count in enumerate(self._sent))
        return self._drained and here

    def problem(self) -> str:
        """Return the fault as text; "" if there is none."""
        if self._status:
            return self._said or f"its check ended with {self._status}"
        if self._lost:
            return f"{self._lost} events were lost"
        return "" if self.received_bytes.total() or not self._traced else "no events came"

    def add_frame(self, frame: Frame) -> None:
        match frame:
            case GuestError(sentence):
                self.error = sentence.rstrip(".")
            case Line(_, _, text):
                self._said = text
            case Ended(_, status):
                self._status = status
            case Beat(_, cpus):
                self._sent = tuple(cpu.bytes_sent for cpu in cpus)
            case Stats(_, cpus):
                self._lost = sum(cpu.overrun + cpu.dropped for cpu in cpus)
            case Drained():
                self._drained = True
            case _:
                pass


# Rehearsal: a ready copy runs `duet-check`, then sets up its plan again.
#
# QEMU translates guest code when the code first runs. From RESUME to the first event of a fresh
# copy, the translation takes four fifths of the CPU time. During a rehearsal, QEMU translates most
# of the code that a workload needs: fork, exec, page faults, tracing and the ports. After a
# rehearsal, the copy is like any guest that gets a second plan: buffers, probes, counters and the
# scratch disk are set up again.

REMEDY = "Its ready copies skip the rehearsal, and start more slowly."


async def rehearse(ports: Ports, plan: str) -> bytes:
    """Run `duet-check`, which the agent starts when it resumes, then set up the plan.

    Args:
        ports: ports of a ready copy.
        plan: the template's plan.

    Returns:
        Bytes of the control port from PLAN to READY.

    Raises:
        InfraError: the check failed, the agent refuses the plan, or REHEARSAL_S has passed.
    """
    try:
        async with asyncio.timeout(REHEARSAL_S):
            await ports.send(encode(HostFrame(FrameType.START)))
            why = await find_problem(ports.chunks(), traced="trace off" not in plan)
            if why:
                raise InfraError(f"a copy failed its check: {why}.", remedy=REMEDY)
            await ports.send(encode(HostFrame(FrameType.PLAN, plan)))
            setup = await read_until(FrameType.READY, ports.chunks())
            await asyncio.sleep(SETTLE_S)
            return setup
    except TimeoutError:
        raise InfraError(
            f"a copy's rehearsal did not end within {REHEARSAL_S:g} s.", remedy=REMEDY
        ) from None


BOOT_INSTEAD = "A guest boots instead; if this happens again, restart the server."


class CloneMachine(FileMemoryMachine):
    """A copy of a template.

    Args:
        amendment: plan lines that this copy gets in addition to the template's plan; None to take
            them from the spec's plan (`split_plan`).
    """

    share = "off"

    def __init__(
        self, spec: GuestSpec, accel: Accel, template: Template, amendment: str | None = None
    ) -> None:
        super().__init__(spec, accel, verbose=False)
        self._template = template
        self._amendment = split_plan(spec.plan or "")[1] if amendment is None else amendment
        self.resumed: Resumed | None = None
        self._setup = template.setup
        self.prepared = False
        """Whether the copy has loaded the template and is paused; start() then resumes it."""
        self._greeted = self._planned = False
        # These file descriptors are duplicated, because the store may evict the template while this
        # copy starts.
        self.memory = self._own(os.dup(template.memory))
        self._disks = [self._own(os.dup(disk)) for disk in template.disks]
        # The stream is opened again to get a separate offset, because other copies read the same
        # stream.
        self._state = self._own(os.open(f"/proc/self/fd/{template.state}", os.O_RDONLY))

    def _own(self, number: int) -> int:
        self._stack.callback(os.close, number)
        return number

    def argv(self, folder: Path, sockets: dict[int, Path]) -> Sequence[str]:
        """Return the command line; also copy the template's disks into `folder`."""
        words = [*super().argv(folder, sockets), "-S", "-incoming", "defer"]
        self._descriptors.append(self._state)
        for number, disk in enumerate(self._disks):
            with (folder / f"disk{number}").open("r+b") as image:
                copy_sparse(disk, image.fileno())
        return words

    @property
    def alive(self) -> bool:
        """Whether QEMU was started and has not ended."""
        return self._process is not None and self._process.returncode is None

    async def prepare(self, rehearsed: bool = False) -> None:
        """Start QEMU, load the template and rehearse if requested. Leave the guest paused.

        Raises:
            InfraError: QEMU or the agent refuses, or does not answer in time.
        """
        await super().start()
        async with self._monitor() as monitor:
            await start_loading(monitor, self._state)
            await wait_loaded(monitor)
            if rehearsed:
                await monitor.do("cont")
                self._check_fresh(await self._resume(check_amendment()))
        if rehearsed:
            self.seal()
            self._setup = await rehearse(self.ports, self._template.plan)
            async with self._monitor() as monitor:
                await monitor.do("stop")
        self.prepared = True

    def assign(self, spec: GuestSpec) -> None:
        """Assign the copy to a lane. The specs of copy and lane may differ only in their plans."""
        self.spec = spec
        self._amendment = split_plan(spec.plan or "")[1]

    async def start(self) -> None:
        """Start QEMU and load the template, unless the copy is prepared; then resume the guest.

        Raises:
            InfraError: QEMU or the agent refuses, or does not answer within RESUME_S.
        """
        if not self.prepared:
            await super().start()
        async with self._monitor() as monitor:
            if not self.prepared:
                await start_loading(monitor, self._state)
            await monitor.do("cont")  # QEMU resumes the guest as soon as the state is loaded
            self.resumed = await self._resume(self._amendment)
        self._check_fresh(self.resumed)

    @asynccontextmanager
    async def _monitor(self) -> AsyncIterator[Monitor]:
        """Wait for QEMU and connect to its monitor. RESUME_S limits the `with` block."""
        try:
            async with asyncio.timeout(RESUME_S):
                if not await wait_connected(self.ports, self.wait_end()):
                    raise self._refusal("QEMU has ended.")
                async with Monitor(self.folder / QMP_SOCKET) as monitor:
                    yield monitor
        except InfraError as error:
            if error.remedy == BOOT_INSTEAD:
                raise
            raise self._refusal(error.sentence) from error  # the usual cause is that QEMU has ended
        except TimeoutError:
            raise InfraError(
                f"the copy of lane {self.spec.arm} did not resume its guest within {RESUME_S:g} s.",
                remedy=BOOT_INSTEAD,
                detail=self.tail(),
            ) from None

    async def _resume(self, amendment: str) -> Resumed:
        """Send RESUME and return the agent's answer. The agent sends nothing else before START."""
        resume = Resume(time.time_ns(), secrets.token_bytes(ENTROPY_BYTES), amendment)
        await super().send(encode(resume))
        reader = FrameReader()
        async with aclosing(self.ports.chunks()) as chunks:
            async for chunk in chunks:
                for raw in reader.feed(chunk.payload) if chunk.stream == CTL_STREAM else ():
                    frame = decode_frame(raw)
                    if isinstance(frame, Resumed):
                        return frame
                    if isinstance(frame, GuestError):
                        raise self._refusal(frame.sentence)
        raise self._refusal("its ports were closed")

    def _refusal(self, why: str) -> InfraError:
        return InfraError(
            f"the copy of lane {self.spec.arm} cannot resume: {why}",
            remedy=BOOT_INSTEAD,
            detail=self.tail(),
        )

    def _check_fresh(self, resumed: Resumed) -> None:
        if why := why_not_fresh(resumed, self._template):
            raise self._refusal(why)

    async def chunks(self) -> AsyncGenerator[Chunk, None]:
        """Yield the template's greeting (up to HELLO), then the bytes of all ports."""
        if not self._greeted:
            self._greeted = True
            yield Chunk(CTL_STREAM, self._template.greeting, time.monotonic_ns())
        async for chunk in super().chunks():
            yield chunk

    async def send(self, frame: bytes) -> None:
        """Send a frame to the agent.

        The plan of the spec is already set up in the copy. So if the first PLAN frame has the
        spec's plan, this method queues the answer and does not send the frame. All later PLAN
        frames go to the agent.
        """
        plan = frame == encode(HostFrame(FrameType.PLAN, self.spec.plan or ""))
        if plan and not self._planned:
            self._planned = True
            self.ports.queue_control(self._setup)
        else:
            await super().send(frame)


def why_not_fresh(resumed: Resumed, template: Template) -> str:
    """Return why a copy is not fresh, or "". Record the copy's random bytes in the template."""
    if abs(resumed.realtime_ns - time.time_ns()) > CLOCK_STEP_S * 1e9:
        return "its time of day was not set"
    if resumed.random in template.drawn:
        return "its random numbers are those of another copy"
    template.drawn.add(resumed.random)
    return ""


READY_BYTES = 50 << 20
"""Assumed memory (PSS) of a ready copy until the first copy has been measured. Usual: 47 MiB for a
single copy. With other copies it is less, because they share QEMU and the template."""
REHEARSED_BYTES = 110 << 20
"""Assumed memory (PSS) of a rehearsed copy. Usual: 73-108 MiB for a single copy, depending on the
lesson."""


@dataclass(frozen=True, slots=True)
class ReadyCopy:
    """A copy that is paused until a lane needs it.

    Args:
        machine: a prepared machine; its owner closes it.
        held_bytes: memory (PSS) that the copy uses.
        rehearsed: whether the copy has run `duet-check`.
    """

    machine: CloneMachine
    held_bytes: int
    rehearsed: bool


Prepare = Callable[[Template, GuestSpec, bool], Awaitable[ReadyCopy]]


async def prepare_copy(template: Template, spec: GuestSpec, rehearsed: bool) -> ReadyCopy:
    """Start a copy and load its template. Takes 60 ms, or 1 s with a rehearsal.

    Raises:
        DuetError: a step failed; the copy has ended.
    """
    machine = CloneMachine(spec, Accel.TCG, template)
    held_bytes = READY_BYTES
    try:
        await machine.prepare(rehearsed)
        with suppress(InfraError):
            held_bytes = await asyncio.to_thread(pss_bytes, machine.pid)
    except BaseException:
        await machine.close()
        raise
    return ReadyCopy(machine, held_bytes, rehearsed)
