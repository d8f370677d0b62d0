# SPDX-License-Identifier: GPL-2.0-or-later
"""A QEMU that is a copy of a template: it loads the state, and goes on with what is its own."""

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

# QEMU is up, and is asked by its monitor, so that a copy has its template's state.

LOOK_S = 0.005
"""Between two looks whether the state is loaded, where nobody waits for the copy."""


async def joined(ports: Ports, end: Coroutine[None, None, None]) -> bool:
    """Until QEMU has connected its ports; False: it has ended instead.

    Args:
        end: returns when QEMU has ended.
    """
    ended = asyncio.create_task(end)
    there = asyncio.create_task(ports.joined.wait())
    try:
        await asyncio.wait((ended, there), return_when=asyncio.FIRST_COMPLETED)
        return not ended.done()
    finally:
        for task in (ended, there):
            task.cancel()


async def load(monitor: Monitor, state: int) -> None:
    """Have QEMU begin to read the state behind a descriptor that it has inherited.

    Raises:
        InfraError: it refuses, or has ended.
    """
    await monitor.do("migrate-set-capabilities", capabilities=WITHOUT_MEMORY)
    await monitor.do("migrate-incoming", uri=f"fd:{state}")


async def loaded(monitor: Monitor) -> None:
    """Until it has read all. It ends if it cannot, and so does the connection. The caller sets
    the time limit.

    Raises:
        InfraError: it has ended.
    """
    while True:
        state = await monitor.do("query-migrate")
        if state.get("status") == "completed":
            return
        await asyncio.sleep(LOOK_S)


# What a copy says while `duet-check` runs in it, and while a plan is set up.

ENDED = "it ended"
Chunks = AsyncGenerator[Chunk, None]


async def verdict(chunks: Chunks, *, traced: bool) -> str:
    """What is wrong with a copy that runs `duet-check`, or nothing. The caller sets a time limit.

    Every byte of the run has come when this returns nothing.

    Args:
        chunks: what its ports bring after START.
        traced: its plan traces.
    """
    run, reader = _CheckRun(traced), FrameReader()
    async with aclosing(chunks):
        async for chunk in chunks:
            if chunk.stream != CTL_STREAM:
                run.came[chunk.stream] += len(chunk.payload)
            else:
                for raw in reader.feed(chunk.payload):
                    run.take(decode_frame(raw))
            if run.error or run.over:
                return run.error or run.why()
    return ENDED


