# SPDX-License-Identifier: GPL-2.0-or-later
"""The x-ray of one guest: the process that reads its memory, and the object that owns the process.

Nothing here raises. An error becomes a fault, which is reported to the listener.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

import msgpack

from duet.base.errors import DuetError
from duet.base.frames import MESSAGE, BadFrame, FrameCutter
from duet.guests.machine import Console
from duet.lenses.limits import ATTACH_S, FRAME_BYTES, SAMPLE_S
from duet.lenses.records import Route, unpack_message
from duet.processes.owned import OwnedProcess

# Parser of the messages that the x-ray's process writes.

Message = dict[str, object]


class MessageReader:
    """Parses messages from the process's output, and stops reading at invalid data."""

    def __init__(self, deliver: Callable[[Message], None]) -> None:
        self._deliver = deliver
        self._frames = FrameCutter(FRAME_BYTES, (MESSAGE,))
        self._broken = False

    def feed(self, text: bytes) -> None:
        if not self._broken:
            for message in self._messages(text):
                self._deliver(message)

    def _messages(self, text: bytes) -> Iterator[Message]:
        try:
            for frame in self._frames.feed(text):
                yield unpack_message(frame.payload)
        except (BadFrame, ValueError, msgpack.UnpackException):
            self._broken = True


_FEW_THREADS = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
"""Few threads, because each one reserves address space and the worker's is limited."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A probe to sample.

    Args:
        of: the probe's argument, which the probe documents.
        lesson: slug of a lesson whose probes take precedence; see duet.lenses.registry.
    """

    probe: str
    hz: float = 10
    of: str = ""
    lesson: str = ""


class XrayListener(Protocol):
    """A run that listens to an x-ray."""

    def on_raw(self, message: Message) -> None:
        """Handle a message of duet.lenses.worker: `sample`, `fault` or `ordered`."""

    def on_fault(self, message: str, remedy: str) -> None:
        """Handle the x-ray's fault, after which no more samples follow."""


class Xray:
    """Owns the process that reads a guest. Use with `async with`, which ends the process.

    Args:
        socket: a QMP socket that nothing else uses.
        vmlinux: vmlinux of the kernel that runs in the guest.
        uid: user of the process. The guest's QEMU runs as the same user, so that the process can
            read QEMU's memory. None means our own user.
    """

    def __init__(self, socket: Path, vmlinux: Path, uid: int | None = None) -> None:
        self._errors = Console()
        self._frames = MessageReader(self._on_message)
        self._process = OwnedProcess(
            [
                *(sys.executable, "-m", "duet.lenses.worker"),
                *(str(socket.absolute()), str(vmlinux.absolute())),
                *(() if uid is None else (str(uid),)),
            ],
            console=self._frames,
            errors=self._errors,
            on_exit=self._on_exit,
            commands=True,
            environment=_FEW_THREADS,
        )
        self._listener: XrayListener | None = None
        self._run = 0
        self._timer: asyncio.TimerHandle | None = None
        self._ending = False
        self.route: Route = "unknown"
        self.attached = False
        self.fault: tuple[str, str] | None = None
        """Sentence and remedy once the x-ray has failed."""
        self.settled = asyncio.Event()
        """Set when the x-ray has attached or failed."""

    async def __aenter__(self) -> Xray:
        try:
            await self._process.__aenter__()
        except DuetError as error:
            self._fail(error.sentence, error.remedy)
            return self
        self._watch(ATTACH_S, f"The x-ray did not attach within {ATTACH_S:g} s.")
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._ending = True
        self._unwatch()
        await self._process.__aexit__(None, None, None)

    @property
    def pid(self) -> int:
        return self._process.pid

    def sample(self, wanted: Sequence[Wanted], listener: XrayListener) -> None:
        """Begin a run: reset the counters, and send samples to `listener`."""
        self._run += 1
        self._listener = listener
        if self.fault:
            listener.on_fault(*self.fault)
            return
        self._order(wanted)
        if self.attached:
            self._watch(SAMPLE_S, _SILENT)

    def pause(self) -> None:
        """End a run: read nothing until the next run."""
        self._listener = None
        self._run += 1
        self._unwatch()
        self._order(())

    def _order(self, wanted: Sequence[Wanted]) -> None:
        command = {"run": self._run, "probes": [asdict(one) for one in wanted]}
        self._process.write(json.dumps(command).encode() + b"\n")

    def _on_message(self, message: Message) -> None:
        kind = message.get("kind")
        if kind == "attached":
            self.attached = True
            self.route = "memory" if message["route"] == "memory" else "unknown"
            if message["route"] == "qmp":
                self.route = "qmp"
            self._unwatch()
            if self._listener:
                self._watch(SAMPLE_S, _SILENT)
            self.settled.set()
        elif kind == "failed":
            self._fail(str(message["message"]), str(message["remedy"]))
        if self._listener and (kind == "attached" or message.get("run") == self._run):
            if kind == "sample":
                self._watch(SAMPLE_S, _SILENT)
            elif kind == "fault" and not message["left"]:
                self._unwatch()
            self._listener.on_raw(message)

    def _on_exit(self) -> None:
        if not self._ending and not self.fault:
            tail = self._errors.tail().strip().splitlines()
            why = f": {tail[-1]}" if tail else ""
            self._fail(f"The x-ray's process ended by itself{why}.", "Start the run again.")

    def _fail(self, sentence: str, remedy: str) -> None:
        self._unwatch()
        self.fault = sentence, remedy
        self.attached = False
        self.settled.set()
        if self._listener:
            self._listener.on_fault(sentence, remedy)

    def _watch(self, limit_s: float, sentence: str) -> None:
        self._unwatch()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(limit_s, self._late, sentence)

    def _unwatch(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _late(self, sentence: str) -> None:
        self._fail(sentence, "Check that the guest runs and that the host is not overloaded.")
        self._process.kill()


_SILENT = f"The x-ray gave no sample for {SAMPLE_S:g} s."
