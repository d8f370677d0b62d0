# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests as bytes, and back. A lesson travels by its name, a visitor's change as its text."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path
from typing import Final, TypeVar

import msgpack
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from duet import messages as m
from duet.base import files as durable
from duet.base.errors import InfraError, printable
from duet.base.settings import live_buffer_kb
from duet.lessons import load as lesson_cache
from duet.lessons.load import LessonFolder
from duet.lessons.own import with_own
from duet.messages.base import reader
from duet.messages.codec import Packet, labelled, pack_line
from duet.rpc.link import not_understood
from duet.runs.sources import JudgeRequest, MeasureRequest
from duet.session import RunSpec


class Part(BaseModel):
    """The body of a call or a note, of a server to a host process or to another server."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def packed(self) -> bytes:
        return bytes(msgpack.packb(self.model_dump()))


P = TypeVar("P", bound=Part)


def read(kind: type[P], body: bytes) -> P:
    """A body of that kind.

    Raises:
        InfraError: it is something else.
    """
    try:
        return kind.model_validate(msgpack.unpackb(body, raw=False))
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        why = type(error).__name__
        if isinstance(error, ValidationError):
            first = error.errors()[0]
            why = f"{'.'.join(map(str, first['loc'])):.80}: {first['msg']:.200}"
        raise not_understood(f"something that is no {kind.__name__}, {printable(why)},") from error


class OwnArm(Part):
    """An arm of a visitor's own: an arm of the lesson with a change on top."""

    name: str
    summary: str
    patch: str


class SentRun(Part):
    """A run that has not begun.

    Args:
        run: its first message, which pages get, too.
        missing: of its arms those whose kernel is not built; they do not run.
    """

    run: m.Run
    missing: list[str] = []
    own: list[OwnArm] = []


class Perform(Part):
    """Run it, on the guests of a slot.

    Args:
        lanes: those that run here. They begin when the note 'go' comes, since the others are on
            other hosts; []: all run here.
    """

    slot: int
    what: SentRun
    lanes: list[str] = []


class Expect(Part):
    """It may be asked for soon; which other ones may be is a call, 'others'."""

    what: SentRun


class Others(Part):
    """Runs that may be asked for later."""

    runs: list[SentRun]


class MeasureIt(Part):
    """Measure it."""

    what: SentRun
    repeats: int


class JudgeIt(Part):
    """Judge an arm by a challenge."""

    what: SentRun
    challenge: str
    arm: str


class OfRun(Part):
    """A request about a run, and what it needs: an act, a hold, or a moment of which records are
    wanted.
    """

    run_id: str
    name: str = ""
    value: int = 0
    on: bool = False
    arm: str = ""
    around_ns: float = 0
    row: int | None = None
    most: int = 0
    cpu: int | None = None


class Counts(Part):
    """How parked guests stand (guests.clones.TemplateCounts)."""

    counts: dict[str, int]


class Begin(Part):
    """What a host process is to be."""

    slots: int = Field(ge=1, le=64)
    source: str | None = None
    base_name: str | None = None


def first_message(spec: RunSpec) -> m.Run:
    """What is sent of a run before it has begun."""
    return m.Run(
        run_id=spec.run_id,
        lesson=spec.folder.slug,
        source="live",
        clock=spec.clock,
        shift=spec.shift,
        params=spec.params,
        workload=spec.workload,
        arms=[*spec.arms, *spec.missing],
        phase="preparing",
    )


def sent_run(spec: RunSpec) -> SentRun:
    """A run as it travels; its changes are read. Blocking for some KiB."""
    folder = spec.folder
    own = [
        OwnArm(
            name=arm,
            summary=folder.arm(arm).summary,
            patch=folder.changes[arm].read_text(encoding="utf-8"),
        )
        for arm in spec.arms
        if arm in folder.changes
    ]
    return SentRun(run=first_message(spec), missing=list(spec.missing), own=own)


