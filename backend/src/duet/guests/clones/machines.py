# SPDX-License-Identifier: GPL-2.0-or-later
"""A QEMU that is a copy of a template: it loads the state, and goes on with what is its own."""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

from duet.errors import InfraError
from duet.guests.clones.file_memory import FileMemoryMachine
from duet.guests.clones.files import copy_sparse
from duet.guests.clones.loading import joined, load, loaded
from duet.guests.clones.plans import check_amendment, split_plan
from duet.guests.clones.rehearsal import rehearse
from duet.guests.clones.template import Template
from duet.guests.limits import CLOCK_STEP_S, RESUME_S
from duet.guests.machine import QMP_SOCKET
from duet.guests.qmp import Monitor
from duet.guests.types import CTL_STREAM, Accel, Chunk, GuestSpec
from duet.wire import (
    ENTROPY_BYTES,
    FrameReader,
    FrameType,
    GuestError,
    HostFrame,
    Resume,
    Resumed,
    decode_frame,
    encode,
)

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
