# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison on its way: one program on one lease, and what it gave."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from duet.base.errors import DuetError, InfraError
from duet.confine.messages import plain
from duet.measure.model import HostFacts
from duet.pools.lease import Lease
from duet.pools.passed import environment
from duet.pools.types import Ended
from duet.runs.pooled.limits import PROGRESS_LETTERS
from duet.runs.pooled.parts import Part
from duet.runs.pooled.request import Request
from duet.runs.pooled.result import Odd, Result, read_result

PROGRAM: Final = ("-P", "-s", "-m", "duet.runs.pooled")
"""After the interpreter of a host."""
Say = Callable[[str], None]


class Lost(Exception):
    """A host, or what is on it, failed under a comparison: another host may do better.

    Args:
        sentence: what happened, with the host's name.
        final: another host would meet the same.
    """

    def __init__(self, sentence: str, final: bool = False) -> None:
        super().__init__(sentence)
        self.sentence, self.final = sentence, final


@dataclass(slots=True)
class Job:
    """A comparison that is to run.

    Args:
        apart: jobs on whose hosts it must not run.
        host: where it runs or ran.
        lost: why its first try gave nothing, as a sentence; "": it has had one try at most.
        lost_on: that try's host.
    """

    part: Part
    apart: list[Job] = field(default_factory=list)
    host: str = ""
    lost: str = ""
    lost_on: str = ""
    result: Result | None = None
    error: DuetError | None = None

    @property
    def avoid(self) -> tuple[str, ...]:
        """Hosts that it does not take."""
        names = (self.lost_on, *(other.host for other in self.apart))
        return tuple(dict.fromkeys(name for name in names if name))

    def facts(self) -> HostFacts:
        """Of its host; call it with a result."""
        assert self.result is not None and self.result.facts is not None
        seen = self.result.facts
        return HostFacts(
            comparison=self.part.name,
            table=self.part.table,
            layout=self.part.layout,
            node=self.host,
            cpu=seen.host.get("cpu", ""),
            qemu=seen.host.get("qemu", ""),
            accel=seen.host.get("accel", ""),
            kernels=seen.kernels,
            root=seen.root,
            waited_share=seen.waited_share,
            again=f"It ran a second time, since {self.lost}" if self.lost else "",
        )


class Lines:
    """Cuts what a program writes to standard error into lines of progress."""

    def __init__(self, say: Say) -> None:
        self._say, self._rest = say, b""

    def take(self, piece: bytes) -> None:
        """A piece of it."""
        *whole, self._rest = (self._rest + piece).split(b"\n")
        self._rest = self._rest[-4 * PROGRESS_LETTERS :]
        for line in whole:
            text = plain(line.decode("utf-8", "replace"))
            if text.startswith("run "):
                self._say(text[:PROGRESS_LETTERS])


async def carry_out(
    job: Job, lease: Lease, python: str, say: Say, program: Sequence[str] = PROGRAM
) -> Result:
    """Run it on a lease, which its caller releases; the lease's deadline bounds it.

    Args:
        say: gets progress.
        program: words after the interpreter.

    Raises:
        Lost: it gave no result.
    """
    asked = Request.of(job.part, lease.want.vcpus).model_dump_json().encode()
    lines = Lines(lambda text: say(f"{job.host}: {job.part.name}: {text}"))
    try:
        words = (python or sys.executable, *program)
        running = await lease.start(words, environment(), asked, said=lines.take)
    except InfraError as error:
        raise Lost(f"{job.host} took no program: {error.sentence}") from None
    ended = await running.wait()
    if ended.code is None or ended.lost:
        raise Lost(lost_words(job.host, lease, ended), final=_is_deadline(lease))
    try:
        return read_result(ended.output, job.part)
    except Odd as odd:
        said = plain(ended.last_line)
        why = f" ({said:.300})" if said else ""
        code = f"ended with code {ended.code}" if ended.code else "ended"
        raise Lost(f"the program on {job.host} {code}, and {odd}{why}.") from None


def lost_words(host: str, lease: Lease, ended: Ended) -> str:
    """Why a program gave nothing, with its host's name."""
    sentence = lease.loss.sentence if lease.loss is not None else ended.lost
    return sentence if host in sentence else f"{host} was lost: {sentence}"


def _is_deadline(lease: Lease) -> bool:
    return lease.loss is not None and lease.loss.whose == "deadline"