async def said_until(last: FrameType, chunks: Chunks) -> bytes:
    """Bytes of the control port up to a frame after which the agent waits; see verdict().

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
                    raise InfraError(f"its agent reports: {why}.", remedy="Look at the detail.")
                if raw.type == last:
                    return bytes(said)
    raise InfraError(f"{ENDED}.", remedy="Look at the detail.")


class _CheckRun:
    """One run of `duet-check`, as far as it has come."""

    def __init__(self, traced: bool) -> None:
        self._traced = traced
        self.came: Counter[int] = Counter()
        """Bytes of each CPU."""
        self.error = ""
        self._said, self._lost = "", 0
        self._status: int | None = None
        self._sent: tuple[int, ...] = ()
        self._drained = False

    @property
    def over(self) -> bool:
        """It has ended, and all is here: ports are apart, so DRAINED may overtake pages."""
        here = all(self.came[cpu] >= count for cpu, count in enumerate(self._sent))
        return self._drained and here

    def why(self) -> str:
        """What was wrong, or nothing."""
        if self._status:
            return self._said or f"its check ended with {self._status}"
        if self._lost:
            return f"{self._lost} events were lost"
        return "" if self.came.total() or not self._traced else "no events came"

    def take(self, frame: Frame) -> None:
        """A frame of the control port."""
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


# A copy that stands ready has run `duet-check`, and its plan is set up anew.
#
# QEMU translates guest code when it first runs: four fifths of a fresh copy's CPU time from RESUME
# to its first event. A copy that has rehearsed has most of what a workload needs: fork, exec, page
# faults, tracing, the ports. It is a guest after a short run, as any guest that serves a second
# plan: buffers, probes, counters and the scratch disk are set up again.

REMEDY = "Copies of it stand ready without a rehearsal, and begin later."


async def rehearse(ports: Ports, plan: str) -> bytes:
    """Run what the agent was resumed with, which is `duet-check`, and set the plan up.

    Args:
        ports: of the copy, which is ready.
        plan: the template's.

    Returns:
        Bytes of the control port from PLAN to READY.

    Raises:
        InfraError: the copy is not sound, refuses the plan, or takes REHEARSAL_S.
    """
    try:
        async with asyncio.timeout(REHEARSAL_S):
            await ports.send(encode(HostFrame(FrameType.START)))
            why = await verdict(ports.chunks(), traced="trace off" not in plan)
            if why:
                raise InfraError(f"a copy is not sound: {why}.", remedy=REMEDY)
            await ports.send(encode(HostFrame(FrameType.PLAN, plan)))
            setup = await said_until(FrameType.READY, ports.chunks())
            await asyncio.sleep(SETTLE_S)
            return setup
    except TimeoutError:
        raise InfraError(
            f"a copy's rehearsal was not over within {REHEARSAL_S:g} s.", remedy=REMEDY
        ) from None


BOOT_INSTEAD = "A guest is booted in its place; if it happens again, restart the server."


class CloneMachine(FileMemoryMachine):
    """A copy of a template.

    Args:
        amendment: lines that it gets in place of the plan's own; None: those of the spec's plan.
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
        """It has loaded the template and stands; start() lets it go on."""
        self._greeted = self._planned = False
        # The store may give the template up while this copy starts.
        self.memory = self._own(os.dup(template.memory))
        self._disks = [self._own(os.dup(disk)) for disk in template.disks]
        # An offset of its own: other copies read the same stream.
        self._state = self._own(os.open(f"/proc/self/fd/{template.state}", os.O_RDONLY))

    def _own(self, number: int) -> int:
        self._stack.callback(os.close, number)
        return number

    def argv(self, folder: Path, sockets: dict[int, Path]) -> Sequence[str]:
        """See Machine.argv(); the disks get the template's bytes."""
        words = [*super().argv(folder, sockets), "-S", "-incoming", "defer"]
        self._descriptors.append(self._state)
        for number, disk in enumerate(self._disks):
            with (folder / f"disk{number}").open("r+b") as image:
                copy_sparse(disk, image.fileno())
        return words

    @property
    def alive(self) -> bool:
        """QEMU was started and has not ended."""
        return self._process is not None and self._process.returncode is None

    async def prepare(self, rehearsed: bool = False) -> None:
        """Start QEMU, load the template, rehearse if asked to; then the guest takes no CPU time.

        Raises:
            InfraError: QEMU or the agent refuses, or does not answer in time.
        """
        await super().start()
        async with self._monitor() as monitor:
            await load(monitor, self._state)
            await loaded(monitor)
            if rehearsed:
                await monitor.do("cont")
                self._check(await self._resume(check_amendment()))
        if rehearsed:
            self.seal()
            self._setup = await rehearse(self.ports, self._template.plan)
            async with self._monitor() as monitor:
                await monitor.do("stop")
        self.prepared = True

    def begin(self, spec: GuestSpec) -> None:
        """The lane that it is from now on; it differs from the one before in its plan alone."""
        self.spec = spec
        self._amendment = split_plan(spec.plan or "")[1]

    async def start(self) -> None:
        """Start QEMU and load the template, unless that is done; then let the guest go on with
        what is its own.

        Raises:
            InfraError: QEMU or the agent refuses, or does not answer in RESUME_S.
        """
        if not self.prepared:
            await super().start()
        async with self._monitor() as monitor:
            if not self.prepared:
                await load(monitor, self._state)
            await monitor.do("cont")  # as soon as the state is loaded
            self.resumed = await self._resume(self._amendment)
        self._check(self.resumed)

    @asynccontextmanager
    async def _monitor(self) -> AsyncIterator[Monitor]:
        """QEMU's monitor, once QEMU is up; for RESUME_S at most."""
        try:
            async with asyncio.timeout(RESUME_S):
                if not await joined(self.ports, self.wait_end()):
                    raise self._refusal("QEMU has ended.")
                async with Monitor(self.folder / QMP_SOCKET) as monitor:
                    yield monitor
        except InfraError as error:
            if error.remedy == BOOT_INSTEAD:
                raise
            raise self._refusal(error.sentence) from error  # mostly: QEMU has ended
        except TimeoutError:
            raise InfraError(
                f"the copy of lane {self.spec.arm} does not go on within {RESUME_S:g} s.",
                remedy=BOOT_INSTEAD,
                detail=self.tail(),
            ) from None

    async def _resume(self, amendment: str) -> Resumed:
        """Until the agent has answered; nothing else comes before START."""
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
            f"the copy of lane {self.spec.arm} cannot go on: {why}",
            remedy=BOOT_INSTEAD,
            detail=self.tail(),
        )

    def _check(self, resumed: Resumed) -> None:
        if why := why_not_fresh(resumed, self._template):
            raise self._refusal(why)

    async def chunks(self) -> AsyncGenerator[Chunk, None]:
        """See Guest.chunks(); the greeting is the template's."""
        if not self._greeted:
            self._greeted = True
            yield Chunk(CTL_STREAM, self._template.greeting, time.monotonic_ns())
        async for chunk in super().chunks():
            yield chunk

    async def send(self, frame: bytes) -> None:
        """See Guest.send(); the plan that the copy was given is answered here, once.

        A copy that is used for a further run takes that run's plan as any guest does.
        """
        plan = frame == encode(HostFrame(FrameType.PLAN, self.spec.plan or ""))
        if plan and not self._planned:
            self._planned = True
            self.ports.say(self._setup)
        else:
            await super().send(frame)


def why_not_fresh(resumed: Resumed, template: Template) -> str:
    """Why a copy may not go on, or nothing; what it drew is no other copy's from now on."""
    if abs(resumed.realtime_ns - time.time_ns()) > CLOCK_STEP_S * 1e9:
        return "its time of day was not set"
    if resumed.random in template.drawn:
        return "its random numbers are those of another copy"
    template.drawn.add(resumed.random)
    return ""


# One copy that stands ready, and how it is made: as it was parked, or with a rehearsal.

READY_BYTES = 50 << 20
"""Of one, before any has been measured (PSS). Usual: 47 MiB alone, less with others, since they
share QEMU and the template."""
REHEARSED_BYTES = 110 << 20
"""Of one that has rehearsed. Usual: 73-108 MiB alone, by what its lesson sets up."""


@dataclass(frozen=True, slots=True)
class ReadyCopy:
    """A copy that stands.

    Args:
        machine: prepared; whoever has it ends it.
        held_bytes: memory that it takes (PSS).
        rehearsed: see duet.guests.clones.copy.
    """

    machine: CloneMachine
    held_bytes: int
    rehearsed: bool


Prepare = Callable[[Template, GuestSpec, bool], Awaitable[ReadyCopy]]


async def prepare_copy(template: Template, spec: GuestSpec, rehearsed: bool) -> ReadyCopy:
    """Start a copy and load its template. Takes 60 ms, and 1 s where it rehearses.

    Raises:
        DuetError: that failed; nothing is left behind.
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
