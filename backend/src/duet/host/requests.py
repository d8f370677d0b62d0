# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests as bytes, and back. A lesson travels by its name, a visitor's change as its text."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Final, TypeVar

import msgpack
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from duet import messages as m
from duet.base import files as durable
from duet.base.errors import InfraError, printable
from duet.lessons import load as lesson_cache
from duet.lessons.load import LessonFolder
from duet.lessons.own import with_own
from duet.lessons.schema import ClockName
from duet.messages.codec import Packet, labelled, pack_line
from duet.rpc.link import not_understood
from duet.runs.sources import JudgeRequest, MeasureRequest, RunRequest


class Part(BaseModel):
    """The body of a call or a note, of a server to a host process or to another server."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def packed(self) -> bytes:
        """As a map of msgpack."""
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


class Wanted(Part):
    """A run."""

    lesson: str
    arms: list[str]
    workload: str
    params: dict[str, int]
    clock: ClockName
    missing: list[str] = []
    own: list[OwnArm] = []


class Perform(Part):
    """Run it, on the guests of a slot.

    Args:
        lanes: those that run here. They begin when the note 'go' comes, since the others are on
            other hosts; []: all run here.
    """

    run_id: str
    slot: int
    run: Wanted
    lanes: list[str] = []


class Expect(Part):
    """It may be asked for soon; which other ones may be is a call, 'others'."""

    run: Wanted


class Others(Part):
    """Runs that may be asked for later."""

    runs: list[Wanted]


class MeasureIt(Part):
    """Measure it."""

    run_id: str
    run: Wanted
    repeats: int


class JudgeIt(Part):
    """Judge an arm by a challenge."""

    run: Wanted
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


def wanted(request: RunRequest) -> Wanted:
    """A request as it travels; its changes are read. Blocking for some KiB."""
    folder = request.folder
    return Wanted(
        lesson=folder.slug,
        arms=list(request.arms),
        workload=request.workload,
        params=request.params,
        clock=request.clock,
        missing=list(request.missing),
        own=[
            OwnArm(
                name=arm,
                summary=folder.arm(arm).summary,
                patch=folder.changes[arm].read_text(encoding="utf-8"),
            )
            for arm in request.arms
            if arm in folder.changes
        ],
    )


class Requests:
    """Makes requests of what came.

    Args:
        folder: where patches of visitors' changes are written, by content.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def run(self, of: Wanted) -> RunRequest:
        """A run of a lesson that is here.

        Raises:
            InputError: there is no such lesson or arm here.
        """
        return RunRequest(
            folder=self._lesson(of),
            arms=tuple(of.arms),
            workload=of.workload,
            params=of.params,
            clock=of.clock,
            missing=tuple(of.missing),
        )

    def measurement(self, of: MeasureIt) -> MeasureRequest:
        """A measurement. Raises as run()."""
        return MeasureRequest(self.run(of.run), of.repeats)

    def judgement(self, of: JudgeIt) -> JudgeRequest:
        """A judgement. Raises as run()."""
        return JudgeRequest(self.run(of.run), of.challenge, of.arm)

    def _lesson(self, of: Wanted) -> LessonFolder:
        folder = lesson_cache.find(of.lesson)
        for own in of.own:
            folder = with_own(folder, own.name, summary=own.summary, change=self._patch(own))
        for arm in of.arms:
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

RunMessage = Annotated[
    m.Run | m.Lane | m.Rows | m.Batch | m.Metrics | m.Loss | m.Sample | m.Lens | m.Held | m.Line,
    Field(discriminator="type"),
]
_RUN: Final[TypeAdapter[RunMessage]] = TypeAdapter(RunMessage)
FIXED: Final = ("lesson", "source", "purpose", "clock", "shift", "workload", "arms")
"""What a run has from the beginning."""
SEQ_BYTES: Final = 8


def packed(packet: Packet) -> bytes:
    """A packet as it travels: a line's number, which its body does not have, and the body."""
    seq = packet.span.seq if packet.type == "line" and packet.span is not None else 0
    return seq.to_bytes(SEQ_BYTES, "little") + packet.body


def read_packet(
    travelled: bytes, of: m.Run, arms: Collection[str] | None = None
) -> tuple[RunMessage, Packet]:
    """A message of a run, decoded and as it is sent to browsers.

    Args:
        of: the run's first message, which says what it is and which lanes it has.
        arms: of these lanes, the ones that are there; None: all.

    Raises:
        InfraError: it is none, or of another run.
    """
    body = travelled[SEQ_BYTES:]
    try:
        message = _RUN.validate_python(msgpack.unpackb(body, raw=False))
    except (ValueError, TypeError, ValidationError, msgpack.UnpackException) as error:
        raise _odd("one that cannot be read") from error
    if message.run_id != of.run_id:
        raise _odd(f"one of the run '{message.run_id:.80}'")
    if isinstance(message, m.Run):
        if any(getattr(message, name) != getattr(of, name) for name in FIXED):
            raise _odd("one that makes another run of it")
    elif message.arm not in (of.arms if arms is None else arms):
        raise _odd(f"one of a lane '{message.arm:.80}'")
    if isinstance(message, m.Line):
        seq = int.from_bytes(travelled[:SEQ_BYTES], "little")
        return message, pack_line(message, seq, body)
    return message, labelled(message, body)


def _odd(what: str) -> InfraError:
    return InfraError(
        f"the host process has sent a message that is none of the run: {what}.",
        remedy="Start the run again; if it happens again, look at the server's log.",
    )