class Requests:
    """Makes requests of what came.

    Args:
        folder: where patches of visitors' changes are written, by content.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def run(self, of: SentRun) -> RunSpec:
        """A run of a lesson that is here.

        Raises:
            InputError: there is no such lesson or arm here.
        """
        run, arms = of.run, tuple(arm for arm in of.run.arms if arm not in of.missing)
        return RunSpec(
            folder=self._lesson(of, arms),
            arms=arms,
            workload=run.workload,
            params=run.params,
            clock=run.clock,
            run_id=run.run_id,
            missing=tuple(of.missing),
            shift=run.shift,
            buffer_kb=live_buffer_kb(),
        )

    def measurement(self, of: MeasureIt) -> MeasureRequest:
        """A measurement. Raises as run()."""
        return MeasureRequest(self.run(of.what), of.repeats)

    def judgement(self, of: JudgeIt) -> JudgeRequest:
        """A judgement. Raises as run()."""
        return JudgeRequest(self.run(of.what), of.challenge, of.arm)

    def _lesson(self, of: SentRun, arms: Collection[str]) -> LessonFolder:
        folder = lesson_cache.find(of.run.lesson)
        for own in of.own:
            folder = with_own(folder, own.name, summary=own.summary, change=self._patch(own))
        for arm in arms:
            folder.arm(arm)
        return folder

    def _patch(self, own: OwnArm) -> Path:
        """Named as the arm, below a folder of a name from which a patch's path in manifests
        begins (recipe.read_patch).
        """
        text = own.patch.encode()
        digest = hashlib.sha256(text).hexdigest()
        place = self._folder / "kernel-patches" / digest[:16] / f"{own.name}.patch"
        if not place.is_file():
            place.parent.mkdir(parents=True, exist_ok=True)
            durable.write(place, text)
        return place


# Packets of a run on their way from a host process to the server.
#
# What comes is checked: nothing but messages of that run goes on to browsers, whatever the process
# beside the guests has become.


FIXED: Final = ("lesson", "source", "purpose", "clock", "shift", "workload", "arms")
"""What a run has from the beginning."""
SEQ_BYTES: Final = 8


def packed(packet: Packet) -> bytes:
    """A packet as it travels: a line's number, which its body does not have, and the body."""
    seq = packet.span.seq if packet.type == "line" and packet.span is not None else 0
    return seq.to_bytes(SEQ_BYTES, "little") + packet.body


def read_packet(
    travelled: bytes, of: m.Run, arms: Collection[str] | None = None
) -> tuple[m.SessionMessage, Packet]:
    """A message of a run, decoded and as it is sent to browsers.

    Args:
        of: the run's first message, which says what it is and which lanes it has.
        arms: of these lanes, the ones that are there; None: all.

    Raises:
        InfraError: it is none, or of another run.
    """
    body = travelled[SEQ_BYTES:]
    try:
        message: m.SessionMessage = reader(m.SessionMessage).validate_python(
            msgpack.unpackb(body, raw=False)
        )
    except (ValueError, TypeError, ValidationError, msgpack.UnpackException) as error:
        raise _odd("one that cannot be read") from error
    if message.run_id != of.run_id:
        raise _odd(f"one of the run '{message.run_id:.80}'")
    if isinstance(message, m.Run):
        if any(getattr(message, name) != getattr(of, name) for name in FIXED):
            raise _odd("one that makes another run of it")
    elif (arm := getattr(message, "arm", "")) not in (of.arms if arms is None else arms):
        raise _odd(f"one of a lane '{arm:.80}'")
    if isinstance(message, m.Line):
        seq = int.from_bytes(travelled[:SEQ_BYTES], "little")
        return message, pack_line(message, seq, body)
    return message, labelled(message, body)


def _odd(what: str) -> InfraError:
    return InfraError(
        f"the host process has sent a message that is none of the run: {what}.",
        remedy="Start the run again; if it happens again, look at the server's log.",
    )
