# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU as a template in the making, and as a copy of one.

The guest's memory is a file: the template's QEMU shares it, a copy maps it privately. The stream
of the rest goes over QEMU's migration with `x-ignore-shared`, which leaves that memory out
(docs/devel/migration.rst of QEMU). Both command lines name the same machine.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path

from duet.errors import InfraError
from duet.guests.clones.files import copy_sparse
from duet.guests.clones.plans import split_plan
from duet.guests.clones.template import Template
from duet.guests.limits import CLOCK_STEP_S, RESUME_S
from duet.guests.machine import QMP_SOCKET
from duet.guests.qemu import QemuMachine
from duet.guests.qmp import Monitor
from duet.guests.types import CTL_STREAM, Accel, Chunk, GuestSpec
from duet.processes.owned import find_program
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

WITHOUT_MEMORY = [{"capability": "x-ignore-shared", "state": True}]
MAKING_NICE = 10
BOOT_INSTEAD = "A guest is booted in its place; if it happens again, restart the server."


class FileMemoryMachine(QemuMachine):
    """A guest whose memory is the file behind a descriptor."""

    memory = -1
    share = "on"

    def memory_args(self) -> list[str]:
        """See QemuMachine.memory_args()."""
        self._descriptors.append(self.memory)
        size, path = self.spec.memory_mib, f"/proc/self/fd/{self.memory}"
        backend = f"memory-backend-file,id=ram,size={size}M,mem-path={path},share={self.share}"
        return ["-object", backend, "-M", "q35,memory-backend=ram", "-m", str(size)]


class ParkedMachine(FileMemoryMachine):
    """The guest of a template in the making. Nobody waits for it, so others go first."""

    def argv(self, folder: Path, sockets: dict[int, Path]) -> Sequence[str]:
        """See Machine.argv()."""
        nice = find_program("nice", "coreutils")
        return [nice, "-n", str(MAKING_NICE), *super().argv(folder, sockets)]


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
        words = [*super().argv(folder, sockets), "-incoming", "defer"]
        self._descriptors.append(self._state)
        for number, disk in enumerate(self._disks):
            with (folder / f"disk{number}").open("r+b") as image:
                copy_sparse(disk, image.fileno())
        return words

    async def start(self) -> None:
        """Start QEMU, load the template, let the guest go on with what is its own.

        Raises:
            InfraError: QEMU or the agent refuses, or does not answer in RESUME_S.
        """
        await super().start()
        try:
            async with asyncio.timeout(RESUME_S):
                await self._load()
                self.resumed = await self._resume()
        except TimeoutError:
            raise InfraError(
                f"the copy of lane {self.spec.arm} does not go on within {RESUME_S:g} s.",
                remedy=BOOT_INSTEAD,
                detail=self.tail(),
            ) from None
        self._check(self.resumed)

    async def _load(self) -> None:
        ended = asyncio.create_task(self.wait_end())
        joined = asyncio.create_task(self.ports.joined.wait())
        try:
            await asyncio.wait((ended, joined), return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                raise self._refusal("QEMU has ended")
        finally:
            for task in (ended, joined):
                task.cancel()
        async with Monitor(self.folder / QMP_SOCKET) as monitor:
            await monitor.do("migrate-set-capabilities", capabilities=WITHOUT_MEMORY)
            await monitor.do("migrate-incoming", uri=f"fd:{self._state}")

    async def _resume(self) -> Resumed:
        """Until the agent has answered; nothing else comes before START."""
        self._sent_ns = time.time_ns()
        entropy = secrets.token_bytes(ENTROPY_BYTES)
        await super().send(encode(Resume(self._sent_ns, entropy, self._amendment)))
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
        if abs(resumed.realtime_ns - time.time_ns()) > CLOCK_STEP_S * 1e9:
            raise self._refusal("its time of day was not set")
        if resumed.random in self._template.drawn:
            raise self._refusal("its random numbers are those of another copy")
        self._template.drawn.add(resumed.random)

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
            self.ports.say(self._template.setup)
        else:
            await super().send(frame)
